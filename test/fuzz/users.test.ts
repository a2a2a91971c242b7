import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from '../support/fuzz.ts'
import type { Reply } from '../support/http.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
/** The factor by which `npm run test:long` tries more. */
const more = process.env.TIDINGS_LONG ? 100 : 1
const fixed = 'Project User Id must be provided'

/** Few ids, so that steps collide, and unusual ones. */
const id = fc.constantFrom('ana', 'a/b', 'a b', '%41', 'é', '__proto__', 'constructor', '🧑‍🚀', ':trigger', '0')
const name = fc.oneof(
  fc.constantFrom('plan', '__proto__', 'constructor', 'a.b', 'é'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !text.includes('\0'))
)
const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }).filter((text) => !text.includes('\0')),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null)
)
const properties = fc.array(fc.tuple(name, value), { maxLength: 6 })

type Step =
  | { kind: 'post' | 'patch'; id: string; properties: [string, unknown][] }
  | { kind: 'delete' | 'get'; id: string }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('post' as const, 'patch' as const), id, properties }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'get' as const), id })
)

/** JSON text with these keys in this order, whatever their names. */
const objectText = (entries: [string, unknown][]) =>
  `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${JSON.stringify(inner)}`).join(',')}}`

const json = { 'content-type': 'application/json' }

async function perform(project: TestProject, taken: Step): Promise<Reply> {
  const path = `/api/v1/users/${encodeURIComponent(taken.id)}`
  if (taken.kind === 'post') {
    const body = `{"project_user_id":${JSON.stringify(taken.id)},"properties":${objectText(taken.properties)}}`
    return project.call('POST', '/api/v1/users', { body, headers: json })
  }
  if (taken.kind === 'patch')
    return project.call('PATCH', path, { body: `{"properties":${objectText(taken.properties)}}`, headers: json })
  return project.call(taken.kind === 'delete' ? 'DELETE' : 'GET', path)
}

/** A model of contract 4.1 to 4.3 in a map. */
function expected(store: Map<string, Map<string, unknown>>, taken: Step): [number, Map<string, unknown> | undefined] {
  const user = store.get(taken.id)
  if (taken.kind === 'delete') {
    store.delete(taken.id)
    return [200, undefined]
  }
  if (taken.kind === 'get' || (taken.kind === 'patch' && !user)) return user ? [200, user] : [404, undefined]
  const merged = new Map([...(user ?? []), ...(taken as { properties: [string, unknown][] }).properties])
  store.set(taken.id, merged)
  return [200, merged]
}

const entriesOf = (map: Map<string, unknown>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))
const entriesIn = (text: string) => Object.entries(JSON.parse(text).properties).sort(([a], [b]) => (a < b ? -1 : 1))

describe('the users API agrees with a model of its store', () => {
  it('on every response to any sequence of calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const project = await service.project({ limits: { requests_per_second: 0 } })
        const store = new Map<string, Map<string, unknown>>()
        for (const taken of steps) {
          const [status, user] = expected(store, taken)
          const reply = await perform(project, taken)
          assert.equal(reply.status, status, JSON.stringify(taken))
          if (user) assert.deepEqual(entriesIn(reply.text), entriesOf(user))
          if (taken.kind === 'delete') assert.equal(reply.text, '{}')
        }
      }),
      { numRuns: 30 * more }
    )
  })

  it('on every response when different users are written at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const project = await service.project({ limits: { requests_per_second: 0 } })
        const byUser = Map.groupBy(steps, (taken) => taken.id)
        // Each user's own calls follow each other; those of different users run together and are coalesced.
        await Promise.all(
          [...byUser.values()].map(async (own) => {
            const store = new Map<string, Map<string, unknown>>()
            for (const taken of own) {
              const [status, user] = expected(store, taken)
              const reply = await perform(project, taken)
              assert.equal(reply.status, status, JSON.stringify(taken))
              if (user) assert.deepEqual(entriesIn(reply.text), entriesOf(user))
            }
          })
        )
      }),
      { numRuns: 30 * more }
    )
  })
})

describe('no request, however malformed,', () => {
  const method = fc.constantFrom('POST', 'PATCH', 'DELETE', 'GET', 'PUT', 'HEAD', 'OPTIONS')
  const segment = fc.oneof(
    fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text)),
    fc.string({ unit: fc.constantFrom('%', '2', 'f', 'F', '/', '.', ':', ';', 'z', '0', '+', '~'), maxLength: 12 })
  )
  const path = fc.oneof(
    segment.map((text) => `/api/v1/users/${text}`),
    segment.map((text) => `/api/v1/users${text}`),
    segment.map((text) => `/manage/v1/projects/${text}/users?cursor=${text}`),
    fc.constantFrom('/api/v1/users', '/api/v1/users:batch', '/api/v1/users/')
  )
  const body = fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.string(),
    fc
      .record({
        project_user_id: fc.anything({ maxDepth: 1 }),
        properties: fc.dictionary(fc.string(), fc.anything({ maxDepth: 1 }))
      })
      .map((given) => JSON.stringify(given)),
    fc.string({ unit: 'binary' }).map((text) => `{"project_user_id":"x","properties":{"k":${JSON.stringify(text)}}}`),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes))
  )
  const type = fc.oneof(
    fc.constantFrom('application/json', 'application/json;charset=utf-8', 'text/plain', 'application/x-ndjson'),
    fc.stringMatching(/^[\x20-\x7e]{0,20}$/)
  )

  it('gets a 5xx or a body that the contract does not know', async () => {
    const project = await service.project({ limits: { requests_per_second: 0 } })
    await fc.assert(
      fc.asyncProperty(method, path, body, type, async (verb, url, sent, contentType) => {
        const headers = { 'content-type': contentType, authorization: `Bearer ${service.adminToken}` }
        const reply = await project.call(verb, url.replace(/[^\x21-\x7e]/g, ''), { body: sent ?? '', headers })
        assert.ok(reply.status < 500, `${verb} ${url} → ${reply.status} ${reply.text}`)
        assert.ok(reply.headers['x-request-id'])
        const writes =
          url.startsWith('/api/v1/users') && !url.includes(':batch') && (verb === 'POST' || verb === 'PATCH')
        if (reply.status === 400 && writes && !url.includes('?')) assert.equal(reply.text, fixed)
      }),
      { numRuns: 200 * more }
    )
    assert.equal((await service.ask('GET', '/readyz')).status, 200)
  })
})
