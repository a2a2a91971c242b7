import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually, startService } from '../support/service.ts'

const service = await startService()
const project = await service.project({ mode: 'simulator' })
const other = await service.project({ mode: 'simulator' })

type Minute = Record<'sent' | 'failed' | 'delivered' | 'tapped', number> & { minute: string }
const minutes = async (id: string, query = '') =>
  (await service.manage('GET', `/projects/${id}/messages:minutes${query}`)).json.items as Minute[]
const total = (items: Minute[], name: 'sent' | 'failed' | 'tapped') => items.reduce((sum, item) => sum + item[name], 0)

describe('GET /manage/v1/projects/{id}/messages:minutes', () => {
  it('counts sent, failed and tapped messages minute by minute, and only of its project', async () => {
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
      json: { platform: 'IOS', project_user_id: 'ana', device_id: 'ana-phone' }
    })
    const push = { title: 'Hello', target: { project_user_id: 'ana' } }
    const sent = await project.call('POST', '/api/v1/messages:send', {
      json: { push_notifications: [push, push, { ...push, target: { project_user_id: 'nobody' } }] }
    })
    const { message_id, status } = sent.json.delivery_results[0]
    assert.equal(status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    const event = { device_id: 'ana-phone', name: 'PUSH_NOTIFICATION_TAPPED', event_property: { message_id } }
    await project.call('POST', '/api/v1/events', { json: { events: [event] } })
    await eventually(async () => {
      const seen = await minutes(project.id)
      assert.deepEqual([total(seen, 'sent'), total(seen, 'tapped')], [2, 1])
    })
    assert.equal(total(await minutes(other.id), 'sent'), 0)
  })

  it('lists every minute, also those without messages, and refuses more than a day', async () => {
    const seen = await minutes(other.id, '?last=5')
    assert.equal(seen.length, 5)
    const gaps = seen.slice(1).map((item, index) => Date.parse(item.minute) - Date.parse(seen[index]!.minute))
    assert.deepEqual(gaps, [60_000, 60_000, 60_000, 60_000])
    assert.equal((await service.manage('GET', `/projects/${other.id}/messages:minutes?last=1441`)).status, 400)
  })
})
