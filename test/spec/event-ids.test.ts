import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()
const dayMs = 24 * 3_600_000
const record = (project: TestProject, ...events: unknown[]) => asApp(project, 'POST', '/events', { events })
const opened = (id: unknown, more: object = {}) => ({ id, device_id: 'phone', name: 'opened', ...more })
const stored = async (project: TestProject): Promise<string[]> =>
  (await service.sql('select name from events where project_id = $1 order by id', [project.id])).map(
    (row: Json) => row.name
  )

async function withDevice(): Promise<TestProject> {
  const project = await service.project()
  assert.equal((await asApp(project, 'POST', '/devices', { devices: [{ id: 'phone', platform: 'IOS' }] })).status, 200)
  return project
}

describe('an event with an id', () => {
  it('is stored once, however often and with whatever it is sent again', async () => {
    const project = await withDevice()
    const first = await record(project, opened('e1'))
    assert.deepEqual([first.status, first.json.events[0].id], [200, 'e1'])
    const again = await record(project, opened('e1', { name: 'other', at: new Date(Date.now() - dayMs).toISOString() }))
    assert.equal(again.status, 200)
    assert.deepEqual(await stored(project), ['opened'])
  })

  it('is stored once within one request, beside those without an id', async () => {
    const project = await withDevice()
    await record(project, opened('e1'), opened('e1', { name: 'twin' }), opened(undefined), opened(null), opened('e2'))
    assert.deepEqual(await stored(project), ['opened', 'opened', 'opened', 'opened'])
  })

  it('is stored once when two nodes receive it at the same time', async () => {
    const project = await withDevice()
    const second = await service.another()
    const events = Array.from({ length: 20 }, (_, index) => opened(`e${index}`))
    const to = (url: string, list: Json[]) =>
      fetch(`${url}/api/v1/events`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-service-project-id': project.id,
          'x-service-api-key': project.secretKey
        },
        body: JSON.stringify({ events: list })
      })
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        to(turn % 2 ? service.url : second.url, turn % 3 ? events : events.toReversed())
      )
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.equal((await stored(project)).length, 20)
  })

  it('is stored again after 7 days, and its receipt is removed by then', async () => {
    const project = await withDevice()
    await record(project, opened('e1'))
    await service.sql(
      `update event_receipts set received_at = (received_at at time zone 'UTC' - interval '7 days') at time zone 'UTC' where project_id = $1`,
      [project.id]
    )
    await record(project, opened('e1'))
    await record(project, opened('e1'))
    assert.deepEqual(await stored(project), ['opened', 'opened'])
    await record(project, opened('e2'))
    await service.sql(
      `update event_receipts set received_at = (received_at at time zone 'UTC' - interval '8 days') at time zone 'UTC'
        where project_id = $1 and received_at = (select max(received_at) from event_receipts where project_id = $1)`,
      [project.id]
    )
    await service.hurry('events.keep')
    await eventually(async () => {
      const left = await service.sql('select id from event_receipts where project_id = $1', [project.id])
      assert.equal(left.length, 1)
    })
  })

  it('of a refused request can be sent again', async () => {
    const project = await withDevice()
    assert.equal((await record(project, opened('e1'), { device_id: 'none', name: 'x' })).status, 404)
    assert.equal((await record(project, opened('e1'))).status, 200)
    assert.deepEqual(await stored(project), ['opened'])
  })

  it('belongs to its project: another one may use the same id', async () => {
    const [project, other] = [await withDevice(), await withDevice()]
    await record(project, opened('e1'))
    await record(other, opened('e1'))
    assert.deepEqual([await stored(project), await stored(other)], [['opened'], ['opened']])
  })

  for (const id of ['', 'x'.repeat(129), 7, {}])
    it(`is refused with the id ${JSON.stringify(id).slice(0, 12)}`, async () => {
      const project = await withDevice()
      const reply = await record(project, opened(id))
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_event'])
      assert.deepEqual(await stored(project), [])
    })
})
