import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Answer } from '../../src/platform/http/openapi/answers.ts'
import type { OpenApi, Operation } from '../../src/platform/http/openapi/openapi.ts'
import type { Schema } from '../../src/platform/http/openapi/schema.ts'
import { givenCampaign } from '../support/campaigns.ts'
import fc from '../support/fuzz.ts'
import { bodyText, bytes, hostileValue, mutated, query, rawSegment, segment } from '../support/hostile.ts'
import type { Json, Reply } from '../support/http.ts'
import { givenUser, results, to } from '../support/messages.ts'
import { startService, type TestProject } from '../support/service.ts'

// Sends every operation of /openapi-complete.json every kind of wrong request. TIDINGS_LONG=1 sends hundreds of times as many.
const long = Boolean(process.env.TIDINGS_LONG)
const runs = long ? 2_000 : 4
/** Every third variant, another third for the next operation; in the long mode all of them. */
const thirdOf = <Variant>(variants: Variant[], turn: number) =>
  long ? variants : variants.filter((_, index) => (index + turn) % 3 === 0)
const service = await startService()
const document: OpenApi = (await service.ask('GET', '/openapi-complete.json')).json
const operations = Object.entries(document.paths)
  // A stream without an end has tests of its own.
  .filter(([path]) => !path.endsWith('/changes'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
  )
type Asked = (typeof operations)[number]

const unlimited = { requests_per_second: 0, client_requests_per_second: 0, triggers_per_second: 0 }
const wish = { mode: 'simulator', limits: unlimited }

/** A project with the things that the examples of the document name. */
async function furnished(): Promise<TestProject> {
  const project = await service.project(wish)
  await givenUser(project, 'ana', 'ana-phone')
  await givenCampaign(service, project, { campaign_id: 'welcome' })
  return project
}
const main = await furnished()
const other = await furnished()
// Operations that change how a project works run on separate projects, and calls to other hosts lead to an address
// without effect.
const faulty = await service.project(wish)
const changing = await service.project(wish)
const calling = await service.project(wish)
const projectFor = ({ path, method }: Asked): TestProject => {
  if (/\/simulator\/faults$/.test(path)) return faulty
  if (/\/webhooks?\b/.test(path)) return calling
  return path === '/manage/v1/projects/{project_id}' && method !== 'GET' ? changing : main
}

const [sent] = await results(main, [to('ana')])
const triggered = await main.call('POST', '/api/v1/campaigns/welcome:trigger', { json: {} })
const known: Record<string, string> = {
  project_user_id: 'ana',
  device_id: 'ana-phone',
  campaign_id: 'welcome',
  message_id: sent.message_id,
  trigger_id: triggered.json.trigger_id,
  gateway: 'apns'
}
const nobody = '01890000-0000-7000-8000-000000000000'

type Headers = Record<string, string | undefined>
function credentials({ operation }: Asked, { id, secretKey }: TestProject): Headers {
  const [scheme = {}] = operation.security
  if ('managementToken' in scheme) return { authorization: `Bearer ${service.adminToken}` }
  if ('agentKey' in scheme) return { 'x-api-key': secretKey, 'a2a-version': '1.0' }
  return 'projectId' in scheme ? { 'x-service-project-id': id, 'x-service-api-key': secretKey } : {}
}

function pathOf(asked: Asked, project: TestProject, values: Record<string, string> = {}): string {
  return asked.path.replace(/\{(\w+)\}/g, (_, name) => {
    if (values[name] !== undefined) return values[name]
    return name === 'project_id' ? project.id : (known[name] ?? nobody)
  })
}

const named = ({ operation }: Asked, place: string) =>
  (operation.parameters ?? []).filter((parameter) => parameter.in === place).map(({ name }) => name)
const exampleOf = ({ operation }: Asked): Json => Object.values(operation.requestBody?.content ?? {})[0]?.example

function answerOf(operation: Operation, status: number): Answer | undefined {
  const answer = operation.responses[status]
  if (!answer || !('$ref' in answer)) return answer
  return document.components.responses[answer.$ref.split('/').at(-1) as keyof OpenApi['components']['responses']]
}

const seen = new Map<number, number>()
let count = 0

/** Rules for every response, whatever the request. */
function assertSound(reply: Reply, asked: Asked, what: string, elsewhere = false): void {
  count += 1
  seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1)
  const said = `${what}\n→ ${reply.status} ${reply.text.slice(0, 300)}`
  assert.ok(reply.status < 500, said)
  assert.ok(reply.headers['x-request-id'], `X-Request-ID: ${said}`)
  if (elsewhere && [400, 404, 405].includes(reply.status)) return
  // A key that is refused without a look-up belongs to no project, so no project counts it.
  if (asked.operation.security.length > 0 && ![401, 403].includes(reply.status))
    for (const name of ['limit', 'remaining', 'reset'])
      assert.match(String(reply.headers[`x-ratelimit-${name}`]), /^\d+$/, `x-ratelimit-${name}: ${said}`)
  const answer = answerOf(asked.operation, reply.status)
  assert.ok(answer || (reply.status === 304 && asked.method === 'GET'), `not documented: ${said}`)
  if (reply.status < 400) return
  if (reply.text === '') {
    assert.equal(answer?.content, undefined, `an empty body: ${said}`)
    return
  }
  const type = String(reply.headers['content-type'])
  if (type.startsWith('text/plain')) {
    const { const: only, enum: some } = (answer?.content?.['text/plain']?.schema ?? {}) as Schema & { const?: string }
    const texts = only === undefined ? some : [only]
    assert.ok(texts?.includes(reply.text), `not a documented text: ${said}`)
    return
  }
  assert.equal(type, 'application/json; charset=utf-8', said)
  if (reply.json.jsonrpc === '2.0') {
    assert.equal(typeof reply.json.error.code, 'number', said)
    return
  }
  assert.equal(typeof reply.json.error, 'string', said)
  if (reply.status !== 429) assert.equal(typeof reply.json.code, 'string', said)
}

const send = (method: string, path: string, headers: Headers, body?: string | Buffer) =>
  service.ask(method, path, { headers, ...(body !== undefined && { body }) })
const shown = (body: string | Buffer | undefined) =>
  body === undefined ? '' : `${body.length} bytes: ${body.toString('latin1').slice(0, 400)}`

const types = [
  'text/plain',
  'application/xml',
  'application/json; charset=latin1',
  'multipart/form-data',
  '',
  'x/y',
  'application/x-ndjson'
]

after(() =>
  console.log(
    `${count} requests: ${[...seen]
      .sort()
      .map(([status, n]) => `${status}: ${n}`)
      .join(', ')}`
  )
)

const hasFixedText = (operation: Operation) => answerOf(operation, 400)?.content?.['text/plain'] !== undefined

/** An example with a change: that of another format, such as CSV, gets any text at any place. */
function changedBody(example: unknown): fc.Arbitrary<string> {
  if (typeof example !== 'string') return mutated(example as Parameters<typeof mutated>[0]).map(bodyText)
  if (example.startsWith('{')) return mutated(JSON.parse(example)).map(bodyText)
  return fc.tuple(fc.nat(example.length), hostileValue).map(([at, value]) => {
    const text = typeof value === 'string' ? value : bodyText(value)
    return `${example.slice(0, at)}${text}${example.slice(at)}`
  })
}

for (const [turn, asked] of operations.entries()) {
  const { method, path, operation } = asked
  const example = exampleOf(asked)
  const project = projectFor(asked)
  const given = credentials(asked, project)
  const json = { ...given, 'content-type': Object.keys(operation.requestBody?.content ?? { 'application/json': 1 })[0] }
  const params = named(asked, 'path').filter((name) => name !== 'project_id' || method === 'GET')
  const queries = named(asked, 'query')

  describe(`${method} ${path}`, () => {
    it('survives any body', async () => {
      if (example === undefined) return
      const body = fc.oneof(
        { weight: 6, arbitrary: changedBody(example) },
        { weight: 1, arbitrary: hostileValue.map(bodyText) },
        { weight: 1, arbitrary: bytes }
      )
      const target = pathOf(asked, project)
      await fc.assert(
        fc.asyncProperty(body, async (text) => {
          const reply = await send(method, target, json, text)
          assertSound(reply, asked, `${method} ${target} ${shown(text)}`)
        }),
        { numRuns: runs * 2, endOnFailure: true }
      )
    })

    it('survives any path and query', async () => {
      if (params.length + queries.length === 0) return
      const values = fc.record(Object.fromEntries(params.map((name) => [name, fc.option(segment, { nil: undefined })])))
      const searched = fc.dictionary(fc.constantFrom(...queries, '__proto__', 'limit'), query, { maxKeys: 3 })
      const body = example === undefined ? undefined : typeof example === 'string' ? example : bodyText(example)
      await fc.assert(
        fc.asyncProperty(values, searched, async (chosen, wanted) => {
          const search = Object.entries(wanted).map(
            ([name, value]) =>
              `${name}=${value.isWellFormed() ? encodeURIComponent(value.slice(0, 2_000)) : '%ed%a0%80'}`
          )
          const target = `${pathOf(asked, project, chosen as Record<string, string>)}?${search.join('&')}`
          const reply = await send(method, target, json, body)
          // Before a verb, a text that is no id may be read as another verb, which does not exist.
          assertSound(reply, asked, `${method} ${target}`, /\}:[a-z-]+$/.test(path))
        }),
        { numRuns: runs, endOnFailure: true }
      )
    })

    it('survives a path without escapes', async () => {
      const all = named(asked, 'path')
      if (all.length === 0) return
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...params, all.at(-1)!), rawSegment, async (name, raw) => {
          // An empty name may lead to the operation above.
          if (raw === '' && method === 'DELETE') return
          const target = pathOf(asked, project, { [name]: raw })
          const reply = await send(method, target, json, example === undefined ? undefined : '{}')
          assertSound(reply, asked, `${method} ${target}`, true)
        }),
        { numRuns: runs / 2, endOnFailure: true }
      )
    })

    it('refuses missing and wrong credentials and those of another project, with any other input', async () => {
      if (operation.security.length === 0) return
      const wrong: Headers[] = Object.keys(given)
        .filter((name) => name !== 'a2a-version')
        .flatMap((name) => [
          { [name]: undefined },
          { [name]: '' },
          { [name]: 'x'.repeat(3_000) },
          { [name]: 'Bearer \xff' },
          { [name]: '__proto__' }
        ])
      if ('x-service-api-key' in given)
        wrong.push({ 'x-service-api-key': other.secretKey }, { 'x-service-project-id': other.id })
      for (const [index, change] of wrong.entries())
        for (const body of thirdOf([undefined, '{', bodyText(example ?? {})], index + turn)) {
          const reply = await send(method, pathOf(asked, project), { ...json, ...change }, body)
          const what = `${method} ${path} ${JSON.stringify(change).slice(0, 100)}`
          assertSound(reply, asked, what)
          assert.equal(reply.status, 401, what)
        }
    })

    it('refuses another content type', async () => {
      if (example === undefined) return
      for (const type of thirdOf(types, turn)) {
        if (type === json['content-type']) continue
        const body = typeof example === 'string' ? example : bodyText(example)
        const reply = await send(method, pathOf(asked, project), { ...given, 'content-type': type }, body)
        assertSound(reply, asked, `${method} ${path} as ${type}`)
        // A.2: endpoints whose only refusal is a fixed text read JSON under the types that clients send by default.
        const read = type === 'text/plain' && hasFixedText(operation)
        const statuses = read ? [200] : [400, 415, 401, 409]
        assert.ok(statuses.includes(reply.status), `${type}: ${reply.status} ${reply.text}`)
      }
    })
  })
}

describe('earlier faults', () => {
  it('unknown fields of a project are neither stored nor audited, at any depth', async () => {
    const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`
    const path = `/projects/${changing.id}`
    const headers = { 'content-type': 'application/json' }
    const body = `{"name":"Renamed","secret":${deep},"limits":{"requests_per_second":0,"more":${deep}}}`
    assert.equal((await service.manage('PATCH', path, { body, headers })).status, 200)
    const [row] = await service.sql('select name, limits from projects where project_id = $1', [changing.id])
    assert.equal(row.name, 'Renamed')
    assert.equal('more' in row.limits, false)
    const [entry] = (await service.manage('GET', `${path}/audit`)).json.items
    const { before, ...now } = entry.details
    assert.deepEqual(now, { name: 'Renamed', limits: { requests_per_second: 0 } })
    assert.deepEqual(Object.keys(before).sort(), ['limits', 'name'])
    assert.equal(JSON.stringify(before).includes('more'), false)
  })

  it('an unknown cursor is refused, also one with NUL or a year outside the range of the database', async () => {
    const lists = operations.filter((asked) => asked.method === 'GET' && named(asked, 'query').includes('cursor'))
    assert.ok(lists.length > 10)
    const parts = [
      ['\0'],
      ['x', '\0'],
      ['2020-01-01T00:00:00.000Z', '\0'],
      ['-271821-04-20T00:00:00.000Z', 'x'],
      [nobody, '\ud800']
    ]
    for (const asked of lists)
      for (const part of parts) {
        const cursor = Buffer.from(JSON.stringify(part)).toString('base64url')
        const target = `${pathOf(asked, main)}?cursor=${cursor}`
        const reply = await send('GET', target, credentials(asked, main))
        assertSound(reply, asked, target)
        assert.equal(reply.status, 400, `${target} ${reply.text}`)
      }
  })
})

describe('limits', () => {
  const letters = (many: number) =>
    Array.from({ length: many }, (_, n) => String.fromCodePoint(0x20000 + ((n * 7_919 + many * 31) % 40_000))).join('')

  it('an activity whose ids are too long for an index is refused, and the longest other ids are accepted', async () => {
    const device = letters(255)
    const made = await main.call('POST', '/api/v1/devices', { json: { devices: [{ id: device, platform: 'IOS' }] } })
    assert.equal(made.status, 200)
    const register = (attributes_type: string, activity_id: string) =>
      main.call('POST', `/api/v1/devices/${encodeURIComponent(device)}/live-activity-update-tokens`, {
        json: { attributes_type, activity_id, push_token: 'a1b2' }
      })
    assert.equal((await register(letters(250), letters(254))).json.code, 'invalid_device')
    assert.equal((await register(letters(250), 'short')).status, 200)
  })

  it('a request for more devices than fit into memory is refused, and nothing is sent', async () => {
    const project = await service.project(wish)
    await givenUser(project, 'many')
    const [{ id: userId }] = await service.sql('select id from users where project_id = $1', [project.id])
    await service.sql(
      `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
       select $1, 'd' || n, $2, 'IOS', true, '{}', now(), now(), now() from generate_series(1, 500) n`,
      [project.id, userId]
    )
    const items = (many: number) => Array.from({ length: many }, () => to('many'))
    const reply = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: items(41) } })
    assert.deepEqual([reply.status, reply.text], [400, 'Invalid push notification parameters'])
    assert.match(String(reply.headers['x-service-error-detail']), /20500 devices/)
    assert.deepEqual(await service.sql('select 1 from messages where project_id = $1', [project.id]), [])
    const fewer = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: items(40) } })
    assert.equal(fewer.status, 200)
  })
})

describe('after all of these requests', () => {
  it('the service is ready, no job has died, and the other project is unchanged', async () => {
    assert.equal((await service.ask('GET', '/readyz')).status, 200)
    await service.app.idle()
    assert.deepEqual(await service.sql('select name, error, payload from dead_jobs'), [])
    assert.deepEqual(await service.sql('select name, attempts, last_error from jobs where last_error is not null'), [])
    const [n] = await service.sql(
      `select (select count(*) from users where project_id = $1)::int as users,
              (select count(*) from devices where project_id = $1)::int as devices,
              (select count(*) from messages where project_id = $1)::int as messages,
              (select count(*) from campaigns where project_id = $1)::int as campaigns`,
      [other.id]
    )
    assert.deepEqual(n, { users: 1, devices: 1, messages: 0, campaigns: 1 })
  })
})
