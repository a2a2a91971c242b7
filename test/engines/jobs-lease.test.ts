import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { defineJob, LeaseLost, RetryLater } from '../../src/platform/jobs/definition.ts'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import { migratedDatabase, testPool } from '../support/database.ts'
import { eventually, jobRows } from '../support/jobs-child.ts'
import { workerHere } from '../support/jobs-worker-here.ts'
import { silentLog } from '../support/log.ts'

it('a worker that was blocked for longer than its lease loses the job to another, and only that', async (t) => {
  const pool = await testPool(t)
  const outcomes: string[] = []
  let ran = 0
  const job = defineJob<null>({
    name: 'test.block',
    leaseMs: 400,
    async run(_, { signal, complete }) {
      if (++ran > 1) return
      const until = Date.now() + 900
      while (Date.now() < until) {} // Blocks the event loop, as a bad regular expression would.
      await new Promise((resolve) => setTimeout(resolve, 300))
      outcomes.push(signal.aborted ? 'aborted' : 'not aborted')
      await pool.transaction(complete).catch((error: Error) => {
        outcomes.push(error.name)
        throw error
      })
    }
  })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, null)
  await eventually(
    () => ran === 2 && outcomes.length === 2,
    (yes) => yes,
    5_000
  )
  await worker.idle()
  assert.deepEqual(outcomes, ['aborted', LeaseLost.name])
  assert.equal(await jobRows(pool, 'test.block'), 0)
  assert.deepEqual(await jobs.dead(pool, 1), [])
})

it('a run that lost its lease unnoticed can neither end nor fail nor release its job', async (t) => {
  const pool = await testPool(t)
  const expire = statement('jobs.test_expire', 'update jobs set run_at = now() where claim is not null')
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const ran: string[] = []
  const met: string[] = []
  const ways: Record<string, (complete: () => Promise<void>) => Promise<void>> = {
    complete: (complete) => complete(),
    return: async () => {},
    throw: () => Promise.reject(new Error('no')),
    retry: () => Promise.reject(new RetryLater('later', 0))
  }
  const job = defineJob<string>({
    name: 'test.fenced',
    async run(way, { attempt, complete }) {
      ran.push(`${way} ${attempt}`)
      if (attempt > 1) return second.promise
      await first.promise
      await ways[way]!(async () => {
        await pool.transaction(complete).catch((error: Error) => met.push(error.name))
      })
    }
  })
  const worker = workerHere(t, pool, [job])
  const names = Object.keys(ways)
  await jobs.addMany(
    pool,
    job,
    names.map((payload) => ({ payload }))
  )
  await eventually(
    () => ran.length,
    (n) => n === 4,
    5_000
  )
  await pool.run(expire)
  await eventually(
    () => ran.length,
    (n) => n === 8,
    5_000
  )
  first.resolve()
  await eventually(
    () => met.length,
    (n) => n === 1,
    5_000
  )
  // Another job runs to its end. By then the first runs would have recorded their results.
  await jobs.add(pool, job, 'return')
  await eventually(
    () => ran.length,
    (n) => n === 9,
    5_000
  )
  await eventually(
    () => jobRows(pool, 'test.fenced'),
    (n) => n === 4,
    5_000
  )
  second.resolve()
  await worker.idle()
  assert.deepEqual(met, [LeaseLost.name])
  assert.deepEqual(ran.toSorted(), [...names.flatMap((way) => [`${way} 1`, `${way} 2`]), 'return 1'].toSorted())
  assert.equal(await jobRows(pool, 'test.fenced'), 0)
})

it('a job that runs for longer than its lease keeps it, also when its jobs have used up the pool', async (t) => {
  const { connection } = await migratedDatabase(t)
  const pool = openPool(connection, silentLog, 2)
  t.after(() => pool.close())
  const sleep = statement('jobs.test_sleep', 'select pg_sleep(1.2)')
  let ran = 0
  let aborted = 0
  const job = defineJob<null>({
    name: 'test.slow',
    leaseMs: 300,
    async run(_, { signal }) {
      ran++
      await pool.query(sleep)
      if (signal.aborted) aborted++
    }
  })
  await jobs.addMany(pool, job, [{ payload: null }, { payload: null }])
  workerHere(t, pool, [job])
  workerHere(t, pool, [job])
  await eventually(
    () => jobRows(pool, 'test.slow'),
    (n) => n === 0,
    10_000
  )
  assert.deepEqual([ran, aborted], [2, 0])
})
