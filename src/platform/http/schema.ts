import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Detail, Refusal, type RefusalCode } from '../errors.ts'

/** Checks a value against a schema as it is: nothing is coerced, defaulted or removed. Compiled on first use. */
export function validator(schema: TSchema, code: RefusalCode): (value: unknown) => void {
  let compiled: ReturnType<typeof Compile> | undefined
  return (value) => {
    compiled ??= Compile(schema)
    if (compiled.Check(value)) return
    const details = compiled.Errors(value).slice(0, 20).map(detail)
    const [first] = details
    throw new Refusal(code, first ? `${first.path}: ${first.message}` : 'the value is not valid', details)
  }
}

function detail(error: { instancePath: string; message: string }): Detail {
  // /push_notifications/3/title → push_notifications[3].title, as people write it.
  const steps = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const path = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('')
  return { path: path.replace(/^\./, '') || 'body', message: error.message }
}

/** Query values are text. Turns those the schema wants as integers or booleans, where the text is exactly one. */
export function readQuery(schema: TSchema, query: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {}
  const read: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name]
    if (text === undefined) continue
    if (type === 'integer' && typeof text === 'string' && /^-?\d{1,15}$/.test(text)) read[name] = Number(text)
    else if (type === 'boolean' && (text === 'true' || text === 'false')) read[name] = text === 'true'
    else read[name] = text
  }
  return read
}
