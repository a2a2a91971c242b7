import assert from 'node:assert/strict'
import { it } from 'node:test'
import { givenMany } from '../support/campaigns.ts'
import { cluster } from '../support/cluster.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

const people = 250

it('properties of targets survive a killed worker: each device gets the text of its own target, once', async (t) => {
  const { start, call, sql, entries } = await cluster(t)
  const api = await start('api', 50).ready
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  const message = { title: '{{ trigger.code }}' }
  // A throttle leaves batches planned while the worker dies.
  await call(api, 'PUT', '/campaigns/news', { name: 'News', status: 'active', message, throttle_per_second: 100 })
  const first = start('worker', 50)
  await first.ready
  const numbers = Array.from({ length: people }, (_, n) => n + 1)
  const targets = numbers.map((n) => ({ project_user_id: `p-user-${n}`, properties: { code: `code ${n}` } }))
  const { trigger_id: id } = await call(api, 'POST', '/api/v1/campaigns/news:trigger', { audience: { targets } })
  await eventually(async () => {
    const planned = await sql(`select number from trigger_chunks where state = 'planned' and places is not null`)
    assert.ok(entries().length > 0 && planned.length > 0)
  })
  first.child.kill('SIGKILL')
  await first.exited
  await start('worker', 50).ready
  await eventually(async () => {
    const { state, counts } = await call(api, 'GET', `/api/v1/triggers/${id}`)
    assert.deepEqual([state, counts.sent], ['completed', people])
  }, 40_000)
  const rows = await sql('select device_id, content from messages')
  assert.equal(rows.length, people)
  for (const { device_id, content } of rows)
    assert.equal(content.notification.title, `code ${device_id.slice(2)}`, device_id)
})
