import type { TSchema } from '@sinclair/typebox'
import { shownAs } from '../schema.ts'
import { aboutName, exampleOfName, isTime } from './words.ts'

/** The part of JSON Schema that our declarations use. */
export interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  patternProperties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  format?: string
  description?: string
  default?: unknown
  [keyword: string]: unknown
}

/**
 * A declaration as the docs show it: it accepts the same values, in the form that people and code generators read best.
 */
export const documentedSchema = (declared: TSchema): Schema =>
  tidy(JSON.parse(JSON.stringify(declared, (_, value) => (hasShown(value) ? shown(value) : value))) as Schema)

const hasShown = (value: unknown): value is TSchema => typeof value === 'object' && value !== null && shownAs in value
const shown = (declared: TSchema): TSchema => ({
  ...(declared as { [shownAs]?: TSchema })[shownAs]!,
  ...(declared.description !== undefined && { description: declared.description })
})

function tidy(schema: Schema, name = ''): Schema {
  const { properties, patternProperties, items, anyOf, ...rest } = schema
  const tidied: Schema = { ...rest, ...(anyOf && merge(anyOf.map((choice) => tidy(choice)))) }
  if (properties)
    tidied.properties = Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, tidy(inner, key)]))
  if (items) tidied.items = tidy(items)
  // TypeBox writes a record as a pattern that takes every name.
  const [pattern, values] = Object.entries(patternProperties ?? {})[0] ?? []
  if (pattern === '^.*$') tidied.additionalProperties = tidy(values!)
  else if (patternProperties) tidied.patternProperties = patternProperties
  if (isTime(name) && [tidied.type].flat().includes('string')) tidied.format = 'date-time'
  const about = tidied.description ?? aboutName(name)
  return about === undefined ? tidied : { ...tidied, description: about }
}

/** Literals become an enum, and a type that may be null becomes one type with two names. */
function merge(choices: Schema[]): Schema {
  if (choices.every((choice) => 'const' in choice))
    return { type: typeof choices[0]!.const, enum: choices.map((choice) => choice.const) }
  const others = choices.filter((choice) => choice.type !== 'null')
  const [only] = others
  if (others.length === 1 && choices.length === 2 && typeof only!.type === 'string' && !only!.enum)
    return { ...only, type: [only!.type, 'null'] }
  return { anyOf: choices }
}

/**
 * An example value that the schema accepts. Fields of the example request appear again in the response, as the service
 * would return them.
 */
export function exampleOf(schema: Schema, asked?: unknown, name = ''): unknown {
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!, asked, name)
  const types = [schema.type].flat()
  if (types.includes('object')) return exampleObject(schema, asked, name)
  if (schema.type === 'array') {
    const inner = schema.items ?? {}
    if (Object.keys(inner).length === 0) return []
    const least = Math.max(1, Number(schema.minItems ?? 1))
    const all = Array.isArray(asked) && asked.length > 0 ? asked : Array(least).fill(undefined)
    return all.map((one) => exampleOf(inner, one))
  }
  if (asked !== undefined) return asked
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const named = exampleOfName(name)
  // A name may mean a text in one place and a number in another.
  const known =
    typeof named === 'string' && types.some((type) => type === 'integer' || type === 'number') ? undefined : named
  if (known !== undefined && (known !== null || types.includes('null'))) return known
  if (schema.default !== undefined) return schema.default
  if (types.includes('null')) return null
  if (types.includes('integer') || types.includes('number')) return schema.minimum ?? 0
  return types.includes('boolean') ? true : 'text'
}

function exampleObject(schema: Schema, asked: unknown, name: string): unknown {
  const given = typeof asked === 'object' && asked !== null ? (asked as Record<string, unknown>) : {}
  if (!schema.properties) {
    if (Object.keys(given).length > 0) return given
    return name === 'properties' ? { plan: 'premium' } : {}
  }
  return Object.fromEntries(
    Object.entries(schema.properties).map(([key, inner]) => [
      key,
      exampleOf(inner, Object.hasOwn(given, key) ? given[key] : undefined, key)
    ])
  )
}
