import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenMany } from '../support/campaigns.ts'
import { cluster } from '../support/cluster.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

const people = 50

it('an occurrence is made once although all nodes are killed around its time', async (t) => {
  const { start, call, sql, entries } = await cluster(t)
  const first = [start('all', 5), start('worker', 5)]
  const [api] = await Promise.all(first.map(({ ready }) => ready))
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2_000)
  await call(api!, 'PUT', '/campaigns/digest', {
    name: 'Digest',
    status: 'active',
    type: 'scheduled',
    schedule: { at: at.toISOString().slice(0, 19) },
    default_audience: { broadcast: true },
    message: { title: 'Hi' }
  })
  await sleep(at.getTime() - Date.now() + Math.random() * 100 - 20)
  for (const { child, exited } of first) {
    child.kill('SIGKILL')
    await exited
  }
  const again = await start('all', 5).ready
  const [trigger] = await eventually(async () => {
    const { items } = await call(again, 'GET', '/api/v1/triggers')
    assert.equal(items.length, 1)
    assert.equal(items[0].state, 'completed', JSON.stringify(items[0]))
    return items
  }, 40_000)
  assert.deepEqual([trigger.source.at, trigger.counts.sent], [at.toISOString(), people])
  assert.equal(new Set(entries().map(({ device }) => device)).size, people)
})
