import { roughBytes } from '../platform/coalesce.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Task } from './model.ts'
import { findTasks, listStored, type TaskFilter } from './tasks/store.ts'

/** The bytes of a page: a task may have 12 MB of messages, and a page 200 tasks. One task is read whatever its size. */
const mostBytes = 8 * 1024 * 1024
/** Above this size PostgreSQL may have compressed a content to a hundredth. */
const surelyPlain = 2_000
const mostCompressed = 100

export interface TaskPage {
  tasks: Task[]
  /** The id after which the next page begins; undefined on the last page. */
  next: string | undefined
}

interface Window {
  before: string | undefined
  limit: number
  offset: number
}

/** A page of whole tasks, newest first, which ends early where its tasks are large. */
export async function pageOfTasks(
  db: Db,
  projectId: ProjectId,
  wanted: TaskFilter,
  { before, limit, offset }: Window
): Promise<TaskPage> {
  // One more than the page holds shows whether another page follows.
  const found = await listStored(db, projectId, wanted, { before, limit: limit + 1, offset })
  const tasks: Task[] = []
  let [bytes, last] = [0, before]
  for await (const task of eachOf(db, projectId, wanted, found.slice(0, limit))) {
    bytes += roughBytes(task)
    if (tasks.length > 0 && bytes > mostBytes) return { tasks, next: last }
    tasks.push(task)
    last = task.id
  }
  return { tasks, next: found.length > limit ? found[limit - 1]!.id : undefined }
}

/**
 * All tasks of a window, for a list that cannot end early. They keep their latest messages as far as these fit together;
 * the other tasks of the list have none.
 */
export async function windowOfTasks(
  db: Db,
  projectId: ProjectId,
  wanted: TaskFilter & { historyLength: number | undefined },
  window: Window
): Promise<TaskPage> {
  const tasks: Task[] = []
  const { historyLength = 0 } = wanted
  let bytes = 0
  for await (const task of eachOf(db, projectId, wanted, await listStored(db, projectId, wanted, window))) {
    const history = historyLength === 0 ? [] : task.history.slice(-historyLength)
    bytes += roughBytes(history)
    tasks.push({ ...task, history: bytes > mostBytes ? [] : history })
  }
  return { tasks, next: undefined }
}

/** Reads tasks in parts of a bounded size. A task that was erased, or changed to another state, is left out. */
async function* eachOf(
  db: Db,
  projectId: ProjectId,
  { state }: TaskFilter,
  found: { id: string; stored: number }[]
): AsyncGenerator<Task> {
  for (let from = 0; from < found.length; ) {
    let [to, bytes] = [from, 0]
    do {
      const { stored } = found[to]!
      bytes += stored > surelyPlain ? stored * mostCompressed : stored
      to += 1
    } while (to < found.length && bytes < mostBytes)
    const ids = found.slice(from, to).map(({ id }) => id)
    const tasks = await findTasks(db, projectId, ids)
    for (const id of ids) {
      const task = tasks.get(id)
      if (task && (state === undefined || task.status.state === state)) yield task
    }
    from = to
  }
}
