import type { QuietHours } from './campaign-shape.ts'

const minuteMs = 60_000
const dayMinutes = 24 * 60

/** When the quiet hours that rule at a moment end; null where none do. From 22:00 to 22:00 is no time at all. */
export function quietUntil({ from, to }: Pick<QuietHours, 'from' | 'to'>, timezone: string, now: Date): Date | null {
  const [begin, end] = [minutesOf(from), minutesOf(to)]
  const local = localTime(timezone, now)
  const minutes = Math.floor(local / minuteMs) % dayMinutes
  const overnight = begin > end
  const quiet = overnight ? minutes >= begin || minutes < end : minutes >= begin && minutes < end
  if (!quiet) return null
  const midnight = local - (local % (dayMinutes * minuteMs))
  const tomorrow = overnight && minutes >= begin ? dayMinutes : 0
  const opens = instantOf(timezone, midnight + (tomorrow + end) * minuteMs, now)
  // Where clocks are changed, that local time may not exist or lie in the past.
  return opens > now ? opens : new Date(now.getTime() + minuteMs)
}

/** Whose clock counts. An unknown name of a zone is as good as none: UTC. */
export function timezoneFor(
  timezone: string,
  userProperty: unknown,
  ofDevice: string | null | undefined
): string {
  if (timezone !== 'device' && timezone !== 'user') return timezone
  const ofUser = timezone === 'user' && typeof userProperty === 'string' && isZone(userProperty) ? userProperty : undefined
  return ofUser ?? (ofDevice && isZone(ofDevice) ? ofDevice : 'UTC')
}

const minutesOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5))

/** Zones known to hold or not, with their clocks. There are some 600; what is beyond is made up by somebody. */
const clocks = new Map<string, Intl.DateTimeFormat | null>()
const mostClocks = 2_000

function clockOf(timezone: string): Intl.DateTimeFormat | null {
  const known = clocks.get(timezone)
  if (known !== undefined) return known
  if (clocks.size >= mostClocks) clocks.clear()
  let clock: Intl.DateTimeFormat | null = null
  try {
    const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
    clock = new Intl.DateTimeFormat('en-US', { timeZone: timezone, hourCycle: 'h23', ...fields, second: '2-digit' })
  } catch {} // Not a zone.
  clocks.set(timezone, clock)
  return clock
}

const isZone = (timezone: string): boolean => clockOf(timezone) !== null

/** What the clock on the wall shows, as if it were UTC. */
function localTime(timezone: string, at: Date): number {
  const clock = clockOf(timezone)
  if (!clock) return at.getTime()
  const part = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(part.year!, part.month! - 1, part.day, part.hour, part.minute, part.second)
}

/** When the clock on the wall shows this. Twice, because the first guess may lie before a change of clocks. */
function instantOf(timezone: string, local: number, near: Date): Date {
  let at = local - (localTime(timezone, near) - Math.floor(near.getTime() / 1000) * 1000)
  for (let round = 0; round < 2; round += 1) at = local - (localTime(timezone, new Date(at)) - at)
  return new Date(at)
}
