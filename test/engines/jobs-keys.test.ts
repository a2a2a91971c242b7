import assert from 'node:assert/strict'
import { it } from 'node:test'
import { statement } from '../../src/platform/db/statement.ts'
import { defineJob, RetryLater } from '../../src/platform/jobs/definition.ts'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import { elsewhere, testPool } from '../support/database.ts'
import { eventually, jobRows } from '../support/jobs-child.ts'
import { workerHere } from '../support/jobs-worker-here.ts'

it('a key that waits is not added twice, and an earlier time brings it forward', async (t) => {
  const pool = await testPool(t)
  const seen: string[] = []
  const job = defineJob<string>({ name: 'test.once', run: async (word) => void seen.push(word) })
  const tomorrow = new Date(Date.now() + 86_400_000)
  await jobs.addMany(pool, job, [
    { payload: 'first', key: 'k', runAt: tomorrow },
    { payload: 'second', key: 'k', runAt: tomorrow }
  ])
  await jobs.add(pool, job, 'third', { key: 'k', runAt: tomorrow })
  await jobs.add(pool, 'test.other', 'of another name', { key: 'k' })
  assert.equal(await jobRows(pool, 'test.once'), 1)
  assert.equal(await jobRows(pool, 'test.other'), 1)
  await jobs.add(pool, job, 'now', { key: 'k' })
  await workerHere(t, pool, [job]).idle()
  assert.deepEqual(seen, ['first'])
})

it('an earlier time also brings a key forward that waits after an attempt failed, if nothing was due', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const job = defineJob<null>({
    name: 'test.anew',
    backoff: () => 1,
    async run() {
      ran += 1
      if (ran === 1) throw new Error('the database was away')
      if (ran === 2) throw new RetryLater('nothing is due', 3_600_000, { anew: true })
    }
  })
  const worker = workerHere(t, pool, [job])
  const hasRun = (times: number) =>
    eventually(
      () => ran,
      (n) => n === times,
      10_000
    )
  await jobs.add(pool, job, null, { key: 'k' })
  await hasRun(2)
  await worker.idle()
  await jobs.add(pool, job, null, { key: 'k' })
  await hasRun(3)
})

it('a key added while its job runs makes it run once more', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const gate = Promise.withResolvers<void>()
  const job = defineJob<null>({
    name: 'test.again',
    async run() {
      if (++ran === 1) await gate.promise
    }
  })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, null, { key: 'k' })
  await eventually(
    () => ran,
    (n) => n === 1,
    5_000
  )
  for (let i = 0; i < 3; i++) await jobs.add(pool, job, null, { key: 'k' })
  gate.resolve()
  await eventually(
    () => ran,
    (n) => n === 2,
    5_000
  )
  await worker.idle()
  assert.equal(ran, 2)
  assert.equal(await jobRows(pool, 'test.again'), 0)
})

it('a key added while its job runs does not sit out a wait that this run asks for, but does a backoff', async (t) => {
  const pool = await testPool(t)
  const ran: string[] = []
  const gate = Promise.withResolvers<void>()
  const job = defineJob<string>({
    name: 'test.sooner',
    backoff: () => 60_000,
    async run(word) {
      ran.push(word)
      await gate.promise
      if (ran.length > 2) return
      throw word === 'waits' ? new RetryLater('nothing is due', 60_000, { counts: false }) : new Error('no')
    }
  })
  workerHere(t, pool, [job])
  for (const word of ['waits', 'fails']) await jobs.add(pool, job, word, { key: word })
  await eventually(
    () => ran.length,
    (n) => n === 2,
    5_000
  )
  for (const word of ['waits', 'fails']) await jobs.add(pool, job, word, { key: word })
  gate.resolve()
  await eventually(
    () => jobs.knownKeys(pool, job.name, ['waits', 'fails']),
    (left) => !left.has('waits'),
    5_000
  )
  assert.deepEqual([ran.at(-1), ran.length], ['waits', 3])
  assert.equal(await jobRows(pool, job.name), 1)
})

it('a job that waits does not run before the transaction commits that added its key again', async (t) => {
  const pool = await testPool(t)
  const client = await pool.connect()
  await client.query('create table words (word text not null)')
  await client.end()
  const write = statement('jobs.test_write', 'insert into words values ($1)')
  const read = statement('jobs.test_read', 'select word from words')
  let seen: unknown[] = []
  let others = 0
  const job = defineJob<null>({
    name: 'test.reads',
    run: async () => {
      seen = await pool.query(read)
    }
  })
  const other = defineJob<null>({ name: 'test.other', run: async () => void others++ })
  await jobs.add(pool, job, null, { key: 'k' })
  await pool.transaction(async (tx) => {
    await tx.run(write, ['written with the second add'])
    await jobs.add(tx, job, null, { key: 'k' })
    elsewhere(() => workerHere(t, pool, [job, other]))
    for (const round of [1, 2, 3]) {
      await elsewhere(() => jobs.add(pool, other, null))
      await eventually(
        () => others,
        (n) => n === round,
        5_000
      )
    }
  })
  await eventually(
    () => jobRows(pool, 'test.reads'),
    (n) => n === 0,
    5_000
  )
  assert.deepEqual(seen, [{ word: 'written with the second add' }])
})

it('a transaction that holds a running job by its key does not hold up the other jobs', async (t) => {
  const pool = await testPool(t)
  const done: string[] = []
  let began = false
  const gate = Promise.withResolvers<void>()
  const job = defineJob<string>({
    name: 'test.held',
    leaseMs: 600,
    async run(word) {
      began = true
      if (word === 'held' && !done.includes('held')) await gate.promise
      done.push(word)
    }
  })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, 'held', { key: 'k' })
  await eventually(
    () => began,
    (yes) => yes,
    5_000
  )
  await pool.transaction(async (tx) => {
    await jobs.add(tx, job, 'held', { key: 'k' })
    gate.resolve()
    for (let i = 0; i < 20; i++) await elsewhere(() => jobs.add(pool, job, 'other'))
    await eventually(
      () => done.filter((word) => word === 'other').length,
      (n) => n === 20,
      2_000
    )
  })
  await worker.idle()
  await eventually(
    () => jobRows(pool, 'test.held'),
    (n) => n === 0,
    5_000
  )
  assert.ok(done.filter((word) => word === 'held').length >= 2)
})

it('a job that was asked for again while its last attempt failed starts over', async (t) => {
  const pool = await testPool(t)
  const tried: number[] = []
  const gate = Promise.withResolvers<void>()
  const job = defineJob<null>({
    name: 'test.over',
    maxAttempts: 1,
    backoff: () => 5,
    async run(_, { attempt }) {
      tried.push(attempt)
      await gate.promise
      if (tried.length === 1) throw new Error('no')
    }
  })
  workerHere(t, pool, [job])
  await jobs.add(pool, job, null, { key: 'k' })
  await eventually(
    () => tried.length,
    (n) => n === 1,
    5_000
  )
  await jobs.add(pool, job, null, { key: 'k' })
  gate.resolve()
  await eventually(
    () => jobRows(pool, 'test.over'),
    (n) => n === 0,
    5_000
  )
  assert.deepEqual(tried, [1, 1])
  assert.deepEqual(await jobs.dead(pool, 1), [])
})
