import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Pool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { givenUpAfterMs, waitAfter } from '../../src/webhooks/schedule.ts'
import { createWebhooks, type OutgoingCall, type WebhookOptions } from '../../src/webhooks/webhooks.ts'
import { testPool } from '../support/database.ts'
import { workerHere } from '../support/jobs-worker-here.ts'
import { isSignedWith, type Receiver, startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/service.ts'

const addProject = statement(
  'test.add_project',
  `insert into projects (project_id, name, mode, plan, limits, retention, created_at)
   values ($1, 'Test', 'live', 'standard', '{}', '{}', $2)`
)
const allCalls = statement(
  'test.all_calls',
  'select id, state, attempts, last_status, last_error, headers, expires_at, next_at from webhook_calls where project_id = $1 order by position, id'
)
const hurry = statement('test.hurry', 'update webhook_calls set next_at = now(), expires_at = $2 where project_id = $1')

interface Row {
  id: string
  state: string
  attempts: number
  last_status: number | null
  last_error: string | null
  headers: string | null
  expires_at: Date
  next_at: Date
}

const project = 'shop' as ProjectId

async function setUp(t: TestContext, more: Partial<WebhookOptions> = {}) {
  const pool = await testPool(t)
  const receiver = await startReceiver()
  t.after(receiver.close)
  for (const id of [project, 'other']) await pool.run(addProject, [id, new Date()])
  const key = randomBytes(32)
  const make = () => {
    const made = createWebhooks({ pool, metrics: createMetrics(), key, allowPrivate: true, ca: receiver.ca, ...more })
    t.after(made.close)
    return made
  }
  const webhooks = make()
  const rows = (id = project) => pool.query<Row>(allCalls, [id])
  return { pool, receiver, webhooks, rows, make }
}

const callTo = (receiver: Receiver, more: Partial<OutgoingCall> = {}): OutgoingCall => ({
  id: newId(),
  url: `${receiver.url}/hook`,
  headers: {},
  body: JSON.stringify({ hello: 'wörld' }),
  order: null,
  source: { kind: 'task', id: 'task-1' },
  ...more
})

const enqueue = (pool: Pool, webhooks: ReturnType<typeof createWebhooks>, call: OutgoingCall, id = project) =>
  pool.transaction((tx) => webhooks.enqueue(tx, id, call))

test('a call is delivered once, signed by the secret of the project', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t)
  const call = callTo(receiver, { headers: { 'X-A2A-Token': 'tok' } })
  await enqueue(pool, webhooks, call)
  await enqueue(pool, webhooks, call) // The same id again means the same call.
  const worker = workerHere(t, pool, webhooks.jobs)
  await eventually(async () => assert.equal((await rows())[0]!.state, 'delivered'))
  await worker.idle()
  assert.equal(receiver.received.length, 1)
  const [got] = receiver.received
  assert.equal(got!.headers['webhook-id'], call.id)
  assert.equal(got!.headers['x-a2a-token'], 'tok')
  assert.equal(got!.body, call.body)
  assert.ok(Math.abs(Number(got!.headers['webhook-timestamp']) * 1000 - got!.at) < 60_000)
  const secret = await webhooks.secretOf(project)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.ok(isSignedWith(secret, got!))
  assert.ok(!isSignedWith(await webhooks.secretOf('other' as ProjectId), got!), 'each project has its own')
  assert.ok(!isSignedWith(secret, { ...got!, body: `${got!.body} ` }), 'a changed body shows')
})

test('a call of a transaction that rolls back is never made', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t)
  const gone = pool.transaction(async (tx) => {
    await webhooks.enqueue(tx, project, callTo(receiver))
    throw new Error('no')
  })
  await assert.rejects(gone)
  await enqueue(pool, webhooks, callTo(receiver))
  const worker = workerHere(t, pool, webhooks.jobs)
  await eventually(async () =>
    assert.deepEqual(
      (await rows()).map(({ state }) => state),
      ['delivered']
    )
  )
  await worker.idle()
  assert.equal(receiver.received.length, 1)
})

test('headers are sealed in the database', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t)
  await enqueue(pool, webhooks, callTo(receiver, { headers: { Authorization: 'Bearer very-secret' } }))
  const [row] = await rows()
  assert.match(row!.headers!, /^v1\./)
  assert.doesNotMatch(row!.headers!, /very-secret/)
})

test('a failed call is tried again until it succeeds, and shows the last error meanwhile', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t)
  let answers = 0
  receiver.respond = (_, response) => response.writeHead(++answers < 3 ? 500 : 200).end()
  const call = callTo(receiver)
  await enqueue(pool, webhooks, call)
  workerHere(t, pool, webhooks.jobs)
  await eventually(async () => assert.equal((await rows())[0]!.attempts, 1))
  const [first] = await rows()
  assert.equal(first!.last_status, 500)
  assert.equal(first!.last_error, 'answered 500')
  await eventually(async () => assert.equal((await rows())[0]!.state, 'delivered'), 30_000)
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [call.id, call.id, call.id]
  )
  const gaps = receiver.received.slice(1).map(({ at }, index) => at - receiver.received[index]!.at)
  assert.ok(gaps[0]! >= 900 && gaps[1]! >= 4_500, `it waits longer each time: ${gaps}`)
})

test('calls of one order key arrive in order, even if the first of them fails for a while', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t)
  let failures = 1
  receiver.respond = (_, response) => response.writeHead(failures-- > 0 ? 503 : 200).end()
  const wanted = Array.from({ length: 8 }, (_, index) => String(index))
  // Ids out of order: the clocks of two nodes need not agree.
  const ids = wanted.map(() => newId()).reverse()
  for (const [index, body] of wanted.entries())
    await enqueue(pool, webhooks, callTo(receiver, { body, order: 'task 1', id: ids[index]! }))
  await enqueue(pool, webhooks, callTo(receiver, { body: 'free', order: null }))
  workerHere(t, pool, webhooks.jobs)
  await eventually(async () => assert.ok((await rows()).every(({ state }) => state === 'delivered')), 30_000)
  const arrived = receiver.received.map(({ body }) => body)
  assert.equal(arrived.length, 10)
  const ordered = arrived.filter((body) => body !== 'free')
  assert.deepEqual(
    ordered.filter((body, index) => ordered[index - 1] !== body),
    wanted
  )
})

test('a call that is given up is kept as failed, lets the next go, and can be replayed', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t)
  receiver.respond = ({ body }, response) => response.writeHead(body === 'bad' ? 500 : 200).end()
  const bad = callTo(receiver, { body: 'bad', order: 'o' })
  await enqueue(pool, webhooks, bad)
  await enqueue(pool, webhooks, callTo(receiver, { body: 'good', order: 'o' }))
  workerHere(t, pool, webhooks.jobs)
  await eventually(async () => assert.equal((await rows())[0]!.attempts, 1))
  assert.equal(receiver.received.length, 1, 'the second waits for the first')
  // A day later, by the times of the call.
  await pool.run(hurry, [project, new Date()])
  await eventually(
    async () =>
      assert.deepEqual(
        (await rows()).map(({ state }) => state),
        ['failed', 'delivered']
      ),
    20_000
  )
  receiver.respond = (_, response) => response.writeHead(200).end()
  const replayed = await webhooks.replay('token x', project, bad.id)
  assert.equal(replayed!.state, 'pending')
  await eventually(async () => assert.equal((await rows())[0]!.state, 'delivered'))
  assert.equal(receiver.received.at(-1)!.headers['webhook-id'], bad.id)
  assert.equal(await webhooks.replay('token x', 'other' as ProjectId, bad.id), undefined, 'not from another project')
})

test('a receiver that says 410 is not called again for it', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t)
  receiver.respond = (_, response) => response.writeHead(410).end()
  await enqueue(pool, webhooks, callTo(receiver))
  workerHere(t, pool, webhooks.jobs)
  await eventually(async () => assert.equal((await rows())[0]!.state, 'failed'))
  assert.equal((await rows())[0]!.attempts, 1)
})

test('an address that is forbidden at the time of the connection is not called, and the call says why', async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t, {
    allowPrivate: false,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }]
  })
  await enqueue(pool, webhooks, callTo(receiver, { url: `https://hook.example:${receiver.port}/` }))
  await enqueue(pool, webhooks, callTo(receiver, { url: 'not a url' }))
  workerHere(t, pool, webhooks.jobs)
  await eventually(async () => assert.ok((await rows()).every(({ attempts }) => attempts > 0)))
  assert.deepEqual((await rows()).map(({ last_error }) => last_error!.slice(0, 24)).sort(), [
    'the url holds a space, a',
    'the url points to hook.e'
  ])
  assert.equal(receiver.received.length, 0)
})

test('calls that were not delivered when a process stopped are delivered by the next one', async (t) => {
  const { pool, receiver, webhooks, rows, make } = await setUp(t)
  receiver.respond = () => {} // In flight when the first worker stops.
  await enqueue(pool, webhooks, callTo(receiver, { headers: { 'x-a': 'b' } }))
  const first = workerHere(t, pool, webhooks.jobs)
  await eventually(() => assert.equal(receiver.received.length, 1))
  await first.stop(0)
  webhooks.close()
  assert.deepEqual(
    (await rows()).map(({ state, attempts }) => [state, attempts]),
    [['pending', 0]]
  )
  receiver.respond = (_, response) => response.writeHead(200).end()
  workerHere(t, pool, make().jobs)
  await eventually(async () => assert.equal((await rows())[0]!.state, 'delivered'))
  assert.equal(receiver.received.at(-1)!.headers['x-a'], 'b')
})

test("a destination that hangs does not hold up another project's calls", async (t) => {
  const { pool, receiver, webhooks, rows } = await setUp(t, { timeoutMs: 5_000 })
  receiver.respond = ({ path }, response) => {
    if (path !== '/hangs') response.writeHead(200).end()
  }
  for (let index = 0; index < 40; index += 1)
    await enqueue(pool, webhooks, callTo(receiver, { url: `${receiver.url}/hangs` }))
  workerHere(t, pool, webhooks.jobs)
  await eventually(() => assert.ok(receiver.received.length >= 8))
  for (let index = 0; index < 20; index += 1) await enqueue(pool, webhooks, callTo(receiver), 'other' as ProjectId)
  await eventually(async () => {
    const states = (await rows('other' as ProjectId)).map(({ state }) => state)
    assert.ok(states.every((state) => state === 'delivered'))
  })
  const hanging = receiver.received.filter(({ path }) => path === '/hangs').length
  assert.equal(hanging, 8, 'one destination gets no more at a time')
})

test('the waits are about 1 s, 5 s and 30 s, then grow, and end within a day', () => {
  const least = Array.from({ length: 14 }, (_, index) => waitAfter(index + 1, () => 0) / 1000)
  const most = Array.from({ length: 14 }, (_, index) => waitAfter(index + 1, () => 1) / 1000)
  assert.deepEqual(least.slice(0, 3), [0.9, 4.5, 27])
  assert.deepEqual(most.slice(0, 3), [1.1, 5.5, 33])
  for (let index = 1; index < 9; index += 1) assert.ok(least[index]! > most[index - 1]!)
  assert.ok(least.reduce((sum, wait) => sum + wait) * 1000 > givenUpAfterMs / 2, 'a day takes few tries')
})
