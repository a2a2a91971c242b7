/** `2.10`, `v1.4.0-beta.2+91`: numbers and dots, then perhaps what semantic versioning calls pre-release and build. */
const shape =
  '^v?([0-9]{1,18}(?:[.][0-9]{1,18}){0,7})(?:-([0-9A-Za-z-]+(?:[.][0-9A-Za-z-]+){0,7}))?(?:[+][0-9A-Za-z.-]*)?$'
const pattern = new RegExp(shape)

export const versionRule = 'must be a version such as 2.10.0'

// A key is a text whose order by code point is the order of versions. Numbers are padded to one length. What ends the
// numbers decides 1.0-beta (' ') < 1.0 ('!') < 1.0.1 ('.'). Trailing zeros go: 1.10 is 1.10.0.
const digits = 18

/** The key of a text, or undefined if it is no version. */
export function versionKey(text: unknown): string | undefined {
  const found = typeof text === 'string' && text.length <= 255 ? pattern.exec(text) : null
  if (!found) return undefined
  const numbers = found[1]!.replace(/(?:\.0+)+$/, '').split('.')
  const key = numbers.map((number) => number.padStart(digits, '0')).join('.')
  if (found[2] === undefined) return `${key}!`
  const parts = found[2]
    .split('.')
    .map((part) => (/^[0-9]{1,18}$/.test(part) ? `0${part.padStart(digits, '0')}` : `1${part}`))
  return `${key} ${parts.join(' ')}`
}

/** The same in SQL, null for what is no version. `text` is an expression of ours. */
export const versionKeySql = (text: string) => `(case when length(${text}) <= 255 and ${text} ~ '${shape}' then
  (select string_agg(lpad(part, ${digits}, '0'), '.' order by place)
     from unnest(string_to_array(regexp_replace(substring(${text}, '^v?([0-9.]+)'), '(?:[.]0+)+$', ''), '.'))
          with ordinality as parts(part, place))
  || coalesce(' ' || (select string_agg(case when part ~ '^[0-9]{1,18}$' then '0' || lpad(part, ${digits}, '0')
                                             else '1' || part end, ' ' order by place)
                        from unnest(string_to_array(substring(${text}, '^[^-+]*-([^+]*)'), '.'))
                             with ordinality as parts(part, place)), '!') end)`
