import { usageFailure } from './exit.ts'
import { record } from './output.ts'

export type Scalar = string | number | boolean | null
export type Properties = Record<string, Scalar>

/** In the help of `user set`, and in docs/reference/cli.md. */
export const propertyHelp = `
Properties are written name=value. A value that is JSON is taken as such: 31 is
a number, true and false are booleans, null is null, and '"31"' is text. Lists
and objects are refused. Anything else is text as it stands. --string takes any
value as text. Properties that are not named keep their values.`

/** The same of triggers, whose properties may be anything. */
export const triggerPropertyHelp = `
Properties are written name=value. A value that is JSON is taken as such: 31 is
a number, true and false are booleans, null is null, '"31"' is text, [1,2] is a
list and {"a":1} an object. Anything else is text as it stands. --string takes
any value as text.`

/** `name=value` and its kind by looks, for users: the service keeps no lists and objects for them. */
export function userProperty(argument: string): [name: string, value: Scalar] {
  const [name, value] = jsonProperty(argument)
  if (typeof value !== 'object' || value === null) return [name, value as Scalar]
  const kind = Array.isArray(value) ? 'a list' : 'an object'
  throw usageFailure(
    `${name}: a property of a user cannot be ${kind}. If it is meant as text, write --string '${argument}'.`
  )
}

/** The same for triggers, which take all of JSON. */
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
    value = JSON.parse(text)
  } catch {
    return text
  }
  // Account numbers and the like: a wrong digit at the end is worse than a refusal.
  if (
    typeof value === 'number' &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  )
    throw usageFailure(`${name}: ${text} is too large for a number. Write it as text: --string ${name}=${text}`)
  return value
}

/** A whole object, from an option or a file. */
export function parsedProperties(json: string): Properties {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw usageFailure(`--properties is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFailure('--properties must be a JSON object, for example \'{"plan":"premium"}\'.')
  return value as Properties
}

/** Values as JSON, so that the text "31" and the number 31 can be told apart. */
export function shownProperties(properties: Properties): string {
  const entries = Object.entries(properties)
  if (entries.length === 0) return 'No properties.'
  return record(entries.map(([name, value]) => [name, JSON.stringify(value)] as const).sort(byName))
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1)

/** For a column: as they would be written. */
export const inOneLine = (properties: Properties): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
