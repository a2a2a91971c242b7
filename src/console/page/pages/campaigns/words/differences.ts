import { valueAt, withValue } from '../paths.ts'

/** A field that two versions of a campaign have with different values. */
export interface Difference {
  path: string
  one: unknown
  two: unknown
}

/** Fields that are compared as a whole: a part of them means nothing alone. */
const whole = /(^|\.)(segment|where|targets|attributes|content_state|data|unless|actions\[\d+\])$/

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether two values are the same. The order of names in an object does not count, nor do absent fields. */
export function isSame(one: unknown, two: unknown): boolean {
  if (one === two) return true
  if (Array.isArray(one) && Array.isArray(two))
    return one.length === two.length && one.every((value, index) => isSame(value, two[index]))
  if (!isObject(one) || !isObject(two)) return false
  return namesOf(one, two).every((name) => isSame(one[name], two[name]))
}

const namesOf = (one: object, two: object) => [...new Set([...Object.keys(one), ...Object.keys(two)])]

/** Lists are compared entry by entry while both have the same entries, by their ids, in the same order. */
const isAligned = (one: unknown, two: unknown): boolean =>
  Array.isArray(one) &&
  Array.isArray(two) &&
  one.length === two.length &&
  one.every((entry, index) => isObject(entry) && 'id' in entry && entry.id === (two[index] as { id?: unknown })?.id)

/** The fields in which two campaigns differ. */
export function differencesOf(one: unknown, two: unknown, path = ''): Difference[] {
  if (isSame(one, two)) return []
  if (!whole.test(path)) {
    if (isObject(one) && isObject(two))
      return namesOf(one, two).flatMap((name) =>
        differencesOf(one[name], two[name], path === '' ? name : `${path}.${name}`)
      )
    if (isAligned(one, two))
      return (one as unknown[]).flatMap((entry, index) =>
        differencesOf(entry, (two as unknown[])[index], `${path}[${index}]`)
      )
  }
  return [{ path, one, two }]
}

/** A field that two people have left with different values, and who of them changed it. */
export interface Clash extends Difference {
  changed: 'mine' | 'theirs' | 'both'
}

/** The fields in which mine and theirs differ. `base` is what both began with; without it, both count as changed. */
export const clashesOf = (base: object | undefined, mine: object, theirs: object): Clash[] =>
  differencesOf(mine, theirs).map((difference) => {
    const before = base && valueAt(base, difference.path)
    const changed =
      base && isSame(before, difference.two) ? 'mine' : base && isSame(before, difference.one) ? 'theirs' : 'both'
    return { ...difference, changed }
  })

/** `mine` with their values in the given fields. */
export const merged = <Values extends object>(mine: Values, taken: Difference[]): Values =>
  taken.reduce<unknown>((values, { path, two }) => withValue(values, path, two), mine) as Values
