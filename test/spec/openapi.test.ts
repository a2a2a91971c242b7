import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'
import { publicDocument } from '../../scripts/client/document.ts'
import { printOperations, printSchemas } from '../../scripts/client/types.ts'
import type { Answer, Content } from '../../src/platform/http/openapi/answers.ts'
import { pathTemplate } from '../../src/platform/http/openapi/names.ts'
import type { OpenApi, Operation } from '../../src/platform/http/openapi/openapi.ts'
import type { Schema } from '../../src/platform/http/openapi/schema.ts'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { calls } from './openapi-calls.ts'

// Fastify announces its instances here, so the test sees the real routes without a special access for tests. It takes a
// process of its own, because the instances of other files would otherwise be included.
const registered: string[] = []
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) registered.push(`${name} ${url}`)
  })
})

const service = await startService()
const document: OpenApi = (await service.ask('GET', '/openapi-complete.json')).json
const published: OpenApi = (await service.ask('GET', '/openapi.json')).json
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
)

const answerOf = (operation: Operation, status: string | number): Answer => {
  const answer = operation.responses[status]
  assert.ok(answer, `${operation.operationId} documents ${status}`)
  if (!('$ref' in answer)) return answer
  return document.components.responses[answer.$ref.split('/').at(-1) as keyof OpenApi['components']['responses']]
}
const successOf = (operation: Operation) => {
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2'))!
  return { status: Number(status), ...answerOf(operation, status) }
}

const ajv = new Ajv2020({
  strict: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ }
})

/** By the text of the schema: many operations have the same, and compiling takes much longer than checking. */
const checks = new Map<string, ValidateFunction>()

function assertPasses(schema: unknown, value: unknown, what: string): void {
  const text = JSON.stringify(schema)
  const check = checks.get(text) ?? ajv.compile(schema as object)
  checks.set(text, check)
  check(value)
  const errors = check.errors ?? []
  assert.deepEqual(errors, [], `${what}: ${JSON.stringify(value)}`)
}

/** The same schema without room for unnamed fields: every returned field must be documented. */
function closed(schema: Schema): Schema {
  const { properties, items, anyOf } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, closed(inner)])),
      additionalProperties: false
    }),
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map(closed) })
  }
}

describe('GET /openapi.json and /openapi-complete.json', () => {
  it('are valid OpenAPI 3.1 documents', async () => {
    for (const one of [document, published]) {
      const result = await new Validator().validate(structuredClone(one) as unknown as Record<string, unknown>)
      assert.deepEqual(result.errors ?? [], [])
      assert.ok(result.valid)
      assert.match(one.openapi, /^3\.1\./)
    }
  })

  it('needs no credentials, names the address it was asked at, and is answered 304 when unchanged', async () => {
    assert.deepEqual(document.servers, [{ url: service.url }])
    const there = await service.ask('GET', '/openapi.json', { headers: { host: 'api.example.test' } })
    assert.deepEqual(there.json.servers, [{ url: 'http://api.example.test' }])
    const odd = await service.ask('GET', '/openapi.json', { headers: { host: 'a"<b>' } })
    assert.deepEqual(odd.json.servers, [{ url: 'http://localhost' }])
    const again = await service.ask('GET', '/openapi.json', { headers: { 'if-none-match': there.headers.etag } })
    assert.equal(again.status, 200, 'another address is another document')
    const headers = { host: 'api.example.test', 'if-none-match': there.headers.etag }
    const same = await service.ask('GET', '/openapi.json', { headers })
    assert.deepEqual([same.status, same.text], [304, ''])
  })

  it('describes every route the service has, apart from twins, pages, another protocol and those that only refuse', () => {
    const twin = /^\S+ \/manage\/v1\/projects\/:project_id\/(api\/v1|a2a)(\/|$)/
    const refusing = /^(PATCH|DELETE) \/api\/v1\/users\/?$|^POST (\/api\/v1\/users|\/a2a)\/$/
    const segment = /^\S+ \/v1\//
    const page = /^GET \/((console|docs)(\/\*)?)?$/
    const expected = registered
      .filter((route) => ![/^(HEAD|OPTIONS) /, twin, refusing, segment, page].some((pattern) => pattern.test(route)))
      .map((route) => route.replace(/ .*/, (path) => pathTemplate(path)))
    assert.ok(expected.length > 20)
    assert.deepEqual(operations.map(({ method, path }) => `${method} ${path}`).sort(), expected.sort())
  })

  it('gives every operation a name of its own, a summary, a tag, and a meaning to each parameter', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    const tags = document.tags.map(({ name }) => name)
    for (const { operation, path } of operations) {
      assert.match(operation.operationId, /^[a-z][A-Za-z0-9]+$/)
      assert.ok(operation.summary)
      assert.ok(tags.includes(operation.tags[0]))
      const parameters = operation.parameters ?? []
      for (const { name, description } of parameters) assert.ok(description, `${operation.operationId} ${name}`)
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`)
      assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? [])
    }
  })

  it('has examples that its own schemas accept, of bodies and of answers', () => {
    for (const { operation } of operations) {
      const contents: Record<string, Content> = { ...operation.requestBody?.content, ...successOf(operation).content }
      if (operation.requestBody?.content['application/json']) {
        const { schema, example } = operation.requestBody.content['application/json']
        assert.notEqual(example, undefined, operation.operationId)
        assertPasses(schema, example, `body of ${operation.operationId}`)
      }
      for (const { schema, example } of Object.values(contents))
        if (example !== undefined) assertPasses(schema, example, operation.operationId)
    }
  })

  it('describes errors as the contract does', () => {
    const { patch, delete: remove } = document.paths['/api/v1/users/{project_user_id}']!
    assert.equal(answerOf(patch!, 404).content, undefined, 'an empty body')
    assert.equal(remove!.responses[404], undefined, 'delete user never answers 404')
    for (const operation of [patch!, remove!, document.paths['/api/v1/users']!.post!]) {
      const { schema } = answerOf(operation, 400).content!['text/plain']!
      assert.equal((schema as Schema).const, 'Project User Id must be provided')
      assert.equal(operation.responses[415], undefined, 'a wrong type is the fixed 400')
    }
    for (const [path, text] of [
      ['/api/v1/messages:send', 'Invalid push notification parameters'],
      ['/api/v1/live-activities:start', 'Invalid live activity parameters']
    ] as const) {
      const { post } = document.paths[path]!
      assert.equal((answerOf(post!, 400).content!['text/plain']!.schema as Schema).const, text)
      assert.ok(answerOf(post!, 409).content!['text/plain'], 'the idempotency key is taken')
      assert.ok(post!.parameters!.some(({ name, in: place }) => name === 'Idempotency-Key' && place === 'header'))
    }
  })
})

describe('the document to generate clients from', () => {
  const text = JSON.stringify(published)
  const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })

  it('has the public API only: nothing of the console, the browser client, monitoring and agents', () => {
    for (const path of Object.keys(published.paths)) assert.match(path, /^\/(api|manage)\/v1\//)
    const left = operations.filter(({ path, method }) => !published.paths[path]?.[method.toLowerCase()])
    for (const { path } of left)
      assert.match(path, /^(?!\/(api|manage)\/v1\/)|\/account\b|\/changes$|\/web-push\/simulated-/, path)
    const tags = new Set(
      Object.values(published.paths).flatMap((one) => Object.values(one).flatMap(({ tags }) => tags))
    )
    assert.deepEqual(published.tags.map(({ name }) => name).sort(), [...tags].sort())
  })

  it('refers to each schema by its name, wherever it occurs', () => {
    const answer = (path: string, method: string, status = 200) =>
      (published.paths[path]![method]!.responses[status] as Answer).content!['application/json']!.schema as Schema
    assert.deepEqual(answer('/api/v1/triggers/{trigger_id}', 'get'), named('Trigger'))
    assert.deepEqual(answer('/api/v1/triggers', 'get').properties!.items!.items, named('Trigger'))
    assert.deepEqual(answer('/api/v1/messages:send', 'post'), named('DeliveryResults'))
    assert.deepEqual(answer('/manage/v1/projects/{project_id}/campaigns/{campaign_id}', 'get'), named('Campaign'))
    const { Device, Message, User, Problem } = published.components.schemas
    for (const schema of [Device, Message, User, Problem]) assert.equal(schema!.type, 'object')
    const hours = published.components.schemas.Project!.properties!.quiet_hours!
    assert.deepEqual(hours.anyOf, [named('QuietHours'), { type: 'null' }])
  })

  it('uses every name, and every reference leads somewhere', () => {
    const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
    assert.deepEqual([...used].sort(), Object.keys(published.components.schemas).sort())
  })

  it('is what the types of the client are printed from (npm run docs)', async () => {
    assert.deepEqual(Object.keys(publicDocument().paths), Object.keys(published.paths))
    for (const [file, print] of [
      ['schemas.ts', printSchemas],
      ['operations.ts', printOperations]
    ] as const)
      assert.equal(await readFile(join(import.meta.dirname, '../../src/client', file), 'utf8'), print(published))
  })

  it('describes the same values as the complete one', () => {
    for (const [path, methods] of Object.entries(published.paths))
      for (const [method, { requestBody, responses, operationId }] of Object.entries(methods)) {
        const whole = document.paths[path]![method]!
        assert.deepEqual(withoutNames({ requestBody, responses }), withoutNames(whole), operationId)
      }
  })

  /** Bodies with each reference to a schema replaced by the schema, and without descriptions. */
  function withoutNames({
    requestBody,
    responses
  }: { [Part in keyof Operation]?: Operation[Part] | undefined }): unknown {
    const resolved = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(resolved)
      if (typeof value !== 'object' || value === null) return value
      const name = /^#\/components\/schemas\/(\w+)$/.exec(value.$ref)?.[1]
      if (name) return resolved(published.components.schemas[name])
      const { description: _, default: __, anyOf, ...rest } = value
      const choices = anyOf && resolved(anyOf)
      if (choices?.length === 2 && choices[1].type === 'null' && JSON.stringify(choices[1]) === '{"type":"null"}') {
        const [one] = choices
        const type = [...[one.type].flat(), 'null'].sort()
        return { ...one, type, ...(one.enum && { enum: [...one.enum, null] }) }
      }
      const inner = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, resolved(each as Json)]))
      if (Array.isArray(inner.type)) inner.type.sort()
      return { ...inner, ...(choices && { anyOf: choices }) }
    }
    return resolved({ requestBody, responses } as Json)
  }
})

describe('responses match their documentation', () => {
  const refused = operations.filter(({ operation }) => operation.security.length > 0)
  it(`without credentials, ${refused.length} operations answer their documented 401`, async () => {
    for (const { method, path, operation } of refused) {
      const reply = await service.ask(method, path.replace(/\{(\w+)\}/g, '$1'))
      assert.equal(reply.status, 401, operation.operationId)
      const [[type, { schema }]] = Object.entries(answerOf(operation, 401).content!) as [[string, Content]]
      assert.ok(reply.headers['content-type']?.startsWith(type), operation.operationId)
      const resolved = '$ref' in schema ? document.components.schemas.Problem : schema
      assertPasses(resolved, type === 'text/plain' ? reply.text : reply.json, operation.operationId)
    }
  })

  it('every operation on users, devices, events, projects and gateways, and around them, answers by its schema', async () => {
    const table = await calls(service)
    const tried = /^(Users|Devices|Events|Messages|Live Activities|Projects|Gateways|Simulator|Campaigns|Triggers)$/
    for (const { operation } of operations)
      if (tried.test(operation.tags[0])) assert.ok(table[operation.operationId], operation.operationId)
    for (const [id, ask] of Object.entries(table)) {
      const found = operations.find(({ operation }) => operation.operationId === id)
      assert.ok(found, `${id} is documented`)
      const { status, content, headers = {} } = successOf(found.operation)
      const reply = await ask()
      assert.equal(reply.status, status, `${id}: ${reply.text}`)
      for (const name of Object.keys(headers)) assert.ok(reply.headers[name.toLowerCase()], `${id} sends ${name}`)
      const [[type, { schema }]] = Object.entries(content!) as [[string, Content]]
      assert.ok(reply.headers['content-type']?.startsWith(type), `${id}: ${reply.headers['content-type']}`)
      if (type === 'application/json') assertPasses(closed(schema as Schema), reply.json, id)
    }
  })
})

describe('GET /docs/api', async () => {
  const reply = await service.ask('GET', '/docs/api')
  const page = reply.text

  it('shows every operation and links to it', () => {
    assert.equal(reply.status, 200)
    assert.match(reply.headers['content-type']!, /^text\/html/)
    for (const { operation } of operations) {
      assert.ok(page.includes(`<article id="${operation.operationId}"`), operation.operationId)
      assert.ok(page.includes(`href="#${operation.operationId}"`), operation.operationId)
    }
    const anchors = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!)
    for (const id of anchors) assert.ok(page.includes(` id="${id}"`), `#${id} leads somewhere`)
  })

  it('refers to nothing outside itself, and its policy forbids it', () => {
    const references = [...page.matchAll(/\b(?:src|href|action|data)="([^"]*)"/g)].map(([, target]) => target!)
    assert.ok(references.length > 50)
    for (const target of references) assert.match(target, /^(#|data:|\/openapi\.json$)/)
    assert.doesNotMatch(page, /@import|url\(/)
    const policy = String(reply.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none';/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  })

  it('is built for the address it is read at', async () => {
    assert.ok(page.includes(`${service.url}/api/v1/users`))
    assert.ok(!page.includes('.invalid'))
    const odd = await service.ask('GET', '/docs/api', { headers: { host: '"><script>alert(1)</script>' } })
    assert.equal(odd.text.match(/<script\b/g)?.length, 1)
  })
})
