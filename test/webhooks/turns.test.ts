import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { statement } from '../../src/platform/db/statement.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { callQueue, createWebhooks } from '../../src/webhooks/webhooks.ts'
import { testPool } from '../support/database.ts'
import { workerHere } from '../support/jobs-worker-here.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/service.ts'

const addProject = statement(
  'test.turns_project',
  `insert into projects (project_id, name, mode, plan, limits, retention, created_at)
   values ($1, 'Test', 'live', 'standard', '{}', '{}', $2)`
)
const states = statement('test.turns_states', 'select state, attempts from webhook_calls where project_id = $1')

const slow = 'slow' as ProjectId
const quick = 'quick' as ProjectId

/** Receivers of one server, one for each name. Those of the project `slow` respond when the test says so. */
async function setUp(t: TestContext) {
  const pool = await testPool(t)
  for (const id of [slow, quick]) await pool.run(addProject, [id, new Date()])
  const receiver = await startReceiver({ secure: false })
  t.after(receiver.close)
  const held: ServerResponse[] = []
  receiver.respond = ({ path }, response) => {
    if (path === '/slow') held.push(response)
    else response.writeHead(204).end()
  }
  const webhooks = createWebhooks({
    pool,
    metrics: createMetrics(),
    key: randomBytes(32),
    allowPrivate: true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    // Longer than any test: a call to a slow receiver ends only when the receiver responds.
    timeoutMs: 3_600_000
  })
  t.after(webhooks.close)
  const urlOf = (name: string, path: string) => `http://${name}.example:${receiver.port}${path}`
  const quickOnes = () => receiver.received.filter(({ path }) => path === '/quick').length
  return { pool, webhooks, held, urlOf, quickOnes }
}

test("slow receivers of one project do not hold up another's calls, however many they are", async (t) => {
  const { pool, webhooks, held, urlOf } = await setUp(t)
  const enqueue = (id: ProjectId, urls: string[]) =>
    pool.transaction(async (tx) => {
      const call = { headers: {}, body: '{}', order: null, source: { kind: 'task', id: 'task' } } as const
      for (const url of urls) await webhooks.enqueue(tx, id, { ...call, id: newId(), url })
    })
  // 8 calls for each of 9 receivers are more than all the slots.
  await enqueue(
    slow,
    Array.from({ length: 72 }, (_, index) => urlOf(`slow-${index % 9}`, '/slow'))
  )
  const worker = workerHere(t, pool, webhooks.jobs, { wider: { [callQueue]: 64 } })
  await eventually(() => assert.equal(held.length, 24))
  await enqueue(quick, [urlOf('quick', '/quick'), urlOf('quick', '/quick')])
  const rowsOf = (id: ProjectId) => pool.query<{ state: string; attempts: number }>(states, [id])
  await eventually(async () => assert.ok((await rowsOf(quick)).every(({ state }) => state === 'delivered')))
  assert.equal(held.length, 24, 'a project has no more calls at a time')
  assert.ok((await rowsOf(slow)).every(({ state, attempts }) => state === 'pending' && attempts === 0))
  await worker.stop(0)
})

test('a project has 8 test events in flight at most, because all projects share the sockets; another one has its own', async (t) => {
  const { webhooks, held, urlOf, quickOnes } = await setUp(t)
  const create = (id: ProjectId, url: string) =>
    webhooks.registry.create('token x', id, { url, events: ['message.failed'] })
  const { id: hanging } = await create(slow, urlOf('slow', '/slow'))
  const { id: responding } = await create(quick, urlOf('quick', '/quick'))
  const tests = Array.from({ length: 8 }, () => webhooks.test('token x', slow, hanging))
  await eventually(() => assert.equal(held.length, 8))
  await assert.rejects(webhooks.test('token x', slow, hanging), { code: 'rate_limited' })
  await webhooks.test('token x', quick, responding)
  assert.equal(quickOnes(), 1)
  for (const response of held) response.writeHead(204).end()
  await Promise.all(tests)
  const next = webhooks.test('token x', slow, hanging)
  await eventually(() => assert.equal(held.length, 9))
  held[8]!.writeHead(204).end()
  await next
})
