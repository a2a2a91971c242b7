import { createCoalescer, roughBytes } from '../../platform/coalesce.ts'
import type { Db } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import { type Claim, claimKeys, type IdempotencyKey, settleKey } from '../../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { AgentError, noTask } from '../errors.ts'
import { isSettled, type Task } from '../model.ts'
import {
  type Answer,
  answerOf,
  type Beginning,
  type BeginningsOptions,
  createBeginnings,
  type Work
} from './beginnings.ts'
import { dueAt, written } from './changes.ts'
import * as store from './store.ts'

export type Begun = { kind: 'begun' | 'repeat'; task: Task }

export interface TasksOptions extends BeginningsOptions {
  /** Runs after the commit of each change. */
  published: (projectId: ProjectId, task: Task) => void
}

/** Makes the next revision of a task; undefined if nothing changes. */
type Step = (task: Task, tx: Db) => Promise<Task | undefined>

/** How a change is written. */
interface How {
  /** Whether a worker runs the task. */
  byJob?: boolean
  /** Keeps the lease of the run, and notifies its node of the change. */
  canceling?: boolean
}

export const keyUsed = () =>
  new AgentError('key_used', 'Idempotency key was used with another message: give each message a messageId of its own.')

export type Tasks = ReturnType<typeof createTasks>

export function createTasks({ pool, metrics, idempotencyHours, onChange, published }: TasksOptions) {
  const beginnings = createBeginnings({ pool, metrics, idempotencyHours, onChange })
  const quietChanges = createCoalescer<store.TaskWrite, boolean>(
    async (projectId, batch) => {
      const done = await store.changeQuietTasks(pool, projectId, batch)
      return batch.map(({ task }) => done.has(task.id))
    },
    ({ task }) => roughBytes(task)
  )

  /** The task to return for a key that was used before. */
  async function repeated(projectId: ProjectId, claim: Claim<Work, Answer>): Promise<Task> {
    if (claim.state === 'other') throw keyUsed()
    if (claim.state === 'answered' && 'task' in claim.answer) return claim.answer.task
    if (claim.state === 'answered' && 'taskId' in claim.answer) return find(projectId, claim.answer.taskId)
    // The task of a dead node was ended, or came to wait for its caller, without the key. An erased task has no key.
    const work = 'work' in claim ? claim.work : undefined
    const task = work && (await find(projectId, work.taskId))
    if (task && isSettled(task.status.state)) return task
    throw new AgentError('key_in_use', 'Idempotency key is in use: the first of these messages is still worked on.')
  }

  async function find(projectId: ProjectId, id: string): Promise<Task> {
    const task = (await store.findTasks(pool, projectId, [id])).get(id)
    if (!task) throw noTask()
    return task
  }

  /** Writes one revision with its webhooks, jobs and keys. False if the task changed meanwhile. */
  async function writeIn(
    tx: Db,
    projectId: ProjectId,
    task: Task,
    from: number,
    { byJob = false, canceling = false }: How = {}
  ): Promise<boolean> {
    const write = { task, dueAt: canceling ? null : dueAt(task, byJob), attended: canceling }
    const row = await store.changeTask(tx, projectId, write)
    if (row?.attended) await onChange(tx, projectId, task, from)
    return row !== undefined
  }

  async function stepIn(tx: Db, projectId: ProjectId, id: string, step: Step, how: How): Promise<[Task, boolean]> {
    const before = await store.lockTask(tx, projectId, id)
    if (!before) throw noTask()
    const after = await step(before, tx)
    if (!after) return [before, false]
    const next = written(after)
    await writeIn(tx, projectId, next, before.log.length, how)
    return [next, true]
  }

  return {
    find,
    /** Writes a new task, unless its key was used before. */
    async begin(projectId: ProjectId, beginning: Beginning): Promise<Begun> {
      const found = await beginnings.write(projectId, beginning)
      return 'revision' in found
        ? { kind: 'begun', task: found }
        : { kind: 'repeat', task: await repeated(projectId, found) }
    },

    /** Returns a task that there is already to a message, and to every repeat of the message. */
    async returnAgain(projectId: ProjectId, id: string, key: IdempotencyKey): Promise<Task> {
      const wanted = { key, work: { taskId: id }, answer: { taskId: id } }
      const claims = await claimKeys<Work, Answer>(pool, projectId, [wanted], idempotencyHours)
      const claim = claims.get(key.key)!
      return claim.state === 'begun' ? find(projectId, id) : repeated(projectId, claim)
    },

    /** Goes on with a task, unless the key was used before. `step` checks and changes the locked task. */
    async resume(
      projectId: ProjectId,
      id: string,
      key: IdempotencyKey,
      step: (task: Task, tx: Db) => Promise<{ task: Task; byJob: boolean }>
    ): Promise<{ kind: 'begun'; task: Task } | { kind: 'repeat'; task: Task }> {
      const found = await againIfRaced(() =>
        pool.transaction(async (tx) => {
          const claim = (
            await claimKeys<Work, Answer>(tx, projectId, [{ key, work: { taskId: id } }], idempotencyHours)
          ).get(key.key)!
          if (claim.state !== 'begun') return claim
          const before = await store.lockTask(tx, projectId, id)
          if (!before) throw noTask()
          const next = await step(before, tx)
          const task = written(next.task)
          await writeIn(tx, projectId, task, before.log.length, next)
          const answer = answerOf(task, next.byJob)
          if (answer) await settleKey(tx, projectId, key, answer)
          return task
        })
      )
      if (!('revision' in found)) return { kind: 'repeat', task: await repeated(projectId, found) }
      published(projectId, found)
      return { kind: 'begun', task: found }
    },

    /**
     * Writes the end of a task that runs on this node. If another call changed the task meanwhile, that change stands
     * and is returned.
     */
    async settle(projectId: ProjectId, before: Task, after: Task, key?: IdempotencyKey): Promise<Task> {
      const task = written(after)
      const answer = key && answerOf(task, false)
      if (!answer) {
        const write = { task, dueAt: dueAt(task), attended: false }
        if (await quietChanges.write(projectId, task.id, write)) {
          published(projectId, task)
          return task
        }
      }
      const done = await pool.transaction(async (tx) => {
        if (!(await writeIn(tx, projectId, task, before.log.length))) return false
        if (answer) await settleKey(tx, projectId, key, answer)
        return true
      })
      if (!done) return find(projectId, task.id)
      published(projectId, task)
      return task
    },

    /** Changes a task that does not run on this node. `step` returns undefined to leave it unchanged. */
    async change(projectId: ProjectId, id: string, step: Step, how: How = {}): Promise<Task> {
      const [task, changed] = await pool.transaction((tx) => stepIn(tx, projectId, id, step, how))
      if (changed) published(projectId, task)
      return task
    },

    /**
     * Changes a task within a transaction of the caller. Returns a function to call after the commit; undefined if
     * nothing changed.
     */
    async changeIn(tx: Db, projectId: ProjectId, id: string, step: Step, how: How = {}) {
      const [task, changed] = await stepIn(tx, projectId, id, step, how)
      return changed ? () => published(projectId, task) : undefined
    }
  }
}
