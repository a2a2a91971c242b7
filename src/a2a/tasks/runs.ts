import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import type { Task } from '../model.ts'
import { leaseMs } from './changes.ts'
import { renewLeases } from './store.ts'

interface Run {
  projectId: ProjectId
  beganMs: number
  abort: AbortController
  giveUp: (error: Error) => void
}

/** The reason of an aborted signal after which the run still decides how the task ends. */
export class CancelRequest extends Error {}

export interface Running {
  /** Aborts the skill. */
  signal: AbortSignal
  /** Rejected when the runner stops waiting for the skill. */
  givenUp: Promise<never>
}

/**
 * The longest run of a skill before it is aborted. Below the time limit of a request, so that the caller gets the
 * error.
 */
export const longestRunMs = 90_000
const renewMs = leaseMs / 4

export type Runs = ReturnType<typeof createRuns>

/**
 * The tasks whose skill runs in this process. One timer renews their leases. Most tasks end before the first renewal, so
 * nothing is written for them.
 */
export function createRuns(pool: Pool, log: Log) {
  const runs = new Map<string, Run>()
  let timer: NodeJS.Timeout | undefined

  function giveUp({ abort, giveUp }: Run, error: Error): void {
    abort.abort(error)
    giveUp(error)
  }

  async function renew(): Promise<void> {
    const now = steadyMs()
    const older = [...runs].filter(([, { beganMs }]) => now - beganMs >= renewMs)
    for (const [, run] of older)
      if (now - run.beganMs > longestRunMs) giveUp(run, new Error(`It took longer than ${longestRunMs / 1000} s.`))
    const byProject = Map.groupBy(older, ([, { projectId }]) => projectId)
    for (const [projectId, held] of byProject) {
      await renewLeases(
        pool,
        projectId,
        held.map(([id]) => id),
        new Date(Date.now() + leaseMs)
      )
    }
  }

  return {
    begin(projectId: ProjectId, taskId: string): Running {
      const abort = new AbortController()
      const { promise: givenUp, reject } = Promise.withResolvers<never>()
      givenUp.catch(() => {})
      runs.set(taskId, { projectId, beganMs: steadyMs(), abort, giveUp: reject })
      timer ??= setInterval(() => {
        renew().catch((error: Error) => log.warn({ error: error.message }, 'leases of agent tasks were not renewed'))
      }, renewMs).unref()
      return { signal: abort.signal, givenUp }
    },
    end(taskId: string): void {
      runs.delete(taskId)
      if (runs.size > 0 || !timer) return
      clearInterval(timer)
      timer = undefined
    },
    has: (taskId: string): boolean => runs.has(taskId),
    /**
     * Receives every change of a task. It ends the run of a canceled task; a run that is asked to cancel continues to
     * its own end.
     */
    changed({ id, status, cancelRequested }: Task): void {
      const run = runs.get(id)
      if (!run) return
      if (status.state === 'canceled') giveUp(run, new Error('The task was canceled.'))
      else if (cancelRequested) run.abort.abort(new CancelRequest('The task is to be canceled.'))
    },
    size: (): number => runs.size,
    close(): void {
      clearInterval(timer)
      timer = undefined
      for (const run of runs.values()) giveUp(run, new Error('The node stops.'))
    }
  }
}
