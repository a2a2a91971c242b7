// Days that exist: no 30th of February, and a 29th only in leap years. Year 0 exists in ISO 8601 but not in PostgreSQL.
const days =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))'
const leapYear = '(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
const zone = '(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)'
const time = `T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,9})?)?${zone}?`

/**
 * ISO 8601 in its extended form, for JavaScript and PostgreSQL alike: `2026-11-15`, `2026-11-15T09:30`,
 * `2026-11-15T09:30:00.25+09:00`. Whatever it matches, PostgreSQL can turn into a time; that is the point of it: a cast
 * that fails would fail the whole query. A leap second (`:60`) and hour 24 are not in it.
 */
export const instantPattern = `^(?!0000)(?:[0-9]{4}-${days}|${leapYear}-02-29)(?:${time})?$`
const shape = new RegExp(instantPattern)

export const instantRule = 'must be a date or time in ISO 8601, such as 2026-11-15 or 2026-11-15T09:30:00Z'

/** The text PostgreSQL is given for it: always with a zone (UTC unless it says another), to the microsecond. */
export function instantText(text: unknown): string | undefined {
  if (typeof text !== 'string' || !shape.test(text)) return undefined
  const full = text.includes('T') ? text : `${text}T00:00`
  return (/(?:Z|T.*[+-].*)$/.test(full) ? full : `${full}Z`).replace(/(\.[0-9]{6})[0-9]+/, '$1')
}

/** The same in SQL, of a text that may be anything: null where it is no instant. `text` is an expression of ours. */
export const instantSql = (text: string) => `case when ${text} ~ '${instantPattern}' then
  (regexp_replace(${text}, '([.][0-9]{6})[0-9]+', '\\1')
   || case when ${text} !~ 'T' then 'T00:00Z' when ${text} ~ '(?:Z|T.*[+-].*)$' then '' else 'Z' end)::timestamptz end`
