// A worker in a process of its own, to be killed and stopped by tests: node jobs-worker.ts <database url> <options>
import { setTimeout as wait } from 'node:timers/promises'
import { openPool } from '../../src/platform/db/db.ts'
import { createListener } from '../../src/platform/db/listen.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { newId } from '../../src/platform/ids.ts'
import { defineJob, recurring } from '../../src/platform/jobs/definition.ts'
import { createWorker } from '../../src/platform/jobs/worker.ts'
import type { ChildOptions } from './jobs-child.ts'
import { silentLog } from './log.ts'

const { leaseMs, workMs, concurrency = 10, everyMs } = JSON.parse(process.argv[3]!) as ChildOptions

/** Tables of the test, not of the service: work that began, work that was done, and the errors of a stalled worker. */
const began = statement('jobs.test_began', 'insert into began (job_id, pid) values ($1, $2)')
const effect = statement('jobs.test_effect', 'insert into effects (n, pid) values ($1, $2)')
const remark = statement('jobs.test_remark', 'insert into remarks (pid, remark) values ($1, $2)')

const pool = openPool({ connectionString: process.argv[2]! }, silentLog, 5)

const count = defineJob<{ n: number }>({
  name: 'test.count',
  ...(leaseMs ? { leaseMs } : {}),
  maxAttempts: 20,
  async run({ n }, { jobId, signal, complete }) {
    signal.addEventListener('abort', () => void pool.run(remark, [process.pid, 'aborted']))
    await pool.run(began, [jobId, process.pid])
    await wait(workMs)
    try {
      await pool.transaction(async (tx) => {
        await tx.run(effect, [n, process.pid])
        await complete(tx)
      })
    } catch (error) {
      await pool.run(remark, [process.pid, (error as Error).name])
      throw error
    }
  }
})

const tick = recurring({
  name: 'test.tick',
  everyMs: everyMs ?? 60_000,
  ...(leaseMs ? { leaseMs } : {}),
  async run() {
    await pool.run(effect, [0, process.pid])
  }
})

const worker = createWorker({
  pool,
  listener: createListener(pool, silentLog),
  log: silentLog,
  jobs: everyMs ? [count, tick] : [count],
  nodeId: newId(),
  concurrency,
  pollMs: 200
})
worker.start()
console.log('started')
