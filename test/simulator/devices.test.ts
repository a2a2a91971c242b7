import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService } from '../support/service.ts'
import { anotherNode, of, pushApns, pushWeb } from './nodes.ts'

const service = await startService()

async function add(json: Record<string, unknown>, id?: string) {
  const project = id ?? (await service.project({ mode: 'simulator' })).id
  const reply = await service.manage('POST', `/projects/${project}/simulator/devices`, { json })
  return { project, reply }
}
const tokens = (project: string) =>
  service.sql('select device_id, token, type from push_tokens where project_id = $1 order by type', [project])

describe('a simulated device', () => {
  it('has a push in its inbox as soon as the caller knows that it was sent', async () => {
    const project = await service.project({ mode: 'simulator' })
    await add({ platform: 'IOS', project_user_id: 'ana', device_id: 'phone' }, project.id)
    for (const count of [1, 2, 3]) {
      const push_notifications = [{ target: { project_user_id: 'ana' }, title: `push ${count}` }]
      const sent = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications } })
      assert.match(sent.text, /STATUS_SUCCEED/)
      const { items } = (await service.manage('GET', `/projects/${project.id}/simulator/inbox`)).json
      assert.equal(items.length, count)
    }
  })

  it('is registered as by an app, for a user who is created if absent', async () => {
    const { project, reply } = await add({ platform: 'IOS', project_user_id: 'ana', device_id: 'ana-phone' })
    assert.equal(reply.status, 201)
    const { id, platform, project_user_id, push, is_push_permission_granted } = reply.json
    assert.deepEqual(
      [id, platform, project_user_id, push.type, is_push_permission_granted],
      ['ana-phone', 'IOS', 'ana', 'APNS', true]
    )
    assert.deepEqual((await service.manage('GET', `/projects/${project}/devices/ana-phone`)).json, reply.json)
    const [start] = await service.sql(
      'select attributes_type, activity_id from live_activity_tokens where project_id = $1',
      [project]
    )
    assert.deepEqual(start, { attributes_type: 'DeliveryActivityAttributes', activity_id: '' })
  })

  it('of each platform has a token that its gateway accepts', async (t) => {
    const { project } = await add({ platform: 'IOS' })
    await add({ platform: 'ANDROID' }, project)
    await add({ platform: 'WEB' }, project)
    const [apns, fcm, web] = await tokens(project)
    assert.match(apns.token, /^[0-9a-f]{64}$/)
    assert.match(fcm.token, /^[\w-]{22}:APA91b[\w-]+$/)
    const gateways = await of(anotherNode(t, service), project)
    assert.equal((await pushApns(t, gateways, apns.token, 'Hello')).status, 200)
    assert.equal((await pushWeb(gateways, web.token, { title: 'Hello' })).statusCode, 201)
  })

  it('with a fault fails every push that way', async (t) => {
    const { project } = await add({ platform: 'IOS', fault: '410' })
    const [{ token }] = await tokens(project)
    const reply = await pushApns(t, await of(anotherNode(t, service), project), token, 'Hello')
    assert.deepEqual([reply.status, reply.json().reason], [410, 'Unregistered'])
  })

  it('in an invalid request is refused, and nothing is stored', async () => {
    const { id } = await service.project({ mode: 'simulator' })
    for (const json of [
      {},
      { platform: 'ios' },
      { platform: 'constructor' },
      { platform: 'IOS', device_id: '' },
      { platform: 'IOS', device_id: 'x'.repeat(256) },
      { platform: 'IOS', project_user_id: '' },
      { platform: 'IOS', project_user_id: '..' },
      { platform: 'IOS', fault: 'a-b' },
      { platform: 'IOS', fault: '' },
      { platform: 'IOS', fault: 'bogus' },
      { platform: 'IOS', fault: '41' },
      { platform: 'IOS', fault: 'slow:long' },
      { platform: 'IOS', fault: 'hang:5' },
      { platform: 'IOS', attributes_types: ['\u0001'] },
      { platform: 'IOS', attributes_types: 'A' }
    ])
      assert.equal((await add(json, id)).reply.status, 400, JSON.stringify(json))
    const [{ n }] = await service.sql('select count(*)::int as n from devices where project_id = $1', [id])
    assert.equal(n, 0)
  })

  it('accepts every fault of tokens, and a refusal lists them', async () => {
    const { createFaults } = await import('../../src/simulator/faults/faults.ts')
    const { project, reply } = await add({ platform: 'ANDROID', fault: 'bogus' })
    const { path, message } = reply.json.details[0]
    assert.equal(path, 'fault')
    const named: string[] = message.match(/[a-z]+\d*(?::\d+)?/g)
    const faults = createFaults()
    const known = [...named, '410', '429:30', '400:DeviceTokenNotForTopic'].filter((one) =>
      faults.ofToken(`sim-${one}-1`)
    )
    assert.ok(known.length >= 14, known.join())
    for (const fault of [...known, 'sandbox', 'production', 'ok', 'slow', 'flaky'])
      assert.equal((await add({ platform: 'ANDROID', fault }, project)).reply.status, 201, fault)
  })

  it('that already exists keeps its user, who is returned', async () => {
    const { project } = await add({ platform: 'WEB', device_id: 'webby', project_user_id: 'ana' })
    const { reply } = await add({ platform: 'WEB', device_id: 'webby' }, project)
    assert.deepEqual([reply.status, reply.json.project_user_id], [201, 'ana'])
  })

  it('cannot be added by a viewer', async () => {
    const { id } = await service.project({ mode: 'simulator' })
    const { token } = (await service.manage('POST', '/tokens', { json: { name: 'v', role: 'viewer', project_id: id } }))
      .json
    const headers = { authorization: `Bearer ${token}` }
    const path = `/manage/v1/projects/${id}/simulator`
    assert.equal((await service.ask('POST', `${path}/devices`, { headers, json: { platform: 'IOS' } })).status, 403)
    assert.equal((await service.ask('PUT', `${path}/faults`, { headers, json: {} })).status, 403)
    assert.equal((await service.ask('GET', `${path}/inbox`, { headers })).status, 200)
  })
})

describe('the device of a token', () => {
  it('is found for all gateways and for Live Activities, only within its project', async () => {
    const { createDevices } = await import('../../src/devices/devices.ts')
    const { openPool } = await import('../../src/platform/db/db.ts')
    const { createMetrics } = await import('../../src/platform/metrics.ts')
    const { silentLog } = await import('../support/log.ts')
    const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 1)
    const devices = createDevices({
      pool,
      metrics: createMetrics(),
      moveHistory: async () => {},
      onOptedOut: async () => {},
      beforeRemoval: async () => {}
    })
    const { project } = await add({ platform: 'IOS', device_id: 'phone' })
    await add({ platform: 'ANDROID', device_id: 'android' }, project)
    await add({ platform: 'WEB', device_id: 'browser' }, project)
    const [apns, fcm, web] = await tokens(project)
    const [{ token: activity }] = await service.sql('select token from live_activity_tokens where project_id = $1', [
      project
    ])
    const names = [
      `APNS:${apns.token}`,
      `FCM:${fcm.token}`,
      `WEBPUSH:${JSON.parse(web.token).endpoint}`,
      `APNS:${activity}`,
      'APNS:ff',
      `FCM:${apns.token}`
    ]
    assert.deepEqual(Object.fromEntries(await devices.ofTokens(project as never, names)), {
      [names[0]!]: 'phone',
      [names[1]!]: 'android',
      [names[2]!]: 'browser',
      [names[3]!]: 'phone'
    })
    const { id: other } = await service.project({ mode: 'simulator' })
    assert.equal((await devices.ofTokens(other as never, names)).size, 0)
    await pool.close()
  })
})

describe('the demo', () => {
  it('has a user with a phone of each kind and a browser', async (t) => {
    const { items } = (await service.manage('GET', '/projects/demo/devices?project_user_id=demo-user')).json
    assert.deepEqual(items.map(({ id, push }: { id: string; push: { type: string } }) => [id, push.type]).sort(), [
      ['demo-android', 'FCM'],
      ['demo-browser', 'WEBPUSH'],
      ['demo-iphone', 'APNS']
    ])
    const [, , web] = await tokens('demo')
    assert.equal((await pushWeb(await of(anotherNode(t, service), 'demo'), web.token, { title: 'x' })).statusCode, 201)
  })

  it('is created once: deleted parts stay deleted', async () => {
    const fresh = await startService()
    const path = '/projects/demo/api/v1/users/demo-user'
    assert.equal((await fresh.manage('DELETE', path)).status, 200)
    const again = await fresh.another()
    assert.deepEqual((await again.manage('GET', '/projects/demo/devices')).json.items, [])
  })

  it('is not created if the settings name a project', async () => {
    const named = await startService({ BOOTSTRAP_PROJECT_ID: 'shop' })
    assert.deepEqual((await named.manage('GET', '/projects/shop/devices')).json.items, [])
    assert.deepEqual((await named.manage('GET', '/projects/shop/users')).json.items, [])
  })
})
