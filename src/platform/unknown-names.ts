import { takesMore } from './http/schema.ts'

export interface UnknownField {
  name: string
  /** The field that the caller probably means. */
  meant?: string | undefined
}

/** As much of a schema as names the fields of a value. */
export interface Named {
  properties?: Record<string, Named>
  additionalProperties?: unknown
  items?: Named
  [takesMore]?: boolean
}

/** The most names that are found. */
export const mostUnknown = 5

/** The names in a value that its schema does not know, with their paths, each once. Most requests have none. */
export function unknownNames(schema: Named, value: unknown): UnknownField[] {
  const found = new Map<string, UnknownField>()
  if (isObject(value)) search(schema, value, '', found)
  return [...found.values()]
}

function search(schema: Named, value: object, path: string, found: Map<string, UnknownField>): void {
  const { properties, items, additionalProperties } = schema
  if (Array.isArray(value)) {
    if (items) for (const item of value) if (isObject(item)) search(items, item, `${path}[]`, found)
    return
  }
  if (!properties || additionalProperties || schema[takesMore]) return
  for (const name in value) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    const inner = own && (value as Record<string, unknown>)[name]
    if (own && !isObject(inner)) continue
    const place = path === '' ? name : `${path}.${name}`
    if (own) search(own, inner as object, place, found)
    else if (found.size < mostUnknown) found.set(place, { name: place, meant: likely(Object.keys(properties), name) })
    else return
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The known name that resembles another one; names longer than any of ours resemble none. */
export const likely = (known: string[], name: string): string | undefined =>
  name.length > 40 ? undefined : known.find((other) => isNear(bare(name), bare(other)))

export const bare = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The same letters; or one added, left out or replaced, or two neighbours swapped, in a word long enough to be recognised. */
function isNear(one: string, other: string): boolean {
  if (one === other) return true
  if (one.length < 4 || Math.abs(one.length - other.length) > 1) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  let end = 0
  while (end < one.length - start && end < other.length - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const left = one.slice(start, one.length - end)
  const right = other.slice(start, other.length - end)
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}
