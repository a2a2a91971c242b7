import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openPool, type Pool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { migratedDatabase } from './database.ts'
import { silentLog } from './log.ts'

export interface ChildOptions {
  leaseMs?: number
  workMs: number
  concurrency?: number
  everyMs?: number
}

const program = join(import.meta.dirname, 'jobs-worker.ts')

const children = new WeakMap<TestContext, ChildProcess[]>()

/** Starts a worker process and resolves when it works. It is killed with the test. */
export async function childWorker(t: TestContext, url: string, options: ChildOptions): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, url, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  children.get(t)!.push(child)
  await once(child.stdout!, 'data')
  return child
}

/** A migrated database with the tables that the worker processes write to. */
export async function workshop(t: TestContext): Promise<{ pool: Pool; url: string }> {
  children.set(t, [])
  // Stops them before the database is dropped.
  t.after(() => {
    for (const child of children.get(t)!) child.kill('SIGKILL')
  })
  const { connection, url } = await migratedDatabase(t)
  const pool = openPool(connection, silentLog, 5)
  t.after(() => pool.close())
  const client = await pool.connect()
  await client.query(
    'create table began (job_id uuid not null, pid int not null, at timestamptz default clock_timestamp())'
  )
  await client.query(
    'create table effects (n int not null, pid int not null, at timestamptz default clock_timestamp())'
  )
  await client.query('create table remarks (pid int not null, remark text not null)')
  await client.end()
  return { pool, url }
}

const effects = statement('jobs.test_effects', 'select n, count(*)::int as times from effects group by n order by n')
const began = statement('jobs.test_began_by', 'select count(*)::int as n from began where pid = $1')
const remarks = statement('jobs.test_remarks', 'select remark from remarks where pid = $1')
const rows = statement('jobs.test_rows', 'select count(*)::int as n from jobs where name = $1')

export const effectsOf = (pool: Pool) => pool.query<{ n: number; times: number }>(effects)
export const begunBy = async (pool: Pool, pid: number) => (await pool.one<{ n: number }>(began, [pid]))!.n
export const remarksOf = async (pool: Pool, pid: number) =>
  (await pool.query<{ remark: string }>(remarks, [pid])).map(({ remark }) => remark)
export const jobRows = async (pool: Pool, name: string) => (await pool.one<{ n: number }>(rows, [name]))!.n

/** Repeats the query until its result is right. Fails with the last result after the given time. */
export async function eventually<Answer>(
  ask: () => Promise<Answer> | Answer,
  right: (answer: Answer) => boolean,
  withinMs: number
): Promise<Answer> {
  const endsAt = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (right(answer)) return answer
    if (performance.now() > endsAt) throw new Error(`after ${withinMs} ms it is still ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
