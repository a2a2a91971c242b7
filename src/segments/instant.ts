import { instantShape } from '../platform/time.ts'

export const instantRule = 'must be a date or time in ISO 8601, such as 2026-11-15 or 2026-11-15T09:30:00Z'

const [firstDay, lastDay] = [Date.parse('0001-01-01'), Date.parse('9999-12-31')]

/**
 * Between which texts all instants of such a span are: the first ten signs of one are a day, in its own zone, which is
 * at most one off.
 */
export function textBounds(from: string | undefined, to: string | undefined): { from?: string; to?: string } {
  const day = (at: string | undefined, days: number) => {
    const time = at === undefined ? Number.NaN : Date.parse(at) + days * 86_400_000
    // No bound where the year is not one of four digits.
    return time >= firstDay && time <= lastDay ? new Date(time).toISOString().slice(0, 10) : ''
  }
  return { from: day(from, -1), to: day(to, 2) }
}

/**
 * `instantText` in SQL, of a text that may be anything: null where it is no instant. `text` is an expression of ours. Whatever
 * reaches the cast can be cast; one that fails would fail the whole query.
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

/**
 * Surely an instant, found for a third of what the shape costs: in UTC to the second or millisecond, as most programs
 * write it, and not at the end of a month. PostgreSQL counts signs slowly: that all others are digits is told by no two
 * being near each other that are none.
 */
const usualSql = (text: string) =>
  `(${text} like '____-__-__T__:__:__Z' or ${text} like '____-__-__T__:__:__.___Z')
    and ${text} !~ '^.?[^0-9]|[^0-9].?[^0-9]' and ${text} >= '0001' and ${text} not like '%-00%'
    and substr(${text}, 6, 2) <= '12' and substr(${text}, 9, 2) <= '28' and substr(${text}, 12, 2) <= '23'
    and substr(${text}, 15, 1) <= '5' and substr(${text}, 18, 1) <= '5'`
