/** The result of one check. The service can run with a `warn`. */
export interface Finding {
  name: string
  status: 'ok' | 'warn' | 'fail'
  message: string
}

export const ok = (name: string, message: string): Finding => ({ name, status: 'ok', message })
export const warn = (name: string, message: string): Finding => ({ name, status: 'warn', message })
export const fail = (name: string, message: string): Finding => ({ name, status: 'fail', message })

/** A larger drift confuses times in responses and logs; more than a minute makes gateways refuse signed tokens. */
const driftWarnMs = 5_000
const driftFailMs = 60_000

/** Compares two clocks. `blurMs` is the precision of the other one. */
export function compareClocks(other: string, theirsMs: number, oursMs: number, blurMs: number): Finding {
  const apartMs = Math.max(0, Math.abs(theirsMs - oursMs) - blurMs)
  const text = `${(apartMs / 1000).toFixed(apartMs < 10_000 ? 1 : 0)} s`
  if (apartMs < 1_000) return ok('Clock', `agrees with ${other}`)
  if (apartMs < driftWarnMs) return ok('Clock', `is within ${text} of ${other}`)
  const message = `is ${text} ${theirsMs > oursMs ? 'behind' : 'ahead of'} ${other}. Synchronize both by NTP.`
  return apartMs < driftFailMs ? warn('Clock', message) : fail('Clock', message)
}
