import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createListener } from '../../src/platform/db/listen.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { newId } from '../../src/platform/ids.ts'
import { defineJob, RetryLater } from '../../src/platform/jobs/definition.ts'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import { testPool } from '../support/database.ts'
import { eventually, jobRows } from '../support/jobs-child.ts'
import { workerHere } from '../support/jobs-worker-here.ts'
import { silentLog } from '../support/log.ts'

const soon = () => 5

it('a job runs with its payload and is gone afterwards', async (t) => {
  const pool = await testPool(t)
  const seen: unknown[] = []
  const job = defineJob<{ word: string }>({
    name: 'test.say',
    run: async ({ word }, { attempt, last }) => void seen.push([word, attempt, last])
  })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, { word: 'hello' })
  await worker.idle()
  assert.deepEqual(seen, [['hello', 1, false]])
  assert.equal(await jobRows(pool, 'test.say'), 0)
})

it('a job added in a transaction runs when that commits, and never when it rolls back', async (t) => {
  const pool = await testPool(t)
  const seen: string[] = []
  const job = defineJob<string>({ name: 'test.say', run: async (word) => void seen.push(word) })
  const worker = workerHere(t, pool, [job])
  await pool.transaction(async (tx) => {
    await jobs.add(tx, job, 'committed')
    await worker.idle()
    assert.deepEqual(seen, [])
  })
  const undone = pool.transaction(async (tx) => {
    await jobs.add(tx, job, 'rolled back')
    throw new Error('undo')
  })
  await assert.rejects(undone, /undo/)
  await worker.idle()
  assert.deepEqual(seen, ['committed'])
})

it('a worker without a listener runs everything, and one with a listener does not wait for its poll', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const job = defineJob<number>({ name: 'test.count', run: async () => void ran++ })
  await jobs.addMany(
    pool,
    job,
    Array.from({ length: 300 }, (_, payload) => ({ payload }))
  )
  const deaf = workerHere(t, pool, [job])
  await eventually(
    () => ran,
    (n) => n === 300,
    5_000
  )
  await jobs.add(pool, job, 0)
  await eventually(
    () => ran,
    (n) => n === 301,
    5_000
  )
  await deaf.stop(1_000)

  const listener = createListener(pool, silentLog)
  t.after(() => listener.close())
  const hearing = workerHere(t, pool, [job], { listener, pollMs: 60_000 })
  await hearing.idle()
  await jobs.add(pool, job, 0)
  await eventually(
    () => ran,
    (n) => n === 302,
    5_000
  )
})

it('a job of the future waits for its time', async (t) => {
  const pool = await testPool(t)
  const seen: number[] = []
  const job = defineJob<number>({ name: 'test.when', run: async () => void seen.push(Date.now()) })
  const worker = workerHere(t, pool, [job], { pollMs: 1_000 })
  const at = Date.now() + 700
  await jobs.add(pool, job, 1, { runAt: new Date(at) })
  await worker.idle()
  assert.deepEqual(seen, [])
  await eventually(
    () => seen.length,
    (n) => n === 1,
    5_000
  )
  assert.ok(seen[0]! >= at, `it ran ${at - seen[0]!} ms too early`)
})

it('a failing job is tried again, then lies among the dead with its error, and can be revived', async (t) => {
  const pool = await testPool(t)
  const tried: Array<[number, boolean]> = []
  let broken = true
  const job = defineJob<{ n: number }>({
    name: 'test.fail',
    maxAttempts: 3,
    backoff: soon,
    async run(_, { attempt, last }) {
      tried.push([attempt, last])
      if (broken) throw new Error('no luck\0')
    }
  })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, { n: 7 }, { projectId: 'p1', key: 'k' })
  const [dead] = await eventually(
    () => jobs.dead(pool, 10),
    (found) => found.length > 0,
    5_000
  )
  assert.deepEqual(tried, [
    [1, false],
    [2, false],
    [3, true]
  ])
  assert.deepEqual(
    [dead!.name, dead!.projectId, dead!.key, dead!.payload, dead!.attempts],
    ['test.fail', 'p1', 'k', { n: 7 }, 3]
  )
  assert.match(dead!.error, /no luck/)
  assert.equal(await jobRows(pool, 'test.fail'), 0)

  broken = false
  assert.equal(await jobs.revive(pool, dead!.id), true)
  assert.equal(await jobs.revive(pool, dead!.id), false)
  await worker.idle()
  assert.deepEqual(tried.at(-1), [1, false])
  assert.deepEqual(await jobs.dead(pool, 10), [])
})

it('a planned retry comes after the time it asked for and counts as an attempt unless it says otherwise', async (t) => {
  const pool = await testPool(t)
  const tried: number[] = []
  const job = defineJob<null>({
    name: 'test.later',
    maxAttempts: 2,
    async run(_, { attempt }) {
      tried.push(attempt)
      throw new RetryLater('the gateway asks for patience', 5, { counts: tried.length > 3 })
    }
  })
  workerHere(t, pool, [job])
  await jobs.add(pool, job, null)
  const [dead] = await eventually(
    () => jobs.dead(pool, 10),
    (found) => found.length > 0,
    5_000
  )
  assert.deepEqual(tried, [1, 1, 1, 1, 2])
  assert.equal(dead!.error, 'the gateway asks for patience')
})

it('the wait after a failure grows with each attempt', async (t) => {
  const pool = await testPool(t)
  const waits: number[] = []
  const untilDue = statement(
    'jobs.test_until_due',
    `update jobs set ready = true, run_at = now() where attempts = $1 and claim is null
     returning extract(epoch from run_at - now())::float8 as now, last_error as error`
  )
  const dueIn = statement(
    'jobs.test_due_in',
    'select extract(epoch from run_at - now())::float8 * 1000 as ms from jobs where attempts = $1 and claim is null'
  )
  const job = defineJob<null>({ name: 'test.fail', run: () => Promise.reject(new Error('no')) })
  workerHere(t, pool, [job])
  await jobs.add(pool, job, null)
  for (const attempt of [1, 2, 3, 4, 5]) {
    const due = await eventually(
      () => pool.one<{ ms: number }>(dueIn, [attempt]),
      (row) => row !== undefined,
      5_000
    )
    waits.push(due!.ms)
    await pool.run(untilDue, [attempt])
  }
  // The upper half of 1, 2, 4, 8 and 16 s is random; some of it has passed before we look.
  for (const [index, ms] of waits.entries()) {
    assert.ok(ms <= 1_000 * 2 ** index && ms > 500 * 2 ** index - 400, `attempt ${index + 1} waits ${ms} ms`)
  }
})

it("another project's only job does not wait for the thousands before it", async (t) => {
  const pool = await testPool(t)
  const order: string[] = []
  const job = defineJob<string>({ name: 'test.turn', run: async (project) => void order.push(project) })
  const many = Array.from({ length: 5_000 }, () => ({ payload: 'a', projectId: 'a' }))
  await jobs.addMany(pool, job, many)
  await jobs.addMany(pool, job, [{ payload: 'b', projectId: 'b' }, { payload: 'house' }])
  const worker = workerHere(t, pool, [job], { concurrency: 20 })
  await eventually(
    () => order.length,
    (n) => n >= 1_000,
    20_000
  )
  await jobs.add(pool, job, 'c', { projectId: 'c' })
  const place = await eventually(
    () => order.indexOf('c'),
    (at) => at >= 0,
    20_000
  )
  await worker.idle()
  assert.ok(order.indexOf('b') < 60, `b ran as number ${order.indexOf('b')}`)
  assert.ok(order.indexOf('house') < 60, `the house's own job ran as number ${order.indexOf('house')}`)
  assert.ok(place < 4_000, `c ran as number ${place}`)
  assert.equal(order.length, 5_003)
})

it('a worker leaves jobs alone that it does not know', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const known = defineJob<null>({ name: 'test.known', run: async () => void ran++ })
  await jobs.addMany(
    pool,
    'test.unknown',
    Array.from({ length: 50 }, () => ({ payload: null }))
  )
  await jobs.add(pool, known, null)
  const worker = workerHere(t, pool, [known], { concurrency: 1 })
  await worker.idle()
  assert.equal(ran, 1)
  assert.equal(await jobRows(pool, 'test.unknown'), 50)
})

const addByHand = statement(
  'jobs.test_add_by_hand',
  `insert into jobs (id, name, payload, ready, run_at, attempts, created_at)
   values ($1, $2, 'null', true, now() - interval '1 hour', $3, now())`
)

it('a job that turns up late, with a time long past, is found too', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const job = defineJob<null>({ name: 'test.late', run: async () => void ran++ })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, null)
  await worker.idle()
  await pool.run(addByHand, [newId(), 'test.late', 0])
  await eventually(
    () => ran,
    (n) => n === 2,
    10_000
  )
})

it('a job that brings down every worker ends among the dead', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const job = defineJob<null>({ name: 'test.poison', maxAttempts: 2, run: async () => void ran++ })
  // As five lost workers leave it behind: two attempts and three more that were forgiven.
  await pool.run(addByHand, [newId(), 'test.poison', 5])
  await workerHere(t, pool, [job]).idle()
  const [dead] = await jobs.dead(pool, 1)
  assert.match(dead!.error, /worker was lost/)
  assert.equal(ran, 0)
})
