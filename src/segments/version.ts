/** `2.10`, `v1.4.0-beta.2+91`: numbers and dots, then optionally a pre-release and a build as in semantic versioning. */
const shape = '^v?[0-9]+(?:[.][0-9]+)*(?:-[0-9A-Za-z-]+(?:[.][0-9A-Za-z-]+)*)?(?:[+][0-9A-Za-z.-]*)?$'
const pattern = new RegExp(shape)

export const versionRule = 'must be a version such as 2.10.0'

// A key is a text whose order by code point is the order of versions: six numbers of eighteen digits each, missing ones
// zero (1.10 is 1.10.0), then '!', or ' ' and the pre-release, which comes first.
const [places, digits, longest] = [6, 18, 100]
const padded = (number: string) => number.padStart(digits, '0')

/** Returns the key of a text, or undefined if it is not a version. */
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
 * The key of a version in SQL, null for texts that are not versions. `text` is an expression of ours. Patterns are
 * small and few, and only a pre-release is aggregated, because this runs for every device of a project.
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
