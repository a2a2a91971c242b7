import { usageFailure } from './exit.ts'
import { record } from './output.ts'

export type Scalar = string | number | boolean | null
export type Properties = Record<string, Scalar>

/** In the help of `user set`, and in docs/cli.md. */
export const propertyHelp = `
Properties are written name=value. A value that is JSON is taken as such: 31 is
a number, true and false are booleans, null is null, and '"31"' is text.
Anything else is text as it stands. --string takes any value as text.
Properties that are not named keep their values.`

/** `name=value` and its kind by looks. */
export function typedProperty(argument: string): [name: string, value: Scalar] {
  const [name, text] = split(argument)
  return [name, scalarOf(name, text)]
}

export const textProperty = (argument: string): [name: string, value: Scalar] => split(argument)

function split(argument: string): [string, string] {
  const at = argument.indexOf('=')
  if (at < 1) throw usageFailure(`'${argument}' is not a property. Write it as name=value, for example plan=premium.`)
  return [argument.slice(0, at), argument.slice(at + 1)]
}

function scalarOf(name: string, text: string): Scalar {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof value === 'object' && value !== null) return text
  // Account numbers and the like: a wrong digit at the end is worse than a refusal.
  if (
    typeof value === 'number' &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  )
    throw usageFailure(`${name}: ${text} is too large for a number. Write it as text: --string ${name}=${text}`)
  return value as Scalar
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
