// How fast the job queue is: `node bench/jobs.ts [jobs]`, on BENCH_DATABASE_URL or TEST_DATABASE_URL.
// It makes a database of its own and drops it at the end.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openPool, type Pool } from '../src/platform/db/db.ts'
import { createListener } from '../src/platform/db/listen.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { statement } from '../src/platform/db/statement.ts'
import { newId } from '../src/platform/ids.ts'
import { defineJob } from '../src/platform/jobs/definition.ts'
import * as jobs from '../src/platform/jobs/jobs.ts'
import { createWorker } from '../src/platform/jobs/worker.ts'
import { createLog } from '../src/platform/log.ts'
import { report } from './support/figures.ts'

const url = process.env.BENCH_DATABASE_URL ?? process.env.TEST_DATABASE_URL
if (!url) throw new Error('set BENCH_DATABASE_URL or TEST_DATABASE_URL')
const count = Number(process.argv[2] ?? 50_000)
const log = await createLog('warn')
const name = `tidings_bench_${randomBytes(4).toString('hex')}`

const fill = statement(
  'jobs.bench_fill',
  `insert into jobs (id, name, project_id, payload, ready, run_at, attempts, created_at)
   select gen_random_uuid(), 'bench.later', 'p' || i % 1000, '{}', false, now() + interval '1 day' + i * interval '1 ms', 0, now()
     from generate_series(1, $1::int) i`
)

/** Of the last run, for the figure. */
let lastPerSecond = 0

async function throughput(pool: Pool, projects: number, concurrency: number): Promise<string> {
  let left = count
  let finished = () => {}
  const all = new Promise<void>((resolve) => {
    finished = resolve
  })
  const job = defineJob<number>({
    name: 'bench.trivial',
    async run() {
      if (--left === 0) finished()
    }
  })
  const wanted = Array.from({ length: count }, (_, i) => ({ payload: i, projectId: `p${i % projects}` }))
  for (let at = 0; at < count; at += 5_000) await jobs.addMany(pool, job, wanted.slice(at, at + 5_000))
  const worker = createWorker({ pool, log, jobs: [job], nodeId: newId(), concurrency })
  const began = performance.now()
  worker.start()
  await all
  await worker.idle()
  const seconds = (performance.now() - began) / 1000
  await worker.stop(1_000)
  lastPerSecond = count / seconds
  return `${Math.round(count / seconds)} jobs/s (${count} jobs of ${projects} projects, concurrency ${concurrency})`
}

/** Adds jobs one by one at a steady pace, each in its own transaction, with NOTIFY. */
async function latency(pool: Pool, perSecond: number): Promise<string> {
  const tookMs: number[] = []
  const job = defineJob<number>({
    name: 'bench.latency',
    async run(sentAt) {
      tookMs.push(performance.now() - sentAt)
    }
  })
  const listener = createListener(pool, log)
  const worker = createWorker({ pool, listener, log, jobs: [job], nodeId: newId(), concurrency: 100 })
  worker.start()
  // Opens connections and makes plans before the measurement.
  await Promise.all(Array.from({ length: 200 }, () => jobs.add(pool, job, performance.now())))
  await new Promise((resolve) => setTimeout(resolve, 500))
  await worker.idle()
  tookMs.length = 0
  const total = perSecond * 3
  const began = performance.now()
  const adding: Promise<void>[] = []
  for (let sent = 0; sent < total; ) {
    const wanted = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond))
    for (; sent < wanted; sent++) adding.push(jobs.add(pool, job, performance.now()))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(adding)
  await worker.idle()
  await worker.stop(1_000)
  await listener.close()
  tookMs.sort((one, other) => one - other)
  const at = (share: number) => tookMs[Math.floor((tookMs.length - 1) * share)]!.toFixed(1)
  return `enqueue to run p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms (${tookMs.length} jobs, ${perSecond}/s)`
}

/** How fast single jobs are added by 32 callers at once, each in a transaction with a NOTIFY. */
async function adding(pool: Pool): Promise<string> {
  const job = defineJob<number>({ name: 'bench.added', run: async () => {} })
  const began = performance.now()
  const caller = async () => {
    for (let i = 0; i < 200; i++) await jobs.add(pool, job, i)
  }
  await Promise.all(Array.from({ length: 32 }, caller))
  const perSecond = Math.round(6_400 / ((performance.now() - began) / 1000))
  const worker = createWorker({ pool, log, jobs: [job], nodeId: newId(), concurrency: 200 })
  worker.start()
  await worker.idle()
  await worker.stop(1_000)
  return `${perSecond} single adds/s (32 callers, 10 connections)`
}

async function asServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url! })
  await client.connect()
  await client.query(text)
  await client.end()
}

const own = new URL(url)
own.pathname = `/${name}`
await asServer(`create database ${name}`)
const pool = openPool({ connectionString: own.href }, log)
try {
  await migrate(pool)
  console.log('empty table:')
  for (const [projects, concurrency] of [
    [1, 100],
    [1, 200],
    [100, 200]
  ] as const) {
    console.log(`  ${await throughput(pool, projects, concurrency)}`)
  }
  const empty = lastPerSecond
  for (const perSecond of [50, 500]) console.log(`  ${await latency(pool, perSecond)}`)
  console.log(`  ${await adding(pool)}`)
  const backup = await pool.connect()
  await backup.query('begin isolation level repeatable read')
  await backup.query('select count(*) from jobs')
  console.log('beside a transaction that stays open, as of a backup, so that nothing dead can be cleared away:')
  for (const round of [1, 2, 3]) console.log(`  ${round}: ${await throughput(pool, 100, 200)}`)
  console.log(`  ${await latency(pool, 50)}`)
  await backup.end()
  await pool.run(fill, [1_000_000])
  console.log('with 1,000,000 jobs waiting for tomorrow:')
  console.log(`  ${await throughput(pool, 100, 200)}`)
  report({
    name: 'jobs of 100 projects',
    value: empty,
    unit: 'jobs/s',
    better: 'more',
    growth: {
      of: 'jobs that wait',
      unit: 'µs for a job',
      points: [
        [1, 1e6 / empty],
        [1_000_000, 1e6 / lastPerSecond]
      ]
    }
  })
  for (const perSecond of [50, 500]) console.log(`  ${await latency(pool, perSecond)}`)
} finally {
  await pool.close()
  await asServer(`drop database ${name} with (force)`)
}
