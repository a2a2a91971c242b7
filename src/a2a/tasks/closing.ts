import type { Db, Pool } from '../../platform/db/db.ts'
import { isUuid, type ProjectId, timeOfId } from '../../platform/ids.ts'
import type { Task, TaskState } from '../model.ts'
import type { Turn } from '../turns/turn.ts'
import { moved } from './changes.ts'
import { findAskingTask } from './store.ts'
import type { Tasks } from './tasks.ts'

/** Another node may have asked, and its clock may be behind by this. */
const skewMs = 60_000

/**
 * Ends the asking task, in the transaction that writes the task of the answer. Returns a function to call after the
 * commit; undefined if nothing changed.
 */
export type Close = (tx: Db) => Promise<(() => void) | undefined>

/** Undefined if no other task asks what the turn of this task answers. */
export type ClosingOf = (projectId: ProjectId, turn: Turn, taskId: string) => Promise<Close | undefined>

/**
 * A confirmation may be answered by a message that names only its id and becomes a task of its own. The question is then
 * answered too: an open one would take the next text of its context as its answer.
 */
export const createClosing =
  (pool: Pool, tasks: Pick<Tasks, 'changeIn'>): ClosingOf =>
  async (projectId, turn, taskId) => {
    const { answers } = turn
    if (answers === undefined || !isUuid(answers)) return undefined
    const id = answers.toLowerCase()
    // No task asks with an id before the id exists.
    const asking = await findAskingTask(pool, projectId, id, new Date(timeOfId(id) - skewMs))
    if (!asking || asking.id === taskId) return undefined
    return (tx) =>
      tasks.changeIn(tx, projectId, asking.id, async (task) =>
        task.status.state === 'input-required' && task.request.fields.confirmationId === id
          ? closed(task, turn, taskId)
          : undefined
      )
  }

function closed(task: Task, turn: Turn, taskId: string): Task {
  const [state, reason] = endOf(turn, taskId)
  return moved(moved(task, 'working'), state, reason, { metadata: { taskId } })
}

function endOf(turn: Turn, taskId: string): [TaskState, string] {
  if (turn.kind === 'run' || turn.state === 'auth-required')
    return ['completed', `Confirmed by another message. The task ${taskId} carries it out.`]
  return turn.state === 'input-required'
    ? ['canceled', `The question is asked again in the task ${taskId}.`]
    : [turn.state, turn.reason]
}
