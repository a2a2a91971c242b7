import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Detail, Refusal, type RefusalCode } from '../errors.ts'
import { isStorable } from './body.ts'

/** Codes for faults in certain fields of a body, where a caller can act on them; all others get the general one. */
export type FieldCodes = Readonly<Record<string, RefusalCode>>

/** Checks a value against a schema as it is: nothing is coerced, defaulted or removed. Compiled on first use. */
export function validator(schema: TSchema, code: RefusalCode, fieldCodes: FieldCodes = {}): (value: unknown) => void {
  let compiled: ReturnType<typeof Compile> | undefined
  return (value) => {
    compiled ??= Compile(schema)
    if (compiled.Check(value)) return
    const details = compiled.Errors(value).slice(0, 20).flatMap(detailsOf)
    const [first = { path: 'body', message: 'is not valid' }] = details
    const [field = ''] = first.path.split(/[.[]/)
    throw new Refusal(fieldCodes[field] ?? code, `${first.path}: ${first.message}`, details)
  }
}

interface SchemaError {
  keyword: string
  instancePath: string
  message: string
  params: object
}

function detailsOf({ keyword, instancePath, message, params }: SchemaError): Detail[] {
  // /push_notifications/3/title → push_notifications[3].title, as people write it.
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const path = steps
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
  if (keyword !== 'required') return [{ path: path || 'body', message }]
  const { requiredProperties } = params as { requiredProperties: string[] }
  return requiredProperties.map((name) => ({ path: path ? `${path}.${name}` : name, message: 'must be given' }))
}

/** Reads the parameters a schema names. Query values are text: those it wants as integers or booleans are turned. */
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

/** Only where the text is exactly one; anything else is left for the schema to refuse. */
function turned(text: unknown, type: string | undefined): unknown {
  if (type === 'integer' && typeof text === 'string' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
