const zone = '(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)'
const time = `T[0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,9})?)?${zone}?`

/**
 * ISO 8601 in its extended form: `2026-11-15`, `2026-11-15T09:30`, `2026-11-15T09:30:00.25+09:00`. A leap second (`:60`)
 * and hour 24 are not in it. The same pattern serves JavaScript and PostgreSQL; whether the day exists is looked at
 * apart, since one pattern for it all took PostgreSQL three times as long.
 */
const shape = `^[0-9]{4}-[01][0-9]-[0-3][0-9](?:${time})?$`
const pattern = new RegExp(shape)

export const instantRule = 'must be a date or time in ISO 8601, such as 2026-11-15 or 2026-11-15T09:30:00Z'

/** The text PostgreSQL is given for it: always with a zone (UTC unless it says another), to the microsecond. */
export function instantText(text: unknown): string | undefined {
  if (typeof text !== 'string' || !pattern.test(text) || !exists(text)) return undefined
  const full = text.length === 10 ? `${text}T00:00` : text
  return (/(?:Z|T.*[+-].*)$/.test(full) ? full : `${full}Z`).replace(/(\.[0-9]{6})[0-9]+/, '$1')
}

/** Whether there is such a day and hour. Year 0 exists in ISO 8601, but not in PostgreSQL. */
function exists(text: string): boolean {
  const [year, month, day, hour] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10), text.slice(11, 13)].map(
    Number
  ) as [number, number, number, number]
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= days && hour <= 23
}

/**
 * The same in SQL, of a text that may be anything: null where it is no instant. `text` is an expression of ours. Whatever
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
  return `case when ${text} ~ '${shape}' then
    case when ${month} between '01' and '12' and ${day} >= '01' and ${day} <= ${days} and ${year} <> '0000'
      and substr(${text}, 12, 2) <= '23' then (case when ${plain} then ${text} else ${full} end)::timestamptz end end`
}
