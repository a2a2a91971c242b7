import { isObject } from '../platform/fields.ts'
import { isStorable } from '../platform/json/storable.ts'
import type { Properties, PropertyValue } from '../users/users.ts'

const mostLevels = 4
const mostNameLength = 256

/** Properties of a user, and the names of traits that have no place among them. */
export interface Flat {
  properties: Properties
  left: string[]
}

/**
 * Traits as properties of a user, which are single values: `{address: {city: "Rome"}}` becomes `address_city`. Lists
 * have no such form and are left out.
 */
export function flatten(traits: Record<string, unknown>, prefix = ''): Flat {
  const flat: Flat = { properties: {}, left: [] }
  const add = (value: unknown, name: string, level: number): void => {
    if (value === undefined) return
    if (isObject(value) && level < mostLevels) {
      for (const [key, inner] of Object.entries(value)) add(inner, `${name}_${key}`, level + 1)
    } else if (isValue(value) && name !== '' && name.length <= mostNameLength && isStorable(name)) {
      // Not an assignment: `__proto__` is an ordinary name here.
      Object.defineProperty(flat.properties, name, { value, enumerable: true, configurable: true, writable: true })
    } else flat.left.push(name)
  }
  for (const [key, value] of Object.entries(traits)) add(value, prefix + key, 1)
  return flat
}

const isValue = (value: unknown): value is PropertyValue =>
  typeof value === 'string' ? isStorable(value) : value === null || typeof value === 'boolean' || Number.isFinite(value)
