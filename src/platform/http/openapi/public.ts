import type { TSchema } from '@sinclair/typebox'
import type { Content } from './answers.ts'
import type { OpenApi, Operation } from './openapi.ts'
import { documentedSchema, type Schema } from './schema.ts'

/** The two surfaces that people call from their own code. Agents and monitoring have protocols of their own. */
const isPublic = (path: string): boolean => /^\/(api|manage)\/v1\//.test(path)

/**
 * The document from which people generate clients: the public operations of the complete one, with a reference wherever
 * a schema has a name.
 */
export function publicOpenApi(complete: OpenApi, names: Readonly<Record<string, TSchema>>): OpenApi {
  const { named, refer } = naming(names)
  const paths: OpenApi['paths'] = {}
  for (const [path, methods] of Object.entries(complete.paths)) {
    const kept = Object.entries(methods).filter(([, operation]) => isPublic(path) && !operation['x-internal'])
    if (kept.length > 0)
      paths[path] = Object.fromEntries(kept.map(([method, operation]) => [method, withReferences(operation, refer)]))
  }
  const tags = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)))
  return {
    ...complete,
    tags: complete.tags.filter(({ name }) => tags.has(name)),
    paths,
    components: { ...complete.components, schemas: { ...complete.components.schemas, ...named } }
  }
}

type Refer = (schema: Schema) => Schema

function withReferences(operation: Operation, refer: Refer): Operation {
  const contents = (content: Record<string, Content>) =>
    Object.fromEntries(
      Object.entries(content).map(([type, { schema, ...rest }]) => [type, { schema: refer(schema as Schema), ...rest }])
    )
  const { parameters, requestBody, responses } = operation
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map((one) => ({ ...one, schema: refer(one.schema) })) }),
    ...(requestBody && { requestBody: { ...requestBody, content: contents(requestBody.content) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => [
        status,
        'content' in answer && answer.content ? { ...answer, content: contents(answer.content) } : answer
      ])
    )
  }
}

function naming(names: Readonly<Record<string, TSchema>>): { named: Record<string, Schema>; refer: Refer } {
  const nameOf = new Map<string, string>()
  const schemas = Object.entries(names).map(([name, declared]) => {
    const schema = withoutNull(documentedSchema(declared))
    const known = nameOf.get(fingerprint(schema))
    if (known) throw new Error(`The schemas ${known} and ${name} are the same: one name is enough.`)
    nameOf.set(fingerprint(schema), name)
    return [name, schema] as const
  })

  function refer(schema: Schema): Schema {
    const name = nameOf.get(fingerprint(withoutNull(schema)))
    if (!name) return inside(schema, refer)
    const reference = { $ref: `#/components/schemas/${name}` }
    const about = schema.description !== undefined && { description: schema.description }
    return isNullable(schema) ? { anyOf: [reference, { type: 'null' }], ...about } : { ...reference, ...about }
  }
  return { named: Object.fromEntries(schemas.map(([name, schema]) => [name, inside(schema, refer)])), refer }
}

/** The schema with other schemas in its fields, entries and choices. */
function inside(schema: Schema, change: (inner: Schema) => Schema): Schema {
  const { properties, items, anyOf, additionalProperties: others } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, change(inner)]))
    }),
    ...(items && { items: change(items) }),
    ...(anyOf && { anyOf: anyOf.map(change) }),
    ...(typeof others === 'object' && { additionalProperties: change(others) })
  }
}

const isNullable = ({ type, enum: values }: Schema): boolean =>
  Array.isArray(type) && type.includes('null') && (!values || values.includes(null))

/** The schema of the values that are not null. */
function withoutNull(schema: Schema): Schema {
  if (!isNullable(schema)) return schema
  const others = (schema.type as string[]).filter((type) => type !== 'null')
  if (others.length !== 1) return schema
  return {
    ...schema,
    type: others[0]!,
    ...(schema.enum && { enum: schema.enum.filter((value) => value !== null) })
  }
}

/** Equal for schemas that accept the same values; descriptions and a default of the whole do not count. */
function fingerprint({ description: _, default: __, ...schema }: Schema): string {
  const sorted = (value: unknown, isFields = false): unknown => {
    if (Array.isArray(value)) return value.map((one) => sorted(one))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([key]) => isFields || key !== 'description')
    return Object.fromEntries(
      entries
        .sort(([one], [two]) => (one < two ? -1 : 1))
        .map(([key, inner]) => [key, sorted(inner, !isFields && key === 'properties')])
    )
  }
  return JSON.stringify(sorted(schema))
}
