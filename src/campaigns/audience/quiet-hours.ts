import type { QuietHours } from '../definition/schema.ts'

const minuteMs = 60_000
const dayMinutes = 1_440

/** Formatters are costly to make. Devices send names in any case, so there can be more spellings than zones. */
const clocks = new Map<string, Intl.DateTimeFormat>()
const maxClocks = 2_000

function clockOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = clocks.get(zone)
  if (known) return known
  try {
    const clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit'
    })
    if (clocks.size >= maxClocks) clocks.clear()
    clocks.set(zone, clock)
    return clock
  } catch {
    return undefined
  }
}

/** Whether it names a time zone of the IANA database. Offsets (`+09:00`) know no summer time and are not taken. */
export const isTimeZone = (name: unknown): name is string =>
  typeof name === 'string' && name.length <= 64 && /^[A-Za-z]/.test(name) && clockOf(name) !== undefined

/** What is known of where somebody is: the user's property `timezone` and the device's own. Either may be anything. */
export interface Whereabouts {
  user?: unknown
  device?: unknown
}

/** The zone whose clock counts. `user` falls back to the device, and everything to UTC. */
export function zoneFor(timezone: string, { user, device }: Whereabouts): string {
  if (timezone !== 'user' && timezone !== 'device') return timezone
  const wishes = timezone === 'user' ? [user, device] : [device]
  return wishes.find(isTimeZone) ?? 'UTC'
}

/** When the quiet hours that `at` lies in are over; null if it lies in none. `from` belongs to them, `to` does not. */
export function quietUntil(hours: QuietHours, where: Whereabouts, at: Date): Date | null {
  const zone = zoneFor(hours.timezone, where)
  const [from, to] = [minutesOf(hours.from), minutesOf(hours.to)]
  const quiet = (ms: number) => {
    const minute = localMinute(zone, ms)
    return from < to ? minute >= from && minute < to : minute >= from || minute < to
  }
  const start = Math.floor(at.getTime() / minuteMs) * minuteMs
  if (!quiet(start)) return null
  const left = (to - localMinute(zone, start) + dayMinutes) % dayMinutes
  const guess = start + left * minuteMs
  // By how much the clocks were changed on the way, if they were; half a day at most.
  const late = ((localMinute(zone, guess) - to + dayMinutes + dayMinutes / 2) % dayMinutes) - dayMinutes / 2
  return new Date(late === 0 ? guess : firstLoud(quiet, start, guess, late))
}

/** Clocks go back: later by that much. Clocks go forward: earlier, but not before the moment they were changed. */
function firstLoud(quiet: (ms: number) => boolean, start: number, guess: number, late: number): number {
  const shifted = guess - late * minuteMs
  let [low, high] = [Math.max(start, Math.min(guess, shifted)), Math.max(guess, shifted)]
  if (!quiet(low)) return low
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / minuteMs / 2) * minuteMs
    if (quiet(middle)) low = middle
    else high = middle
  }
  return high
}

/** Minutes since midnight on the clock of a zone. */
function localMinute(zone: string, ms: number): number {
  const clock = clockOf(zone) ?? clockOf('UTC')!
  return minutesOf(clock.format(ms))
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))
