import { readJson } from '../platform/json/names.ts'
import { usageFailure } from './exit.ts'
import { record } from './output.ts'

export type Scalar = string | number | boolean | null
export type Properties = Record<string, Scalar>

/** Part of the help of `user set`. */
export const propertyHelp = `
Properties are written name=value. A value that is JSON is read as JSON: 31 is a
number, true and false are booleans, null is null, and '"31"' is text. Lists and
objects are refused. Any other value is text. --string takes any value as text.
Other properties of the user keep their values.`

/** Part of the help of triggers, whose properties may be any JSON. */
export const triggerPropertyHelp = `
Properties are written name=value. A value that is JSON is read as JSON: 31 is a
number, true and false are booleans, null is null, '"31"' is text, [1,2] is a
list and {"a":1} an object. Any other value is text. --string takes any value as
text.`

/** Reads `name=value` for a user, whose properties are scalars. */
export function userProperty(argument: string): [name: string, value: Scalar] {
  const [name, value] = jsonProperty(argument)
  if (typeof value !== 'object' || value === null) return [name, value as Scalar]
  const kind = Array.isArray(value) ? 'a list' : 'an object'
  throw usageFailure(
    `${name}: a property of a user cannot be ${kind}. To store it as text, write --string '${argument}'.`
  )
}

/** Reads `name=value` for a trigger, whose properties are any JSON. */
export function jsonProperty(argument: string): [name: string, value: unknown] {
  const [name, text] = split(argument)
  return [name, readValue(name, text)]
}

export const textProperty = (argument: string): [name: string, value: string] => split(argument)

function split(argument: string): [string, string] {
  const at = argument.indexOf('=')
  if (at < 1) throw usageFailure(`'${argument}' is not a property. Write it as name=value, for example plan=premium.`)
  return [argument.slice(0, at), argument.slice(at + 1)]
}

function readValue(name: string, text: string): unknown {
  let value: unknown
  try {
    value = readJson(text)
  } catch {
    return text
  }
  // A number that JavaScript would round is refused: an account number with a wrong last digit is worse than a refusal.
  if (
    typeof value === 'number' &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  )
    throw usageFailure(`${name}: ${text} is too large for a number. Write it as text: --string ${name}=${text}`)
  return value
}

/** Reads an object of properties from an option or standard input. */
export function parsedProperties(json: string): Properties {
  let value: unknown
  try {
    value = readJson(json)
  } catch (error) {
    throw usageFailure(`--properties is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFailure('--properties must be a JSON object, for example \'{"plan":"premium"}\'.')
  return value as Properties
}

/** Values as JSON, which distinguishes the text "31" from the number 31. */
export function shownProperties(properties: Properties): string {
  const entries = Object.entries(properties)
  if (entries.length === 0) return 'No properties.'
  return record(entries.map(([name, value]) => [name, JSON.stringify(value)] as const).sort(byName))
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1)

/** Properties as they are written on the command line, for a column. */
export const inOneLine = (properties: Properties): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
