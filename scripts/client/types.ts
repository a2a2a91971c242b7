import type { OpenApi, Operation } from '../../src/platform/http/openapi/openapi.ts'
import type { Schema } from '../../src/platform/http/openapi/schema.ts'

const heading = '// Printed from /openapi.json by `npm run docs`. Do not edit.\n'

/** The text of src/client/schemas.ts: a type for each named schema. */
export function printSchemas({ components }: OpenApi): string {
  const interfaces = Object.fromEntries(Object.entries(components.schemas).filter(([, schema]) => isInterface(schema)))
  const types = Object.entries(components.schemas).map(([name, schema]) => {
    const about = comment(schema.description, '')
    if (!isInterface(schema)) return `${about}export type ${name} = ${typeOf(schema, '')}`
    const base = baseOf(schema, interfaces)
    return base
      ? `${about}export interface ${name} extends ${base} ${typeOf(without(schema, interfaces[base]!), '')}`
      : `${about}export interface ${name} ${typeOf(schema, '')}`
  })
  return `${heading}\n${types.join('\n\n')}\n`
}

const isInterface = (schema: Schema): boolean =>
  schema.type === 'object' && schema.properties !== undefined && schema.additionalProperties === undefined

/** The largest other schema all of whose fields this one has too, alike, with more besides: a saved campaign is a campaign. */
function baseOf(schema: Schema, interfaces: Record<string, Schema>): string | undefined {
  const sizeOf = ({ properties }: Schema) => Object.keys(properties!).length
  const [largest] = Object.entries(interfaces)
    .filter(
      ([, other]) => sizeOf(other) >= fewestInherited && sizeOf(other) < sizeOf(schema) && contains(schema, other)
    )
    .sort(([, one], [, other]) => sizeOf(other) - sizeOf(one))
  return largest?.[0]
}

/** Fewer fields in common are likely to be alike by chance. */
const fewestInherited = 5

const contains = (schema: Schema, other: Schema): boolean =>
  Object.entries(other.properties!).every(
    ([name, field]) =>
      JSON.stringify(schema.properties![name]) === JSON.stringify(field) &&
      Boolean(schema.required?.includes(name)) === Boolean(other.required?.includes(name))
  )

const without = (schema: Schema, base: Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties!).filter(([name]) => !(name in base.properties!)))
})

/** The text of src/client/operations.ts: what each operation takes and returns, and where it is. */
export function printOperations({ paths }: OpenApi): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )
  const types = all.map(({ operation }) => printOperation(operation)).join('\n')
  const used = new Set([...types.matchAll(/\bs\.(\w+)/g)].map(([, name]) => name!))
  const places = all.map(({ path, method, operation }) => {
    const keyed = operation.parameters?.some(({ name }) => name === 'Idempotency-Key')
    return `  ${operation.operationId}: ['${method}', '${path}'${keyed ? ", 'keyed'" : ''}]`
  })
  return `${heading}
${used.size > 0 ? "import type * as s from './schemas.ts'\n" : ''}
export interface Operations {
${types}
}

/** The method and the path of each operation, and whether it takes an idempotency key. */
export const operations: Record<keyof Operations, readonly [method: string, path: string, keyed?: 'keyed']> = {
${places.join(',\n')}
}
`
}

function printOperation({
  operationId,
  summary,
  description,
  parameters = [],
  requestBody,
  responses
}: Operation): string {
  const among = (place: string) => parameters.filter((one) => one.in === place)
  const fields = (place: string): string[] => {
    const found = among(place)
    if (found.length === 0) return []
    const isNeeded = found.some(({ required }) => required)
    const inner = found.map(
      ({ name, required, schema, description }) =>
        `${comment(description?.replace(/[,;] percent-encoded[^.]*/, ''), '      ')}      ${quoted(name)}${required ? '' : '?'}: ${typeOf(schema, '      ', 's.')}`
    )
    return [`    ${place}${isNeeded ? '' : '?'}: {\n${inner.join('\n')}\n    }`]
  }
  const [[type, body] = []] = Object.entries(requestBody?.content ?? {})
  const sent = type === 'application/json' ? typeOf(body!.schema as Schema, '    ', 's.') : 'string'
  const parts = [
    ...fields('path'),
    ...fields('query'),
    ...(body ? [`    body${requestBody!.required ? '' : '?'}: ${sent}`] : []),
    `    result: ${resultOf(responses)}`
  ]
  const about = comment([summary, description].filter(Boolean).join('. ').replace(/\.\. /, '. '), '  ')
  return `${about}  ${operationId}: {\n${parts.join('\n')}\n  }`
}

function resultOf(responses: Operation['responses']): string {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2'))!
  const [[type, content] = []] = Object.entries(('content' in answer && answer.content) || {})
  if (!content) return 'undefined'
  if (type === 'application/json') return typeOf(content.schema as Schema, '    ', 's.')
  return 'string'
}

/** The type of the values that a schema accepts. */
function typeOf(schema: Schema, indent: string, prefix = ''): string {
  if (typeof schema.$ref === 'string') return prefix + schema.$ref.split('/').at(-1)
  if (schema.enum) return either(schema.enum.map((value) => JSON.stringify(value)))
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) return either(schema.anyOf.map((one) => typeOf(one, indent, prefix)))
  const types = [schema.type].flat()
  return either(types.map((type) => plainType(type, schema, indent, prefix)))
}

function plainType(type: string | undefined, schema: Schema, indent: string, prefix: string): string {
  if (type === 'object') return objectType(schema, indent, prefix)
  if (type === 'array') {
    const inner = typeOf(schema.items ?? {}, indent, prefix)
    return /[|&]/.test(inner.replace(/\{[\s\S]*\}/, '')) ? `(${inner})[]` : `${inner}[]`
  }
  return type === 'integer' ? 'number' : (type ?? 'unknown')
}

function objectType(schema: Schema, indent: string, prefix: string): string {
  const { properties = {}, required = [], additionalProperties: others, patternProperties } = schema
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${comment(field.description, inner)}${inner}${quoted(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field, inner, prefix)}`
  )
  const [pattern] = Object.values(patternProperties ?? {})
  const rest = typeof others === 'object' ? others : pattern
  if (fields.length === 0 && !rest) return schema.properties ? 'Record<string, never>' : 'Record<string, unknown>'
  if (fields.length === 0) return `Record<string, ${typeOf(rest!, indent, prefix)}>`
  if (rest) fields.push(`${inner}[name: string]: unknown`)
  return `{\n${fields.join('\n')}\n${indent}}`
}

const either = (types: string[]): string => [...new Set(types)].join(' | ')
const quoted = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))
const comment = (text: string | undefined, indent: string): string =>
  text ? `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n` : ''
