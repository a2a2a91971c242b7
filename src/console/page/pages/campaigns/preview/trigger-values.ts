import type { Preview } from '../../../../../wire.ts'

export type TriggerProperty = Preview['trigger_properties'][number]
type Properties = Record<string, unknown>

const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path; undefined if there is none. */
export const valueIn = (properties: Properties, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), properties)

/** A copy with another value at a path. Undefined removes it, and objects that are then empty. */
export function withValueIn(properties: Properties, [name, ...rest]: readonly string[], value: unknown): Properties {
  if (name === undefined) return properties
  const before = properties[name]
  const next = rest.length > 0 ? orAbsent(withValueIn(isObject(before) ? before : {}, rest, value)) : value
  const { [name]: _, ...others } = properties
  return next === undefined ? others : { ...properties, [name]: next }
}

const orAbsent = (value: Properties) => (Object.keys(value).length > 0 ? value : undefined)

export const isBlank = (value: unknown) => value === undefined || value === null || value === ''

const samples: Record<TriggerProperty['type'], (name: string) => unknown> = {
  text: (name) => `<${name}>`,
  number: () => 1,
  boolean: () => true,
  json: () => []
}

/** The properties as they were typed, with a placeholder for each value that the campaign uses and that is missing. */
export const withPlaceholders = (properties: Properties, fields: readonly TriggerProperty[]): Properties =>
  fields.reduce(
    (filled, { name, path, type }) =>
      isBlank(valueIn(filled, path)) ? withValueIn(filled, path, samples[type](name)) : filled,
    properties
  )
