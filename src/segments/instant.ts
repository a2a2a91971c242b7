import { instantShape } from '../platform/time.ts'

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

export interface SureBounds {
  /** The text must come after this one, and before that one. */
  above?: string
  below?: string
  check: string
}

/**
 * The check that a text is certainly an instant between two others: of the usual form, and in another second than they are.
 * Then the order of the texts is the order of the instants, and none is read as a time, which costs five times as much.
 * Null if a bound has no such text.
 */
export function surelyBetween(text: string, from: string | undefined, to: string | undefined): SureBounds | null {
  const second = (at: string) => {
    const time = Date.parse(at)
    return time >= firstDay && time <= lastDay ? new Date(time).toISOString().slice(0, 19) : null
  }
  const [low, high] = [from && second(from), to && second(to)]
  if (low === null || high === null) return null
  // '~' comes after the 'Z' or '.' that follows the second.
  return { ...(low && { above: `${low}~` }), ...(high && { below: high }), check: usualSql(text) }
}

/**
 * A quick check that accepts most instants, at a tenth of the cost of the full pattern: UTC with seconds or milliseconds. The
 * 29th of February is left to the full check. PostgreSQL builds the states of a pattern anew for each text, so the
 * pattern is small, and finds what is wrong: two characters close to each other that are not digits.
 */
const usualSql = (text: string) =>
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
