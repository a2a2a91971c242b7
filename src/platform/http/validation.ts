import type { TSchema } from '@sinclair/typebox'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { type Detail, Refusal, type RefusalCode } from '../errors.ts'
import { shortPath } from '../fields.ts'
import { isStorable } from '../json/storable.ts'
import { rule } from './schema.ts'

/**
 * Codes for faults in certain fields of a body, if a caller can act on them; all other faults get the general code. A
 * name stands for a field of the body with everything in it, or for a whole path: `devices[].id`.
 */
export type FieldCodes = Readonly<Record<string, RefusalCode>>

// Nothing is coerced, defaulted or removed: 123 is not "123". Schemas contain descriptions for the docs, which strict
// mode would refuse.
const options = {
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  strict: false,
  validateFormats: false,
  verbose: true
}
/** Made on first use: a start takes 15 ms less. */
const compilers: { first?: Ajv2020; all?: Ajv2020 } = {}

/** Checks a value against a schema. Compiled on first use, so that a start does not wait for it. */
export function validator(schema: TSchema, code: RefusalCode, fieldCodes: FieldCodes = {}): (value: unknown) => void {
  let check: ValidateFunction | undefined
  return (value) => {
    compilers.first ??= new Ajv2020(options)
    check ??= compilers.first.compile(schema)
    if (check(value)) return
    const details = withoutConstants(check.errors ?? []).map(detailOf)
    const [first = { path: 'body', message: 'is not valid' }] = details
    const [field = ''] = first.path.split(/[.[]/)
    const own = fieldCodes[first.path.replace(/\[\d+\]/g, '[]')]
    throw new Refusal(own ?? fieldCodes[field] ?? code, `${first.path}: ${first.message}`, details)
  }
}

/** A list of 20,000 entries may have a fault in each. The first ones fill the response. */
const mostErrors = 500

/** Returns every fault of a value, for documents that people write; `validator` reports the first one only. */
export function problemsOf(schema: TSchema): (value: unknown) => Detail[] {
  let check: ValidateFunction | undefined
  return (value) => {
    compilers.all ??= new Ajv2020({ ...options, allErrors: true })
    check ??= compilers.all.compile(schema)
    return check(value)
      ? []
      : withoutConstants((check.errors ?? []).slice(0, mostErrors))
          .slice(0, 50)
          .map(detailOf)
  }
}

/** Reports a choice among fixed values as one fault that names them all, not as one for each and another for the choice. */
function withoutConstants(errors: ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf')
  return errors.flatMap((error) => {
    const allowedValues = errors
      .filter(({ keyword, instancePath }) => keyword === 'const' && instancePath === error.instancePath)
      .map(({ params }) => params.allowedValue)
    if (allowedValues.length === 0) return [error]
    if (error.keyword === 'anyOf') return [{ ...error, keyword: 'enum', params: { allowedValues } }]
    return error.keyword === 'const' && choices.some((one) => one.instancePath === error.instancePath) ? [] : [error]
  })
}

/** Messages for people, in place of the validator's messages for programs. */
const inWords: Record<string, (error: ErrorObject) => string | undefined> = {
  required: () => 'must be given',
  type: ({ params }) => `must be ${oneOf([params.type].flat().map((type: string) => typeNames[type] ?? type))}`,
  enum: ({ params }) => `must be one of ${params.allowedValues.join(', ')}`,
  pattern: ({ parentSchema }) => (parentSchema as { [rule]?: string } | undefined)?.[rule],
  minLength: ({ params }) => (params.limit === 1 ? 'must not be empty' : undefined),
  maxLength: ({ params }) => `must be at most ${params.limit} characters`,
  minItems: ({ params }) => (params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} items`),
  maxItems: ({ params }) => `must have at most ${params.limit} items`,
  maxProperties: ({ params }) => `must have at most ${params.limit} names`,
  minimum: ({ params }) => `must be at least ${params.limit}`,
  maximum: ({ params }) => `must be at most ${params.limit}`
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array'
}

const oneOf = (names: string[]) => names.join(', ').replace(/, ([^,]*)$/, ' or $1')

function detailOf(error: ErrorObject): Detail {
  const { keyword, instancePath, message = 'is not valid', params } = error
  // /push_notifications/3/title → push_notifications[3].title, as people write it.
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') steps.push(params.missingProperty)
  const path = steps
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
  return { path: shortPath(path) || 'body', message: inWords[keyword]?.(error) ?? message }
}

/** Reads the parameters that a schema names. Query values are text, so integers and booleans are converted. */
export function queryParser(schema: TSchema): (query: unknown) => Record<string, unknown> {
  const check = validator(schema, 'invalid_parameter')
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {}
  return (query) => {
    const read: Record<string, unknown> = {}
    for (const [name, { type }] of Object.entries(properties)) {
      const text = (query as Record<string, unknown>)[name]
      if (text === undefined) continue
      if (typeof text === 'string' && !isStorable(text)) {
        throw new Refusal('malformed_request', `${name}: holds NUL or a broken escape`)
      }
      read[name] = turned(text, type)
    }
    check(read)
    return read
  }
}

/** Converts only a text that is exactly such a value; the schema refuses any other. */
function turned(text: unknown, type: string | undefined): unknown {
  if (type === 'integer' && typeof text === 'string' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
