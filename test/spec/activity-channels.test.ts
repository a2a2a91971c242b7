import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { failed, succeed } from '../support/messages.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()
const simulated = () => service.project({ mode: 'simulator' })

const path = '/api/v1/live-activity-channels'
const wanted = { attributes_type: 'MatchAttributes', storage: 'most_recent' }

async function create(project: TestProject, change: object = {}): Promise<Json> {
  const reply = await project.call('POST', path, { json: { ...wanted, ...change } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

const change = (project: TestProject, id: string, verb: string, json: object, headers = {}) =>
  project.call('POST', `${path}/${id}:${verb}`, { json, headers })

const start = (project: TestProject, item: object) =>
  project.call('POST', '/api/v1/live-activities:start', {
    json: { live_activities: [{ target: { project_user_id: 'ana' }, attributes: { match: 1 }, ...item }] }
  })

async function iPhone(project: TestProject, user = 'ana'): Promise<string> {
  const json = { platform: 'IOS', project_user_id: user, attributes_types: ['MatchAttributes'] }
  const reply = await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json })
  assert.equal(reply.status, 201, reply.text)
  return reply.json.id
}

const inbox = async (project: TestProject, query = ''): Promise<Json[]> =>
  (await service.manage('GET', `/projects/${project.id}/simulator/inbox${query}`)).json.items

const apsOf = (item: Json) => item.request.payload.aps

describe('B.4: a broadcast channel', () => {
  it('is created at Apple, listed, read and deleted there', async () => {
    const project = await simulated()
    const made = await create(project)
    assert.match(made.apns_channel_id, /^[A-Za-z0-9+/]{22}==$/)
    assert.deepEqual(
      [made.status, made.app, made.push_environment, made.storage, made.content_state],
      ['active', 'com.example.app', 'production', 'most_recent', null]
    )
    const other = await create(project, { storage: 'none', push_environment: 'sandbox', app: 'com.example.other' })
    assert.deepEqual([other.app, other.push_environment, other.storage], ['com.example.other', 'sandbox', 'none'])
    const first = (await project.call('GET', `${path}?limit=1`)).json
    assert.equal(first.items[0].channel_id, other.channel_id)
    const next = (await project.call('GET', `${path}?limit=1&cursor=${first.next_cursor}`)).json
    assert.deepEqual([next.items[0].channel_id, next.next_cursor], [made.channel_id, null])
    const read = await project.call('GET', `${path}/${made.channel_id}`)
    assert.deepEqual([read.status, read.json.last_change], [200, null])
    const atApple = () => service.sql('select id from simulator_channels where project_id = $1', [project.id])
    assert.equal((await atApple()).length, 2)
    for (const _ of ['deletes', 'finds none'])
      assert.deepEqual((await project.call('DELETE', `${path}/${made.channel_id}`)).json, {})
    assert.equal((await project.call('GET', `${path}/${made.channel_id}`)).status, 404)
    assert.deepEqual(
      (await atApple()).map(({ id }) => id),
      [other.apns_channel_id]
    )
  })

  it('changes and ends every activity that listens to it, by one request each', async () => {
    const project = await simulated()
    const { channel_id, apns_channel_id } = await create(project)
    const phones = [await iPhone(project), await iPhone(project), await iPhone(project, 'bo')]
    const item = { attributes_type: 'MatchAttributes', content_state: { home: 0 }, channel_id }
    assert.equal((await start(project, item)).json.delivery_results[0].status, succeed)
    await start(project, { ...item, target: { project_user_id: 'bo' } })
    const updated = await change(project, channel_id, 'update', { content_state: { home: 1 }, priority: 'normal' })
    assert.equal(updated.status, 200, updated.text)
    assert.equal(updated.json.delivery_results.length, 1)
    const [result] = updated.json.delivery_results
    assert.equal(result.status, succeed, updated.text)
    assert.deepEqual(Object.keys(result.additional_params), ['device_id', 'gateway_message_id', 'failure_reason'])
    const ended = await change(project, channel_id, 'end', { content_state: { home: 2 }, dismissal_date: 1 })
    assert.equal(ended.json.delivery_results[0].status, succeed, ended.text)
    await eventually(async () => assert.equal((await inbox(project)).length, 5))
    const [end, update, ...starts] = await inbox(project)
    assert.deepEqual(
      starts.map((one) => apsOf(one)['input-push-channel']),
      [apns_channel_id, apns_channel_id, apns_channel_id]
    )
    assert.ok(starts.every((one) => apsOf(one)['input-push-token'] === undefined))
    assert.deepEqual([update.request.path, update.activities], ['/4/broadcasts/apps/com.example.app', 3])
    const headers = update.request.headers
    assert.deepEqual(
      [headers['apns-channel-id'], headers['apns-push-type'], headers['apns-priority']],
      [apns_channel_id, 'liveactivity', '5']
    )
    assert.ok(Number(headers['apns-expiration']) > Date.now() / 1000)
    assert.deepEqual([apsOf(update).event, apsOf(update)['content-state']], ['update', { home: 1 }])
    assert.deepEqual([apsOf(end).event, apsOf(end)['dismissal-date'], end.activities], ['end', 1, 3])
    assert.ok(apsOf(end).timestamp > apsOf(update).timestamp, 'the time rises')
    const onPhone = await inbox(project, `?device_id=${phones[2]}`)
    assert.deepEqual(
      onPhone.map((one) => apsOf(one).event),
      ['end', 'update', 'start']
    )
  })

  it('keeps its newest state for activities that start later', async () => {
    const project = await simulated()
    const { channel_id } = await create(project, { storage: 'none' })
    await iPhone(project)
    const item = { attributes_type: 'MatchAttributes', channel_id }
    const early = await start(project, item)
    assert.deepEqual([early.status, early.text], [400, 'Invalid live activity parameters'])
    await change(project, channel_id, 'update', { content_state: { b: 1, a: 2 } })
    assert.equal((await start(project, item)).json.delivery_results[0].status, succeed)
    await eventually(async () => assert.equal((await inbox(project)).length, 2))
    const [started, update] = await inbox(project)
    assert.equal(JSON.stringify(apsOf(started)['content-state']), '{"b":1,"a":2}')
    assert.equal(update.request.headers['apns-expiration'], '0', 'a channel that stores nothing')
    const { last_change, content_state } = (await project.call('GET', `${path}/${channel_id}`)).json
    assert.deepEqual(
      [last_change.event, last_change.status, last_change.timestamp, content_state],
      ['update', succeed, apsOf(update).timestamp, { b: 1, a: 2 }]
    )
  })

  it('takes activities that a campaign starts', async () => {
    const project = await simulated()
    const { apns_channel_id } = await create(project)
    await iPhone(project)
    const live_activity = {
      attributes_type: 'MatchAttributes',
      attributes: {},
      content_state: { home: 0 },
      apns_channel_id: '{{ trigger.channel }}'
    }
    const json = { name: 'Kick-off', status: 'active', default_audience: { broadcast: true }, live_activity }
    const saved = await service.manage('PUT', `/projects/${project.id}/campaigns/kick-off`, { json })
    assert.ok(saved.status < 300, saved.text)
    const triggered = await project.call('POST', '/api/v1/campaigns/kick-off:trigger', {
      json: { properties: { channel: apns_channel_id } }
    })
    assert.equal(triggered.status, 200, triggered.text)
    await eventually(async () => assert.equal((await inbox(project)).length, 1))
    assert.equal(apsOf((await inbox(project))[0])['input-push-channel'], apns_channel_id)
    const nameless = await project.call('POST', '/api/v1/campaigns/kick-off:trigger', { json: {} })
    await eventually(async () => {
      const { counts } = (await project.call('GET', `/api/v1/triggers/${nameless.json.trigger_id}`)).json
      assert.equal(counts.failed, 1, 'a channel that renders to nothing is a fault')
    })
  })

  it('is known to the simulators of all nodes', async () => {
    const project = await simulated()
    const { channel_id } = await create(project)
    const other = await service.another({ DATABASE_URL: service.databaseUrl })
    const headers = { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey }
    for (const state of [1, 2, 3]) {
      const json = { content_state: { state } }
      const reply = await other.ask('POST', `${path}/${channel_id}:update`, { json, headers })
      assert.equal(reply.json.delivery_results[0].status, succeed, reply.text)
    }
    await other.close()
  })

  it('does everything once for each idempotency key', async () => {
    const project = await simulated()
    const headers = { 'idempotency-key': 'one' }
    const make = () => project.call('POST', path, { json: wanted, headers })
    const made = await Promise.all([make(), make()])
    const repeated = await make()
    const ids = new Set([...made, repeated].map(({ json }) => json.channel_id))
    assert.equal(ids.size, 1, JSON.stringify(made.map(({ text }) => text)))
    assert.equal(repeated.headers['idempotent-replay'], 'true')
    const id = repeated.json.channel_id
    const state = { content_state: { home: 1 } }
    const once = await change(project, id, 'update', state, headers)
    const twice = await change(project, id, 'update', state, headers)
    assert.deepEqual(twice.json, once.json)
    assert.equal((await change(project, id, 'update', { content_state: {} }, headers)).status, 409)
    assert.equal((await change(project, id, 'end', state, headers)).json.delivery_results[0].status, succeed)
    await eventually(async () => assert.equal((await inbox(project)).length, 2))
  })
})

describe('B.4: a broadcast channel refuses', () => {
  it('wrong fields, all at once', async () => {
    const project = await simulated()
    const json = { attributes_type: '', app: 'no bundle', push_environment: 'moon', storage: 'all' }
    const reply = await project.call('POST', path, { json })
    assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_live_activity'])
    assert.deepEqual(
      reply.json.details.map(({ path }: Json) => path),
      ['attributes_type', 'app', 'push_environment', 'storage']
    )
    const { channel_id } = await create(project)
    const bad = await change(project, channel_id, 'update', { content_state: 1 })
    assert.deepEqual([bad.status, bad.json.details[0].path], [400, 'content_state'])
    for (const id of ['x', '0199c0de-0000-7000-8000-000000000001'])
      assert.equal((await change(project, id, 'update', { content_state: {} })).status, 404)
  })

  it('what Apple refuses, with the reason', async () => {
    const project = await simulated()
    const live = await service.project({ mode: 'live' })
    const missing = await live.call('POST', path, { json: wanted })
    assert.deepEqual([missing.status, missing.json.code], [409, 'channel_refused'])
    assert.match(missing.json.error, /^\[CREDENTIALS_MISSING\]/)
    const { channel_id, apns_channel_id } = await create(project)
    const large = await change(project, channel_id, 'update', { content_state: { x: 'x'.repeat(5_200) } })
    assert.match(large.json.delivery_results[0].additional_params.failure_reason, /^\[PAYLOAD_TOO_LARGE\].*5120/)
    await service.sql('delete from simulator_channels where id = $1', [apns_channel_id])
    const gone = await change(project, channel_id, 'update', { content_state: {} })
    assert.equal(gone.json.delivery_results[0].status, failed)
    assert.match(gone.json.delivery_results[0].additional_params.failure_reason, /^\[CHANNEL_NOT_FOUND\]/)
    assert.deepEqual((await project.call('DELETE', `${path}/${channel_id}`)).json, {}, 'it is gone at Apple, as wanted')
  })

  it('the 10,001st channel of an app', async () => {
    const project = await simulated()
    await create(project)
    await service.sql(
      `insert into simulator_channels (project_id, id, environment, app, storage, ended_number)
       select $1, 'c' || n, 'production', 'com.example.app', 0, 0 from generate_series(2, 10000) n`,
      [project.id]
    )
    const reply = await project.call('POST', path, { json: wanted })
    assert.deepEqual([reply.status, reply.json.code], [409, 'channel_refused'])
    assert.match(reply.json.error, /^\[CHANNEL_LIMIT\]/)
    assert.equal((await project.call('GET', path)).json.items.length, 1, 'it is in no list')
    const keyed = { json: wanted, headers: { 'idempotency-key': 'one' } }
    const replies = [await project.call('POST', path, keyed), await project.call('POST', path, keyed)]
    assert.deepEqual(
      replies.map(({ status, json }) => [status, json.code]),
      [
        [409, 'channel_refused'],
        [409, 'channel_refused']
      ]
    )
    assert.equal((await create(project, { app: 'com.example.other' })).status, 'active')
  })

  it('activities of another type, app or environment', async () => {
    const project = await simulated()
    const { channel_id } = await create(project)
    const elsewhere = await create(project, { app: 'com.example.other', push_environment: 'sandbox' })
    await iPhone(project)
    const item = { attributes_type: 'MatchAttributes', content_state: {} }
    assert.equal((await start(project, { ...item, attributes_type: 'Ride', channel_id })).status, 400)
    assert.equal((await start(project, { ...item, channel_id: 'x' })).status, 400)
    const mismatched = await start(project, { ...item, channel_id: elsewhere.channel_id })
    assert.match(mismatched.json.delivery_results[0].additional_params.failure_reason, /^\[CHANNEL_MISMATCH\]/)
  })
})

describe('B.4: channels of other projects', () => {
  it('are not found, and are erased with their project', async () => {
    const [one, other] = [await simulated(), await simulated()]
    const { channel_id } = await create(one)
    await change(one, channel_id, 'update', { content_state: {} })
    assert.equal((await other.call('GET', `${path}/${channel_id}`)).status, 404)
    assert.equal((await change(other, channel_id, 'update', { content_state: {} })).status, 404)
    assert.equal((await other.call('DELETE', `${path}/${channel_id}`)).status, 200)
    assert.deepEqual((await other.call('GET', path)).json.items, [])
    await iPhone(other)
    const item = { attributes_type: 'MatchAttributes', content_state: {}, channel_id }
    assert.equal((await start(other, item)).status, 400)
    assert.equal((await one.call('GET', `${path}/${channel_id}`)).status, 200)
    await service.manage('DELETE', `/projects/${one.id}`)
    await eventually(async () => {
      const rows = await service.sql(
        `select 1 from live_activity_channels where project_id = $1 union all
         select 1 from live_activity_changes where project_id = $1`,
        [one.id]
      )
      assert.deepEqual(rows, [])
    })
  })
})
