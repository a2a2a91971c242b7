import { createCoalescer } from '../../platform/coalesce.ts'
import { type Db, isDataFault, type Pool, type Transaction } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import { together } from '../../platform/db/together.ts'
import { Refusal } from '../../platform/errors.ts'
import {
  type Claim,
  claimKeys,
  findClaims,
  type IdempotencyKey,
  settleKey
} from '../../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { steadyMs } from '../../platform/time.ts'
import { isInterrupted, type Task } from '../model.ts'
import type { Ahead, Skill } from '../skills/skill.ts'
import { dueAt, ended, runIdOf } from './changes.ts'
import * as store from './store.ts'

/** The work that a key stands for. */
export interface Work {
  taskId: string
}
/**
 * The response to every repeat: the task as the first call returned it, or as it is now if the first call did not wait
 * for its end.
 */
export type Answer = { task: Task } | { taskId: string }

/** The key of a message, or of a call by MCP, and the approximate size of it. */
export interface MessageKey extends IdempotencyKey {
  scope: 'a2a' | 'mcp'
  bytes: number
}

export interface Beginning {
  task: Task
  key: MessageKey
  /** Whether a worker runs the task, because the caller does not wait. */
  byJob: boolean
  /** A skill that runs in the transaction that writes the task; the task is then written in its final state. */
  together: Skill | undefined
  /** Writes webhooks and jobs in the same transaction. */
  beside: ((tx: Db) => Promise<void>) | undefined
  /** Whether `beside` may throw: then the task has a transaction of its own, so that no other task fails with it. */
  alone: boolean
}

/** The outcome of one beginning: the task as written, or the claim of an earlier request with the same key. */
export type Written = Task | Claim<Work, Answer>

/** Runs in the transaction of each change of a task that has a webhook or a stream. `from` is the first new entry. */
export type OnChange = (tx: Db, projectId: ProjectId, task: Task, from: number) => Promise<void>

export interface BeginningsOptions {
  pool: Pool
  metrics: Metrics
  idempotencyHours: number
  onChange: OnChange
}

/**
 * A caller whose message makes a user too large tends to repeat it. For this time the messages of its project are
 * written one step at a time, because each failure of a combined write costs the work twice and a line in PostgreSQL's
 * log.
 */
const carefulMs = 5_000

/** Writes the new tasks of a project, those that arrive at about the same time together. */
export function createBeginnings({ pool, metrics, idempotencyHours, onChange }: BeginningsOptions) {
  const carefulUntilMs = new Map<ProjectId, number>()

  /** Most calls succeed together. If one fails, all run again in an order that shows which one. */
  async function beginTogether(projectId: ProjectId, batch: Prepared[]): Promise<Written[]> {
    if (mayHurry(projectId) && isForeseen(batch)) {
      const begun = await beginAhead(projectId, batch).catch(unlessRefused)
      if (begun) return begun
      carefulUntilMs.set(projectId, steadyMs() + carefulMs)
    }
    const beginnings = batch.map(({ beginning }) => beginning)
    return pool.transaction((tx) => beginSome(tx, projectId, beginnings))
  }

  function mayHurry(projectId: ProjectId): boolean {
    if ((carefulUntilMs.get(projectId) ?? 0) > steadyMs()) return false
    carefulUntilMs.delete(projectId)
    return true
  }

  const wantedOf = ({ task, key, byJob }: Beginning) => ({
    key,
    work: { taskId: task.id },
    answer: answerOf(task, byJob)
  })

  /** Keys, users and tasks in one statement. */
  async function beginAhead(projectId: ProjectId, batch: ForeseenBeginning[]): Promise<Written[]> {
    const writes = batch.map(({ beginning, ahead }) => ({ ...writeOf(ahead.task, beginning), ...ahead }))
    const wanted = batch.map(({ beginning }) => wantedOf(beginning))
    const begun = await store.beginTasks(pool, projectId, writes, wanted, idempotencyHours)
    if (!begun) throw projectErased()
    for (const { task, learn } of writes) learn(begun.get(task.id) ?? '')
    const taken = wanted.filter(({ work }) => !begun.has(work.taskId)).map(({ key }) => key)
    const claims = await findClaims<Work, Answer>(pool, projectId, taken)
    return wanted.map(({ key }, index) => claims.get(key.key) ?? writes[index]!.task)
  }

  /** Runs only the beginnings whose keys are new. */
  async function beginSome(tx: Transaction, projectId: ProjectId, batch: Beginning[]): Promise<Written[]> {
    const claims = await claimKeys<Work, Answer>(tx, projectId, batch.map(wantedOf), idempotencyHours)
    const ours = batch.filter(({ key }) => claims.get(key.key)?.state === 'begun')
    const tasks = await runTogether(tx, projectId, ours)
    if (ours.length > 0) await write(tx, projectId, ours, tasks)
    const written = new Map(ours.map(({ key }, index) => [key.key, tasks[index]!]))
    return batch.map(({ key }) => written.get(key.key) ?? claims.get(key.key)!)
  }

  async function insert(tx: Db, projectId: ProjectId, writes: store.TaskWrite[]): Promise<void> {
    if (!(await store.insertTasks(tx, projectId, writes))) throw projectErased()
  }

  /** Writes the tasks in their present state, with their webhooks, jobs and keys. */
  async function write(tx: Transaction, projectId: ProjectId, batch: Beginning[], tasks: Task[]): Promise<void> {
    const writes = batch.map((beginning, index) => writeOf(tasks[index]!, beginning))
    const asks = (index: number) => batch[index]!.together && isInterrupted(tasks[index]!.status.state)
    // If nothing else is written, the statement that writes the tasks also commits.
    const last = !batch.some(({ beside }, index) => beside || asks(index))
    await together(insert(tx, projectId, writes), ...(last ? [tx.commit()] : []))
    if (last) return
    for (const [index, { key, beside }] of batch.entries()) {
      const task = tasks[index]!
      if (asks(index)) await settleKey(tx, projectId, key, answerOf(task, false))
      if (!beside) continue
      await beside(tx)
      await onChange(tx, projectId, task, 0)
    }
  }

  /** The tasks after their skills, for skills that run in this transaction. */
  async function runTogether(tx: Db, projectId: ProjectId, batch: Beginning[]): Promise<Task[]> {
    const after = new Map<Beginning, Task>()
    for (const [skill, asked] of Map.groupBy(batch, ({ together }) => together)) {
      if (!skill?.runTogether) continue
      const outcomes = await skill.runTogether(tx, projectId, asked.map(callOf))
      for (const [index, beginning] of asked.entries()) after.set(beginning, ended(beginning.task, outcomes[index]!))
    }
    return batch.map((beginning) => after.get(beginning) ?? beginning.task)
  }

  const createBatches = () =>
    createCoalescer<Prepared, Written>(
      async (projectId, batch) => {
        metrics.coalesced('tasks', batch.length)
        return againIfRaced(() => beginTogether(projectId, batch))
      },
      // The message stands in the task's history, and the fields that it sets in the task's request.
      ({ beginning }) => 2 * beginning.key.bytes + 1_000
    )
  // A statement claims keys of one scope.
  const batches = { a2a: createBatches(), mcp: createBatches() }

  return {
    write: (projectId: ProjectId, beginning: Beginning): Promise<Written> =>
      beginning.alone
        ? againIfRaced(() => pool.transaction(async (tx) => (await beginSome(tx, projectId, [beginning]))[0]!))
        : batches[beginning.key.scope].write(projectId, beginning.key.key, { beginning, ahead: foresee(beginning) })
  }
}

const writeOf = (task: Task, { byJob, beside }: Beginning): store.TaskWrite => ({
  task,
  dueAt: dueAt(task, byJob),
  attended: beside !== undefined
})

const callOf = ({ task }: Beginning) => ({ runId: runIdOf(task), fields: task.request.fields })

/** A task in the state that its skill will leave, serialized while the database is busy with earlier tasks. */
interface Foreseen extends Pick<store.ReadyTask, 'task' | 'content' | 'user'> {
  learn(userId: string): void
}
interface Prepared {
  beginning: Beginning
  /** Undefined if one statement cannot write everything. */
  ahead: Foreseen | undefined
}
type ForeseenBeginning = Prepared & { ahead: Foreseen }

function foresee(beginning: Beginning): Foreseen | undefined {
  const { task, together, beside } = beginning
  const ahead = together?.foresee?.(callOf(beginning))
  if (beside || (together && !ahead)) return undefined
  const after = ahead ? ended(task, ahead.outcome) : task
  return { task: after, content: store.contentOf(after), user: ahead?.user, learn: learnOf(after, ahead) }
}

/** The statement puts the id of an existing user into the stored task; the task in memory gets it here. */
function learnOf({ request, status }: Task, ahead: Ahead | undefined): (userId: string) => void {
  if (!ahead) return () => {}
  if (request.understood === undefined) return ahead.learn
  return (userId) => {
    ahead.learn(userId)
    // The message repeats the result as text.
    for (const part of status.message?.parts ?? [])
      if ('text' in part) part.text = part.text.replaceAll(ahead.user.drawn, userId)
  }
}

/** A statement cannot put a user twice. */
function isForeseen(batch: Prepared[]): batch is ForeseenBeginning[] {
  const users = new Set<string>()
  return batch.every(({ ahead }) => {
    if (!ahead?.user) return ahead !== undefined
    const isNew = !users.has(ahead.user.projectUserId)
    users.add(ahead.user.projectUserId)
    return isNew
  })
}

/** An error in the data of one call rolls all of them back. */
function unlessRefused(error: unknown): undefined {
  if (!isDataFault(error)) throw error
}

/** The response to repeats of the key, if it differs from the task's own end. */
export function answerOf(task: Task, byJob: boolean): Answer | undefined {
  if (byJob) return { taskId: task.id }
  return isInterrupted(task.status.state) ? { task } : undefined
}

/** No row is written where the project is being erased. */
const projectErased = () => new Refusal('invalid_api_key', 'Invalid API key')
