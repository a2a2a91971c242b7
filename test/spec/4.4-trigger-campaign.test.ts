import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  devices,
  ended,
  everyone,
  givenCampaign,
  invalid,
  put,
  readTrigger,
  refused,
  run,
  trigger,
  triggered,
  users
} from '../support/campaigns.ts'
import { put as putDevice } from '../support/devices.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const arrived = (...ids: string[]) => ids.filter((id) => sender.to(id).length > 0)

/** Ana (premium, two phones), Bo (free), Cy without a device, and a phone without a login. */
async function givenPeople(prefix: string): Promise<TestProject> {
  const project = await service.project()
  await givenUser(project, 'ana', `${prefix}-ana-1`, `${prefix}-ana-2`)
  await givenUser(project, 'bo', `${prefix}-bo`)
  await givenUser(project, 'cy')
  await putDevice(project, {
    id: `${prefix}-nobody`,
    platform: 'IOS',
    push_token: `${prefix}-n`,
    push_token_type: 'APNS'
  })
  await put(project, 'ana', { plan: 'premium', name: 'Ana' })
  await put(project, 'bo', { plan: 'free' })
  return project
}
const premium = { attribute: 'user.plan', operator: 'equals', value: 'premium' }

describe('POST /api/v1/campaigns/{campaign_id}:trigger does it', () => {
  it('returns a trigger id at once, and sends to all devices of a targeted user', async () => {
    const project = await givenPeople('a')
    await givenCampaign(service, project)
    const reply = await trigger(project, users('ana'))
    assert.deepEqual([reply.status, Object.keys(reply.json)], [200, ['trigger_id']])
    assert.match(reply.json.trigger_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    const found = await ended(project, reply.json.trigger_id)
    assert.equal(found.state, 'completed')
    assert.deepEqual(found.counts, { targeted: 2, sent: 2, failed: 0, skipped: 0, pending: 0, delivered: 0, tapped: 0 })
    assert.deepEqual(arrived('a-ana-1', 'a-ana-2', 'a-bo', 'a-nobody'), ['a-ana-1', 'a-ana-2'])
    assert.ok(found.accepted_at && found.expanded_at && found.ended_at)
  })

  it('rule 2: a targeted user outside the segment receives nothing, and the reason is kept', async () => {
    const project = await givenPeople('b')
    await givenCampaign(service, project, { segment: premium })
    const found = await run(project, users('ana', 'bo'))
    assert.deepEqual(found.skipped, { not_in_segment: 1 })
    assert.deepEqual(arrived('b-ana-1', 'b-ana-2', 'b-bo'), ['b-ana-1', 'b-ana-2'])
  })

  it('rule 3: a broadcast reaches everyone in the segment, anonymous users too, and ignores targets unread', async () => {
    const project = await givenPeople('c')
    await givenCampaign(service, project)
    const found = await run(project, { audience: { broadcast: true, targets: 'no list at all' } })
    assert.equal(found.counts.sent, 4)
    assert.deepEqual(arrived('c-ana-1', 'c-ana-2', 'c-bo', 'c-nobody').length, 4)
    await givenCampaign(service, project, { segment: premium })
    assert.equal((await run(project, everyone)).counts.targeted, 2)
  })

  it('rule 5: without an audience the default audience is used: a broadcast, targets, or none', async () => {
    const project = await givenPeople('d')
    await givenCampaign(service, project)
    const none = await run(project)
    assert.deepEqual([none.state, none.reason, none.counts.targeted], ['completed', 'no_audience', 0])
    await givenCampaign(service, project, { default_audience: { targets: [{ project_user_id: 'bo' }] } })
    assert.equal((await run(project, {})).counts.sent, 1)
    await givenCampaign(service, project, { default_audience: { broadcast: true } })
    assert.equal((await run(project, { properties: { a: 1 } })).counts.sent, 4)
  })

  it('an audience without targets reaches no one, whatever the default audience is', async () => {
    const project = await givenPeople('e')
    await givenCampaign(service, project, { default_audience: { broadcast: true } })
    for (const audience of [{}, { targets: [] }, { broadcast: false }, { broadcast: false, targets: [] }]) {
      const found = await run(project, { audience })
      assert.deepEqual([found.state, found.counts.targeted], ['completed', 0])
    }
    assert.deepEqual(arrived('e-ana-1', 'e-bo'), [])
  })

  it('rule 6: targets may be mixed, a device is reached once, and unknown ones are skipped with a reason', async () => {
    const project = await givenPeople('f')
    await givenCampaign(service, project)
    const bo = (await service.manage('GET', `/projects/${project.id}/devices/f-bo`)).json.user_id
    const targets = [
      { project_user_id: 'ana' },
      { project_user_id: 'ana' },
      { device_id: 'f-ana-1' },
      { user_id: bo },
      { user_id: bo.toUpperCase() },
      { device_id: 'f-nobody' },
      { project_user_id: 'cy' },
      { project_user_id: 'who' },
      { device_id: 'what' },
      { user_id: 'not even an id' }
    ]
    const found = await run(project, { audience: { targets } })
    assert.deepEqual(found.skipped, { no_device: 1, unknown_user: 2, unknown_device: 1 })
    assert.equal(found.counts.sent, 4)
    for (const id of ['f-ana-1', 'f-ana-2', 'f-bo', 'f-nobody']) assert.equal(sender.to(id).length, 1, id)
  })

  it('rule 8: templates and conditions refer to trigger properties, and each recipient receives its own text', async () => {
    const project = await givenPeople('g')
    await givenCampaign(service, project, {
      segment: { attribute: 'user.plan', operator: 'equals', value: '{{ trigger.plan }}' },
      message: {
        title: 'Hi {{ user.name }}',
        body: '{{ trigger.code.text }} on {{ device.id }}',
        landing_url: 'app://{{ trigger.plan }}'
      }
    })
    await run(project, { ...everyone, properties: { plan: 'premium', code: { text: 'X1' } } })
    assert.deepEqual(arrived('g-ana-1', 'g-ana-2', 'g-bo'), ['g-ana-1', 'g-ana-2'])
    assert.deepEqual(sender.to('g-ana-2')[0]!.content, {
      kind: 'alert',
      notification: { title: 'Hi Ana', body: 'X1 on g-ana-2', landingUrl: 'app://premium' }
    })
    const missing = await run(project, everyone)
    assert.deepEqual([missing.counts.targeted, missing.reason], [0, 'missing_trigger_property'])
    assert.deepEqual((await run(project, users('ana'))).skipped, { missing_trigger_property: 1 })
  })

  it('a device target must match the segment by its user and by itself', async () => {
    const project = await givenPeople('h')
    await putDevice(project, { id: 'h-ana-2', platform: 'ANDROID', push_token: 'h2', push_token_type: 'FCM' })
    const android = { attribute: 'device.platform', operator: 'equals', value: 'ANDROID' }
    await givenCampaign(service, project, { segment: { all: [premium, android] } })
    const found = await run(project, devices('h-ana-1', 'h-ana-2', 'h-bo'))
    assert.deepEqual(found.skipped, { not_in_segment: 2 })
    assert.deepEqual(arrived('h-ana-1', 'h-ana-2', 'h-bo'), ['h-ana-2'])
    assert.equal((await run(project, users('ana'))).counts.sent, 1, 'of a user only the devices that match')
  })

  it('devices that cannot be reached are skipped, and a template that fails fails its message only', async () => {
    const project = await givenPeople('i')
    await putDevice(project, { id: 'i-ana-1', platform: 'IOS', is_push_permission_granted: false })
    await givenCampaign(service, project, { message: { title: '{% if user.name %}{{ user.name }}{% endif %}' } })
    const found = await run(project, users('ana', 'bo'))
    assert.deepEqual(found.skipped, { no_push_token: 1 })
    assert.deepEqual(found.failures, { TEMPLATE_FAILED: 1 })
    assert.deepEqual([found.counts.sent, found.counts.failed], [1, 1])
  })

  it('a rendered text that cannot be stored does not stop the messages of others', async () => {
    const project = await givenPeople('s')
    await put(project, 'bo', { name: '🎉 Bo' })
    await givenCampaign(service, project, { message: { title: 'Hi', body: '{{ user.name | split: "" | first }}' } })
    const found = await run(project, everyone)
    assert.deepEqual([found.state, found.counts.sent, found.counts.failed], ['completed', 4, 0])
  })

  it('runs the version it was accepted with', async () => {
    const project = await givenPeople('j')
    const { version } = await givenCampaign(service, project, { message: { title: 'one' } })
    const id = await triggered(project, users('bo'))
    await givenCampaign(service, project, { message: { title: 'two' } })
    assert.equal((await ended(project, id)).campaign_version, version)
    assert.equal((sender.to('j-bo')[0]!.content as { notification: { title: string } }).notification.title, 'one')
  })

  it('takes 20,000 targets and any JSON as properties', async () => {
    const project = await givenPeople('k')
    await givenCampaign(service, project)
    const targets = Array.from({ length: 20_000 }, (_, index) => ({
      project_user_id: index === 19_999 ? 'bo' : `no-${index}`
    }))
    const properties = { constructor: { __proto__: [1, null, true, 'x', { deep: [] }] }, 'a b': 1e300 }
    const id = await triggered(project, { audience: { targets }, properties })
    const found = await ended(project, id, 40_000)
    assert.deepEqual([found.counts.targeted, found.counts.sent, found.skipped], [20_000, 1, { unknown_user: 19_999 }])
  })
})

describe('the paths of a trigger', () => {
  it('ids with colons, escapes and spaces work', async () => {
    const project = await givenPeople('l')
    for (const id of ['a:b', 'x:trigger', 'a/b', 'a b', 'per%cent', 'émoji 🎉', '?#', ':'.repeat(3)]) {
      await givenCampaign(service, project, { campaign_id: id })
      const reply = await trigger(project, users('bo'), id)
      assert.equal(reply.status, 200, `${id}: ${reply.text}`)
      assert.equal((await readTrigger(project, reply.json.trigger_id)).campaign_id, id)
    }
    const bare = await project.call('POST', '/api/v1/campaigns/a:b:trigger')
    assert.equal(bare.status, 200, 'a colon need not be escaped')
  })

  it('an empty id is a 400 with the text of the contract', async () => {
    const { call } = await service.project()
    const reply = await call('POST', '/api/v1/campaigns/:trigger')
    assert.deepEqual([reply.status, reply.text], [400, invalid])
    assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(reply.headers['x-service-error-code'], 'invalid_campaign_id')
  })

  it('a path without :trigger is not found, or names a campaign, which can only be read', async () => {
    const { call } = await service.project()
    for (const path of ['x:trigger/', 'a/b:trigger']) {
      const reply = await call('POST', `/api/v1/campaigns/${path}`)
      assert.deepEqual([reply.status, reply.text], [404, '{"error":"Not Found"}'], path)
    }
    for (const path of ['', 'x', 'x:other', 'x:triggers', 'x:trigger:other']) {
      const reply = await call('POST', `/api/v1/campaigns/${path}`)
      assert.deepEqual([reply.status, reply.headers.allow], [405, 'GET, HEAD'], path)
    }
  })

  it('another method is not allowed', async () => {
    const { call } = await service.project()
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await call(method, '/api/v1/campaigns/x:trigger')
      assert.deepEqual([reply.status, reply.headers.allow], [405, 'POST'])
    }
  })

  it('ids that break the rules are 400, also with a broken escape', async () => {
    const { call } = await service.project()
    for (const id of ['%00', '%E2%80', 'a'.repeat(256), '%20', '.', '..', '%0A']) {
      const reply = await call('POST', `/api/v1/campaigns/${id}:trigger`)
      assert.deepEqual([reply.status, reply.text], [400, invalid], id)
    }
  })
})

describe('POST /api/v1/campaigns/{campaign_id}:trigger refuses', () => {
  const wrong: [string, unknown, string][] = [
    ['an array', [], 'body'],
    ['a string', 'x', 'body'],
    ['null', null, 'body'],
    ['an audience that is a list', { audience: [] }, 'audience'],
    ['a broadcast that is text', { audience: { broadcast: 'true' } }, 'audience.broadcast'],
    ['targets that are no list', { audience: { targets: {} } }, 'audience.targets'],
    ['a target that is text', { audience: { targets: ['ana'] } }, 'audience.targets[0]'],
    ['a target of nothing', { audience: { targets: [{ project_user_id: 'a' }, {}] } }, 'audience.targets[1]'],
    ['a target of two', { audience: { targets: [{ project_user_id: 'a', device_id: 'b' }] } }, 'audience.targets[0]'],
    ['an id that is a number', { audience: { targets: [{ device_id: 5 }] } }, 'audience.targets[0].device_id'],
    ['an empty id', { audience: { targets: [{ device_id: '' }] } }, 'audience.targets[0].device_id'],
    ['no id but a null one', { audience: { targets: [{ user_id: null }] } }, 'audience.targets[0]'],
    [
      '20,001 targets',
      { audience: { targets: Array.from({ length: 20_001 }, () => ({ device_id: 'a' })) } },
      'audience.targets'
    ],
    ['properties that are a list', { properties: [] }, 'properties'],
    ['properties over 1 MiB', { properties: { text: 'x'.repeat(1024 * 1024) } }, 'properties']
  ]
  for (const [name, body, place] of wrong) {
    it(`${name}, and names the place`, async () => {
      const project = await service.project()
      await givenCampaign(service, project)
      const reply = await trigger(project, body)
      assert.deepEqual([reply.status, reply.text], [400, invalid])
      assert.ok(
        String(reply.headers['x-service-error-detail']).startsWith(`${place}: `),
        String(reply.headers['x-service-error-detail'])
      )
      assert.equal((await project.call('GET', '/api/v1/triggers')).json.items.length, 0)
    })
  }

  it('several targets, and names the place of each', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    const targets = [{ project_user_id: 'ana' }, {}, 'bo', ...Array.from({ length: 1_000 }, () => ({ device_id: 5 }))]
    const reply = await trigger(project, { audience: { targets } })
    assert.deepEqual([reply.status, reply.text], [400, invalid])
    const told = String(reply.headers['x-service-error-detail'])
    assert.match(told, /^audience\.targets\[1\]: must have .*; audience\.targets\[2\]: must be an object; .*\[3\]/)
    assert.ok(told.length <= 500)
  })

  it('bodies that are not JSON, not UTF-8, of another type, too deep or with numbers out of range', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    const json = { 'content-type': 'application/json' }
    const deep = `{"properties":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
    for (const [body, headers] of [
      ['{', json],
      ['{}', { 'content-type': 'text/html' }],
      [Buffer.from([0x7b, 0xff, 0x7d]), json],
      [deep, json],
      ['{"properties":{"n":1e400}}', json],
      ['{"properties":{"n":"\\u0000"}}', json],
      ['{"properties":{"\\ud800":1}}', json]
    ] as const) {
      const reply = await trigger(project, undefined, 'news', { body, headers })
      assert.deepEqual([reply.status, reply.text], [400, invalid], String(body).slice(0, 40))
    }
  })

  it('takes no body at all for none', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    for (const asked of [{}, { body: '', headers: { 'content-type': 'application/json' } }, { json: { other: 1 } }])
      assert.equal((await trigger(project, undefined, 'news', asked)).status, 200)
  })

  it('campaigns that are unknown, not active or not API-triggered, each with its code', async () => {
    const project = await service.project()
    const code = async (campaign: string) => {
      const reply = await trigger(project, {}, campaign)
      assert.deepEqual([reply.status, reply.text], [400, refused])
      return reply.headers['x-service-error-code']
    }
    assert.equal(await code('who'), 'campaign_not_found')
    for (const status of ['draft', 'paused', 'archived']) {
      await givenCampaign(service, project, { campaign_id: status, status })
      assert.equal(await code(status), 'campaign_not_active')
    }
    const runs = {
      scheduled: { schedule: { at: '2999-01-01T09:00' }, default_audience: { broadcast: true } },
      event_triggered: { event_trigger: { event: 'ordered' } }
    }
    for (const [type, by] of Object.entries(runs)) {
      await givenCampaign(service, project, { campaign_id: type, type, ...by })
      assert.equal(await code(type), 'campaign_not_api_triggered')
    }
    await givenCampaign(service, project, { status: 'active' })
    assert.equal((await trigger(project, {})).status, 200)
    await service.manage('DELETE', `/projects/${project.id}/campaigns/news`)
    assert.equal(await code('news'), 'campaign_not_active')
  })

  it('a public key, no key, and requests over the limit of the plan, before any other check', async () => {
    const project = await service.project({ limits: { triggers_per_second: 1 } })
    await givenCampaign(service, project)
    const asApp = await trigger(project, [], 'news', { headers: { 'x-service-api-key': project.publicKey } })
    assert.deepEqual([asApp.status, asApp.text], [401, 'Invalid API key'])
    const replies = await Promise.all(Array.from({ length: 6 }, () => trigger(project, [])))
    const late = replies.filter(({ status }) => status === 429)
    assert.ok(late.length >= 4, replies.map(({ status }) => status).join())
    assert.equal(late[0]!.text, '{"error":"Too Many Requests"}')
    assert.ok(Number(late[0]!.headers['retry-after']) >= 1)
    assert.equal(late[0]!.headers['x-ratelimit-limit'], '1')
    assert.equal((await project.call('GET', '/api/v1/triggers')).status, 200, 'other calls have a limit of their own')
  })
})

describe('a trigger keeps tenants apart', () => {
  it('campaigns, triggers and recipients of another project are out of reach', async () => {
    const [one, two] = [await givenPeople('m'), await givenPeople('n')]
    await givenCampaign(service, one)
    assert.equal((await trigger(two, users('ana'))).text, refused)
    const id = await triggered(one, everyone)
    await ended(one, id)
    assert.deepEqual(arrived('n-ana-1', 'n-bo', 'n-nobody'), [])
    for (const [method, path] of [
      ['GET', `/api/v1/triggers/${id}`],
      ['POST', `/api/v1/triggers/${id}:cancel`],
      ['GET', `/api/v1/triggers/${id}/explain?project_user_id=ana`]
    ] as const)
      assert.equal((await two.call(method, path)).status, 404, path)
    assert.deepEqual((await two.call('GET', '/api/v1/triggers')).json.items, [])
  })
})
