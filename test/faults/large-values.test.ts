import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRetry } from '../../src/a2a/turns/retrying.ts'
import { triggerPropertiesOf } from '../../src/campaigns/preview/trigger-properties.ts'
import { upcoming } from '../../src/campaigns/schedule/occurrences.ts'
import { startService } from '../support/service.ts'

// Each of these values once took minutes, or all memory, of a process. The limit of a test ends the wait for it.
const options = { timeout: 60_000 }
const service = await startService()

describe('a value that is far larger than any sensible one', () => {
  it('is refused where a time is expected', options, async () => {
    const project = await service.project()
    const at = 'T'.repeat(900_000)
    const [intake, trigger, activity] = await Promise.all([
      project.call('POST', '/api/v1/events', { json: { events: [{ device_id: 'a', name: 'b', at }] } }),
      project.call('POST', '/api/v1/campaigns/news:trigger', { json: { send_at: at } }),
      project.call('POST', '/api/v1/messages:send', {
        json: { push_notifications: [{ target: { device_id: 'a' }, title: 'b', send_at: at }] }
      })
    ])
    assert.deepEqual([intake.status, trigger.status, activity.status], [400, 400, 400])
  })

  it('is refused, shortened, where it is the name of a field', options, async () => {
    const project = await service.project()
    const data = { ['é'.repeat(4_000_000)]: 1 }
    const reply = await project.call('POST', '/api/v1/messages:send', {
      json: { push_notifications: [{ target: { device_id: 'a' }, title: 'b', data }] }
    })
    assert.equal(reply.status, 400)
    assert.match(String(reply.headers['x-service-error-detail']), /data\.(\\u\{e9\})+/)
    assert.ok(Buffer.byteLength(reply.text) < 2_000)
  })

  it('is refused where every entry of a long list is wrong', options, async () => {
    const project = await service.project()
    const json = { name: 'a', message: { title: 'b' }, default_audience: { targets: Array(95_000).fill(1) } }
    const reply = await service.manage('POST', `/projects/${project.id}/campaigns`, { json })
    assert.deepEqual([reply.status, reply.json.code, reply.json.details.length], [400, 'invalid_campaign', 50])
  })

  it('is a line of no user where it holds more values than properties may have', options, async () => {
    const project = await service.project()
    const line = `{"project_user_id":"a","x":[${'{},'.repeat(340_000)}{}]}\n`
    const reply = await service.manage('POST', `/projects/${project.id}/users:import`, {
      body: line.repeat(20),
      headers: { 'content-type': 'application/x-ndjson' }
    })
    assert.deepEqual([reply.status, reply.json.imported, reply.json.failed], [200, 0, 20], reply.text)
  })
})

it('the first hundred of 48,000 trigger properties are shown, and a whole object covers its parts', options, () => {
  const fieldOf = (field: number) =>
    Array.from({ length: 800 }, (_, index) => `{{trigger.p${field * 800 + index}}}`).join('')
  const data = Object.fromEntries(Array.from({ length: 60 }, (_, field) => [`f${field}`, fieldOf(field)]))
  const message = { title: '{{ trigger.order.total }}{{ trigger.order }}', data }
  const found = triggerPropertiesOf({ message, segment: { all: [] } } as never)
  assert.deepEqual([found.length, found[0]!.name, found[0]!.type], [100, 'order', 'json'])
})

it('a text that begins with "again" and goes on with blanks is no retry', options, async () => {
  const asked = { kind: 'ask', question: 'What?' } as const
  const known = { skill: 'create-user', fields: {} }
  const meaning = await readRetry(`again${' '.repeat(1_000_000)}x`, known, {
    skills: new Map() as never,
    readText: async () => asked as never
  })
  assert.equal(meaning.kind, 'stays')
})

it('a stored schedule of a day that no year has comes up never', () => {
  const schedule = { cron: '0 0 31 4,6,9,11 *' }
  assert.deepEqual(upcoming(schedule, Date.now(), 3), [])
})
