/** What one check found. `warn` would not keep the service from running. */
export interface Finding {
  name: string
  status: 'ok' | 'warn' | 'fail'
  message: string
}

export const ok = (name: string, message: string): Finding => ({ name, status: 'ok', message })
export const warn = (name: string, message: string): Finding => ({ name, status: 'warn', message })
export const fail = (name: string, message: string): Finding => ({ name, status: 'fail', message })

/** Beyond this, times in answers and logs confuse; beyond a minute, signed tokens are refused. */
const driftWarnMs = 5_000
const driftFailMs = 60_000

/** How far two clocks are apart, as a finding. `blurMs` is how coarse the other one is. */
export function compareClocks(other: string, theirsMs: number, oursMs: number, blurMs: number): Finding {
  const apartMs = Math.max(0, Math.abs(theirsMs - oursMs) - blurMs)
  const text = `${(apartMs / 1000).toFixed(apartMs < 10_000 ? 1 : 0)} s`
  if (apartMs < 1_000) return ok('Clock', `agrees with ${other}`)
  if (apartMs < driftWarnMs) return ok('Clock', `is within ${text} of ${other}`)
  const message = `is ${text} ${theirsMs > oursMs ? 'behind' : 'ahead of'} ${other}. Set both by NTP.`
  return apartMs < driftFailMs ? warn('Clock', message) : fail('Clock', message)
}
