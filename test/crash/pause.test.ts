import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenMany } from '../support/campaigns.ts'
import { cluster } from '../support/cluster.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

const people = 2_000
const answerMs = 50
const waitMs = 75_000

it('a pause survives kill -9 of all nodes; a broadcast sends nothing during it and ends after the resume', async (t) => {
  const { start, call, sql, entries } = await cluster(t)
  const first = [start('all', answerMs), start('worker', answerMs)]
  const [api] = await Promise.all(first.map(({ ready }) => ready))
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  await call(api!, 'PUT', '/campaigns/news', { name: 'News', status: 'active', message: { title: 'Hi' } })
  const everyone = { audience: { broadcast: true } }
  const { trigger_id: id } = await call(api!, 'POST', '/api/v1/campaigns/news:trigger', everyone)
  await eventually(() => assert.ok(entries().length > 100), waitMs)
  await call(api!, 'POST', ':pause')
  // Some messages are still with the gateways, others are being released.
  await sleep(Math.random() * 200)
  for (const { child, exited } of first) {
    child.kill('SIGKILL')
    await exited
  }
  const left = entries().length
  assert.ok(left < people, `${left} had left`)

  const second = start('all', answerMs)
  const again = await second.ready
  assert.ok((await call(again, 'GET', '')).paused_at)
  const held = await call(again, 'POST', '/api/v1/messages:send', {
    push_notifications: [{ target: { device_id: 'p-1' }, title: 'Later' }]
  })
  assert.equal(held.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_PENDING')
  // The leases of the dead workers expire, their messages become due, and the sweepers run several rounds.
  await sleep(16_000)
  assert.equal(entries().length, left, 'nothing left in the pause')
  const { state, counts } = await call(again, 'GET', `/api/v1/triggers/${id}`)
  assert.deepEqual([state, counts.failed], ['running', 0], JSON.stringify(counts))

  await call(again, 'POST', ':resume')
  const found = await eventually(async () => {
    const trigger = await call(again, 'GET', `/api/v1/triggers/${id}`)
    assert.equal(trigger.state, 'completed', JSON.stringify(trigger))
    return trigger
  }, waitMs)
  const { targeted, sent, failed, pending } = found.counts
  assert.deepEqual([targeted, sent, failed, pending], [people, people, 0, 0])
  const reached = new Set(entries().map(({ device }) => device))
  assert.equal(reached.size, people)
  // Messages that a gateway had at the kill are sent again under the same collapse id; no others are.
  t.diagnostic(`${entries().length - people - 1} pushes were sent twice`)
  assert.ok(entries().length - people - 1 <= 2 * 800, String(entries().length))
})
