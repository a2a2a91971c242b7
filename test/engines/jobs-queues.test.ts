import assert from 'node:assert/strict'
import { it } from 'node:test'
import { statement } from '../../src/platform/db/statement.ts'
import { defineJob } from '../../src/platform/jobs/definition.ts'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import { testPool } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { jobRows } from '../support/jobs-child.ts'
import { workerHere } from '../support/jobs-worker-here.ts'

/** Jobs that run until the test says so. */
function endless() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, end: resolve }
}

const payloads = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: n, projectId: 'shop' }))

it('a job of one queue runs while all slots of another are taken and more of its jobs wait', async (t) => {
  const pool = await testPool(t)
  const { promise, end } = endless()
  t.after(() => end())
  let began = 0
  const slow = defineJob({
    name: 'test.slow',
    queue: 'slow',
    async run() {
      began += 1
      await promise
    }
  })
  let ran = 0
  const quick = defineJob({ name: 'test.quick', queue: 'quick', run: async () => void ran++ })
  const worker = workerHere(t, pool, [slow, quick], { concurrency: 2, wider: { slow: 3 } })
  await jobs.addMany(pool, slow, payloads(20))
  await eventually(() => assert.equal(began, 3))
  await jobs.addMany(pool, quick, payloads(5))
  await eventually(() => assert.equal(ran, 5))
  assert.equal(began, 3, 'as many as the queue has slots')
  end()
  await worker.idle()
  assert.equal(began, 20)
})

it('a job that waits without a slot keeps its lease, and the number of such jobs is bounded', async (t) => {
  const pool = await testPool(t)
  const { promise, end } = endless()
  t.after(() => end())
  let began = 0
  const attempts = new Set<number>()
  const job = defineJob({
    name: 'test.wait',
    leaseMs: 1_500,
    async run(_, { attempt, freeSlot }) {
      began += 1
      attempts.add(attempt)
      freeSlot()
      freeSlot()
      await promise
    }
  })
  const worker = workerHere(t, pool, [job], { concurrency: 1 })
  await jobs.addMany(pool, job, payloads(100))
  // 64 wait for each slot, and one has the slot.
  await eventually(() => assert.equal(began, 65))
  await new Promise((resolve) => setTimeout(resolve, 3_500))
  assert.deepEqual([began, [...attempts]], [65, [1]], 'no lease ran out')
  end()
  await worker.idle()
  assert.deepEqual([began, await jobRows(pool, 'test.wait')], [100, 0])
})

it('a job that an older version added to no queue runs all the same', async (t) => {
  const pool = await testPool(t)
  const seen: unknown[] = []
  const job = defineJob({ name: 'test.say', queue: 'own', run: async (word) => void seen.push(word) })
  const worker = workerHere(t, pool, [job])
  const old = statement(
    'jobs.test_old',
    `insert into jobs (id, name, payload, ready, run_at, attempts, created_at)
     values (gen_random_uuid(), 'test.say', '"old"', true, now(), 0, now())`
  )
  await pool.run(old)
  await worker.idle()
  assert.deepEqual(seen, ['old'])
})
