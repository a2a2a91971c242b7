import { Refusal } from '../platform/errors.ts'
import { isStorable } from '../platform/json.ts'
import { maxProperties } from './schemas.ts'

export type PropertyValue = string | number | boolean | null
export type Properties = Record<string, PropertyValue>

const maxIdLength = 512
const maxNameLength = 256
export const maxPropertiesBytes = 64 * 1024

/** Code points, as people count characters; cheap where UTF-16 units alone already fit. */
export const longerThan = (text: string, limit: number) => text.length > limit && [...text].length > limit

/** The rules for an id the project chooses (decision 0007). Never coerced: 123 is not an id. */
export const checkProjectUserId = (id: unknown): string =>
  checkChosenId(id, maxIdLength, (message) => new Refusal('invalid_project_user_id', `project_user_id: ${message}`))

/** The same rules for every id that others choose and that stands in paths. */
export function checkChosenId(id: unknown, maxLength: number, refuse: (message: string) => Refusal): string {
  if (typeof id !== 'string') throw refuse('must be a string')
  if (id === '') throw refuse('must not be empty')
  if (longerThan(id, maxLength)) throw refuse(`must be at most ${maxLength} characters`)
  if (/\p{Cc}/u.test(id)) throw refuse('must not hold control characters')
  if (!id.isWellFormed()) throw refuse('must not hold lone surrogates')
  if (id.trim() === '') throw refuse('must not be only white space')
  if (id === '.' || id === '..') throw refuse('must not be . or .., which cannot stand in a path')
  return id
}

/** Each name and value by itself and the size of them all. What is stored already counts too, but only the store knows it. */
export function checkProperties(properties: unknown): Properties {
  const refuse = (path: string, message: string) =>
    new Refusal('invalid_properties', `${path}: ${message}`, [{ path, message }])
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
    throw refuse('properties', 'must be an object')
  }
  const names = Object.keys(properties)
  if (names.length > maxProperties) throw tooLarge()
  let longest = 0
  for (const name of names) {
    if (name === '' || longerThan(name, maxNameLength)) {
      throw refuse('properties', `names must be 1 to ${maxNameLength} characters`)
    }
    if (!isStorable(name)) throw refuse('properties', 'a name holds NUL or a lone surrogate')
    const value: unknown = (properties as Properties)[name]
    if (typeof value === 'string' ? !isStorable(value) : !isScalar(value)) {
      throw refuse(`properties.${name}`, 'must be a string, a finite number, a boolean or null')
    }
    longest += name.length + (typeof value === 'string' ? value.length : longestNumber)
  }
  // No character takes more than 6 bytes (\u001f), so only what may be too large is measured.
  if (longest * 6 + names.length * 6 > maxPropertiesBytes && bytesOf(properties as Properties) > maxPropertiesBytes)
    throw tooLarge()
  return properties as Properties
}

/** Of a number written out in full: a sign, "0.", 323 zeros and 17 digits. */
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

/** As the database counts: compact JSON, numbers written out in full (1e300 has 301 digits). */
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
