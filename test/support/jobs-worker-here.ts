import type { TestContext } from 'node:test'
import type { Pool } from '../../src/platform/db/db.ts'
import { newId } from '../../src/platform/ids.ts'
import type { JobDefinition } from '../../src/platform/jobs/definition.ts'
import { createWorker, type Worker, type WorkerOptions } from '../../src/platform/jobs/worker.ts'
import { silentLog } from './log.ts'

/** A worker in the test's own process, started, and stopped with the test. It has no listener unless one is given. */
export function workerHere(
  t: TestContext,
  pool: Pool,
  jobs: ReadonlyArray<JobDefinition<never>>,
  options: Partial<WorkerOptions> = {}
): Worker {
  const worker = createWorker({ pool, log: silentLog, jobs, nodeId: newId(), concurrency: 10, pollMs: 50, ...options })
  t.after(() => worker.stop(0))
  worker.start()
  return worker
}
