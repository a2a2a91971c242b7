import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { link, put } from '../support/devices.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()
const exported = (projectId: string, user: string) =>
  service.manage('GET', `/projects/${projectId}/users/${encodeURIComponent(user)}/export`)

describe('GET /manage/v1/projects/{id}/users/{project_user_id}/export', () => {
  it('has everything about the user, and nothing about others', async () => {
    const project = await service.project({ mode: 'simulator' })
    for (const user of ['ana', 'bo']) {
      await project.call('POST', '/api/v1/users', { json: { project_user_id: user, properties: { plan: user } } })
      await put(project, { id: `${user}-phone`, platform: 'IOS', push_token: `${user}-token`.padEnd(20, '0') })
      await link(project, `${user}-phone`, user)
      const json = { events: [{ device_id: `${user}-phone`, name: `seen by ${user}` }] }
      await project.call('POST', '/api/v1/events', { json })
      const push_notifications = [{ target: { project_user_id: user }, title: `for ${user}` }]
      await project.call('POST', '/api/v1/messages:send', { json: { push_notifications } })
    }
    const { json, text, headers, status } = await eventually(async () => {
      const reply = await exported(project.id, 'ana')
      assert.equal(reply.json.messages.length, 1, reply.text)
      return reply
    })
    assert.equal(status, 200)
    assert.match(headers['content-type'] as string, /^application\/json/)
    assert.deepEqual(Object.keys(json), [
      'exported_at',
      'project_id',
      'user',
      'preferences',
      'consents',
      'devices',
      'events',
      'messages',
      'journeys',
      'conversions',
      'skips'
    ])
    assert.deepEqual([json.user.project_user_id, json.user.properties], ['ana', { plan: 'ana' }])
    assert.deepEqual(json.preferences, { opted_out: false, topics: {} })
    assert.deepEqual(json.devices[0].tokens, ['FCM:ana-token00000000000'])
    assert.equal(json.events[0].name, 'seen by ana')
    assert.equal(json.messages[0].title, 'for ana')
    assert.ok(!text.includes('bo-phone') && !text.includes('for bo'), text)
  })

  it('has a subscription whose endpoint cannot be a text of PostgreSQL, as earlier versions stored it', async () => {
    const project = await service.project()
    const subscription = { endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } }
    await put(project, { id: 'browser', platform: 'WEB', push_token: subscription })
    await link(project, 'browser', 'ana')
    await service.sql(
      `update push_tokens set token = replace(token, 'example/1', 'example/1\\u0000') where project_id = $1`,
      [project.id]
    )
    const { json, text } = await exported(project.id, 'ana')
    assert.deepEqual(json.devices?.[0].tokens, ['WEBPUSH:https://push.example/1\0'], text)
  })

  it('pages through a long history', async () => {
    const project = await service.project()
    await put(project, { id: 'phone', platform: 'ANDROID' })
    await link(project, 'phone', 'ana')
    for (let n = 0; n < 3; n++) {
      const events = Array.from({ length: 900 }, () => ({ device_id: 'phone', name: `n${n}` }))
      assert.equal((await project.call('POST', '/api/v1/events', { json: { events } })).status, 200)
    }
    const ids = (await exported(project.id, 'ana')).json.events.map(({ id }: { id: string }) => id)
    assert.deepEqual([ids.length, new Set(ids).size], [2_700, 2_700])
  })

  it('is for administrators, is written into the audit log without the id, and refuses an unknown user', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana.smith' } })
    assert.equal((await exported(project.id, 'ana.smith')).status, 200)
    const { items } = (await service.manage('GET', `/projects/${project.id}/audit?action=user.export`)).json
    assert.equal(items.length, 1)
    assert.ok(!JSON.stringify(items).includes('ana.smith'))
    assert.equal((await exported(project.id, 'nobody')).status, 404)
    assert.equal((await exported(other.id, 'ana.smith')).status, 404)
    const json = { name: 'reader', role: 'editor', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json })).json
    const headers = { authorization: `Bearer ${token}` }
    const refused = await service.manage('GET', `/projects/${project.id}/users/ana.smith/export`, { headers })
    assert.equal(refused.status, 403)
  })
})
