import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })
const project = await service.project()
await givenCampaign(service, project)
await givenCampaign(service, project, { campaign_id: 'a:b' })
await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
const trigger = async (path: string) => {
  const reply = await project.call('POST', `/api/v1/campaigns/${path}`, { json: { audience: { targets: [] } } })
  assert.equal(reply.status, 200, `${path}: ${reply.text}`)
  const { json } = await project.call('GET', `/api/v1/triggers/${reply.json.trigger_id}`)
  return { id: reply.json.trigger_id, campaign: json.campaign_id }
}

describe('B.9: %3A is a colon in every verb of a path', () => {
  it('messages:send, live-activities:* and users:batch', async () => {
    const target = { project_user_id: 'ana' }
    const activity = { target, attributes_type: 'Ride', attributes: {}, content_state: {} }
    for (const [path, json] of [
      ['messages%3Asend', { push_notifications: [{ target, title: 'Hi' }] }],
      ['messages%3asend?x=%3A', { push_notifications: [{ target, title: 'Hi' }] }],
      ['live-activities%3Astart', { live_activities: [activity] }],
      ['live-activities%3Aupdate', { live_activities: [activity] }],
      ['live-activities%3Aend', { live_activities: [activity] }],
      ['users%3Abatch', { users: [{ project_user_id: 'bo' }] }]
    ] as const) {
      const reply = await project.call('POST', `/api/v1/${path}`, { json })
      assert.equal(reply.status, 200, `${path}: ${reply.text}`)
    }
    const removed = await project.call('POST', '/api/v1/users/ana/properties%3Aremove', { json: { names: ['x'] } })
    assert.equal(removed.status, 200, removed.text)
  })

  it('campaigns and triggers, whose ids keep their own escaped colons', async () => {
    assert.equal((await trigger('news%3Atrigger')).campaign, 'news')
    assert.equal((await trigger('a%3Ab:trigger')).campaign, 'a:b')
    assert.equal((await trigger('a:b%3Atrigger')).campaign, 'a:b')
    const { id, campaign } = await trigger('a%3ab%3atrigger')
    assert.equal(campaign, 'a:b')
    const canceled = await project.call('POST', `/api/v1/triggers/${id}%3Acancel`)
    assert.deepEqual([canceled.status, canceled.json.trigger_id], [200, id])
    assert.equal((await project.call('POST', '/api/v1/campaigns/news%3Apreview', { json: {} })).status, 200)
  })

  it('the verbs of /manage/v1, also of the routes that are mounted there', async () => {
    const path = `/projects/${project.id}`
    assert.equal((await service.manage('GET', `${path}/users%3Aexport`)).status, 200)
    assert.equal((await service.manage('GET', `${path}/messages%3Aminutes`)).status, 200)
    assert.equal((await service.manage('POST', `${path}/webhook-secret%3Arotate`)).status, 200)
    const test = await service.manage('POST', `${path}/campaigns/a%3Ab%3Atest`, { json: { device_ids: ['no'] } })
    assert.deepEqual([test.status, test.json.details?.[0].path], [400, 'device_ids[0]'], test.text)
    const reply = await service.manage('POST', `${path}/api/v1/campaigns/news%3Atrigger`, { json: {} })
    assert.equal(reply.status, 200, reply.text)
  })

  it('an id that ends like a verb is still an id where the method takes ids', async () => {
    await givenCampaign(service, project, { campaign_id: 'x:test' })
    const read = await service.manage('GET', `/projects/${project.id}/campaigns/x%3Atest`)
    assert.deepEqual([read.status, read.json.campaign_id], [200, 'x:test'])
    assert.equal((await trigger('x%3Atest%3Atrigger')).campaign, 'x:test')
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'x:batch' } })
    assert.equal((await project.call('GET', '/api/v1/users/x%3Abatch')).status, 200)
  })

  it('a wrong method, a broken escape and an escape of an escape get the same response as with a colon', async () => {
    const wrong = await service.ask('PUT', '/api/v1/messages%3Asend')
    assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'POST'])
    assert.equal((await service.ask('POST', '/api/v1/campaigns/%zz%3Atrigger')).status, 401)
    const broken = await project.call('POST', '/api/v1/campaigns/%zz%3Atrigger', { json: {} })
    assert.deepEqual([broken.status, broken.text], [400, 'Campaign Id must be provided'])
    const empty = await project.call('POST', '/api/v1/campaigns/%3Atrigger', { json: {} })
    assert.deepEqual([empty.status, empty.text], [400, 'Campaign Id must be provided'])
    assert.equal((await project.call('POST', '/api/v1/messages%253Asend', { json: {} })).status, 404)
    assert.equal((await project.call('POST', '/api/v1/nowhere%3Asend', { json: {} })).status, 404)
  })
})
