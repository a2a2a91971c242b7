import { createCoalescer, roughBytes } from '../../platform/coalesce.ts'
import { type Db, isDataFault, type Pool, type Transaction } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import { together } from '../../platform/db/together.ts'
import { Refusal } from '../../platform/errors.ts'
import { type Claim, claimKeys, claimNewKeys, type IdempotencyKey, settleKey } from '../../platform/idempotency.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { AgentError, noTask } from '../errors.ts'
import { isInterrupted, isTerminal, type Task } from '../model.ts'
import type { Skill } from '../skills/skill.ts'
import { dueAt, ended, runIdOf, written } from './changes.ts'
import * as store from './store.ts'

/** What a key stands for, and what every repeat of it is answered. */
export interface Work {
  taskId: string
}
/** A task as it was then, or the task as it is now where the first call did not wait for its end. */
export type Answer = { task: Task } | { taskId: string }

/** The key of a message, and about how many bytes the message has. */
export interface MessageKey extends IdempotencyKey {
  bytes: number
}

export interface Beginning {
  task: Task
  key: MessageKey
  /** A worker runs it; nobody waits. */
  byJob: boolean
  /** Runs in the transaction that writes the task, which is then written as it ended. */
  together: Skill | undefined
  /** What else is written with it: webhooks, jobs. */
  beside: ((tx: Db) => Promise<void>) | undefined
}

export type Begun = { kind: 'begun' | 'repeat'; task: Task }

/** What became of one beginning of many: the task as it was written, or what the key says instead. */
type Written = Task | Claim<Work, Answer>

/** Told in the transaction of each change of a task that somebody attends to, with the entries that are new. */
export type OnChange = (tx: Db, projectId: ProjectId, task: Task, from: number) => Promise<void>

export interface TasksOptions {
  pool: Pool
  metrics: Metrics
  idempotencyHours: number
  onChange: OnChange
  /** Told after the commit. */
  published: (projectId: ProjectId, task: Task) => void
}

export type Tasks = ReturnType<typeof createTasks>

/**
 * Who repeats a message tends to repeat more of them. For so long a project's messages are not begun in haste any more:
 * each failure is work done twice, and some lines in the log of PostgreSQL.
 */
const carefulMs = 5_000

export function createTasks({ pool, metrics, idempotencyHours, onChange, published }: TasksOptions) {
  const beginnings = createCoalescer<Beginning, Written>(
    async (projectId, batch) => {
      metrics.coalesced('tasks', batch.length)
      return againIfRaced(() => beginTogether(projectId, batch))
    },
    // The message stands in the history of its task, and what it asks for in the request.
    ({ key }) => 2 * key.bytes + 1_000
  )
  const quietChanges = createCoalescer<store.TaskWrite, boolean>(
    async (projectId, batch) => {
      const done = await store.changeQuietTasks(pool, projectId, batch)
      return batch.map(({ task }) => done.has(task.id))
    },
    ({ task }) => roughBytes(task)
  )

  const carefulUntilMs = new Map<ProjectId, number>()

  /** Most keys are new, and most calls can be done. Where one is not, it is done again in an order that tells which. */
  async function beginTogether(projectId: ProjectId, batch: Beginning[]): Promise<Written[]> {
    if (mayHurry(projectId) && batch.some(({ together }) => together) && !batch.some(({ beside }) => beside)) {
      const begun = await pool.transaction((tx) => beginAhead(tx, projectId, batch)).catch(unlessRefused)
      if (begun) return begun
      carefulUntilMs.set(projectId, Date.now() + carefulMs)
    }
    return pool.transaction((tx) => beginSome(tx, projectId, batch))
  }

  function mayHurry(projectId: ProjectId): boolean {
    if ((carefulUntilMs.get(projectId) ?? 0) > Date.now()) return false
    carefulUntilMs.delete(projectId)
    return true
  }

  const wantedOf = ({ task, key, byJob }: Beginning) => ({
    key,
    work: { taskId: task.id },
    answer: answerOf(task, byJob)
  })

  /** Keys, skills, tasks and the commit in one round trip: nothing waits for the answer to what was sent before it. */
  async function beginAhead(tx: Transaction, projectId: ProjectId, batch: Beginning[]): Promise<Task[]> {
    const keys = claimNewKeys(tx, projectId, batch.map(wantedOf), idempotencyHours)
    const { writes, settled, whole } = runAhead(tx, projectId, batch)
    await together(keys, settled, ...(whole ? [insert(tx, projectId, writes), tx.commit()] : []))
    if (!whole) throw new NotAhead()
    return writes.map(({ task }) => task)
  }

  /** Runs only those whose keys are new. */
  async function beginSome(tx: Transaction, projectId: ProjectId, batch: Beginning[]): Promise<Written[]> {
    const claims = await claimKeys<Work, Answer>(tx, projectId, batch.map(wantedOf), idempotencyHours)
    const ours = batch.filter(({ key }) => claims.get(key.key)?.state === 'begun')
    const tasks = await runTogether(tx, projectId, ours)
    if (ours.length > 0) await write(tx, projectId, ours, tasks)
    const written = new Map(ours.map(({ key }, index) => [key.key, tasks[index]!]))
    return batch.map(({ key }) => written.get(key.key) ?? claims.get(key.key)!)
  }

  async function insert(tx: Db, projectId: ProjectId, writes: store.TaskWrite[]): Promise<void> {
    if (!(await store.insertTasks(tx, projectId, writes))) throw gone()
  }

  const writeOf = (task: Task, { byJob, beside }: Beginning): store.TaskWrite => ({
    task,
    dueAt: dueAt(task, byJob),
    attended: beside !== undefined
  })

  /** Writes the tasks as they are now, with all that belongs to them. */
  async function write(tx: Transaction, projectId: ProjectId, batch: Beginning[], tasks: Task[]): Promise<void> {
    const writes = batch.map((beginning, index) => writeOf(tasks[index]!, beginning))
    const asks = (index: number) => batch[index]!.together && isInterrupted(tasks[index]!.status.state)
    // Where nothing else is written, the commit travels with the tasks.
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

  /** The tasks as their skills leave them, where those run here and now. */
  async function runTogether(tx: Db, projectId: ProjectId, batch: Beginning[]): Promise<Task[]> {
    const after = new Map<Beginning, Task>()
    for (const [skill, asked] of Map.groupBy(batch, ({ together }) => together)) {
      if (!skill?.runTogether) continue
      const outcomes = await skill.runTogether(tx, projectId, asked.map(callOf))
      for (const [index, beginning] of asked.entries()) after.set(beginning, ended(beginning.task, outcomes[index]!))
    }
    return batch.map((beginning) => after.get(beginning) ?? beginning.task)
  }

  /** The same without waiting for the database. What it sends fails as a whole; where not all could be sent it is not. */
  function runAhead(tx: Db, projectId: ProjectId, batch: Beginning[]) {
    const writes = new Map<Beginning, store.TaskWrite>()
    const sent: Promise<void>[] = []
    let whole = true
    for (const [skill, asked] of Map.groupBy(batch, ({ together }) => together)) {
      const ahead = skill?.runAhead?.(tx, projectId, asked.map(callOf))
      if (ahead) sent.push(ahead.settled)
      else whole &&= skill === undefined
      for (const [index, beginning] of asked.entries()) {
        const task = ahead ? ended(beginning.task, ahead.outcomes[index]!) : beginning.task
        writes.set(beginning, { ...writeOf(task, beginning), drawn: ahead?.drawn[index] })
      }
    }
    return { writes: batch.map((beginning) => writes.get(beginning)!), settled: together(...sent), whole }
  }

  /** What a key that was used before is answered. */
  async function repeated(projectId: ProjectId, claim: Claim<Work, Answer>): Promise<Task> {
    if (claim.state === 'other')
      throw new AgentError(
        'key_in_use',
        'Idempotency key was used with another message: give each message a messageId of its own.'
      )
    if (claim.state === 'answered' && 'task' in claim.answer) return claim.answer.task
    if (claim.state === 'answered' && 'taskId' in claim.answer) return find(projectId, claim.answer.taskId)
    // A task that has ended is its own answer: nothing changes it any more.
    const work = 'work' in claim ? claim.work : undefined
    const task = work && (await store.findTasks(pool, projectId, [work.taskId])).get(work.taskId)
    if (task && isTerminal(task.status.state)) return task
    throw new AgentError('key_in_use', 'Idempotency key is in use: the first of these messages is still worked on.')
  }

  async function find(projectId: ProjectId, id: string): Promise<Task> {
    const task = (await store.findTasks(pool, projectId, [id])).get(id)
    if (!task) throw noTask()
    return task
  }

  /** Writes one revision with all that belongs to it. False where the task changed meanwhile. */
  async function writeIn(tx: Db, projectId: ProjectId, task: Task, from: number, byJob = false): Promise<boolean> {
    const write = { task, dueAt: dueAt(task, byJob), attended: false }
    const row = await store.changeTask(tx, projectId, write)
    if (row?.attended) await onChange(tx, projectId, task, from)
    return row !== undefined
  }

  return {
    find,
    /** Writes a new task, unless its key was used before. */
    async begin(projectId: ProjectId, beginning: Beginning): Promise<Begun> {
      const found = await beginnings.write(projectId, beginning.key.key, beginning)
      return 'revision' in found
        ? { kind: 'begun', task: found }
        : { kind: 'repeat', task: await repeated(projectId, found) }
    },

    /** Goes on with a task, unless the key was used before. `step` judges and changes what is locked. */
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
          await writeIn(tx, projectId, task, before.log.length, next.byJob)
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
     * Writes what became of a task that runs here. Where it was changed by someone else meanwhile, theirs stands and
     * is answered.
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

    /** Changes a task by whoever does not run it; `step` answers undefined to leave it as it is. */
    async change(
      projectId: ProjectId,
      id: string,
      step: (task: Task, tx: Db) => Promise<Task | undefined>,
      byJob = false
    ): Promise<Task> {
      const [task, changed] = await pool.transaction(async (tx) => {
        const before = await store.lockTask(tx, projectId, id)
        if (!before) throw noTask()
        const after = await step(before, tx)
        if (!after) return [before, false] as const
        const next = written(after)
        await writeIn(tx, projectId, next, before.log.length, byJob)
        return [next, true] as const
      })
      if (changed) published(projectId, task)
      return task
    }
  }
}

const callOf = ({ task }: Beginning) => ({ runId: runIdOf(task), fields: task.request.fields })

/** A call that cannot be done. */
class NotAhead extends Error {}

/** Where a key is known or a call cannot be done, nothing was. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof NotAhead || isDataFault(error))) throw error
}

/** What repeats are answered, where it is not the task's own end. */
function answerOf(task: Task, byJob: boolean): Answer | undefined {
  if (byJob) return { taskId: task.id }
  return isInterrupted(task.status.state) ? { task } : undefined
}

const gone = () => new Refusal('invalid_api_key', 'Invalid API key')
