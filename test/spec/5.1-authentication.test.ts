import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually, startService } from '../support/service.ts'

const service = await startService()
const project = await service.project()
const other = await service.project()
const endpoints = [
  ['POST', '/api/v1/users'],
  ['PATCH', '/api/v1/users/ana'],
  ['DELETE', '/api/v1/users/ana'],
  ['GET', '/api/v1/users/ana'],
  ['POST', '/api/v1/users:batch'],
  ['PATCH', '/api/v1/users'],
  ['PATCH', '/api/v1/users/%zz']
] as const

const headers = (id?: string, key?: string) => ({ 'x-service-project-id': id, 'x-service-api-key': key })

describe('every endpoint of /api/v1 wants both headers (spec 5.1)', () => {
  const refused: [string, Record<string, string | undefined>, string][] = [
    ['no headers', headers(), 'Missing project id'],
    ['an empty project id', headers('', project.secretKey), 'Missing project id'],
    ['no key', headers(project.id), 'Missing API key'],
    ['an empty key', headers(project.id, ''), 'Missing API key'],
    ['a wrong key', headers(project.id, 'svc_sk_wrong'), 'Invalid API key'],
    ['an unknown project', headers('nowhere', project.secretKey), 'Invalid API key'],
    ["another project's key", headers(project.id, other.secretKey), 'Invalid API key'],
    ['a public key', headers(project.id, project.publicKey), 'Invalid API key'],
    ['a key with other letter case', headers(project.id, project.secretKey.toUpperCase()), 'Invalid API key'],
    ['a key with odd bytes', headers(project.id, 'svc_sk_\xe9\xff'), 'Invalid API key'],
    ['a long key', headers(project.id, 'x'.repeat(8_000)), 'Invalid API key']
  ]
  for (const [what, given, text] of refused) {
    it(`${what} gives 401 ${text}, before anything is parsed`, async () => {
      for (const [method, path] of endpoints) {
        const reply = await service.ask(method, path, {
          body: '{broken',
          headers: { ...given, 'content-type': 'text/weird' }
        })
        assert.deepEqual([reply.status, reply.text], [401, text], `${method} ${path}`)
        assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
        assert.equal(reply.headers['x-service-error-code'], text.toLowerCase().replaceAll(' ', '_'))
        // For a public key the header says more; the body does not.
        const header = text === 'Missing project id' ? 'X-Service-Project-ID' : 'X-Service-API-Key'
        const detail = text.startsWith('Missing') ? `${header}: must be given` : text
        if (what !== 'a public key') assert.equal(reply.headers['x-service-error-detail'], detail)
        assert.ok(reply.headers['x-request-id'])
        assert.equal(reply.headers['x-ratelimit-limit'], undefined, 'limits are for callers we know')
      }
    })
  }
})

describe('a key in another place, or of another kind', () => {
  for (const [what, given, detail] of [
    [
      'as a bearer token',
      { authorization: `Bearer ${project.secretKey}` },
      'X-Service-API-Key: must be given; Authorization is not read here'
    ],
    [
      'as of an agent',
      { 'x-api-key': project.secretKey },
      'X-Service-API-Key: must be given; X-API-Key is not read here'
    ],
    [
      'a management token',
      { 'x-service-api-key': service.adminToken },
      /^X-Service-API-Key: a management token was given; .*svc_sk_/
    ]
  ] as const)
    it(`(${what}) is refused with the place where it belongs`, async () => {
      const reply = await service.ask('GET', '/api/v1/users/x', {
        headers: { 'x-service-project-id': project.id, ...given }
      })
      assert.equal(reply.status, 401)
      const said = String(reply.headers['x-service-error-detail'])
      if (typeof detail === 'string') assert.equal(said, detail)
      else assert.match(said, detail)
    })
})

describe('keys', () => {
  it('a revoked key is refused at once on this node and within a second on another, with NOTIFY or without', async () => {
    const node = await service.another({ BOOTSTRAP_ADMIN_TOKEN: service.adminToken })
    const { key, id } = (
      await service.manage('POST', `/projects/${project.id}/keys`, { json: { kind: 'secret', name: 'short' } })
    ).json
    const use = (from: typeof service) => from.ask('GET', '/api/v1/users/x', { headers: headers(project.id, key) })
    assert.equal((await use(service)).status, 404)
    assert.equal((await use(node)).status, 404)
    assert.equal((await service.manage('DELETE', `/projects/${project.id}/keys/${id}`)).status, 200)
    assert.equal((await use(service)).status, 401)
    await eventually(async () => assert.equal((await use(node)).status, 401), 1_000)
    await node.close()
  })

  it('a key deleted behind the back of every node, so that no NOTIFY is sent, is refused within a second', async () => {
    const { key, id } = (
      await service.manage('POST', `/projects/${project.id}/keys`, { json: { kind: 'secret', name: 'quiet' } })
    ).json
    const use = () => service.ask('GET', '/api/v1/users/x', { headers: headers(project.id, key) })
    assert.equal((await use()).status, 404)
    await service.sql('delete from api_keys where id = $1', [id])
    await eventually(async () => assert.equal((await use()).status, 401), 1_000)
  })

  it('are stored only as a hash, and their last use is known', async () => {
    const own = await service.project()
    await own.call('GET', '/api/v1/users/x')
    const rows = await service.sql('select * from api_keys where project_id = $1', [own.id])
    assert.equal(rows.length, 2)
    assert.ok(!JSON.stringify(rows).includes(own.secretKey.slice(12)))
    const keys = (await service.manage('GET', `/projects/${own.id}/keys`)).json.items
    assert.deepEqual(keys.map((key: { kind: string }) => key.kind).sort(), ['public', 'secret'])
    assert.ok(keys.every((key: object) => !('key' in key) && !('hash' in key)))
  })
})

describe('rate limits (settled)', () => {
  it('answer 429 with Retry-After and the limits, after 401 and before 400', async () => {
    // This node grants the whole limit once it knows that the other one left.
    await eventually(async () => assert.equal((await service.manage('GET', '/nodes')).json.items.length, 1))
    const slow = await service.project({ limits: { requests_per_second: 2 } })
    const replies = []
    for (let index = 0; index < 6; index += 1)
      replies.push(await slow.call('POST', '/api/v1/users', { body: 'broken' }))
    const refused = replies.find((reply) => reply.status === 429)
    assert.ok(refused, 'two a second are not six')
    assert.equal(replies[0]!.status, 400)
    assert.equal(replies[0]!.headers['x-ratelimit-limit'], '2')
    assert.equal(replies[0]!.headers['x-ratelimit-remaining'], '1')
    assert.equal(refused.text, '{"error":"Too Many Requests"}')
    assert.ok(Number(refused.headers['retry-after']) >= 1)
    assert.equal(refused.headers['x-ratelimit-remaining'], '0')
    assert.ok(Math.abs(Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000) < 5)
    const stranger = await service.ask('POST', '/api/v1/users', { headers: headers(slow.id, 'svc_sk_no') })
    assert.equal(stranger.status, 401)
  })

  it('of one project leave another alone, and 0 is no limit', async () => {
    const slow = await service.project({ limits: { requests_per_second: 1 } })
    const free = await service.project({ limits: { requests_per_second: 0 } })
    await Promise.all(Array.from({ length: 20 }, () => slow.call('GET', '/api/v1/users/x')))
    const replies = await Promise.all(Array.from({ length: 50 }, () => free.call('GET', '/api/v1/users/x')))
    assert.ok(replies.every((reply) => reply.status === 404))
    assert.equal(replies[0]!.headers['x-ratelimit-limit'], '0')
  })

  it('are shared by the nodes alive', async () => {
    const shared = await service.project({ limits: { requests_per_second: 40 } })
    const node = await service.another()
    // Each node learns of the other with its next heartbeat; then a fresh bucket holds half.
    await eventually(async () => {
      const probe = await service.project({ limits: { requests_per_second: 40 } })
      const allowed = async (from: typeof service) => {
        const replies = await Promise.all(
          Array.from({ length: 40 }, () =>
            from.ask('GET', '/api/v1/users/x', { headers: headers(probe.id, probe.secretKey) })
          )
        )
        return replies.filter((reply) => reply.status !== 429).length
      }
      const [here, there] = [await allowed(service), await allowed(node)]
      assert.ok(here < 40 && there < 40, `${here} and ${there} of 40`)
      assert.ok(here >= 10 && there >= 10, 'each node grants its share')
    }, 20_000)
    await node.close()
    assert.ok(shared.id)
  })
})
