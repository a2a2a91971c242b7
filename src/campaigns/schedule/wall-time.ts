// Wall times are milliseconds, read as if the clock on the wall showed UTC: 09:00 on a wall is 09:00Z here.

const [minuteMs, quarterMs, dayMs] = [60_000, 900_000, 86_400_000]

/** Formatters are costly to create, and there are a few hundred zones. */
const clocks = new Map<string, Intl.DateTimeFormat>()

/** Throws for a zone that does not exist. */
export function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known) return known
  const two = '2-digit'
  const fields = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two } as const
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...fields })
  clocks.set(zone, clock)
  return clock
}

/** What a clock in the zone shows at an instant, by asking it. */
function read(zone: string, instant: number): number {
  // 12/24/2026, 18:00:00
  const text = clockOf(zone).format(instant)
  const [month, day, year, hour, minute, second] = text.split(/\D+/).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number
  ]
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** Offsets by zone and quarter of an hour. All clocks change at the beginning of one, and reading a clock takes 6 µs. */
const offsets = new Map<string, Map<number, number>>()
/** For each zone. A schedule asks for the same few quarters in each of 600 zones. */
const maxQuarters = 300

/** How far the clock in the zone is ahead of UTC. */
export function offsetAt(zone: string, instant: number): number {
  const ofZone = offsets.get(zone) ?? new Map<number, number>()
  const quarter = Math.floor(instant / quarterMs)
  const known = ofZone.get(quarter)
  if (known !== undefined) return known
  const offset = read(zone, quarter * quarterMs) - quarter * quarterMs
  if (ofZone.size >= maxQuarters) ofZone.clear()
  ofZone.set(quarter, offset)
  offsets.set(zone, ofZone)
  return offset
}

/** What a clock in the zone shows at an instant. */
export const wallOf = (zone: string, instant: number): number =>
  Math.floor(instant / 1000) * 1000 + offsetAt(zone, instant)

/**
 * The instant at which a clock in the zone shows a wall time. A time that exists twice is its first; one that does not
 * exist is the instant at which the clocks go forward.
 */
export function instantOf(zone: string, wall: number): number {
  const offsets = [offsetAt(zone, wall - dayMs), offsetAt(zone, wall + dayMs)]
  const candidates = [...new Set(offsets)].map((offset) => wall - offset).sort((one, other) => one - other)
  const first = candidates.find((instant) => wallOf(zone, instant) === wall)
  return first ?? gapEnd(zone, candidates[0]!, candidates.at(-1)!)
}

/** Whether no clock in the zone ever shows the wall time. */
export const isInGap = (zone: string, wall: number): boolean => wallOf(zone, instantOf(zone, wall)) !== wall

/** The instant between two others at which the clocks go forward. */
function gapEnd(zone: string, from: number, to: number): number {
  const before = offsetAt(zone, from)
  let [low, high] = [from, to]
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / minuteMs / 2) * minuteMs
    if (offsetAt(zone, middle) === before) low = middle
    else high = middle
  }
  return high
}

const shape = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?$/

export const wallRule = 'must be a local time such as 2026-12-24T18:00, without an offset'

/** A local time in ISO 8601, without a zone; undefined for any other text, and for a day that does not exist. */
export function readWall(text: string): number | undefined {
  if (!shape.test(text)) return undefined
  const wall = Date.parse(`${text}Z`)
  return !Number.isNaN(wall) && new Date(wall).toISOString().startsWith(text) ? wall : undefined
}

/** `2026-12-24T18:00`: the inverse of reading. */
export const wallText = (wall: number): string => new Date(wall).toISOString().replace(/(?::00)?\.000Z$/, '')
