/**
 * Milliseconds since 1970 at the start of this process, counted on from there: this clock never jumps. For durations
 * (deadlines, pauses, cached values). Setting the system clock, by hand or by NTP, moves `Date.now()` by hours either
 * way; only times that are stored or sent use it.
 */
export const steadyMs = (): number => performance.timeOrigin + performance.now()

const zone = '(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)'
const time = `T[0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,9})?)?${zone}?`

/**
 * ISO 8601 in its extended form: `2026-11-15`, `2026-11-15T09:30`, `2026-11-15T09:30:00.25+09:00`. It excludes a leap
 * second (`:60`) and hour 24. JavaScript and PostgreSQL use the same pattern; a separate check decides whether the day
 * exists, because one pattern for everything took PostgreSQL three times as long.
 */
export const instantShape = `^[0-9]{4}-[01][0-9]-[0-3][0-9](?:${time})?$`
const pattern = new RegExp(instantShape)
const zoned = /(?:Z|T.*[+-].*)$/
/** A time of this form has 35 characters at most. A search for the zone of a far longer text would take minutes. */
const longestInstant = 40

/**
 * A date or a time that PostgreSQL and JavaScript read alike: always with a zone (UTC by default), to the microsecond.
 * JavaScript cannot read an offset of hours alone, so minutes are added.
 */
export function instantText(text: unknown): string | undefined {
  if (typeof text !== 'string' || !pattern.test(text) || !exists(text)) return undefined
  const full = text.length === 10 ? `${text}T00:00` : text
  return (zoned.test(full) ? full : `${full}Z`)
    .replace(/(\.[0-9]{6})[0-9]+/, '$1')
    .replace(/(?<=T.*)([+-][0-9]{2}):?([0-9]{2})?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`)
}

/** Whether the day and hour exist. Year 0 exists in ISO 8601, but not in PostgreSQL. */
function exists(text: string): boolean {
  const [year, month, day, hour] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10), text.slice(11, 13)].map(
    Number
  ) as [number, number, number, number]
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= days && hour <= 23
}

export const timeRule = 'must be an RFC 3339 time, with Z or an offset'

/**
 * A time with a zone. Without one it would be read in the zone of this process, hours wrong. PostgreSQL does not read the
 * text of a year outside of 1 to 9999, which an offset can lead to.
 */
export function readTime(text: string): Date | undefined {
  if (text.length > longestInstant) return undefined
  const upper = text.toUpperCase()
  const instant = zoned.test(upper) ? instantText(upper) : undefined
  if (instant === undefined) return undefined
  const at = new Date(instant)
  const year = at.getUTCFullYear()
  return year >= 1 && year <= 9999 ? at : undefined
}

const dayMs = 86_400_000
/** How far ahead something can be scheduled. */
export const mostDaysAhead = 90

const aheadRule = `must be at most ${mostDaysAhead} days ahead`

/** A time at which something is to be sent: RFC 3339, at most 90 days ahead. A past one means at once. */
export function readSendAt(text: unknown, refuse: (message: string) => Error, nowMs = Date.now()): Date {
  const at = typeof text === 'string' ? readTime(text) : undefined
  if (!at) throw refuse(timeRule)
  if (at.getTime() > nowMs + mostDaysAhead * dayMs) throw refuse(aheadRule)
  return at
}

const zones = new Map<string, boolean>()
const mostZones = 2_000

/**
 * Whether a name is a time zone of the IANA database, in any case. Offsets (`+09:00`) have no daylight saving time and are none.
 */
export const isTimeZone = (name: unknown): name is string =>
  typeof name === 'string' && /^[A-Za-z]/.test(name) && isZone(name)

/** Whether dates can be written in a zone, which may be an offset. */
export function isZone(name: string): boolean {
  if (name.length > 64 || !/^[\x20-\x7e]+$/.test(name)) return false
  // Looking one up takes a twentieth of a millisecond, and a zone has thousands of spellings.
  const key = name.toLowerCase()
  const known = zones.get(key)
  if (known !== undefined) return known
  if (zones.size >= mostZones) zones.clear()
  zones.set(key, canFormat(name))
  return zones.get(key)!
}

function canFormat(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
