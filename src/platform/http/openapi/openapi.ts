import { http } from '../../net/node-http.ts'
import { version } from '../../version.ts'
import type { DocumentedRoute } from '../route.ts'
import { type Answer, type Content, counted, errorAnswers, type Ref } from './answers.ts'
import { components } from './components.ts'
import { inTagOrder, operationId, pathParameters, pathTemplate, tagOf } from './names.ts'
import { documentedSchema, exampleOf, type Schema } from './schema.ts'
import { aboutName, exampleOfName, tagAbout } from './words.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
  example?: unknown
}

export interface Operation {
  operationId: string
  tags: [string]
  summary: string
  description?: string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, Content> }
  responses: Record<string, Answer | Ref>
  /** Only for our own clients. */
  'x-internal'?: true
}

export interface OpenApi {
  openapi: string
  info: { title: string; version: string; summary: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Omit<typeof components, 'schemas'> & { schemas: Record<string, Schema> }
}

const description = `Two surfaces. **/api/v1** is for your backend, with a project id and a key in two headers.
**/manage/v1** is for administration, with a management token; every path of /api/v1 is also there, below
\`/manage/v1/projects/{project_id}/api/v1\`, for that token.

Bodies are JSON in UTF-8, at most 10 MiB; unknown fields are ignored. Times are RFC 3339 in UTC. Lists take \`limit\` and
\`cursor\` and answer \`items\` and \`next_cursor\`. Refusals are a \`Problem\`, unless the contract fixes a text.`

/** The OpenAPI document of the declared routes: the schema that validates a request also describes it. */
export function buildOpenApi(documented: readonly DocumentedRoute[], baseUrl: string): OpenApi {
  const paths: OpenApi['paths'] = {}
  for (const route of documented) {
    const path = pathTemplate(route.path)
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = operation(route, path)
  }
  const tags = inTagOrder(documented.map((route) => tagOf(pathTemplate(route.path))))
  return {
    openapi: '3.1.0',
    info: { title: 'Tidings', version, summary: 'Users, messages and campaigns over HTTP.', description },
    servers: [{ url: baseUrl }],
    tags: tags.map((name) => ({ name, ...(tagAbout[name] && { description: tagAbout[name] }) })),
    paths,
    components
  }
}

function operation(route: DocumentedRoute, path: string): Operation {
  const answer = route.answer && documentedSchema(route.answer)
  const access = accessText(route)
  const parameters = [
    ...pathParameters(path).map((name) => pathParameter(route, name)),
    ...queryParameters(route),
    ...(route.idempotent ? [idempotencyKey] : [])
  ]
  const body = requestBody(route)
  return {
    operationId: route.operationId ?? operationId(route.method, path, answer?.properties?.items?.type === 'array'),
    tags: [tagOf(path)],
    summary: route.summary,
    ...(route.internal && { 'x-internal': true as const }),
    ...(access && { description: access }),
    security: security[route.security],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: { [route.status ?? 200]: success(route, answer), ...errorAnswers(route) }
  }
}

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Chosen by the caller. A repeat with the same key and bytes gets the first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 }
}

const security = {
  none: [],
  key: [{ projectId: [], apiKey: [] }],
  agent: [{ agentKey: [] }],
  token: [{ managementToken: [] }]
}

function accessText({ security, access }: DocumentedRoute): string | undefined {
  if (security === 'key') return access === 'client' ? 'Takes a secret or a public key.' : 'Takes a secret key.'
  if (security === 'agent') return 'Takes a secret key.'
  if (security === 'none') return undefined
  if (access === 'installation') return 'Takes a token of the whole installation with the role admin.'
  return `Takes a token with the role ${access ?? 'admin'}${access === 'admin' || !access ? '' : ' or higher'}.`
}

function pathParameter({ params }: DocumentedRoute, name: string): Parameter {
  const about = params?.[name] ?? aboutName(name)
  const example = exampleOfName(name)
  return {
    name,
    in: 'path',
    required: true,
    ...(about && { description: about }),
    schema: { type: 'string' },
    ...(example !== undefined && { example })
  }
}

function queryParameters({ query }: DocumentedRoute): Parameter[] {
  if (!query) return []
  const { properties = {}, required = [] } = documentedSchema(query)
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description && { description }),
    schema
  }))
}

function requestBody({ body, bodyKind, bodyType, example }: DocumentedRoute): Operation['requestBody'] {
  if (!body) return undefined
  const schema = documentedSchema(body)
  if (bodyKind === 'stream' || bodyType) {
    const content = { schema, ...(example !== undefined && { example }) }
    return { required: true, content: { [bodyType ?? 'application/x-ndjson']: content } }
  }
  const content = { schema, example: example ?? exampleOf(schema) }
  return { required: bodyKind !== 'optional', content: { 'application/json': content } }
}

function success(route: DocumentedRoute, schema: Schema | undefined): Answer {
  const status = route.status ?? 200
  const headers = route.security === 'none' ? { 'X-Request-ID': counted['X-Request-ID']! } : counted
  const description = http.STATUS_CODES[status]!
  if (status === 204) return { description, headers }
  const type = route.answerType ?? 'application/json'
  const content: Content = schema
    ? { schema, example: exampleOf(schema, route.example) }
    : { schema: type === 'application/json' ? {} : { type: 'string' } }
  return { description, headers, content: { [type]: content } }
}
