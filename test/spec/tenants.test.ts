import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OpenApi } from '../../src/platform/http/openapi/openapi.ts'
import { ended, givenCampaign, triggered, users } from '../support/campaigns.ts'
import { ask, type Json, type Reply } from '../support/http.ts'
import { givenUser, results, to } from '../support/messages.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

// One project calls every operation with the ids of another project's things. Nothing is found, nothing is shown, and
// no row of the other changes.

const service = await startService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
const document: OpenApi = (await service.ask('GET', '/openapi-complete.json')).json
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
)
const mine = await service.project({ mode: 'simulator' })
const theirs = await service.project({ mode: 'simulator' })
const must = (reply: Reply) => {
  assert.ok(reply.status < 300, `${reply.status} ${reply.text}`)
  return reply.json
}
const manageTheirs = async (method: string, path: string, json?: Json) =>
  must(await service.manage(method, `/projects/${theirs.id}${path}`, json === undefined ? {} : { json }))
const agent = async (project: TestProject, method: string, params: Json) =>
  ask(service.url, 'POST', '/a2a', {
    json: { jsonrpc: '2.0', id: 1, method, params },
    headers: { 'x-api-key': project.secretKey, 'a2a-version': '1.0' }
  })
const asking = (data: Json, more: Json = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ data }], ...more }
})

// The things of the other project.
await givenUser(theirs, 'theirs-ana', { id: 'theirs-phone', push_token: 'ab'.repeat(32) })
await givenCampaign(service, theirs, { campaign_id: 'theirs-news' })
await manageTheirs('PUT', '/topics/theirs-topic', { name: 'theirs-topic' })
await manageTheirs('PUT', '/segments/theirs-segment', { name: 'theirs-segment', segment: { all: [] } })
must(await theirs.call('PATCH', '/api/v1/users/theirs-ana/preferences', { json: { topics: { 'theirs-topic': true } } }))
const webhook = await manageTheirs('POST', '/webhooks', {
  url: 'http://127.0.0.1:9/theirs',
  events: ['message.accepted', 'message.failed', 'trigger.completed']
})
const sent = (await results(theirs, [to('theirs-ana', { title: 'theirs-title' })]))[0]
const keyed = {
  json: { push_notifications: [to('theirs-ana')] },
  headers: { 'idempotency-key': 'the same' }
}
const theirAnswer = await theirs.call('POST', '/api/v1/messages:send', keyed)
const triggerId = await triggered(theirs, users('theirs-ana'), 'theirs-news')
await ended(theirs, triggerId)
const key = await manageTheirs('POST', '/keys', { kind: 'secret', name: 'theirs-key' })
const token = must(
  await service.manage('POST', '/tokens', { json: { name: 'theirs-token', role: 'admin', project_id: theirs.id } })
)
const task = (await agent(theirs, 'SendMessage', asking({ skill: 'create-user' }))).json.result.task
await agent(theirs, 'CreateTaskPushNotificationConfig', {
  taskId: task.id,
  id: 'theirs-config',
  url: 'http://127.0.0.1:9/'
})
await theirs.call('POST', '/api/v1/devices/theirs-phone/live-activity-update-tokens', {
  json: { attributes_type: 'DeliveryAttributes', activity_id: 'theirs-activity', push_token: 'a1b2c3' }
})
await service.app.idle()
// Nothing of the other project calls out any more, so every change from here on is a fault.
await manageTheirs('PATCH', `/webhooks/${webhook.id}`, { active: false })
const delivery = await eventually(async () => {
  const [found] = await service.sql(
    `select id from webhook_calls where project_id = $1 and source_kind = 'outcome' and body like '%trigger.completed%'
        and not exists (select from webhook_events where project_id = $1)`,
    [theirs.id]
  )
  assert.ok(found)
  return found
})
await service.sql(`update webhook_calls set state = 'failed', settled_at = now() where project_id = $1`, [theirs.id])

// My own things: a token that reaches only my project, and one device.
const { token: myToken } = must(
  await service.manage('POST', '/tokens', { json: { name: 'mine', role: 'admin', project_id: mine.id } })
)
await givenUser(mine, 'my-user', 'my-phone')

const ids: Record<string, string> = {
  project_user_id: 'theirs-ana',
  device_id: 'theirs-phone',
  campaign_id: 'theirs-news',
  message_id: sent.message_id,
  trigger_id: triggerId,
  key_id: key.id,
  token_id: token.id,
  webhook_id: webhook.id,
  delivery_id: delivery.id,
  topic: 'theirs-topic',
  segment_id: 'theirs-segment',
  gateway: 'fcm'
}
const secrets = [...Object.values(ids).filter((id) => id !== 'fcm'), task.id, task.contextId, 'theirs-', theirs.id]

/** All rows of the other project, table by table. */
async function snapshot(): Promise<Record<string, string>> {
  const tables = await service.sql(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relname <> 'jobs'`
  )
  assert.ok(tables.length > 20)
  const all: Record<string, string> = {}
  for (const { name } of tables) {
    const rows = await service.sql(`select to_jsonb(t) - 'last_used_at' as row from ${name} t where project_id = $1`, [
      theirs.id
    ])
    all[name] = JSON.stringify(rows.map(({ row }) => JSON.stringify(row)).sort())
  }
  return all
}

function assertSilent(reply: Reply, what: string, echoed: string[] = []): void {
  const text = echoed.reduce((left, one) => left.replaceAll(one, ''), reply.text)
  for (const secret of secrets) assert.ok(!text.includes(secret), `${what} shows ${secret}: ${reply.text}`)
}

const withTheirIds = (value: Json): Json =>
  JSON.parse(
    JSON.stringify(value ?? {})
      .replaceAll('"ana-phone"', '"theirs-phone"')
      .replaceAll('"ana"', '"theirs-ana"')
      .replaceAll('"welcome"', '"theirs-news"')
      .replaceAll('"3F2B"', '"theirs-activity"')
      .replaceAll('"demo"', `"${theirs.id}"`)
  )

/** Operations that change my own project whatever ids they get; their effect on it is not tested here. */
const mineAnyway = new Set([
  'POST /api/v1/users',
  'DELETE /api/v1/users/{project_user_id}',
  'POST /api/v1/users:batch',
  'POST /api/v1/users:import',
  'POST /api/v1/devices',
  'POST /api/v1/web-push/simulated-subscriptions',
  'DELETE /api/v1/devices/{device_id}',
  'POST /api/v1/live-activity-channels',
  'DELETE /api/v1/live-activity-channels/{channel_id}',
  'POST /manage/v1/projects/{project_id}/keys',
  'POST /manage/v1/projects/{project_id}/webhook-deliveries:replay-failed',
  'GET /manage/v1/projects/{project_id}',
  'POST /manage/v1/projects/{project_id}:pause',
  'POST /manage/v1/projects/{project_id}:resume',
  'PATCH /manage/v1/projects/{project_id}',
  'POST /manage/v1/projects/{project_id}/users',
  'POST /manage/v1/projects/{project_id}/users:import',
  'PUT /manage/v1/projects/{project_id}/indexed-properties/{name}',
  'DELETE /manage/v1/projects/{project_id}/indexed-properties/{name}',
  'PUT /manage/v1/projects/{project_id}/simulator/faults',
  'DELETE /manage/v1/projects/{project_id}/simulator/inbox',
  'DELETE /manage/v1/projects/{project_id}/simulator/faults',
  'GET /manage/v1/projects/{project_id}/simulator/faults',
  'POST /manage/v1/projects/{project_id}/simulator/devices',
  'DELETE /manage/v1/projects/{project_id}/simulator/devices/{device_id}',
  'POST /manage/v1/projects/{project_id}/campaigns',
  'PUT /manage/v1/projects/{project_id}/campaigns/{campaign_id}',
  'PUT /manage/v1/projects/{project_id}/topics/{topic}',
  'PUT /manage/v1/projects/{project_id}/segments/{segment_id}',
  'POST /manage/v1/projects/{project_id}/identity-secret:rotate',
  'POST /manage/v1/projects/{project_id}/webhooks',
  'POST /manage/v1/projects/{project_id}/webhook-secret:rotate',
  'GET /manage/v1/projects/{project_id}/gateways/{gateway}',
  'POST /manage/v1/projects/{project_id}/gateways/{gateway}:check',
  // Makes a link for the calling token itself.
  'POST /manage/v1/sign-in-links'
])
/** Responds 200 and reports for each item that the user, device or activity does not exist. */
const perItem = /^POST \/api\/v1\/(messages:send|live-activities:\w+)$/

const before = await snapshot()
for (const table of ['users', 'devices', 'messages', 'triggers', 'campaigns', 'webhooks', 'webhook_calls', 'a2a_tasks'])
  assert.notEqual(before[table], '[]', `they have ${table}`)

describe('a project that knows the ids of another', () => {
  function asks({ method, path, operation }: (typeof operations)[number]): void {
    const [scheme] = operation.security
    if (!scheme || 'agentKey' in scheme) return
    const name = `${method} ${path}`
    const withKey = 'projectId' in scheme
    const search = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && ids[parameter.name] !== undefined)
      .map((parameter) => `${parameter.name}=${ids[parameter.name]}`)
      .join('&')
    const fill = (project: TestProject) =>
      path.replace(/\{(\w+)\}/g, (_, one) => (one === 'project_id' ? project.id : ids[one]!)) + (search && `?${search}`)
    const content = operation.requestBody?.content
    const body = content && {
      body: content['application/json']
        ? JSON.stringify(withTheirIds(content['application/json'].example))
        : '{"project_user_id":"theirs-ana","properties":{"stolen":true}}\n',
      headers: { 'content-type': Object.keys(content)[0]! }
    }
    const byToken = { authorization: `Bearer ${myToken}` }
    const send = (target: string, headers: Record<string, string>) =>
      service.ask(method, target, { ...body, headers: { ...headers, ...body?.headers } })

    it(`${name} finds nothing of it`, async () => {
      // These have separate tests below, and those of people in test/members.
      if (name === 'DELETE /manage/v1/projects/{project_id}' || /^\/manage\/v1\/(tokens|projects$)/.test(path)) return
      if (/^\/manage\/v1\/(members|sessions|account)/.test(path)) return
      // A stream without an end, and without ids.
      if (path.endsWith('/changes')) return
      const keys = { 'x-service-project-id': mine.id, 'x-service-api-key': mine.secretKey }
      const ways: [string, Record<string, string>][] = withKey
        ? [
            [fill(mine), keys],
            [`/manage/v1/projects/${mine.id}${fill(mine)}`, byToken]
          ]
        : [[fill(mine), byToken]]
      for (const [target, headers] of ways) {
        const reply = await send(target, headers)
        assert.ok(reply.status < 500, `${name} ${reply.text}`)
        if (mineAnyway.has(name)) continue
        // A refusal may repeat the requested id, or report it as unknown.
        assertSilent(reply, name, reply.status >= 400 ? Object.values(ids) : [])
        // Only administrators of the installation may read dead jobs and its audit log, and resume it.
        if (/^\/manage\/v1\/(dead-jobs|audit|actors|installation)/.test(path))
          assert.equal(reply.status, 403, reply.text)
        // The preview of a campaign in the body finds no user of another project.
        else if (path.endsWith('/campaigns:preview')) assert.equal(must(reply).audience.users, 0)
        else if (name === 'POST /manage/v1/projects/{project_id}/erasures') assert.equal(must(reply).erased.users, 0)
        else if (path.endsWith('/erasures:verify')) assert.notEqual(reply.json?.valid, true)
        else if (path.endsWith('/segments:count')) assert.equal(must(reply).users, 0)
        else if (perItem.test(name)) {
          const { delivery_results } = must(reply)
          assert.ok(
            delivery_results.every((one: Json) => one.status === 'DELIVERY_RESULT_STATUS_FAILED'),
            reply.text
          )
        } else if (!/\{(?!project_id)\w+\}/.test(path) && method === 'GET') assert.ok([200, 404].includes(reply.status))
        else assert.ok([400, 404].includes(reply.status), `${name}: ${reply.status} ${reply.text}`)
      }
    })

    it(`${name} does not open the other project`, async () => {
      const keys = { 'x-service-project-id': theirs.id, 'x-service-api-key': mine.secretKey }
      if (withKey) assert.equal((await send(fill(theirs), keys)).status, 401)
      const target = withKey ? `/manage/v1/projects/${theirs.id}${fill(theirs)}` : fill(theirs)
      if (!withKey && !path.includes('{project_id}') && !path.includes('/tokens/')) return
      const reply = await send(target, byToken)
      assert.ok([403, 404].includes(reply.status), `${name}: ${reply.status} ${reply.text}`)
      assertSilent(reply, name)
    })
  }

  for (const asked of operations) if (!mineAnyway.has(`${asked.method} ${asked.path}`)) asks(asked)

  it('lists the projects and tokens of its own alone, and makes no token for the other', async () => {
    const headers = { authorization: `Bearer ${myToken}` }
    for (const path of ['/projects', '/tokens']) {
      const reply = await service.ask('GET', `/manage/v1${path}`, { headers })
      assert.equal(must(reply).items.length, 1)
      assertSilent(reply, path)
    }
    for (const project_id of [theirs.id, undefined]) {
      const reply = await service.ask('POST', '/manage/v1/tokens', {
        headers,
        json: { name: 'x', role: 'viewer', project_id }
      })
      assert.equal(reply.status, 403)
    }
  })

  const named = { taskId: task.id, id: 'theirs-config' }
  for (const [method, params, code] of [
    ['GetTask', { id: task.id }, -32001],
    ['CancelTask', { id: task.id }, -32001],
    ['SubscribeToTask', { id: task.id }, -32001],
    ['CreateTaskPushNotificationConfig', { taskId: task.id, url: 'http://127.0.0.1:9/stolen' }, -32001],
    ['GetTaskPushNotificationConfig', named, -32001],
    ['ListTaskPushNotificationConfigs', { taskId: task.id }, -32001],
    ['DeleteTaskPushNotificationConfig', named, -32001],
    ['SendMessage', asking({ projectUserId: 'stolen' }, { taskId: task.id }), -32001],
    ['SendStreamingMessage', asking({ projectUserId: 'stolen' }, { taskId: task.id }), -32001]
  ] as const)
    it(`${method} as an agent does not find its task`, async () => {
      const reply = await agent(mine, method, params)
      assert.equal(reply.json.error?.code, code, reply.text)
      assertSilent(reply, method)
    })

  for (const data of [
    { skill: 'track-event', eventName: 'stolen', deviceId: 'theirs-phone', properties: {} },
    { skill: 'track-event', eventName: 'stolen', projectUserId: 'theirs-ana', properties: {} },
    { skill: 'trigger-campaign', campaignId: 'theirs-news' }
  ])
    it(`${data.skill} as an agent is rejected (${Object.keys(data).join(', ')})`, async () => {
      const { task } = (await agent(mine, 'SendMessage', asking(data))).json.result
      assert.equal(task.status.state, 'rejected', JSON.stringify(task))
    })

  it('sees none of its tasks in a list, whatever the context', async () => {
    // My own task above was rejected with the id that I gave.
    const mineRefused = JSON.stringify('There is no campaign "theirs-news".')
    for (const params of [{}, { contextId: task.contextId }])
      assertSilent(await agent(mine, 'ListTasks', params), 'ListTasks', [mineRefused])
  })

  it('gets no answer that the other was given under the same idempotency key', async () => {
    assert.equal(theirAnswer.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    const reply = await mine.call('POST', '/api/v1/messages:send', keyed)
    assert.equal(reply.headers['idempotent-replay'], undefined)
    assert.equal(must(reply).delivery_results[0].status, 'DELIVERY_RESULT_STATUS_FAILED')
  })

  // Last: from here on my project has users and devices of the same names.
  for (const asked of operations) if (mineAnyway.has(`${asked.method} ${asked.path}`)) asks(asked)

  it('cannot report that a message of the other was tapped, with a device of the same id', async () => {
    await givenUser(mine, 'my-user', 'theirs-phone')
    const event_property = { message_id: sent.message_id }
    const events = ['PUSH_NOTIFICATION_RECEIVED', 'PUSH_NOTIFICATION_TAPPED'].map((name) => ({
      device_id: 'theirs-phone',
      name,
      event_property
    }))
    must(await mine.call('POST', '/api/v1/events', { json: { events } }))
    await service.app.idle()
    const [seen] = await service.sql('select delivered_at, tapped_at from messages where message_id = $1', [
      sent.message_id
    ])
    assert.deepEqual(seen, { delivered_at: null, tapped_at: null })
  })

  it('has changed nothing of it', async () => {
    await service.app.idle()
    const after = await snapshot()
    for (const [table, rows] of Object.entries(before)) assert.equal(after[table], rows, table)
  })
})
