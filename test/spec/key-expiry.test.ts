import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, type Json } from '../support/http.ts'
import { eventually, startService, type TestService } from '../support/service.ts'

const service = await startService()

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const keysOf = (id: string) => `/projects/${id}/keys`
const make = (id: string, json: object) => service.manage('POST', keysOf(id), { json })
const rotate = (id: string, keyId: string, json?: object, node = service) =>
  node.manage('POST', `${keysOf(id)}/${keyId}:rotate`, json && { json })
const listed = async (id: string, keyId: string): Promise<Json> =>
  (await service.manage('GET', keysOf(id))).json.items.find((key: Json) => key.id === keyId)

/** 404 if the key is accepted: the user does not exist. */
const opens = async (node: Pick<TestService, 'url'>, projectId: string, key: string) => {
  const headers = { 'x-service-project-id': projectId, 'x-service-api-key': key }
  return ask(node.url, 'GET', '/api/v1/users/none', { headers })
}

describe('a key with an end (B.1)', () => {
  it('works until then, is refused from then on by every node and by agents, and is still listed', async () => {
    const { id } = await service.project()
    const node = await service.another()
    const expires_at = inMs(2_000)
    const made = await make(id, { kind: 'secret', name: 'short', expires_at })
    assert.deepEqual([made.status, made.json.expires_at], [201, expires_at])
    const agent = () =>
      ask(node.url, 'POST', '/a2a', {
        json: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'none' } },
        headers: { 'x-api-key': made.json.key }
      })
    for (const each of [service, node]) assert.equal((await opens(each, id, made.json.key)).status, 404)
    assert.equal((await agent()).status, 200)
    // Both nodes get calls all the time, so that a cached look-up always exists: it must not outlive the key.
    for (const each of [service, node])
      await eventually(async () => assert.equal((await opens(each, id, made.json.key)).status, 401), 4_000)
    assert.ok(Date.now() >= Date.parse(expires_at), 'not before its time')
    const refused = await opens(service, id, made.json.key)
    assert.equal(refused.text, 'Invalid API key')
    assert.equal((await agent()).status, 401)
    assert.equal((await listed(id, made.json.id)).expires_at, expires_at)
  })

  it('takes an offset, and null as no end', async () => {
    const { id } = await service.project()
    const offset = await make(id, { kind: 'public', name: 'x', expires_at: '2099-01-01T02:00:00+02:00' })
    assert.equal(offset.json.expires_at, '2099-01-01T00:00:00.000Z')
    const endless = await make(id, { kind: 'public', name: 'x', expires_at: null })
    assert.deepEqual([endless.status, endless.json.expires_at], [201, null])
    assert.equal((await listed(id, endless.json.id)).expires_at, null)
  })

  it('refuses an end that is past, has no zone or is no time, and makes no key', async () => {
    const { id } = await service.project()
    const before = (await service.manage('GET', keysOf(id))).json.items.length
    for (const expires_at of [inMs(-1_000), '2099-01-01T00:00:00', '2099-01-01', 'tomorrow', '', 4_102_444_800, {}]) {
      const reply = await make(id, { kind: 'secret', name: 'x', expires_at })
      assert.deepEqual([reply.status, reply.json.details[0].path], [400, 'expires_at'], String(expires_at))
    }
    assert.equal((await service.manage('GET', keysOf(id))).json.items.length, before)
  })

  it('leaves the lists 30 days later; a bootstrap key stays, so that no restart revives it', async () => {
    const { id } = await service.project()
    const names = ['old', 'young', 'bootstrap']
    for (const name of names) await make(id, { kind: 'secret', name, expires_at: inMs(60_000) })
    await service.sql(
      `update api_keys set expires_at = now() - case name when 'young' then interval '29 days' else interval '31 days' end
        where project_id = $1 and name = any($2)`,
      [id, names]
    )
    await service.hurry('platform.sweep')
    await eventually(async () => {
      const left = (await service.manage('GET', keysOf(id))).json.items.map((key: Json) => key.name)
      assert.deepEqual(left, ['bootstrap', 'young', 'test', 'test'])
    })
  })
})

describe('rotating a key (B.1)', () => {
  it('returns a new key of the same kind and name; both work, the old one for 24 hours', async () => {
    const { id } = await service.project()
    const old = (await make(id, { kind: 'public', name: 'web' })).json
    const reply = await rotate(id, old.id)
    assert.equal(reply.status, 201)
    const { replaces, ...made } = reply.json
    assert.deepEqual(Object.keys(made), Object.keys(old))
    assert.deepEqual([made.kind, made.name, made.expires_at], ['public', 'web', null])
    assert.ok(made.id !== old.id && made.key !== old.key && made.key.startsWith('svc_pk_'))
    const leftMs = Date.parse(replaces.expires_at) - Date.now()
    assert.ok(Math.abs(leftMs - 86_400_000) < 60_000, String(leftMs))
    assert.deepEqual(
      [replaces.id, (await listed(id, old.id)).expires_at],
      [old.id, replaces.expires_at],
      'the list says so too'
    )
    const { items } = (await service.manage('GET', `/projects/${id}/audit`)).json
    const { action, target, details } = items[0]
    assert.deepEqual([action, target, details.new_key_id], ['key.rotate', old.id, made.id])
    assert.ok(!JSON.stringify(items).includes(made.key.slice(7)))
  })

  for (const overlap of ['0s', '0h'])
    it(`an overlap of ${overlap} refuses the old key at once, also on another node`, async () => {
      const { id } = await service.project()
      const node = await service.another()
      const old = (await make(id, { kind: 'secret', name: 'backend' })).json
      for (const each of [service, node]) assert.equal((await opens(each, id, old.key)).status, 404)
      const { key } = (await rotate(id, old.id, { overlap })).json
      assert.equal((await opens(service, id, old.key)).status, 401)
      await eventually(async () => assert.equal((await opens(node, id, old.key)).status, 401), 1_000)
      for (const each of [service, node]) assert.equal((await opens(each, id, key)).status, 404)
    })

  it('an earlier end of the old key stays, and the new key has the end that is asked for', async () => {
    const { id } = await service.project()
    const expires_at = inMs(600_000)
    const old = (await make(id, { kind: 'secret', name: 'x', expires_at })).json
    const until = inMs(900_000)
    const rotated = (await rotate(id, old.id, { overlap: '7d', expires_at: until })).json
    assert.deepEqual([rotated.replaces.expires_at, rotated.expires_at], [expires_at, until])
  })

  it('refuses overlaps that are none or too long, ends in the past, and keys that are not there or have expired', async () => {
    const [{ id }, other] = [await service.project(), await service.project()]
    const old = (await make(id, { kind: 'secret', name: 'x' })).json
    for (const json of [
      ...['31d', '721h', '24', 'day', '', '-1h', '1.5h', '00s', ' 24h'].map((overlap) => ({ overlap })),
      { overlap: 24 },
      { overlap: ['24h'] },
      { expires_at: inMs(-1) },
      { expires_at: 'soon' }
    ]) {
      const reply = await rotate(id, old.id, json)
      assert.equal(reply.status, 400, JSON.stringify(json))
      assert.equal(reply.json.details[0].path, Object.keys(json)[0])
    }
    assert.equal((await listed(id, old.id)).expires_at, null, 'nothing was changed')
    for (const keyId of ['nonsense', '0199c0de-0000-7000-8000-000000000001', '%00'])
      assert.equal((await rotate(id, keyId)).status, 404)
    assert.equal((await rotate(other.id, old.id)).status, 404, 'a key of another project is none')
    await rotate(id, old.id, { overlap: '0s' })
    const late = await rotate(id, old.id)
    assert.deepEqual([late.status, late.json.code], [409, 'conflict'])
    assert.equal((await rotate(id, old.id, { overlap: '30d' })).status, 409)
  })

  it('needs an admin of the project', async () => {
    const [own, foreign] = [await service.project(), await service.project()]
    const token = async (role: string, project_id: string) =>
      (await service.manage('POST', '/tokens', { json: { name: 'x', role, project_id } })).json.token
    const keyId = (await service.manage('GET', keysOf(own.id))).json.items[0].id
    for (const [given, status] of [
      [await token('editor', own.id), 403],
      [await token('admin', foreign.id), 404]
    ] as const) {
      const headers = { authorization: `Bearer ${given}` }
      const reply = await service.ask('POST', `/manage/v1${keysOf(own.id)}/${keyId}:rotate`, { headers })
      assert.equal(reply.status, status)
    }
    assert.equal((await listed(own.id, keyId)).expires_at, null)
  })
})

describe('a bootstrap key that was rotated', () => {
  it('stays refused over a restart that names it, and the start says so', async () => {
    const env = { BOOTSTRAP_PROJECT_ID: 'shop', BOOTSTRAP_SECRET_KEY: `svc_sk_${'rotated'.repeat(6)}` }
    const first = await startService(env)
    const { items } = (await first.manage('GET', keysOf('shop'))).json
    const old = items.find((key: Json) => key.kind === 'secret')
    const { key } = (await rotate('shop', old.id, { overlap: '0s' }, first)).json
    const said: string[] = []
    const again = await first.another(env, { say: (line) => said.push(line) })
    assert.equal((await opens(again, 'shop', env.BOOTSTRAP_SECRET_KEY)).status, 401)
    assert.equal((await opens(again, 'shop', key)).status, 404)
    assert.ok(said.some((line) => /BOOTSTRAP_SECRET_KEY has expired/.test(line)))
  })
})
