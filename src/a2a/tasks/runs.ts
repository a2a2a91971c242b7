import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Task } from '../model.ts'
import { leaseMs } from './changes.ts'
import { renewLeases } from './store.ts'

interface Run {
  projectId: ProjectId
  beganMs: number
  abort: AbortController
}

/** A skill that takes longer is aborted. Below the limit of a request, so that the caller gets the error. */
const longestMs = 90_000
const renewMs = leaseMs / 4

export type Runs = ReturnType<typeof createRuns>

/**
 * The tasks whose skill runs in this process. One timer renews their leases. Most tasks end before the first renewal, so
 * nothing is written for them.
 */
export function createRuns(pool: Pool, log: Log) {
  const runs = new Map<string, Run>()
  let timer: NodeJS.Timeout | undefined

  async function renew(): Promise<void> {
    const now = Date.now()
    const older = [...runs].filter(([, { beganMs }]) => now - beganMs >= renewMs)
    for (const [, { abort, beganMs }] of older)
      if (now - beganMs > longestMs) abort.abort(new Error(`It took longer than ${longestMs / 1000} s.`))
    const byProject = Map.groupBy(older, ([, { projectId }]) => projectId)
    for (const [projectId, held] of byProject) {
      await renewLeases(
        pool,
        projectId,
        held.map(([id]) => id),
        new Date(now + leaseMs)
      )
    }
  }

  return {
    begin(projectId: ProjectId, taskId: string): AbortSignal {
      const abort = new AbortController()
      runs.set(taskId, { projectId, beganMs: Date.now(), abort })
      timer ??= setInterval(() => {
        renew().catch((error: Error) => log.warn({ error: error.message }, 'leases of agent tasks were not renewed'))
      }, renewMs).unref()
      return abort.signal
    },
    end(taskId: string): void {
      runs.delete(taskId)
      if (runs.size > 0 || !timer) return
      clearInterval(timer)
      timer = undefined
    },
    has: (taskId: string): boolean => runs.has(taskId),
    /** Receives every change: a cancel stops the run of its task. */
    changed({ id, status }: Task): void {
      if (status.state === 'canceled') runs.get(id)?.abort.abort(new Error('The task was canceled.'))
    },
    size: (): number => runs.size,
    close(): void {
      clearInterval(timer)
      timer = undefined
      for (const { abort } of runs.values()) abort.abort(new Error('The node stops.'))
    }
  }
}
