import { isTimeZone } from '../../platform/time.ts'
import type { QuietHours } from '../definition/schema.ts'

const minuteMs = 60_000
const dayMinutes = 1_440

/** Formatters are costly to create. Devices send names in any case, so there can be more spellings than zones. */
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

/** The time zones of a recipient: the user's property `timezone` and the device's own. Either may be any value. */
export interface Zones {
  user?: unknown
  device?: unknown
}

/** The zone of quiet hours. `user` falls back to the device, and both to UTC. */
export function zoneFor(timezone: string, { user, device }: Zones): string {
  if (timezone !== 'user' && timezone !== 'device') return timezone
  const zones = timezone === 'user' ? [user, device] : [device]
  return zones.find(isTimeZone) ?? 'UTC'
}

/** The end of the quiet hours that contain `at`; null if it is outside. `from` belongs to them, `to` does not. */
export function quietUntil(hours: QuietHours, zones: Zones, at: Date): Date | null {
  const zone = zoneFor(hours.timezone, zones)
  const [from, to] = [minutesOf(hours.from), minutesOf(hours.to)]
  const quiet = (ms: number) => {
    const minute = localMinute(zone, ms)
    return from < to ? minute >= from && minute < to : minute >= from || minute < to
  }
  const start = Math.floor(at.getTime() / minuteMs) * minuteMs
  if (!quiet(start)) return null
  const left = (to - localMinute(zone, start) + dayMinutes) % dayMinutes
  const guess = start + left * minuteMs
  // The shift of the local clock between start and guess, zero on most days, half a day at most.
  const late = ((localMinute(zone, guess) - to + dayMinutes + dayMinutes / 2) % dayMinutes) - dayMinutes / 2
  return new Date(late === 0 ? guess : firstLoud(quiet, start, guess, late))
}

/**
 * Finds the end of quiet hours in which the clock changes. If clocks go back, the end is later by that much; if they go
 * forward, it is earlier, but not before the change.
 */
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

/** `08:00`, on the clock of a zone. */
export const localTime = (zone: string, at: Date): string => (clockOf(zone) ?? clockOf('UTC')!).format(at)

/** Minutes since midnight on the clock of a zone. */
function localMinute(zone: string, ms: number): number {
  const clock = clockOf(zone) ?? clockOf('UTC')!
  return minutesOf(clock.format(ms))
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))
