import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { isSettled, type Task } from '../model.ts'
import { longestRunMs } from './runs.ts'
import { markAttended } from './store.ts'
import type { Tasks } from './tasks.ts'
import type { Watch } from './watch.ts'

export interface WaitsOptions {
  pool: Pool
  tasks: Pick<Tasks, 'find'>
  watch: Pick<Watch, 'subscribe'>
  /** As long as a call waits for a skill that it runs itself; tests shorten it. */
  longestMs?: number
}

export type Waits = ReturnType<typeof createWaits>

/** Blocking calls that wait for a task which a job or another node runs. */
export function createWaits({ pool, tasks, watch, longestMs = longestRunMs }: WaitsOptions) {
  const open = new Set<() => void>()

  return {
    /** The task when it has ended or asks. After the limit, or when the node stops: the task as it is then. */
    async settled(projectId: ProjectId, task: Task): Promise<Task> {
      if (isSettled(task.status.state)) return task
      const over = Promise.withResolvers<void>()
      let latest = task
      const look = (changed: Task) => {
        if (changed.revision > latest.revision) latest = changed
        if (isSettled(latest.status.state)) over.resolve()
      }
      const timer = setTimeout(over.resolve, longestMs)
      const leave = watch.subscribe(projectId, task, look)
      open.add(over.resolve)
      try {
        // From here on every node announces its changes of the task. It is read again, so that no change is missed.
        await markAttended(pool, projectId, task.id)
        look(await tasks.find(projectId, task.id))
        await over.promise
        return latest
      } finally {
        clearTimeout(timer)
        leave()
        open.delete(over.resolve)
      }
    },
    /** Ends the waits, so that a stop does not wait for them. */
    close(): void {
      for (const end of open) end()
    }
  }
}
