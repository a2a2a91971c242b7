import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { statement } from '../../src/platform/db/statement.ts'
import { firstIdAt, newId, type ProjectId } from '../../src/platform/ids.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { createWebhooks } from '../../src/webhooks/webhooks.ts'
import { testPool } from '../support/database.ts'
import { workerHere } from '../support/jobs-worker-here.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/service.ts'

const addProject = statement(
  'test.keep_project',
  `insert into projects (project_id, name, mode, plan, limits, retention, created_at)
   values ($1, 'Test', 'live', 'standard', '{}', '{}', $2)`
)
const states = statement('test.keep_states', 'select id, state from webhook_calls where project_id = $1 order by id')
const settle = statement('test.keep_settle', 'update webhook_calls set state = $3 where project_id = $1 and id = $2')
const loseJobs = statement('test.keep_lose_jobs', `delete from jobs where name = 'webhooks.deliver'`)
const age = statement('test.keep_age', 'update webhook_calls set next_at = $2 where project_id = $1')

const project = 'shop' as ProjectId
const dayMs = 86_400_000

test('old calls are swept by their state, pending ones never, and a lane that lost its job gets one', async (t) => {
  const pool = await testPool(t)
  const receiver = await startReceiver()
  t.after(receiver.close)
  await pool.run(addProject, [project, new Date()])
  const webhooks = createWebhooks({
    pool,
    metrics: createMetrics(),
    key: randomBytes(32),
    allowPrivate: true,
    ca: receiver.ca
  })
  t.after(webhooks.close)
  const add = async (id: string, state?: string) => {
    const call = { id, url: receiver.url, headers: {}, body: id, order: null, source: { kind: 'task', id } as const }
    await pool.transaction((tx) => webhooks.enqueue(tx, project, call))
    if (state) await pool.run(settle, [project, id, state])
  }
  const daysAgo = (days: number) => firstIdAt(Date.now() - days * dayMs)
  await add(daysAgo(31), 'failed')
  await add(daysAgo(29), 'failed')
  await add(daysAgo(3), 'delivered')
  await add(daysAgo(1), 'delivered')
  const pending = daysAgo(40)
  await add(pending)
  await add(newId(), 'failed')
  await pool.run(loseJobs)
  await pool.run(age, [project, new Date(Date.now() - 3_600_000)])
  workerHere(t, pool, [...webhooks.jobs, webhooks.keepJob])
  await eventually(() =>
    assert.deepEqual(
      receiver.received.map(({ body }) => body),
      [pending]
    )
  )
  await eventually(async () => {
    const left = await pool.query<{ id: string; state: string }>(states, [project])
    // The oldest was pending until a moment ago, and is delivered now.
    assert.deepEqual(left.map(({ state }) => state).sort(), ['delivered', 'delivered', 'failed', 'failed'])
  })
})
