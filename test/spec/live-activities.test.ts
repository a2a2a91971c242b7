import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { failed, givenUser, succeed } from '../support/messages.ts'
import { rejected, scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

const target = { project_user_id: 'ana' }
const activity = { target, attributes_type: 'Ride', attributes: { id: 1 }, content_state: { minutes: 5 } }

const call = (project: TestProject, action: string, items: unknown) =>
  project.call('POST', `/api/v1/live-activities:${action}`, { json: { live_activities: items } })

async function results(project: TestProject, action: string, items: unknown): Promise<Json[]> {
  const reply = await call(project, action, items)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.delivery_results
}

async function startToken(project: TestProject, device: string, type: string, token: string): Promise<void> {
  const path = `/devices/${device}/live-activity-start-tokens`
  const reply = await asApp(project, 'POST', path, { attributes_type: type, push_to_start_token: token })
  assert.equal(reply.status, 200, reply.text)
}

async function updateToken(project: TestProject, device: string, type: string, id: string, token: string) {
  const path = `/devices/${device}/live-activity-update-tokens`
  const json = { attributes_type: type, activity_id: id, push_token: token }
  assert.equal((await asApp(project, 'POST', path, json)).status, 200)
}

const reasonOf = ({ additional_params }: Json) => additional_params.failure_reason.replace(/ .*/, '')

describe('POST /api/v1/live-activities:start does it', () => {
  it('sends to the start token of the type, with the default alert', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 's-1', push_environment: 'sandbox', app_identifier: 'com.example.app' })
    await startToken(project, 's-1', 'Ride', 'start-ride')
    await startToken(project, 's-1', 'Order', 'start-order')
    const [result] = await results(project, 'start', [activity])
    assert.equal(result.status, succeed)
    assert.deepEqual(Object.keys(result.additional_params).sort(), [
      'device_id',
      'failure_reason',
      'gateway_message_id'
    ])
    assert.equal(result.additional_params.device_id, 's-1')
    const [push] = sender.to('s-1')
    assert.deepEqual(
      [push!.gateway, push!.environment, push!.app, push!.token, push!.collapseId],
      ['apns', 'sandbox', 'com.example.app', 'start-ride', result.message_id]
    )
    assert.deepEqual(push!.content, {
      kind: 'activity-start',
      activity: {
        attributesType: 'Ride',
        attributes: { id: 1 },
        contentState: { minutes: 5 },
        alert: { title: 'Live Activity', body: 'Started' }
      }
    })
  })

  it('carries an alert of its own, and goes through Firebase where the app does', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 'f-1', push_token_type: 'FCM' })
    await startToken(project, 'f-1', 'Ride', 'start-ride')
    await results(project, 'start', [{ ...activity, alert: { title: 'Ride', body: 'Here' } }])
    const [push] = sender.to('f-1')
    assert.deepEqual([push!.gateway, push!.token, push!.activityToken], ['fcm', 'f-1-token', 'start-ride'])
    assert.ok(push!.content.kind === 'activity-start')
    assert.deepEqual(push!.content.activity.alert, { title: 'Ride', body: 'Here' })
  })

  it('reaches every iPhone of the user that has a token, and gives the reason where none has', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'i-1', { id: 'i-2', platform: 'ANDROID', push_token_type: 'FCM' }, 'i-3')
    await givenUser(project, 'bo', { id: 'i-4', platform: 'ANDROID', push_token_type: 'FCM' })
    await givenUser(project, 'cy', { id: 'i-5', is_push_permission_granted: false })
    await givenUser(project, 'di')
    assert.equal(reasonOf((await results(project, 'start', [activity]))[0]), '[NO_LIVE_ACTIVITY_TOKEN]')
    for (const device of ['i-1', 'i-3', 'i-5']) await startToken(project, device, 'Ride', `${device}-start`)
    const of = (id: string) => ({ ...activity, target: { project_user_id: id } })
    const [ana, ...others] = await results(project, 'start?expand=devices', [
      activity,
      { ...activity, attributes_type: 'Order' },
      of('bo'),
      of('cy'),
      of('di'),
      of('nobody'),
      { ...activity, target: { device_id: 'i-2' } }
    ])
    assert.deepEqual(
      ana.additional_params.devices.map(({ device_id, status }: Json) => [device_id, status]),
      [
        ['i-3', succeed],
        ['i-1', succeed]
      ]
    )
    assert.deepEqual(others.map(reasonOf), [
      '[NO_LIVE_ACTIVITY_TOKEN]',
      '[UNSUPPORTED_PLATFORM]',
      '[NO_PUSH_TOKEN]',
      '[NO_DEVICE]',
      '[USER_NOT_FOUND]',
      '[UNSUPPORTED_PLATFORM]'
    ])
    assert.ok(others.every(({ status }) => status === failed))
  })

  it('keeps the start token of a phone on which a hundred activities have run', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'k-1')
    await startToken(project, 'k-1', 'Ride', 'start')
    await service.sql(
      `insert into live_activity_tokens (project_id, device_id, attributes_type, activity_id, token, registered_at, dead_since)
       select $1, 'k-1', 'Ride', n::text, 'ended-' || n, now() + n * interval '1 second', now() from generate_series(1, 99) as n`,
      [project.id]
    )
    for (const id of ['K1', 'K2']) await updateToken(project, 'k-1', 'Ride', id, `token-${id}`)
    const left = await service.sql(
      `select count(*)::int as n, bool_or(activity_id = 'K1') as running from live_activity_tokens
        where project_id = $1 and activity_id <> ''`,
      [project.id]
    )
    assert.deepEqual(left, [{ n: 100, running: true }], 'the oldest that ended is gone')
    assert.equal((await results(project, 'start', [activity]))[0].status, succeed)
  })

  it('turns a dead start token off and leaves the push token alone', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'd-1')
    await startToken(project, 'd-1', 'Ride', 'start')
    sender.script('d-1', rejected('TOKEN_UNREGISTERED', new Date(Date.now() + 1000)))
    assert.equal(reasonOf((await results(project, 'start', [activity]))[0]), '[TOKEN_UNREGISTERED]')
    sender.script('d-1')
    assert.equal(reasonOf((await results(project, 'start', [activity]))[0]), '[NO_LIVE_ACTIVITY_TOKEN]')
    const sent = await project.call('POST', '/api/v1/messages:send', {
      json: { push_notifications: [{ target, title: 'a' }] }
    })
    assert.equal(sent.json.delivery_results[0].status, succeed)
    await startToken(project, 'd-1', 'Ride', 'start')
    assert.equal((await results(project, 'start', [activity]))[0].status, succeed)
  })
})

describe('POST /api/v1/live-activities:update and :end do it', () => {
  it('by the id of the activity, or the newest of a type on each device', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'u-1')
    assert.equal(
      reasonOf((await results(project, 'update', [{ activity_id: 'A1', content_state: {} }]))[0]),
      '[NO_LIVE_ACTIVITY_TOKEN]'
    )
    assert.equal(
      reasonOf((await results(project, 'end', [{ target, attributes_type: 'Ride', content_state: {} }]))[0]),
      '[NO_LIVE_ACTIVITY_TOKEN]'
    )
    await updateToken(project, 'u-1', 'Ride', 'A1', 'token-a1')
    await updateToken(project, 'u-1', 'Ride', 'A2', 'token-a2')
    const before = Math.floor(Date.now() / 1000)
    const [byId] = await results(project, 'update', [
      { activity_id: 'A1', content_state: { minutes: 3 }, stale_date: '2030-01-01T00:00:00Z' }
    ])
    const [byType] = await results(project, 'end', [
      { target, attributes_type: 'Ride', content_state: { minutes: 0 }, dismissal_date: 1_900_000_000 }
    ])
    assert.deepEqual([byId.status, byType.status], [succeed, succeed])
    const [update, end] = sender.to('u-1')
    assert.deepEqual([update!.token, end!.token], ['token-a1', 'token-a2'])
    assert.ok(update!.content.kind === 'activity-update' && end!.content.kind === 'activity-end')
    const { timestamp, ...rest } = update!.content.activity
    assert.ok(timestamp >= before && timestamp <= Date.now() / 1000)
    assert.deepEqual(rest, { contentState: { minutes: 3 }, staleDate: 1_893_456_000 })
    assert.equal(end!.content.activity.dismissalDate, 1_900_000_000)
  })

  it('an update by target reaches the activity that runs, and none that has ended', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'n-1')
    await updateToken(project, 'n-1', 'Ride', 'N1', 'token-n1')
    await updateToken(project, 'n-1', 'Ride', 'N2', 'token-n2')
    const change = { target, attributes_type: 'Ride', content_state: {} }
    const later = Math.floor(Date.now() / 1000) + 3_600
    const [ended] = await results(project, 'end', [{ ...change, dismissal_date: later }])
    const [updated] = await results(project, 'update', [change])
    assert.deepEqual([ended.status, updated.status], [succeed, succeed])
    assert.deepEqual(
      sender.to('n-1').map(({ token }) => token),
      ['token-n2', 'token-n1'],
      'the newest was ended, also while it is still shown; the other runs'
    )
    const byId = { activity_id: 'N2', content_state: {} }
    assert.equal(reasonOf((await results(project, 'update', [byId]))[0]), '[NO_LIVE_ACTIVITY_TOKEN]')
    await results(project, 'end', [{ activity_id: 'N1', content_state: {} }])
    for (const action of ['update', 'end'])
      assert.equal(reasonOf((await results(project, action, [change]))[0]), '[NO_LIVE_ACTIVITY_TOKEN]')
    assert.equal(sender.to('n-1').length, 3)
  })

  it('an update by target reaches the activity that began last, also after an older one got another token', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'o-1')
    await updateToken(project, 'o-1', 'Ride', 'O1', 'token-o1')
    await updateToken(project, 'o-1', 'Ride', 'O2', 'token-o2')
    // As an older node stored them.
    await service.sql('update live_activity_tokens set first_registered_at = null where project_id = $1', [project.id])
    const change = { target, attributes_type: 'Ride', content_state: {} }
    for (const token of ['next-o1', 'third-o1']) {
      await updateToken(project, 'o-1', 'Ride', 'O1', token)
      await results(project, 'update', [change])
    }
    await results(project, 'update', [{ activity_id: 'O1', content_state: {} }])
    assert.deepEqual(
      sender.to('o-1').map(({ token }) => token),
      ['token-o2', 'token-o2', 'third-o1']
    )
  })

  it('an end that no gateway accepted leaves the activity within reach', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'n-2')
    await updateToken(project, 'n-2', 'Ride', 'N3', 'token-n3')
    sender.script('n-2', rejected('PAYLOAD_INVALID'))
    const change = { activity_id: 'N3', content_state: {} }
    assert.equal(reasonOf((await results(project, 'end', [change]))[0]), '[PAYLOAD_INVALID]')
    sender.script('n-2')
    assert.equal((await results(project, 'update', [change]))[0].status, succeed)
    assert.equal((await results(project, 'end', [change]))[0].status, succeed)
  })

  it('activities of another project do not exist', async () => {
    const [mine, other] = [await service.project(), await service.project()]
    await givenUser(mine, 'ana', 't-1')
    await updateToken(mine, 't-1', 'Ride', 'T1', 'token')
    const [result] = await results(other, 'update', [{ activity_id: 'T1', content_state: {} }])
    assert.equal(reasonOf(result), '[NO_LIVE_ACTIVITY_TOKEN]')
    assert.deepEqual(sender.to('t-1'), [])
  })
})

describe('live activities refuse', () => {
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) })
  const cases: [action: string, what: string, item: unknown, detail: string][] = [
    ['start', 'no target', { ...activity, target: undefined }, 'live_activities[0].target: must be given'],
    [
      'start',
      'no type',
      { ...activity, attributes_type: undefined },
      'live_activities[0].attributes_type: must be given'
    ],
    [
      'start',
      'an empty type',
      { ...activity, attributes_type: '' },
      'live_activities[0].attributes_type: must not be empty'
    ],
    ['start', 'no attributes', { ...activity, attributes: undefined }, 'live_activities[0].attributes: must be given'],
    [
      'start',
      'a text as attributes',
      { ...activity, attributes: 'a' },
      'live_activities[0].attributes: must be an object'
    ],
    [
      'start',
      'null as state',
      { ...activity, content_state: null },
      'live_activities[0].content_state: must be an object'
    ],
    [
      'start',
      'a list as state',
      { ...activity, content_state: [] },
      'live_activities[0].content_state: must be an object'
    ],
    [
      'start',
      'a state too deep',
      { ...activity, content_state: deep(20) },
      'live_activities[0].content_state: must have at most 16 levels'
    ],
    [
      'start',
      'attributes too large',
      { ...activity, attributes: { a: 'x'.repeat(20_000) } },
      'live_activities[0].attributes: must be at most 16 KiB'
    ],
    [
      'start',
      'half an alert',
      { ...activity, alert: { title: 'a' } },
      'live_activities[0].alert.body: must be a string that is not empty'
    ],
    ['update', 'no state', { activity_id: 'a' }, 'live_activities[0].content_state: must be given'],
    ['update', 'neither id nor target', { content_state: {} }, 'live_activities[0].target: must be given'],
    [
      'end',
      'both id and target',
      { activity_id: 'a', target, attributes_type: 'Ride', content_state: {} },
      'live_activities[0]: must have either activity_id or target'
    ],
    [
      'end',
      'a date that is none',
      { activity_id: 'a', content_state: {}, dismissal_date: 'soon' },
      'live_activities[0].dismissal_date: must be Unix seconds or an RFC 3339 time, with Z or an offset'
    ],
    [
      'update',
      'a date of no time zone',
      { activity_id: 'a', content_state: {}, stale_date: '2026-11-15T09:30:00' },
      'live_activities[0].stale_date: must be Unix seconds or an RFC 3339 time, with Z or an offset'
    ]
  ]
  for (const [action, what, item, detail] of cases) {
    it(`${what} in :${action}`, async () => {
      const project = await service.project()
      const reply = await call(project, action, [item])
      assert.deepEqual([reply.status, reply.text], [400, 'Invalid live activity parameters'])
      assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
      assert.equal(reply.headers['x-service-error-code'], 'invalid_live_activity')
      assert.equal(reply.headers['x-service-error-detail'], detail)
    })
  }

  it('an empty list, too many, another content type and a body 100,000 levels deep', async () => {
    const project = await service.project()
    const nested = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
    const body = JSON.stringify({ live_activities: [activity] })
    for (const asked of [
      { json: { live_activities: [] } },
      { json: { live_activities: Array.from({ length: 1_001 }, () => activity) } },
      { body, headers: { 'content-type': 'text/html' } },
      { body: body.replace('{"minutes":5}', nested), headers: { 'content-type': 'application/json' } },
      { body: body.replace('5', '1e400'), headers: { 'content-type': 'application/json' } }
    ]) {
      const reply = await project.call('POST', '/api/v1/live-activities:start', asked)
      assert.deepEqual([reply.status, reply.text], [400, 'Invalid live activity parameters'])
    }
  })
})
