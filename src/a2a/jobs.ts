import type { Pool } from '../platform/db/db.ts'
import { sweepKeys } from '../platform/idempotency/idempotency.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { defineJob, recurring } from '../platform/jobs/definition.ts'
import { listRetentions } from '../projects/projects.ts'
import { AgentError } from './errors.ts'
import type { Runner } from './tasks/runner.ts'
import { dueTasks, sweepTaskWindow } from './tasks/store.ts'

export interface TaskJob {
  projectId: ProjectId
  taskId: string
}

/** A queue of their own, so that tasks of agents do not wait behind campaigns. */
export const agentQueue = 'agents'

/** Runs a task whose caller does not wait. */
export const runTaskJob = (runner: () => Runner) =>
  defineJob<TaskJob>({
    name: 'a2a.run',
    queue: agentQueue,
    maxAttempts: 10,
    run: ({ projectId, taskId }, { attempt, last }) =>
      runner().runLater(projectId, taskId, { attempt, last }).catch(unlessGone)
  })

/** An erasure removes the tasks that name its user, also those that have not ended. Nothing is left to do for them. */
function unlessGone(error: unknown): void {
  if (!(error instanceof AgentError) || error.fault !== 'task_not_found') throw error
}

const lookEveryMs = 3_000

/** Recovers tasks whose node died, within 15 s with the lease, and ends those whose caller never replied. */
export const recoverTasksJob = (pool: Pool, runner: () => Runner) =>
  recurring({
    name: 'a2a.look_after',
    everyMs: lookEveryMs,
    async run({ signal }) {
      const now = new Date()
      // A task that cannot be recovered does not hold up the others: its error is thrown after all of them were tried.
      let failed: unknown
      for (const { project_id, id } of await dueTasks(pool, now)) {
        signal.throwIfAborted()
        await runner()
          .recover(project_id, id, now)
          .catch(unlessGone)
          .catch((error: unknown) => {
            failed ??= error
          })
      }
      if (failed !== undefined) throw failed
    }
  })

const hourMs = 3_600_000

/** Deletes, hourly, tasks that ended long ago and expired keys. A task outlives the keys that return it. */
export const keepTasksJob = (pool: Pool, days: number, idempotencyHours: number) =>
  recurring({
    name: 'a2a.keep',
    everyMs: hourMs,
    async run({ signal }) {
      while ((await sweepKeys(pool, new Date())) > 0) signal.throwIfAborted()
      const keptMs = Math.max(days * 24, idempotencyHours) * hourMs
      const before = firstIdAt(Date.now() - keptMs)
      for (const { projectId } of await listRetentions(pool)) {
        while ((await sweepTaskWindow(pool, projectId, before)) > 0) signal.throwIfAborted()
      }
    }
  })
