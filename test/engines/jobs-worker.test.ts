import assert from 'node:assert/strict'
import { it } from 'node:test'
import pino from 'pino'
import { openPool, type Pool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { newId } from '../../src/platform/ids.ts'
import { defineJob } from '../../src/platform/jobs/definition.ts'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import * as store from '../../src/platform/jobs/store.ts'
import { asServer, migratedDatabase, testPool } from '../support/database.ts'
import { eventually, jobRows } from '../support/jobs-child.ts'
import { workerHere } from '../support/jobs-worker-here.ts'
import { silentLog } from '../support/log.ts'

it('a worker that stops waits for its jobs, then aborts the rest and releases them at once', async (t) => {
  const pool = await testPool(t)
  const ended: string[] = []
  const attempts: number[] = []
  const job = defineJob<string>({
    name: 'test.long',
    async run(word, { signal, attempt }) {
      attempts.push(attempt)
      if (word === 'short') await new Promise((resolve) => setTimeout(resolve, 150))
      else if (ended.length < 2) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended.push(signal.aborted ? `${word} aborted` : word)
    }
  })
  const first = workerHere(t, pool, [job])
  await jobs.add(pool, job, 'short')
  await jobs.add(pool, job, 'long')
  await eventually(
    () => attempts.length,
    (n) => n === 2,
    5_000
  )
  await first.stop(600)
  assert.deepEqual(ended, ['short', 'long aborted'])
  assert.equal(await jobRows(pool, 'test.long'), 1)

  // The next worker does not wait for the lease of 10 s, and the aborted attempt does not count.
  workerHere(t, pool, [job])
  await eventually(
    () => ended.length,
    (n) => n === 3,
    3_000
  )
  assert.deepEqual(ended.at(-1), 'long')
  assert.deepEqual(attempts, [1, 1, 1])
})

it('a worker that stops at any moment leaves no job behind under its lease', async (t) => {
  const pool = await testPool(t)
  const held = statement('jobs.test_held', 'select count(*)::int as n from jobs where claim is not null')
  const job = defineJob<null>({
    name: 'test.stopped',
    run: (_, { signal }) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, 3)
        signal.addEventListener('abort', () => clearTimeout(timer))
      })
  })
  await jobs.addMany(
    pool,
    job,
    Array.from({ length: 3_000 }, () => ({ payload: null }))
  )
  for (let round = 0; round < 12; round++) {
    const worker = workerHere(t, pool, [job], { concurrency: 15 })
    await new Promise((resolve) => setTimeout(resolve, 15 + Math.random() * 25))
    await worker.stop(0)
    assert.deepEqual(await pool.one(held), { n: 0 })
  }
})

it('no more jobs run at once than the worker is allowed', async (t) => {
  const pool = await testPool(t)
  let running = 0
  let most = 0
  const job = defineJob<null>({
    name: 'test.few',
    async run() {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
    }
  })
  await jobs.addMany(
    pool,
    job,
    Array.from({ length: 60 }, () => ({ payload: null }))
  )
  await workerHere(t, pool, [job], { concurrency: 3 }).idle()
  assert.equal(most, 3)
})

it('jobs that end while others are being recorded run once too', async (t) => {
  const pool = await testPool(t)
  const ran: number[] = []
  const job = defineJob<number>({
    name: 'test.staggered',
    async run(n) {
      ran.push(n)
      for (let ms = 0; ms < n % 7; ms++) await new Promise((resolve) => setTimeout(resolve, Math.random() * 2))
    }
  })
  const wanted = Array.from({ length: 500 }, (_, n) => n)
  await jobs.addMany(
    pool,
    job,
    wanted.map((payload) => ({ payload }))
  )
  workerHere(t, pool, [job], { concurrency: 20 })
  await eventually(
    () => jobRows(pool, 'test.staggered'),
    (n) => n === 0,
    5_000
  )
  assert.deepEqual(
    ran.toSorted((one, other) => one - other),
    wanted
  )
})

it('a worker outlives the loss of the database, says so once, and goes on when it is back', async (t) => {
  const { connection, name } = await migratedDatabase(t)
  const pool = openPool(connection, silentLog, 4)
  t.after(() => pool.close())
  const said: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => void said.push((JSON.parse(line) as { msg: string }).msg) })
  let ran = 0
  const gate = Promise.withResolvers<void>()
  const job = defineJob<null>({
    name: 'test.survive',
    async run() {
      ran++
      await gate.promise
    }
  })
  await jobs.add(pool, job, null)
  workerHere(t, pool, [job], { log })
  await eventually(
    () => ran,
    (n) => n === 1,
    5_000
  )
  await asServer(async (client) => {
    await client.query(`alter database ${name} with allow_connections false`)
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [name])
    // The job ends while the database cannot be reached, so its end cannot be recorded yet.
    gate.resolve()
    await eventually(
      () => said.length,
      (n) => n > 0,
      5_000
    )
    await new Promise((resolve) => setTimeout(resolve, 700))
    await client.query(`alter database ${name} with allow_connections true`)
  })
  await eventually(
    () => jobRows(pool, 'test.survive').catch(() => -1),
    (n) => n === 0,
    8_000
  )
  await jobs.add(pool, job, null)
  await eventually(
    () => ran,
    (n) => n === 2,
    5_000
  )
  assert.deepEqual(said, ['jobs wait: the database does not answer', 'jobs run again: the database answers'])
})

it('the statements of a worker read a few rows, also with a plan for a table that was empty when last counted', async (t) => {
  const pool = await testPool(t)
  await emptied(pool)
  const client = await pool.connect()
  t.after(() => client.end())
  await client.query(store.settings.text)
  const token = newId()
  const ids = (await client.query<{ id: string }>('select id from jobs limit 50')).rows.map(({ id }) => id)
  const nulls = ids.map(() => null)
  const tokens = ids.map(() => token)
  const calls: Array<[{ name: string; text: string }, unknown[]]> = [
    [store.sweep, [1000, 1e12, ['work', 'other', 'none'], [1e12, 1e12, 1e12]]],
    [store.claim, [token, newId(), 50, '', 32, ['test.ready'], [1000], 1e12, 'work']],
    [store.renew, [ids, tokens, ids.map(() => 1000)]],
    [store.complete, [ids, tokens, nulls]],
    [
      store.putBack,
      [ids, tokens, nulls, ids.map(() => 0), ids.map(() => true), ids.map(() => false), ids.map(() => false)]
    ]
  ]
  for (const [{ name, text }, values] of calls) {
    const { rows } = await client.query<{ 'QUERY PLAN': Array<{ Plan: Record<string, number> }> }>(
      `explain (analyze, buffers, format json) ${text}`,
      values
    )
    const plan = rows[0]!['QUERY PLAN'][0]!.Plan
    const pages = plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!
    assert.ok(pages < 2_500, `${name} touches ${pages} pages`)
  }
})

/** 40,000 jobs for tomorrow, as many ready in another queue, and 500 for now, in a table that the planner takes for empty. */
async function emptied(pool: Pool): Promise<void> {
  const client = await pool.connect()
  const fill = (name: string, ready: boolean, count: number, queue = 'work') =>
    client.query(
      `insert into jobs (id, name, project_id, payload, ready, run_at, attempts, created_at, queue)
       select gen_random_uuid(), $1, 'p' || i % 50, '{}', $2, now() + interval '1 day', 0, now(), $4
         from generate_series(1, $3::int) i`,
      [name, ready, count, queue]
    )
  await client.query('alter table jobs set (autovacuum_enabled = off)')
  await fill('test.gone', false, 2_000)
  await client.query('delete from jobs')
  await client.query('vacuum analyze jobs')
  await fill('test.later', false, 40_000)
  await fill('test.other', true, 40_000, 'other')
  await fill('test.ready', true, 500)
  await client.end()
}
