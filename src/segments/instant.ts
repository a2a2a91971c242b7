import { instantShape, instantText } from '../platform/time.ts'

export const instantRule = 'must be a date or time in ISO 8601, such as 2026-11-15 or 2026-11-15T09:30:00Z'

const [firstDay, lastDay] = [Date.parse('0001-01-01'), Date.parse('9999-12-31')]

/**
 * Returns the texts between which all instants of a span lie. The first ten characters of an instant are its day in its
 * own time zone, which differs from the day in UTC by at most one.
 */
export function textBounds(from: string | undefined, to: string | undefined): { from?: string; to?: string } {
  const day = (at: string | undefined, days: number) => {
    const time = at === undefined ? Number.NaN : Date.parse(at) + days * 86_400_000
    // No bound if the year does not have four digits.
    return time >= firstDay && time <= lastDay ? new Date(time).toISOString().slice(0, 10) : ''
  }
  return { from: day(from, -1), to: day(to, 2) }
}

/**
 * `instantText` in SQL: null if a text is not an instant. `text` is an expression of ours. Every value that reaches the
 * cast can be cast, because one failing cast would fail the whole query.
 */
export function instantSql(text: string): string {
  const [year, month, day] = [`left(${text}, 4)`, `substr(${text}, 6, 2)`, `substr(${text}, 9, 2)`]
  const leap = `${year}::int % 4 = 0 and (${year}::int % 100 <> 0 or ${year}::int % 400 = 0)`
  const days = `case when ${month} = '02' then case when ${leap} then '29' else '28' end
    when ${month} in ('04', '06', '09', '11') then '30' else '31' end`
  const plain = `right(${text}, 1) = 'Z' and length(${text}) <= 27`
  const full = `regexp_replace(${text}, '([.][0-9]{6})[0-9]+', '\\1')
    || case when length(${text}) = 10 then 'T00:00Z' when ${text} ~ '(?:Z|T.*[+-].*)$' then '' else 'Z' end`
  return `(case when ${usualSql(text)} then ${text}::timestamptz when ${text} ~ '${instantShape}' then
    case when ${month} between '01' and '12' and ${day} >= '01' and ${day} <= ${days} and ${year} <> '0000'
      and substr(${text}, 12, 2) <= '23' then (case when ${plain} then ${text} else ${full} end)::timestamptz end end)`
}

/** The instant of a text in this process. */
export function instantMs(value: unknown): number | undefined {
  const text = instantText(value)
  if (text === undefined) return undefined
  // Dates of JavaScript end at milliseconds, times of PostgreSQL at microseconds.
  const micros = /\.[0-9]{3}([0-9]{1,3})/.exec(text)?.[1]?.padEnd(3, '0') ?? '0'
  return Date.parse(text) + Number(micros) / 1000
}

const longestInstant = '2026-11-15T09:30:00.123456789+14:00'.length

/** So much of a text that no longer one becomes an instant. A cast copies no text that is short enough; `left` does. */
export const cutInstant = (text: string) => `${text}::varchar(${longestInstant + 1})`

/**
 * The texts between which a text of a usual form is an instant between two others for certain: it is in another second than
 * they are, so the order of the texts is the order of the instants, and none is read as a time, which costs five times as
 * much. Null if an instant has no such text.
 */
export function surelyBetween(
  from: string | undefined,
  to: string | undefined
): { above: string; below: string } | null {
  const second = (at: string) => {
    const time = Date.parse(at)
    return time >= firstDay && time <= lastDay ? new Date(time).toISOString().slice(0, 19) : null
  }
  // Year 0 does not exist. ':' comes after all digits.
  const [low, high] = [from === undefined ? '0001' : second(from), to === undefined ? ':' : second(to)]
  if (low === null || high === null) return null
  // '~' comes after all that follows the second. A day alone is its midnight, and comes before the text of its midnight.
  return { above: `${low}~`, below: high.replace('T00:00:00', '') }
}

const months = '(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31'
const leapYears = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
const seconds = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,9})?Z?'
/** Instants of the usual forms, in the years from 1 on: days, and times in UTC with seconds. */
export const usualShape = `(?:[0-9]{4}-(?:${months})|${leapYears}-02-29)(?:T${seconds})?`
const longestUsual = '2026-11-15T09:30:00.123456789Z'.length
const usual = new RegExp(`^${usualShape}$`)

/** Whether a text has a usual form. */
export const isUsual = (text: string) => usual.test(text)

/**
 * Whether all texts have a usual form. PostgreSQL builds the states of a pattern anew for each text that it examines, which
 * takes longer than all the rest; for all texts in one it builds them once. A text that is longer, or has a space, which
 * separates them, does not fit.
 */
export const allUsual = (text: string) =>
  `string_agg(case when strpos(${text}, ' ') = 0 then left(${text}, ${longestUsual + 1}) else '' end, ' ') || ' '
     ~ '^(?:${usualShape} )*$'`

/**
 * A quick check that accepts most instants, at a tenth of the cost of the full pattern: UTC with seconds or milliseconds. The
 * 29th of February is left to the full check. PostgreSQL builds the states of a pattern anew for each text, so the
 * pattern is small, and finds what is wrong: two characters close to each other that are not digits.
 */
export const usualSql = (text: string) =>
  `(${text} like '____-__-__T__:__:__Z' or ${text} like '____-__-__T__:__:__.___Z')
    and ${text} !~ '^.?[^0-9]|[^0-9].?[^0-9]' and ${text} >= '0001' and ${text} not like '%-00%'
    and substr(${text}, 6, 2) <= '12' and (substr(${text}, 9, 2) <= '28' or substr(${text}, 6, 5) = any(${lateDays}))
    and substr(${text}, 12, 2) <= '23' and substr(${text}, 15, 1) <= '5' and substr(${text}, 18, 1) <= '5'`

/** Months and days from the 29th on that every year has. */
const lateDays = `'{${Array.from({ length: 12 }, (_, month) => month + 1)
  .flatMap((month) =>
    [29, 30, 31]
      .filter((day) => new Date(Date.UTC(2025, month - 1, day)).getUTCMonth() === month - 1)
      .map((day) => `${String(month).padStart(2, '0')}-${day}`)
  )
  .join(',')}}'::text[]`
