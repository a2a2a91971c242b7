import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { everyone, givenCampaign, givenMany, users } from '../support/campaigns.ts'
import { withClient } from '../support/database.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const pushesTo = (prefix: string) => sender.pushes.filter(({ deviceId }) => deviceId.startsWith(`${prefix}-`))

describe('POST /api/v1/campaigns/{campaign_id}:preview', () => {
  it('returns the audience and a rendered sample, and sends nothing', async () => {
    const project = await service.project()
    await givenMany(service, project, 1_200, 'pre')
    await givenCampaign(service, project, {
      segment: { attribute: 'user.odd', operator: 'equals', value: true },
      message: { title: 'No {{ user.n }}', body: '{{ trigger.x }}' }
    })
    const preview = (json: Json) => project.call('POST', '/api/v1/campaigns/news:preview', { json })
    const all = (await preview({ ...everyone, properties: { x: 'ü' } })).json
    assert.deepEqual(all.audience, { users: 600, devices: 600, deferred: 0, complete: true, reason: null, skipped: {} })
    assert.equal(all.sample.length, 5)
    const [first] = all.sample
    assert.deepEqual(first.content.notification, { title: 'No 1', body: 'ü' })
    const sent = { aps: { alert: first.content.notification }, message_id: 'x'.repeat(36) }
    assert.equal(first.payload_bytes, Buffer.byteLength(JSON.stringify(sent)))
    const some = (await preview(users('pre-user-1', 'pre-user-2', 'who'))).json
    assert.deepEqual([some.audience.devices, some.audience.skipped], [1, { not_in_segment: 1, unknown_user: 1 }])
    assert.equal((await preview({})).json.audience.reason, 'no_audience')
    const large = (await preview({ ...users('pre-user-1'), properties: { x: 'x'.repeat(5_000) } })).json
    assert.equal(large.sample[0].reason, 'payload_too_large')
    assert.equal(pushesTo('pre').length, 0)
    assert.equal((await preview({ audience: { targets: 5 } })).status, 400)
    assert.equal((await project.call('POST', '/api/v1/campaigns/who:preview')).status, 404)
    assert.equal((await project.call('POST', '/api/v1/campaigns/:preview')).status, 400)
    assert.equal((await project.call('GET', '/api/v1/triggers')).json.items.length, 0)
  })
})

describe('the trigger properties of a preview', () => {
  it('are read out of all texts and the segment, each with its type, its places and whether it is needed', async () => {
    const project = await service.project()
    await service.manage('PUT', `/projects/${project.id}/segments/near`, {
      json: { name: 'Near', segment: { attribute: 'user.city', operator: 'in', value: '{{ trigger.cities }}' } }
    })
    const campaign = {
      name: 'Order',
      segment: { all: [{ ref: 'near' }, { attribute: 'user.n', operator: 'equals', value: '{{ trigger.order.n }}' }] },
      steps: [
        {
          id: 'one',
          message: {
            title: '{% if trigger.order %}{{ trigger.order.total | round }}{% endif %}',
            body: '{{ trigger.note | default: "-" }}',
            language: 'en',
            translations: { de: { title: '{{ trigger.gruss }}' } }
          }
        },
        { id: 'two', wait: '1h', message: { title: '{{ trigger.order.total }}', data: { x: '{{ trigger.note }}' } } }
      ]
    }
    const path = `/projects/${project.id}/campaigns:preview`
    const { status, json, text } = await service.manage('POST', path, { json: { campaign } })
    assert.equal(status, 200, text)
    const seen = json.trigger_properties.map(({ name, type, required, paths }: Json) => [name, type, required, paths])
    assert.deepEqual(seen, [
      ['order.total', 'number', true, ['steps[0].message.title', 'steps[1].message.title']],
      ['gruss', 'text', true, ['steps[0].message.translations.de.title']],
      ['note', 'text', true, ['steps[0].message.body', 'steps[1].message.data.x']],
      ['cities', 'text', true, ['segment']],
      ['order.n', 'text', true, ['segment']]
    ])
    assert.deepEqual(json.trigger_properties[0].path, ['order', 'total'])
    const whole = {
      ...campaign,
      segment: {},
      steps: undefined,
      message: { title: '{{ trigger.order }}{{ trigger.order.n }}' }
    }
    const shown = (await service.manage('POST', path, { json: { campaign: whole } })).json.trigger_properties
    assert.deepEqual(shown, [
      { name: 'order', path: ['order'], type: 'json', required: true, paths: ['message.title'] }
    ])
  })
})

describe('the audience of a preview', () => {
  it('counts devices that a push reaches, and names the others as triggers do', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 'ana-phone', push_token: 'ab12' }, { id: 'ana-tablet', push_token: null })
    await givenUser(project, 'bo', { id: 'bo-phone', push_token: 'ab13', is_push_permission_granted: false })
    await givenCampaign(service, project)
    const preview = async (json: Json, campaign = 'news') =>
      (await project.call('POST', `/api/v1/campaigns/${campaign}:preview`, { json })).json.audience
    const expected = { users: 1, devices: 1, deferred: 0, complete: true, reason: null, skipped: { no_push_token: 2 } }
    assert.deepEqual(await preview(everyone), expected)
    assert.deepEqual(await preview(users('ana', 'bo')), expected)
    const activity = { attributes_type: 'Ride', attributes: {}, content_state: {} }
    await givenCampaign(service, project, { campaign_id: 'ride', message: undefined, live_activity: activity })
    assert.deepEqual((await preview(everyone, 'ride')).skipped, { no_live_activity_token: 3 })
    const token = { attributes_type: 'Ride', push_to_start_token: 'c1' }
    await project.call('POST', '/api/v1/devices/ana-phone/live-activity-start-tokens', { json: token })
    const reached = await preview(everyone, 'ride')
    assert.deepEqual([reached.devices, reached.skipped], [1, { no_live_activity_token: 2 }])
  })
})

describe('a preview that runs out of time', () => {
  it('says how many users it compared, and about how many there are', async () => {
    const project = await service.project()
    await givenMany(service, project, 10_500, 'cut')
    await givenCampaign(service, project)
    await service.sql('analyze users')
    const { audience } = await withClient(service.databaseUrl, async (client) => {
      await client.query('begin')
      await client.query('lock table users')
      const asked = project.call('POST', '/api/v1/campaigns/news:preview', { json: everyone })
      const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await eventually(async () => assert.notEqual((await service.sql(waits)).length, 0))
      // A preview has 3 s.
      await sleep(3_200)
      await client.query('rollback')
      return (await asked).json
    })
    const { users, complete, visited, about } = audience
    assert.deepEqual([users, complete, visited], [10_000, false, 10_000])
    assert.ok(about > visited && about < 20_000, String(about))
  })
})

describe('the sizes of a preview', () => {
  it('are those of the payloads for each gateway, and one that is too large is named', async () => {
    const project = await service.project()
    const browser = { endpoint: 'https://fcm.googleapis.com/fcm/send/x', keys: { p256dh: 'x', auth: 'x' } }
    await givenUser(
      project,
      'ana',
      { id: 'size-1', platform: 'IOS', push_token: 'a1', push_token_type: 'APNS' },
      { id: 'size-2', platform: 'ANDROID', push_token: 'f1', push_token_type: 'FCM' },
      { id: 'size-3', platform: 'WEB', push_token: JSON.stringify(browser), push_token_type: 'WEBPUSH' },
      { id: 'size-4', platform: 'ANDROID', push_token: null }
    )
    await givenCampaign(service, project, { message: { title: '{{ trigger.x }}' } })
    const sizes = async (length: number) => {
      const json = { ...users('ana'), properties: { x: 'x'.repeat(length) } }
      const { sample } = (await project.call('POST', '/api/v1/campaigns/news:preview', { json })).json
      return sample.map(({ reason, payload_bytes }: Json) => [reason, payload_bytes])
    }
    const tooLarge = 'payload_too_large'
    assert.deepEqual(await sizes(4_000), [
      [null, 4_082],
      [tooLarge, 4_111],
      [tooLarge, 4_109],
      ['no_push_token', 4_111]
    ])
    assert.deepEqual(
      (await sizes(3_800)).map(([reason]: [string | null]) => reason),
      [null, null, null, 'no_push_token']
    )
  })
})

describe('POST /manage/v1/projects/{id}/campaigns:preview', () => {
  it('previews a campaign that is not saved, lists its problems, and saves nothing', async () => {
    const project = await service.project()
    await givenMany(service, project, 10, 'draft')
    const preview = (json: Json) => service.manage('POST', `/projects/${project.id}/campaigns:preview`, { json })
    const campaign = {
      name: 'Draft',
      segment: { attribute: 'user.n', operator: 'less_or_equal', value: 3 },
      message: { title: '{{ user.n }} {{ trigger.x }}' }
    }
    const { json } = await preview({ campaign, ...everyone, properties: { x: 'ü' } })
    assert.deepEqual([json.audience.users, json.sample.length], [3, 3])
    assert.deepEqual(json.sample[0].content.notification, { title: '1 ü' })
    const broken = await preview({ campaign: { ...campaign, message: { title: 'a\n{% if %}' } }, ...everyone })
    assert.equal(broken.status, 400)
    assert.equal(broken.json.details[0].path, 'message.title')
    assert.match(broken.json.details[0].message, /^line 2, column 6: /)
    for (const wrong of [{}, { campaign: 7 }, { campaign, audience: 5 }, { campaign, properties: [] }, [], null, 'x'])
      assert.equal((await preview(wrong)).status, 400, JSON.stringify(wrong))
    assert.deepEqual((await service.manage('GET', `/projects/${project.id}/campaigns`)).json.items, [])
    assert.equal(pushesTo('draft').length, 0)
    // A draft is shown although it cannot run yet.
    const planned = { ...campaign, type: 'scheduled', schedule: { cron: '0 9 * * 1' } }
    const lacking = (await preview({ campaign: planned, ...everyone })).json
    assert.deepEqual([json.cannot_run, lacking.audience.users], [[], 3])
    assert.deepEqual(lacking.cannot_run, [
      { path: 'default_audience', message: 'must be given: a scheduled campaign goes to it' }
    ])
    assert.equal((await preview({ campaign: { ...planned, status: 'active' }, ...everyone })).status, 400)
  })

  it('warns as saving the campaign does, and of fields that a trigger ignores', async () => {
    const project = await service.project()
    const campaign = {
      name: 'Draft',
      statsu: 'active',
      message: { title: 'Hi {{ first_name }}', translations: { fr: { title: 'Salut' } } }
    }
    const path = `/projects/${project.id}/campaigns`
    const draft = await service.manage('POST', `${path}:preview`, { json: { campaign, to: 'ana' } })
    const saved = await service.manage('PUT', `${path}/draft`, { json: campaign })
    assert.equal(saved.json.warnings.length, 3)
    assert.deepEqual(draft.json.warnings, ['unknown field "to"', ...saved.json.warnings])
  })
})
