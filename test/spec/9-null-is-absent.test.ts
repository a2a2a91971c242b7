import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign, invalid, run, trigger } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const project = await service.project()
await givenUser(project, 'ana', 'ana-phone')
await givenUser(project, 'bo', 'bo-phone')
await givenCampaign(service, project, { default_audience: { targets: [{ project_user_id: 'bo' }] } })
await project.call('POST', '/api/v1/devices/ana-phone/live-activity-start-tokens', {
  json: { attributes_type: 'Ride', push_token: 'start' }
})
const send = (item: Json) => project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [item] } })
const start = (item: Json) =>
  project.call('POST', '/api/v1/live-activities:start', { json: { live_activities: [item] } })

describe('B.9: null is absent', () => {
  it('4.4: a null audience is the default audience, null properties are none', async () => {
    const found = await run(project, { audience: null, properties: null })
    assert.deepEqual([found.counts.targeted, found.counts.sent], [1, 1])
    assert.equal(sender.to('ana-phone').length, 0)
  })

  it('4.4: an audience of nulls is empty, and never widens to the default audience', async () => {
    for (const audience of [
      { targets: null },
      { broadcast: null },
      { broadcast: null, targets: null },
      { broadcast: false, targets: null },
      { broadcast: null, targets: [] }
    ]) {
      const found = await run(project, { audience })
      assert.deepEqual([found.state, found.counts.targeted], ['completed', 0], JSON.stringify(audience))
    }
  })

  it('4.4: an id of a target beside null ones is the one that counts', async () => {
    const before = sender.to('ana-phone').length
    const target = { project_user_id: 'ana', device_id: null, user_id: null }
    assert.equal((await run(project, { audience: { broadcast: null, targets: [target] } })).counts.sent, 1)
    assert.equal(sender.to('ana-phone').length, before + 1)
    for (const bad of [{ project_user_id: null }, { project_user_id: 'ana', device_id: 'x', user_id: null }, null]) {
      const reply = await trigger(project, { audience: { targets: [bad] } })
      assert.deepEqual([reply.status, reply.text], [400, invalid], JSON.stringify(bad))
      assert.match(String(reply.headers['x-service-error-detail']), /^audience\.targets\[0\]: must/)
    }
  })

  it('4.5: null texts, addresses, additive fields and ids of a target are absent', async () => {
    const nulls = { body: null, image_url: null, landing_url: null, collapse_key: null, ttl_seconds: null, data: null }
    const more = { priority: null, sound: null, badge: null, channel_id: null, thread_id: null }
    const target = { project_user_id: 'ana', device_id: null, user_id: null }
    const reply = await send({ target, title: 'Nulls', ...nulls, ...more })
    assert.deepEqual(
      [reply.status, reply.json.delivery_results?.[0].status],
      [200, 'DELIVERY_RESULT_STATUS_SUCCEED'],
      reply.text
    )
    const [push] = sender.to('ana-phone').slice(-1)
    assert.deepEqual(push!.content, { kind: 'alert', notification: { title: 'Nulls' } })
    for (const [item, why] of [
      [{ target, title: null, body: null }, 'push_notifications[0]: must have a title or a body'],
      [{ target: null, title: 'x' }, 'push_notifications[0].target: must be an object'],
      [{ target: { project_user_id: null }, title: 'x' }, 'push_notifications[0].target: must have exactly one of']
    ] as const) {
      const refused = await send(item)
      assert.deepEqual([refused.status, refused.text], [400, 'Invalid push notification parameters'])
      assert.ok(String(refused.headers['x-service-error-detail']).startsWith(why), why)
    }
  })

  it('4.6: a null alert is the usual one; null stays wrong where a field is required', async () => {
    const target = { project_user_id: 'ana', device_id: null }
    const activity = { target, attributes_type: 'Ride', attributes: {}, content_state: {}, alert: null }
    const reply = await start({ ...activity, ttl_seconds: null, priority: null })
    assert.equal(reply.status, 200, reply.text)
    const [push] = sender.to('ana-phone').slice(-1)
    assert.deepEqual((push!.content as Json).activity.alert, { title: 'Live Activity', body: 'Started' })
    for (const field of ['attributes_type', 'attributes', 'content_state', 'target']) {
      const refused = await start({ ...activity, [field]: null })
      assert.deepEqual([refused.status, refused.text], [400, 'Invalid live activity parameters'], field)
      assert.match(String(refused.headers['x-service-error-detail']), /^live_activities\[0\]\.\w+: must be/)
    }
    for (const action of ['update', 'end']) {
      const change = { activity_id: null, target, attributes_type: 'Ride', content_state: {} }
      const changed = await project.call('POST', `/api/v1/live-activities:${action}`, {
        json: { live_activities: [{ ...change, stale_date: null, dismissal_date: null, alert: null }] }
      })
      assert.equal(changed.status, 200, changed.text)
    }
  })

  it('4.1, 4.2: null properties of a user stay a malformed body', async () => {
    for (const reply of [
      await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: null } }),
      await project.call('PATCH', '/api/v1/users/ana', { json: { properties: null } })
    ])
      assert.deepEqual([reply.status, reply.text], [400, 'Project User Id must be provided'])
  })
})
