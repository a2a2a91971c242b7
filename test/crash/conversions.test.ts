import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenMany } from '../support/campaigns.ts'
import { cluster } from '../support/cluster.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

const people = 1_500

it('conversions are counted exactly once over kill -9 and repeated uploads', async (t) => {
  const { start, call, sql } = await cluster(t)
  const first = start('all', 1)
  const base = await first.ready
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  const conversion = { event: 'purchase', within: '1d', value_property: 'amount' }
  await call(base, 'PUT', '/campaigns/news', { name: 'News', status: 'active', message: { title: 'Hi' }, conversion })
  const { trigger_id: id } = await call(base, 'POST', '/api/v1/campaigns/news:trigger', {
    audience: { broadcast: true }
  })
  await eventually(async () => {
    assert.equal((await call(base, 'GET', `/api/v1/triggers/${id}`)).state, 'completed')
  }, 30_000)
  const events = Array.from({ length: people }, (_, n) => ({
    id: `order-${n}`,
    device_id: `p-${n + 1}`,
    name: 'purchase',
    properties: { amount: 0.1 }
  }))
  const upload = async (to: string) => {
    for (let from = 0; from < people; from += 500)
      await call(to, 'POST', '/api/v1/events', { events: events.slice(from, from + 500) })
  }
  await upload(base)
  await sleep(Math.random() * 150)
  first.child.kill('SIGKILL')
  await first.exited
  const [{ waiting }] = await sql('select count(*)::int as waiting from event_queue')
  t.diagnostic(`${waiting} of ${people} events waited when the node died`)

  const again = await start('all', 1).ready
  await upload(again)
  await eventually(async () => {
    assert.deepEqual(await sql('select 1 from event_queue limit 1'), [])
  }, 60_000)
  const { totals } = await call(again, 'GET', '/api/v1/campaigns/news/stats')
  assert.deepEqual([totals.users, totals.converted, totals.conversion_value], [people, people, people / 10])
  const { conversions } = await call(again, 'GET', `/api/v1/triggers/${id}`)
  assert.deepEqual(conversions, { converted: people, value: people / 10 })
})
