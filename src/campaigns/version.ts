import type { Place } from './segment-sql.ts'

/** `2.10`, `v1.4.0-beta.2+91`: numbers and dots, then perhaps what semantic versioning calls pre-release and build. */
const shape = '^v?[0-9]+(?:[.][0-9]+)*(?:-[0-9A-Za-z-]+(?:[.][0-9A-Za-z-]+)*)?(?:[+][0-9A-Za-z.-]*)?$'
const pattern = new RegExp(shape)

export const versionRule = 'must be a version such as 2.10.0'

// A key is a text whose order by code point is the order of versions: six numbers of eighteen digits each, missing ones
// zero (1.10 is 1.10.0), then '!', or ' ' and the pre-release, which comes first.
const [places, digits, longest] = [6, 18, 100]
const padded = (number: string) => number.padStart(digits, '0')

/** The key of a text, or undefined if it is no version. */
export function versionKey(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > longest || !pattern.test(text)) return undefined
  const [plain] = text.split('+') as [string]
  const dash = plain.indexOf('-')
  const numbers = (dash === -1 ? plain : plain.slice(0, dash)).replace('v', '').split('.')
  if (numbers.length > places || numbers.some((number) => number.length > digits)) return undefined
  const key = Array.from({ length: places }, (_, place) => padded(numbers[place] ?? '')).join('')
  if (dash === -1) return `${key}!`
  const parts = plain
    .slice(dash + 1)
    .split('.')
    .map((part) => (/^[0-9]{1,18}$/.test(part) ? `0${padded(part)}` : `1${part}`))
  return `${key} ${parts.join(' ')}`
}

/**
 * The same in SQL, null for what is no version. `text` is an expression of ours. Patterns are kept small and few, and
 * nothing is aggregated unless there is a pre-release: this runs for every device of a project.
 */
export function versionKeySql(text: string): string {
  const plain = `split_part(${text}, '+', 1)`
  const numbers = `ltrim(split_part(${plain}, '-', 1), 'v')`
  const key = Array.from(
    { length: places },
    (_, place) => `lpad(split_part(${numbers}, '.', ${place + 1}), ${digits}, '0')`
  )
  const release = `substr(${plain}, strpos(${plain}, '-') + 1)`
  const part = `case when part ~ '^[0-9]{1,18}$' then '0' || lpad(part, ${digits}, '0') else '1' || part end`
  const parts = `unnest(string_to_array(${release}, '.')) with ordinality as parts(part, place)`
  return `(case when length(${text}) <= ${longest} and ${text} ~ '${shape}' and split_part(${numbers}, '.', ${places + 1}) = ''
    and (length(${numbers}) <= ${digits} or ${numbers} !~ '[0-9]{${digits + 1}}')
    then ${key.join(' || ')} || case when strpos(${plain}, '-') = 0 then '!'
      else ' ' || (select string_agg(${part}, ' ' order by place) from ${parts}) end end)`
}

/**
 * Whether a stored version is on that side of a wanted one, in SQL; null where it is no version. Most versions are a few
 * short numbers, which compare as such for a fourth of what a key costs.
 */
export function versionOrderSql(text: string, sign: string, wanted: string, place: Place): string {
  const plain = `length(${text}) <= ${digits} and ${text} ~ '^[0-9]+(?:[.][0-9]+)*$' and split_part(${text}, '.', ${places + 1}) = ''`
  const [numberSign, numbers] = orderOfNumbers(sign, wanted)
  return `(case when ${plain} then string_to_array(${text}, '.')::bigint[] ${numberSign} ${place(numbers, 'bigint[]')}
    else ${versionKeySql(text)} collate "C" ${sign} ${place(versionKey(wanted), 'text')} end)`
}

/**
 * What the numbers of a version without pre-release are compared with. Lists compare as versions do, but that of two the
 * longer is greater: so the wanted one has no zeros at its end where it is the least that is meant, and all six places
 * where it is the most. A pre-release is less than its own numbers and greater than all that are less.
 */
function orderOfNumbers(sign: string, wanted: string): [sign: string, numbers: string[]] {
  const key = versionKey(wanted)!
  const all = Array.from({ length: places }, (_, place) =>
    String(BigInt(key.slice(place * digits, (place + 1) * digits)))
  )
  const short = all.slice(0, all.findLastIndex((number) => number !== '0') + 1)
  if (key.length > places * digits + 1) return [sign.startsWith('>') ? '>=' : '<', short]
  return [sign, sign === '>=' || sign === '<' ? short : all]
}
