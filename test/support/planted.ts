import assert from 'node:assert/strict'
import { agentOf } from '../a2a/agent.ts'
import { agentKey } from '../oversight/keys.ts'
import { ended, givenCampaign, triggered } from './campaigns.ts'
import { link } from './devices.ts'
import type { Json } from './http.ts'
import { plantActivities, plantByIntake, plantByMcp, plantDecisions, type Ways } from './planted-elsewhere.ts'
import { eventually, type TestProject, type TestService } from './service.ts'

export interface Planted {
  project: TestProject
  userId: string
  deviceId: string
  /** Sends again what was sent with keys. */
  repeat(): Promise<void>
}

/** A person with the mark in every field that a caller can fill, and with everything that the service makes of it. */
export async function plant(service: TestService, hook: string, mark: string): Promise<Planted> {
  const project = await service.project({ mode: 'simulator' })
  const [userId, deviceId] = [`${mark}-user`, `${mark}-phone`]
  const ok = async (method: string, path: string, json: Json, headers = {}) => {
    const reply = await project.call(method, `/api/v1${path}`, { json, headers })
    assert.equal(reply.status, 200, `${path}: ${reply.text}`)
    return reply.json
  }
  const manage = async (method: string, path: string, json?: Json) => {
    const reply = await service.manage(method, `/projects/${project.id}${path}`, { json })
    assert.ok(reply.status < 300, `${path}: ${reply.text}`)
    return reply.json
  }
  const events = [
    'message.accepted',
    'message.failed',
    'message.delivered',
    'message.tapped',
    'trigger.completed',
    'user.opted_out'
  ]
  await manage('POST', '/webhooks', { url: hook, events })
  await manage('PUT', '/topics/offers', { name: 'Offers' })

  await ok('POST', '/users', { project_user_id: 'bo', properties: { plan: 'free' } })
  await ok('POST', '/users', { project_user_id: userId, properties: { email: `${mark}@example.com`, [mark]: true } })
  await manage('POST', '/simulator/devices', { platform: 'IOS', device_id: deviceId })
  await manage('POST', '/simulator/devices', { platform: 'IOS', device_id: 'bo-phone' })
  const facts = {
    app_name: mark,
    app_version: mark,
    model: mark,
    os_name: mark,
    os_version: mark,
    sdk_type: mark,
    sdk_version: mark
  }
  await ok('POST', '/devices', {
    devices: [{ id: deviceId, platform: 'IOS', ...facts, locale_language: 'de', timezone: 'Europe/Vienna' }]
  })
  await link(project, deviceId, userId)
  await link(project, 'bo-phone', 'bo')
  const slow = { type: 'event_triggered', event_trigger: { event: 'bought', delay: '30d' } }
  await givenCampaign(service, project, { campaign_id: 'slow', ...slow, message: { title: '{{ event.what }}' } })
  await givenCampaign(service, project, {
    campaign_id: 'soon',
    type: 'event_triggered',
    event_trigger: { event: 'bought' },
    message: { title: '{{ event.what }}' }
  })
  await givenCampaign(service, project, { message: { title: 'Hello {{ trigger.name }}' } })
  await givenCampaign(service, project, {
    campaign_id: 'offers',
    topic: 'offers',
    conversion: { event: 'bought', within: '7d' },
    message: { title: '{{ user.email }}' }
  })
  const converted = await triggered(project, { audience: { targets: [{ project_user_id: userId }] } }, 'offers')
  await ended(project, converted)

  const send = {
    target: { project_user_id: userId },
    title: mark,
    body: mark,
    landing_url: `https://example.com/${mark}`,
    data: { of: mark }
  }
  const [sent] = (await ok('POST', '/messages:send', { push_notifications: [send] }, { 'idempotency-key': 'send' }))
    .delivery_results
  await ok('POST', '/messages:send', { push_notifications: [send] }, { 'idempotency-key': `${userId}-send` })
  await ok('POST', '/messages:send', {
    push_notifications: [{ ...send, send_at: new Date(Date.now() + 3_600_000).toISOString() }]
  })
  await ok('POST', '/events', {
    events: [
      {
        id: `${mark}-event`,
        device_id: deviceId,
        name: 'bought',
        event_property: { custom_properties: { what: mark } }
      },
      { device_id: deviceId, name: mark },
      {
        device_id: deviceId,
        name: 'PUSH_NOTIFICATION_TAPPED',
        source_type: 'SERVICE',
        event_property: { message_id: sent.message_id }
      }
    ]
  })
  const target = { project_user_id: userId, properties: { name: mark } }
  const alone = { audience: { targets: [target] }, properties: { name: mark } }
  const both = {
    audience: { targets: [{ project_user_id: 'bo' }, target, { device_id: deviceId }] },
    properties: { name: 'all' }
  }
  for (const body of [alone, both]) await ended(project, await triggered(project, body))
  await ok('POST', '/campaigns/news:trigger', both, { 'idempotency-key': `${userId}-trigger` })
  for (const body of [alone, both])
    await ok('POST', '/campaigns/news:trigger', { ...body, send_at: new Date(Date.now() + 86_400_000).toISOString() })
  const ways: Ways = { service, project, mark, userId, deviceId, ok, manage }
  await plantByMcp(ways)
  await plantByIntake(ways)
  await plantActivities(ways)
  const watched = await agentKey(service, project, { approval_above: 1 })
  await plantDecisions(ways, watched)
  const limited = agentOf(service, watched, 'official')
  const audience = { targets: [target, { projectUserId: 'bo' }] }
  const asked = { skill: 'trigger-campaign', campaignId: 'news', audience, properties: { name: 'all' } }
  await limited.result('send', { message: limited.message(asked) })
  await ok('PATCH', `/users/${userId}/preferences`, {
    topics: { offers: false },
    consent: { source: mark, text: mark }
  })
  await ended(project, await triggered(project, alone, 'offers'))
  await ok('PATCH', `/users/${userId}/preferences`, { opted_out: true })

  const agent = agentOf(service, project, 'official')
  const data = { skill: 'create-user', projectUserId: userId, properties: { phone: mark } }
  const params = { message: agent.message(data) }
  const keyed = { headers: { 'x-service-idempotency-key': `${userId}-agent` } }
  await agent.result('send', params, keyed)
  await agent.result('send', {
    message: agent.message(`send a push to ${userId} saying ${mark}`),
    configuration: { taskPushNotificationConfig: { url: hook, token: mark } }
  })
  await agent.result('send', { message: agent.message({ skill: 'find-user', projectUserId: userId }) })
  await agent.result('send', {
    message: agent.message({
      skill: 'preview-campaign',
      campaignId: 'news',
      targets: [target],
      properties: { name: mark }
    })
  })
  const repeat = async () => {
    await ok('POST', '/messages:send', { push_notifications: [send] }, { 'idempotency-key': `${userId}-send` })
    const again = await agent.call('send', params, keyed)
    assert.ok(again.status < 500, again.text)
  }
  // Calls are made of waiting events.
  await eventually(async () => {
    const [left] = await service.sql('select count(*)::int as n from webhook_events where project_id = $1', [
      project.id
    ])
    const [made] = await service.sql(
      'select count(*)::int as n from webhook_calls where project_id = $1 and strpos(body, $2) > 0',
      [project.id, mark]
    )
    assert.ok(left!.n === 0 && made!.n > 0)
  }, 20_000)
  return { project, userId, deviceId, repeat }
}

/** Where a text stands in the whole database: the number of rows by column. */
export async function whereIs(service: TestService, text: string): Promise<Record<string, number>> {
  const columns = await service.sql(
    `select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
        and a.attnum > 0 and not a.attisdropped`
  )
  const found: Record<string, number> = {}
  for (const { table, column } of columns) {
    const [row] = await service.sql(
      `select count(*)::int as n from ${table} where ${column}::text ilike '%' || $1 || '%'`,
      [text]
    )
    if (row!.n > 0) found[`${table}.${column}`] = row!.n
  }
  return found
}
