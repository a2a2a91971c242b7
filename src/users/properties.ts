import { Refusal } from '../platform/errors.ts'
import { checkChosenId, isObject, longerThan, refusing } from '../platform/fields.ts'
import { isStorable } from '../platform/json/storable.ts'
import { maxProperties } from './schemas.ts'

export type PropertyValue = string | number | boolean | null
export type Properties = Record<string, PropertyValue>

const maxIdLength = 512
const maxNameLength = 256
export const maxPropertiesBytes = 64 * 1024

/** `field` is the caller's name for the id, which the refusal repeats. */
export const checkProjectUserId = (id: unknown, field = 'project_user_id'): string =>
  checkChosenId(id, maxIdLength, (message) => new Refusal('invalid_project_user_id', `${field}: ${message}`))

const refuse = refusing('invalid_properties')

/**
 * Checks each name and value, and their total size. The statement that stores them checks the size together with the
 * stored properties.
 */
export function checkProperties(properties: unknown): Properties {
  if (!isObject(properties)) throw refuse('properties', 'must be an object')
  const names = Object.keys(properties)
  if (names.length > maxProperties) throw tooLarge()
  let longest = 0
  for (const name of names) {
    checkPropertyName(name)
    const value = properties[name]
    if (typeof value === 'string' ? !isStorable(value) : !isScalar(value)) {
      throw refuse(`properties.${name}`, 'must be a string, a finite number, a boolean or null')
    }
    longest += name.length + (typeof value === 'string' ? value.length : longestNumber)
  }
  // No character takes more than 6 bytes (\u001f), so only texts that may be too large are measured.
  if (longest * 6 + names.length * 6 > maxPropertiesBytes && bytesOf(properties as Properties) > maxPropertiesBytes)
    throw tooLarge()
  return properties as Properties
}

export function checkPropertyName(name: string): void {
  if (name === '' || longerThan(name, maxNameLength))
    throw refuse('properties', `names must be 1 to ${maxNameLength} characters`)
  if (!isStorable(name)) throw refuse('properties', 'a name holds NUL or a lone surrogate')
}

/** The length of a number written out in full: a sign, "0.", 323 zeros and 17 digits. */
const longestNumber = 343

function bytesOf(properties: Properties): number {
  const entries = Object.entries(properties)
  const punctuation = 1 + Math.max(1, entries.length) + entries.length
  return entries.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(JSON.stringify(name)) + valueBytes(value),
    punctuation
  )
}

const isScalar = (value: unknown) => typeof value === 'boolean' || value === null || Number.isFinite(value)

/** The size as the database counts it: compact JSON, numbers written out in full (1e300 has 301 digits). */
function valueBytes(value: PropertyValue): number {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value))
  const text = String(value)
  if (typeof value !== 'number' || !text.includes('e')) return text.length
  const [, sign, whole, fraction = '', exponent] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)!
  const shift = Number(exponent)
  const digits = whole!.length + fraction.length
  return sign!.length + (shift > 0 ? Math.max(shift + 1, digits) : 1 - shift + digits)
}

export const tooLarge = () =>
  new Refusal(
    'properties_too_large',
    `a user has at most ${maxProperties} properties and ${maxPropertiesBytes / 1024} KiB of them`
  )
