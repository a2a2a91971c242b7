import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenMany } from '../support/campaigns.ts'
import { cluster } from '../support/cluster.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

const people = 400
const uploads = 20

it('each event and each step leads to one message, although workers are killed while events arrive and steps come due', async (t) => {
  const { start, call, sql } = await cluster(t)
  const api = await start('api', 20).ready
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  await call(api, 'PUT', '/campaigns/series', {
    name: 'Series',
    type: 'event_triggered',
    status: 'active',
    event_trigger: { event: 'joined' },
    steps: [
      { id: 'first', message: { title: 'Hello {{ event.n }}' } },
      { id: 'second', wait: '1s', message: { title: 'Still there, {{ event.n }}?' } }
    ]
  })
  const workers = [start('worker', 20), start('worker', 20)]
  await Promise.all(workers.map(({ ready }) => ready))
  const kill = async () => {
    const victim = workers.shift()!
    victim.child.kill('SIGKILL')
    await victim.exited
    workers.push(start('worker', 20))
  }

  const each = people / uploads
  for (let upload = 0; upload < uploads; upload += 1) {
    const events = Array.from({ length: each }, (_, index) => {
      const n = upload * each + index + 1
      return { id: `e-${n}`, device_id: `p-${n}`, name: 'joined', properties: { n } }
    })
    await call(api, 'POST', '/api/v1/events', { events })
    // An app that got no response sends its events again.
    await call(api, 'POST', '/api/v1/events', { events })
    if (upload === uploads / 2) await kill()
  }
  await sleep(Math.random() * 1_000)
  await kill()

  await eventually(async () => {
    const rows = await sql(
      `select step, count(*)::int as n from messages where state = 'accepted' group by step order by step`
    )
    assert.deepEqual(rows, [
      { step: 'first', n: people },
      { step: 'second', n: people }
    ])
  }, 60_000)
  assert.deepEqual(await sql('select device_id, step from messages group by device_id, step having count(*) > 1'), [])
  assert.deepEqual(await sql('select state, count(*)::int as n from journeys group by state'), [
    { state: 'completed', n: people }
  ])
  assert.deepEqual(await sql('select id from event_queue'), [])
})
