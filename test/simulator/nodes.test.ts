import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { ProjectId } from '../../src/platform/ids.ts'
import { eventually, startService } from '../support/service.ts'
import { hexToken } from './client.ts'
import { accessToken, anotherNode, of, pushApns, pushWeb } from './nodes.ts'
import { post } from './post.ts'

const service = await startService()
const simulated = () => service.project({ mode: 'simulator' })
const inbox = async (id: string, query = '') =>
  (await service.manage('GET', `/projects/${id}/simulator/inbox${query}`)).json

async function message(t: TestContext, device: { platform: string; fault?: string }) {
  const project = await simulated()
  const made = await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
    json: { project_user_id: 'ana', ...device }
  })
  assert.equal(made.status, 201, made.text)
  const [row] = await service.sql('select token from push_tokens where project_id = $1', [project.id])
  return { project, node: anotherNode(t, service), device: made.json, token: row.token as string }
}

describe('the simulators of a project', () => {
  it('start at the first use, and all callers share one', async (t) => {
    const { id } = await simulated()
    const node = anotherNode(t, service)
    assert.equal(node.running(), 0)
    const [one, two] = await Promise.all([of(node, id), of(node, id)])
    assert.equal(one, two)
    assert.equal(node.running(), 1)
    assert.match(one.apns.origin, /^https:\/\/127\.0\.0\.1:\d+$/)
  })

  it('have the same sealed credentials on every node and after a restart', async (t) => {
    const { id } = await simulated()
    const [first, second] = [anotherNode(t, service), anotherNode(t, service)]
    // Both nodes ask at the same time, so that both try to make the credentials.
    const [one, two] = await Promise.all([of(first, id), of(second, id)])
    assert.equal(one.apns.privateKey, two.apns.privateKey)
    assert.equal(one.fcm.privateKey, two.fcm.privateKey)
    assert.deepEqual({ ...one.webpush, origin: '' }, { ...two.webpush, origin: '' })
    assert.notEqual(one.apns.origin, two.apns.origin)
    const [row] = await service.sql('select credentials from simulators where project_id = $1', [id])
    assert.match(row.credentials, /^v1\./)
    assert.ok(!row.credentials.includes('PRIVATE KEY'))
  })

  it('accept a subscription of another node', async (t) => {
    const { node, token, device, project } = await message(t, { platform: 'WEB' })
    const sent = await pushWeb(await of(node, project.id), token, { title: 'Hello', message_id: 'm1' })
    assert.equal(sent.statusCode, 201)
    await node.close()
    const next = anotherNode(t, service)
    assert.equal((await pushWeb(await of(next, project.id), token, { title: 'Again' })).statusCode, 201)
    assert.equal(device.push.type, 'WEBPUSH')
  })

  it('accept an access token of FCM from another node', async (t) => {
    const { id } = await simulated()
    const [one, two] = [await of(anotherNode(t, service), id), await of(anotherNode(t, service), id)]
    const headers = { authorization: `Bearer ${await accessToken(one)}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ message: { token: 'abc:def', notification: { title: 'Hello' } } })
    const url = `${two.fcm.origin}/v1/projects/${two.fcm.firebaseProject}/messages:send`
    assert.equal((await post(url, two.ca, headers, body)).status, 200)
    const forged = { ...headers, authorization: `${headers.authorization.slice(0, -4)}AAAA` }
    assert.equal((await post(url, two.ca, forged, body)).status, 401)
  })

  it('of too many projects stop, the idlest first, and start again with another version', async (t) => {
    const [one, two, three] = await Promise.all([simulated(), simulated(), simulated()])
    const node = anotherNode(t, service, { most: 2 })
    const before = await of(node, one.id)
    await of(node, two.id)
    await of(node, three.id)
    assert.equal(node.running(), 2)
    await eventually(() => assert.rejects(post(before.fcm.tokenUri, before.ca, {}, '')))
    const again = await of(node, one.id)
    assert.notEqual(again.version, before.version)
    assert.equal(again.apns.keyId, before.apns.keyId)
  })

  it('of an absent project do not start', async (t) => {
    await assert.rejects(of(anotherNode(t, service), 'nobody'), /Project "nobody" does not exist/)
  })
})

describe('the inbox', () => {
  it('shows the pushes of another process with their devices', async (t) => {
    const { project, device, token } = await message(t, { platform: 'IOS' })
    const node = anotherNode(t, service, { devicesOf: async () => new Map([[`APNS:${token}`, device.id]]) })
    const reply = await pushApns(t, await of(node, project.id), token, 'Hello', {
      message_id: 'm1',
      image_url: 'https://example.com/a.png',
      landing_url: 'shop://cart'
    })
    assert.equal(reply.status, 200)
    const [item] = await eventually(async () => {
      const { items } = await inbox(project.id)
      assert.equal(items.length, 1)
      return items
    })
    const { id, received_at, request, answer, ...rest } = item
    assert.deepEqual(rest, {
      gateway: 'apns',
      device_id: device.id,
      message_id: 'm1',
      title: 'Hello',
      body: 'World',
      image_url: 'https://example.com/a.png',
      landing_url: 'shop://cart'
    })
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.match(received_at, /Z$/)
    assert.deepEqual([request.path, request.payload.aps.alert.title], [`/3/device/${token.slice(0, 12)}…`, 'Hello'])
    assert.equal(request.headers.authorization, undefined)
    assert.deepEqual([answer.status, answer.reason, answer.gateway_message_id], [200, null, reply.headers['apns-id']])
  })

  it('is paged newest first, filtered by device, and emptied', async (t) => {
    const { id } = await simulated()
    const owners = new Map([
      ['APNS:aa01', 'one'],
      ['APNS:aa02', 'two']
    ])
    const node = anotherNode(t, service, { devicesOf: async () => owners })
    const gateways = await of(node, id)
    for (const [token, title] of [
      ['aa01', 'a'],
      ['aa02', 'b'],
      ['aa01', 'c'],
      ['aa01', 'd']
    ] as const)
      await pushApns(t, gateways, token, title)
    await eventually(async () => assert.equal((await inbox(id)).items.length, 4))
    const titles = (page: { items: { title: string }[] }) => page.items.map(({ title }) => title)
    const first = await inbox(id, '?limit=3')
    assert.deepEqual(titles(first), ['d', 'c', 'b'])
    const next = await inbox(id, `?limit=3&cursor=${first.next_cursor}`)
    assert.deepEqual([titles(next), next.next_cursor], [['a'], null])
    assert.deepEqual(titles(await inbox(id, '?device_id=one')), ['d', 'c', 'a'])
    assert.deepEqual((await service.manage('DELETE', `/projects/${id}/simulator/inbox`)).status, 200)
    assert.deepEqual(await inbox(id), { items: [], next_cursor: null })
    await pushApns(t, gateways, 'aa01', 'e')
    await eventually(async () => assert.deepEqual(titles(await inbox(id)), ['e']))
  })

  it('keeps the newest thousand, also of a burst', async (t) => {
    const { id } = await simulated()
    const node = anotherNode(t, service)
    await of(node, id)
    const writer = node.inbox.writer(id as ProjectId)
    const nothing = { message_id: null, body: null, image_url: null, landing_url: null }
    const push = (title: string) =>
      writer.add({
        id: title,
        received_at: '',
        gateway: 'fcm',
        device_id: null,
        token: null,
        title,
        ...nothing,
        request: { method: 'POST', path: '/', headers: {}, payload: 'a\0\ud800' },
        answer: { status: 200, reason: null, detail: null, gateway_message_id: null, took_ms: 1, body: '' }
      })
    for (let count = 1; count <= 5_000; count += 1) push(String(count))
    await writer.close()
    assert.equal((await inbox(id, '?limit=1')).items[0].title, '5000')
    push('5001')
    await writer.close()
    const [{ n, least }] = await service.sql(
      'select count(*)::int as n, min(number)::int as least from simulator_inbox where project_id = $1',
      [id]
    )
    assert.equal(n, 1_000)
    assert.ok(least > 1)
    assert.equal((await inbox(id, '?limit=1')).items[0].title, '5001')
  })

  it('survives a payload that is nested too deeply', async (t) => {
    const { id } = await simulated()
    const gateways = await of(anotherNode(t, service), id)
    const deep = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' }
    const url = `${gateways.fcm.origin}/v1/projects/${gateways.fcm.firebaseProject}/messages:send`
    assert.equal((await post(url, gateways.ca, headers, deep)).status, 401)
    await eventually(async () => assert.equal((await inbox(id)).items.length, 1))
  })

  it('refuses an unknown cursor and a live project', async () => {
    const { id } = await simulated()
    for (const cursor of [
      'x',
      Buffer.from('["-1"]').toString('base64url'),
      Buffer.from('["1e9"]').toString('base64url')
    ])
      assert.equal((await service.manage('GET', `/projects/${id}/simulator/inbox?cursor=${cursor}`)).status, 400)
    const live = await service.project()
    for (const [method, path, json] of [
      ['GET', 'inbox'],
      ['DELETE', 'inbox'],
      ['GET', 'faults'],
      ['DELETE', 'faults'],
      ['PUT', 'faults', {}],
      ['POST', 'devices', { platform: 'IOS' }]
    ] as const) {
      const reply = await service.manage(method, `/projects/${live.id}/simulator/${path}`, json ? { json } : {})
      assert.equal(reply.status, 409, path)
      assert.equal(reply.json.code, 'project_is_live')
      assert.match(reply.json.error, /is live/)
    }
  })
})

describe('faults', () => {
  const put = (id: string, json: unknown) => service.manage('PUT', `/projects/${id}/simulator/faults`, { json })

  it('that are odd are refused with a short response, like other odd requests', async () => {
    const { id } = await simulated()
    const path = `/projects/${id}/simulator`
    const headers = { 'content-type': 'application/json' }
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    for (const [method, where, body] of [
      ['PUT', 'faults', deep],
      ['PUT', 'faults', `{"apns":${deep}}`],
      ['PUT', 'faults', JSON.stringify({ ['x'.repeat(60_000)]: {} })],
      ['PUT', 'faults', JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x${at}`, 1])))],
      ['PUT', 'faults', '{"\\u0000":{}}'],
      ['PUT', 'faults', '{"__proto__":{"down":true}}'],
      ['POST', 'devices', deep],
      ['POST', 'devices', '{"platform":"IOS","device_id":"\\u0000"}'],
      ['GET', 'inbox?device_id=%00', undefined],
      ['GET', 'inbox?limit=0', undefined],
      ['GET', 'inbox?limit=x', undefined]
    ] as const) {
      const reply = await service.manage(method, `${path}/${where}`, { ...(body !== undefined && { body }), headers })
      assert.equal(reply.status, 400, `${where} ${body?.slice(0, 40)}: ${reply.text.slice(0, 200)}`)
      assert.ok(reply.text.length < 10_000, `${reply.text.length} characters`)
    }
  })

  it('set at one node apply at another, only to their project, until they are reset', async (t) => {
    const [one, other] = await Promise.all([simulated(), simulated()])
    const node = anotherNode(t, service)
    const [gateways, others] = [await of(node, one.id), await of(node, other.id)]
    const set = await put(one.id, { apns: { error_rate: 1, error_status: 500 } })
    assert.deepEqual([set.status, set.json.apns.error_status, set.json.fcm.error_rate], [200, 500, 0])
    await eventually(async () => assert.equal((await pushApns(t, gateways, hexToken, 'x')).status, 500))
    assert.equal((await pushApns(t, others, hexToken, 'x')).status, 200)
    const kept = await put(one.id, { all: { latency_ms: 1 } })
    assert.deepEqual([kept.json.apns.error_rate, kept.json.apns.latency_ms, kept.json.fcm.latency_ms], [1, 1, 1])
    const fresh = await of(anotherNode(t, service), one.id)
    assert.equal((await pushApns(t, fresh, hexToken, 'x')).status, 500)
    assert.deepEqual((await service.manage('GET', `/projects/${one.id}/simulator/faults`)).json, kept.json)
    assert.equal((await service.manage('DELETE', `/projects/${one.id}/simulator/faults`)).json.apns.error_rate, 0)
    await eventually(async () => assert.equal((await pushApns(t, gateways, hexToken, 'x')).status, 200))
  })

  it('reach a node that gets no notifications', async (t) => {
    const { id } = await simulated()
    const gateways = await of(anotherNode(t, service, { deaf: true }), id)
    await put(id, { apns: { error_rate: 1, error_status: 500 } })
    await eventually(async () => assert.equal((await pushApns(t, gateways, hexToken, 'x')).status, 500))
  })

  it('that are invalid are reported, and change nothing', async () => {
    const { id } = await simulated()
    const reply = await put(id, { apns: { down: 'yes', constructor: 1 }, fcm: [], smtp: {}, all: { down: true } })
    assert.equal(reply.status, 400)
    assert.deepEqual(
      reply.json.details.map(({ path }: { path: string }) => path),
      ['apns.down', 'apns.constructor', 'fcm', 'smtp']
    )
    for (const json of [[], null, 'x', 1]) assert.equal((await put(id, json)).status, 400)
    assert.equal((await service.manage('GET', `/projects/${id}/simulator/faults`)).json.apns.down, false)
  })
})
