import assert from 'node:assert/strict'
import { it } from 'node:test'
import { statement } from '../../src/platform/db/statement.ts'
import { newId } from '../../src/platform/ids.ts'
import { defineJob, RetryLater } from '../../src/platform/jobs/definition.ts'
import { orGiveUp } from '../../src/platform/jobs/give-up.ts'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import { testPool } from '../support/database.ts'
import { eventually, jobRows } from '../support/jobs-child.ts'
import { workerHere } from '../support/jobs-worker-here.ts'

it('a failing job is tried again, then lies among the dead with its error, and can be revived', async (t) => {
  const pool = await testPool(t)
  const tried: Array<[number, boolean]> = []
  let broken = true
  const job = defineJob<{ n: number }>({
    name: 'test.fail',
    maxAttempts: 3,
    backoff: () => 5,
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
  // The upper half of 1, 2, 4, 8 and 16 s is random; part of the wait has passed before the test reads it.
  for (const [index, ms] of waits.entries()) {
    assert.ok(ms <= 1_000 * 2 ** index && ms > 500 * 2 ** index - 400, `attempt ${index + 1} waits ${ms} ms`)
  }
})

const addPoison = statement(
  'jobs.test_add_poison',
  `insert into jobs (id, name, payload, ready, run_at, attempts, created_at)
   values ($1, $2, 'null', true, now() - interval '1 hour', $3, now())`
)

it('a job that brings down every worker ends among the dead', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const job = defineJob<null>({ name: 'test.poison', maxAttempts: 2, run: async () => void ran++ })
  // The row after five lost workers: two attempts, and three more that did not count.
  await pool.run(addPoison, [newId(), 'test.poison', 5])
  await workerHere(t, pool, [job]).idle()
  const [dead] = await jobs.dead(pool, 1)
  assert.match(dead!.error, /worker was lost/)
  assert.equal(ran, 0)
})

it('a job that brings down every worker first gives its work up, as often as that fails', async (t) => {
  const pool = await testPool(t)
  const given: string[] = []
  const job = defineJob<null>({
    name: 'test.poison',
    maxAttempts: 2,
    backoff: () => 5,
    run: async () => void given.push('run'),
    async giveUp() {
      given.push('given up')
      if (given.length === 1) throw new Error('the database does not respond')
    }
  })
  await pool.run(addPoison, [newId(), 'test.poison', 5])
  workerHere(t, pool, [job])
  const [dead] = await eventually(
    () => jobs.dead(pool, 10),
    (found) => found.length > 0,
    5_000
  )
  assert.match(dead!.error, /worker was lost/)
  assert.deepEqual(given, ['given up', 'given up'])
})

it('a job whose last attempt fails gives its work up, and makes that attempt again if it could not', async (t) => {
  const pool = await testPool(t)
  const did: string[] = []
  const run = async () => {
    did.push('run')
    throw new Error('it fails')
  }
  const giveUp = async () => {
    did.push('given up')
    if (did.length === 2) throw new Error('the database does not respond')
  }
  const job = defineJob<null>({ name: 'test.hopeless', maxAttempts: 1, backoff: () => 5, ...orGiveUp(run, giveUp) })
  await pool.run(addPoison, [newId(), 'test.hopeless', 0])
  workerHere(t, pool, [job])
  const [dead] = await eventually(
    () => jobs.dead(pool, 10),
    (found) => found.length > 0,
    5_000
  )
  assert.match(dead!.error, /it fails/)
  assert.deepEqual(did, ['run', 'given up', 'run', 'given up'])
})
