import { type Db, isPassing, type Pool } from '../platform/db/db.ts'
import { Refusal, Unavailable } from '../platform/errors.ts'
import type { IdempotencyKey } from '../platform/idempotency.ts'
import type { ProjectId } from '../platform/ids.ts'
import { RetryLater } from '../platform/jobs/definition.ts'
import type { Log } from '../platform/log.ts'
import type { ConfigWish, Dialect, Sending } from './dialects/dialect.ts'
import { AgentError, invalid } from './errors.ts'
import { isInterrupted, isTerminal, type Task } from './model.ts'
import { rejected } from './skills/check.ts'
import type { Skills } from './skills/registry.ts'
import type { Outcome, Skill } from './skills/skill.ts'
import { ended, heard, moved, newTask, runIdOf } from './tasks/changes.ts'
import type { Runs } from './tasks/runs.ts'
import type { Tasks } from './tasks/tasks.ts'
import { type ReadText, type Turn, takeTurn } from './turns.ts'

/** A task that is under way: as it is now, and as it will be when it ends or stops. */
export interface Underway {
  task: Task
  /** Entries of the log that were there before this call. */
  from: number
  settled: Promise<Task>
}

export interface EngineOptions {
  pool: Pool
  log: Log
  tasks: Tasks
  runs: Runs
  skills: Skills
  readText: ReadText
  /** Writes a webhook that came with the message. */
  attach: (tx: Db, projectId: ProjectId, task: Task, wish: ConfigWish) => Promise<unknown>
  /** Has a worker run the task. */
  schedule: (tx: Db, projectId: ProjectId, taskId: string) => Promise<void>
}

export type Engine = ReturnType<typeof createEngine>

export function createEngine({ log, tasks, runs, skills, readText, attach, schedule }: EngineOptions) {
  /** Takes a message: makes a task or goes on with one, and runs its skill here unless nobody waits. */
  async function take(
    projectId: ProjectId,
    sending: Sending,
    dialect: Dialect,
    key: IdempotencyKey
  ): Promise<Underway> {
    return sending.message.taskId === undefined
      ? begin(projectId, sending, dialect, key)
      : goOn(projectId, sending.message.taskId, sending, dialect, key)
  }

  async function begin(projectId: ProjectId, sending: Sending, dialect: Dialect, key: IdempotencyKey) {
    const { message, immediately, config } = sending
    const turn = await takeTurn(message, undefined, { skills, readText })
    const byJob = immediately && turn.kind === 'run'
    const made = newTask(message, turn.request, dialect.name)
    const task = byJob ? made : turned(made, turn)
    const beside =
      config || byJob
        ? async (tx: Db) => {
            if (config) await attach(tx, projectId, task, config)
            if (byJob) await schedule(tx, projectId, task.id)
          }
        : undefined
    const together = turn.kind === 'run' && !byJob && turn.skill.runTogether ? turn.skill : undefined
    const begun = await tasks.begin(projectId, {
      task,
      key,
      byJob,
      ...(together && { together }),
      ...(beside && { beside })
    })
    if (begun.kind === 'repeat') return still(begun.task, lastTurn(begun.task))
    return turn.kind === 'run' && !byJob && !together
      ? { task, from: 0, settled: run(projectId, task, turn.skill, key) }
      : still(begun.task, 0)
  }

  async function goOn(
    projectId: ProjectId,
    taskId: string,
    sending: Sending,
    dialect: Dialect,
    key: IdempotencyKey
  ): Promise<Underway> {
    const { message, immediately, config } = sending
    const known = await tasks.find(projectId, taskId)
    // Read before the lock: whatever reads text may take its time.
    const turn = isInterrupted(known.status.state)
      ? await takeTurn(message, known.request, { skills, readText })
      : undefined
    const byJob = immediately && turn?.kind === 'run'
    const gone = await tasks.resume(projectId, taskId, key, async (task, tx) => {
      if (message.contextId !== undefined && message.contextId !== task.contextId)
        throw invalid('message.contextId', 'is not the context of this task')
      refuseUnlessWaiting(task)
      if (!turn || task.revision !== known.revision)
        throw new AgentError('key_in_use', 'Another message of this task is being taken')
      const next = turned(heard(task, message, turn.request, dialect.name), turn)
      if (config) await attach(tx, projectId, next, config)
      if (byJob) await schedule(tx, projectId, taskId)
      return { task: next, byJob }
    })
    if (gone.kind === 'repeat') return still(gone.task, lastTurn(gone.task))
    const { task } = gone
    return turn?.kind === 'run' && !byJob
      ? { task, from: known.log.length, settled: run(projectId, task, turn.skill, key) }
      : still(task, known.log.length)
  }

  /** Runs the skill of a task that is `working`, and writes how it ended. */
  async function run(projectId: ProjectId, task: Task, skill: Skill, key?: IdempotencyKey): Promise<Task> {
    const signal = runs.begin(projectId, task.id)
    try {
      return await tasks.settle(projectId, task, ended(task, await outcomeOf(projectId, task, skill, signal)), key)
    } finally {
      runs.end(task.id)
    }
  }

  async function outcomeOf(projectId: ProjectId, task: Task, skill: Skill, signal: AbortSignal): Promise<Outcome> {
    const { fields } = task.request
    const messageId = task.history.findLast(({ role }) => role === 'user')?.messageId ?? ''
    const aborted = Promise.withResolvers<Outcome>()
    const stop = () => aborted.resolve({ kind: 'failed', reason: (signal.reason as Error).message })
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await Promise.race([
        skill.run({ projectId, taskId: task.id, runId: runIdOf(task), messageId, fields, signal }),
        aborted.promise
      ])
    } catch (error) {
      return failureOf(error, skill)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  function failureOf(error: unknown, skill: Skill): Outcome {
    // Whoever died a moment ago still holds its work.
    if (error instanceof Refusal && error.code === 'idempotency_key_in_use') throw new RetryLater(error.message, heldMs)
    if (error instanceof Refusal && error.code !== 'unavailable' && error.code !== 'invalid_api_key')
      return rejected(error)
    // The lease runs out, and the sweep decides whether it may be tried again.
    if (error instanceof Unavailable || isPassing(error)) throw error
    if (error instanceof Refusal) throw error
    log.error({ error, skill: skill.id }, 'a skill failed')
    return { kind: 'failed', reason: 'A fault of the service. It is logged.' }
  }

  return {
    take,
    run,
    /** What a worker does with a task that nobody waits for, or whose runner died. */
    async runLater(
      projectId: ProjectId,
      taskId: string,
      { attempt, last }: { attempt: number; last: boolean }
    ): Promise<void> {
      let skill: Skill | undefined
      const task = await tasks.change(
        projectId,
        taskId,
        async (now) => {
          const { state } = now.status
          if (isTerminal(state) || isInterrupted(state)) return undefined
          skill = now.request.skill === undefined ? undefined : skills.get(now.request.skill)
          if (!skill) return moved(now, 'failed', 'The skill is no longer there.')
          if (state === 'submitted') return moved(now, 'working')
          if (attempt > 1 && !skill.repeatable) {
            skill = undefined
            return moved(now, 'failed', diedReason)
          }
          return { ...now, takeovers: now.takeovers + 1 }
        },
        true
      )
      if (!skill || task.status.state !== 'working') return
      await run(projectId, task, skill).catch(async (error: Error) => {
        if (!last) throw error
        await tasks.change(projectId, taskId, async (now) =>
          isTerminal(now.status.state) ? undefined : moved(now, 'failed', 'It was tried too often without success.')
        )
      })
    },

    async cancel(projectId: ProjectId, taskId: string, dialectOf: (task: Task) => Dialect): Promise<Task> {
      return tasks.change(projectId, taskId, async (task) => {
        const { state } = task.status
        if (state === 'canceled' && dialectOf(task).rules.cancelsTwice) return undefined
        if (isTerminal(state))
          throw new AgentError('task_not_cancelable', `The task is ${state}: it can no longer be canceled.`)
        return moved(task, 'canceled', 'Canceled by request.')
      })
    },

    /** Looks after a task whose time is over: its runner died, or its caller never answered. */
    async lookAfter(projectId: ProjectId, taskId: string, now: Date): Promise<void> {
      await tasks.change(
        projectId,
        taskId,
        async (task, tx) => {
          const { state } = task.status
          if (isTerminal(state) || runs.has(taskId)) return undefined
          if (isInterrupted(state)) {
            const waitedMs = now.getTime() - Date.parse(task.status.at)
            return waitedMs < patienceMs ? undefined : moved(task, 'failed', 'Nobody answered for 24 hours.')
          }
          const skill = task.request.skill === undefined ? undefined : skills.get(task.request.skill)
          const again = skill?.repeatable || state === 'submitted'
          if (!again || task.takeovers >= mostTakeovers) return moved(task, 'failed', diedReason)
          await schedule(tx, projectId, taskId)
          return { ...task, takeovers: task.takeovers + 1 }
        },
        true
      )
    }
  }
}

/** How soon to look again whether the work of a dead one may be taken. */
const heldMs = 2_000
const patienceMs = 24 * 3_600_000
const mostTakeovers = 3
const diedReason =
  'The node that ran it stopped before it was finished. It may have been done: check before sending it again.'

const still = (task: Task, from: number): Underway => ({ task, from, settled: Promise.resolve(task) })

/** Where what its last message did begins: after the task had stopped to ask. */
function lastTurn({ log }: Task): number {
  const asked = log.findLastIndex(
    (entry, index) => index < log.length - 1 && 'status' in entry && isInterrupted(entry.status.state)
  )
  return asked + 1
}

/** The steps that a message takes its task through at once. */
function turned(task: Task, turn: Turn): Task {
  if (turn.kind === 'run') return moved(task, 'working')
  const ready = isInterrupted(task.status.state) ? moved(task, 'working') : task
  return moved(ready, turn.state, turn.reason)
}

function refuseUnlessWaiting({ status: { state } }: Task): void {
  if (isTerminal(state))
    throw new AgentError(
      'unsupported_operation',
      `The task is ${state}: it takes no further messages. Send one without its id.`
    )
  if (!isInterrupted(state))
    throw new AgentError('unsupported_operation', `The task is ${state}: it takes a message when it asks for one.`)
}
