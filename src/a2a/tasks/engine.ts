import { AskedMeanwhile } from '../../oversight/oversight.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { ApiCaller } from '../../projects/projects.ts'
import type { Dialect, NewPushConfig, Sending } from '../dialects/dialect.ts'
import { AgentError, invalid, noTask } from '../errors.ts'
import { type Asker, isInterrupted, isTerminal, type Message, type Task } from '../model.ts'
import type { Skill } from '../skills/skill.ts'
import type { Skills } from '../skills/skills.ts'
import type { ReadText } from '../turns/meaning.ts'
import type { Oversee } from '../turns/oversee.ts'
import { type Turn, takeTurn } from '../turns/turns.ts'
import type { MessageKey } from './beginnings.ts'
import { answered, heard, isFull, moved, newTask } from './changes.ts'
import type { ClosingOf } from './closing.ts'
import type { Addressed } from './contexts.ts'
import type { Runner } from './runner.ts'
import { keyUsed, type Tasks } from './tasks.ts'
import { isHidden } from './visibility.ts'

/** A task that is under way: its present state, and a promise of the task when it ends or stops. */
export interface Underway {
  task: Task
  /** The number of log entries that existed before this call. */
  from: number
  settled: Promise<Task>
}

export interface EngineOptions {
  tasks: Tasks
  runner: Runner
  skills: Skills
  readText: ReadText
  oversee: Oversee
  /** The open question that a message answers which names only its context. */
  answers: (projectId: ProjectId, caller: ApiCaller, message: Message) => Promise<Addressed | undefined>
  /** Prepares the end of the task whose question the turn of another task answers. */
  closingOf: ClosingOf
  /** Stores a webhook that came with the message. */
  attach: (tx: Db, projectId: ProjectId, task: Task, wanted: NewPushConfig) => Promise<unknown>
  /** Enqueues a job that runs the task. */
  schedule: (tx: Db, projectId: ProjectId, taskId: string) => Promise<void>
}

/** The call that brings the message. */
interface Asking {
  caller: ApiCaller
  agent: string | undefined
  key: MessageKey
  /** Throws if the skill may not run now. Called before anything is written for it. */
  admit: (skill: Skill) => undefined | Promise<undefined>
}

export type Engine = ReturnType<typeof createEngine>

export function createEngine({
  tasks,
  runner: { run },
  skills,
  readText,
  oversee,
  answers,
  closingOf,
  attach,
  schedule
}: EngineOptions) {
  /** Takes a message: creates a task or goes on with one, and runs its skill here if the caller waits. */
  const take: typeof takeOnce = (...sent) =>
    takeOnce(...sent).catch((error: unknown) => {
      // Another yes to the same confirmation asked for the approval first, and this one gets its task.
      if (!(error instanceof AskedMeanwhile)) throw error
      return takeOnce(...sent)
    })

  async function takeOnce(projectId: ProjectId, sending: Sending, dialect: Dialect, asking: Asking): Promise<Underway> {
    const { taskId, contextId } = sending.message
    if (taskId !== undefined) return goOn(projectId, taskId, sending, dialect, asking)
    const found = contextId === undefined ? undefined : await answers(projectId, asking.caller, sending.message)
    if (!found || 'which' in found) return begin(projectId, sending, dialect, asking, found?.which)
    const { message } = found
    return goOn(projectId, found.taskId, { ...sending, message }, dialect, asking).catch((error: unknown) => {
      // Another message was first, so that nothing is open any more.
      if (!(error instanceof AgentError) || error.fault !== 'unsupported_operation') throw error
      return begin(projectId, sending, dialect, asking)
    })
  }

  /** The turn that a message makes. It is read before the task is locked, because a text model may take seconds. */
  async function turnOf(projectId: ProjectId, message: Message, task: Task | undefined, { caller, agent }: Asking) {
    if (task?.request.approvalId !== undefined) return stillWaiting(task)
    const state = task?.status.state === 'auth-required' ? 'auth-required' : 'input-required'
    const turn = await takeTurn(message, task?.request, { skills, readText, state })
    return oversee(turn, { projectId, caller, agent, message, task })
  }

  async function begin(
    projectId: ProjectId,
    sending: Sending,
    dialect: Dialect,
    asking: Asking,
    given?: Turn
  ): Promise<Underway> {
    const { message, immediately, config } = sending
    const { caller, key, admit } = asking
    const turn = given ?? (await turnOf(projectId, message, undefined, asking))
    if (turn.instead !== undefined) return repeat(await tasks.returnAgain(projectId, turn.instead, key), caller)
    if (turn.kind === 'run') await admit(turn.skill)
    const byJob = immediately && turn.kind === 'run'
    const made = newTask(message, turn.request, dialect.name, askerOf(asking))
    const task = byJob ? made : turned(made, turn)
    const close = await closingOf(projectId, turn, task.id)
    const alone = close !== undefined || turn.write !== undefined
    let closed: (() => void) | undefined
    const beside =
      config || byJob || alone
        ? async (tx: Db) => {
            closed = await close?.(tx)
            await turn.write?.(tx, task.id)
            if (config) await attach(tx, projectId, task, config)
            if (byJob) await schedule(tx, projectId, task.id)
          }
        : undefined
    const together = turn.kind === 'run' && !byJob && turn.skill.runTogether ? turn.skill : undefined
    const begun = await tasks.begin(projectId, { task, key, byJob, together, beside, alone })
    if (begun.kind === 'repeat') return repeat(begun.task, caller)
    closed?.()
    return turn.kind === 'run' && !byJob && !together
      ? { task, from: 0, settled: run(projectId, task, { skill: turn.skill, caller, key }) }
      : still(begun.task, 0)
  }

  async function goOn(
    projectId: ProjectId,
    taskId: string,
    sending: Sending,
    dialect: Dialect,
    asking: Asking
  ): Promise<Underway> {
    const { message, immediately, config } = sending
    const { caller, key, admit } = asking
    const known = await tasks.find(projectId, taskId)
    if (isHidden(caller, known)) throw noTask()
    const turn = isInterrupted(known.status.state) ? await turnOf(projectId, message, known, asking) : undefined
    if (turn?.instead !== undefined) return repeat(await tasks.returnAgain(projectId, turn.instead, key), caller)
    if (turn?.kind === 'run') await admit(turn.skill)
    const byJob = immediately && turn?.kind === 'run'
    const isOwn = turn?.answers === known.request.fields.confirmationId
    const close = turn && !isOwn ? await closingOf(projectId, turn, taskId) : undefined
    let closed: (() => void) | undefined
    const resumed = await tasks.resume(projectId, taskId, key, async (task, tx) => {
      if (message.contextId !== undefined && message.contextId !== task.contextId)
        throw invalid('message.contextId', 'is not the context of this task')
      refuseUnlessWaiting(task)
      if (!turn || task.revision !== known.revision)
        throw new AgentError('key_in_use', 'Another message of this task is being taken')
      const further = heard(task, message, turn.request, dialect.name)
      // Streams and webhooks must not show a task as working that still waits for the same person.
      const waits = task.request.approvalId !== undefined && turn.kind === 'stop'
      const next = waits ? answered(further, turn.reason, turn) : turned(further, turn)
      closed = await close?.(tx)
      await turn.write?.(tx, taskId)
      if (config) await attach(tx, projectId, next, config)
      if (byJob) await schedule(tx, projectId, taskId)
      return { task: next, byJob }
    })
    if (resumed.kind === 'repeat') return repeat(resumed.task, caller)
    closed?.()
    const { task } = resumed
    return turn?.kind === 'run' && !byJob
      ? { task, from: known.log.length, settled: run(projectId, task, { skill: turn.skill, caller, key }) }
      : still(task, known.log.length)
  }

  return { take }
}

/** The sender as its task keeps it. */
const askerOf = ({ caller: { actor, key }, agent }: Asking): Asker => ({
  actor,
  ...(key && { keyId: key.id, keyName: key.name, ...(key.originId !== key.id && { originId: key.originId }) }),
  ...(agent !== undefined && { agent })
})

const onlyApproval =
  'This waits for an approval by a person, and no message can take its place. CancelTask ends it; anything else is a new task.'

/** No message goes on with a task that waits for an approval. The answer repeats the request, which says where to decide. */
function stillWaiting({ request, status }: Task): Turn {
  const { parts: [asked] = [], metadata } = status.message ?? {}
  const said = asked && 'text' in asked ? asked.text : ''
  const reason = said.startsWith(onlyApproval) ? said : `${onlyApproval} ${said}`.trimEnd()
  return { kind: 'stop', state: 'auth-required', request, reason, ...(metadata && { metadata }) }
}

/** The task of the first message with the same key. */
function repeat(task: Task, caller: ApiCaller): Underway {
  if (isHidden(caller, task)) throw keyUsed()
  return still(task, lastTurn(task))
}

const still = (task: Task, from: number): Underway => ({ task, from, settled: Promise.resolve(task) })

/** The first log entry of the task's last turn: the one after the task stopped to ask. */
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
  return moved(ready, turn.state, turn.reason, turn)
}

function refuseUnlessWaiting(task: Task): void {
  const { state } = task.status
  if (isTerminal(state))
    throw new AgentError(
      'unsupported_operation',
      `The task is ${state}: it takes no further messages. Send one without its id.`
    )
  if (!isInterrupted(state))
    throw new AgentError('unsupported_operation', `The task is ${state}: it takes a message when it asks for one.`)
  if (isFull(task))
    throw new AgentError(
      'unsupported_operation',
      'The task has had as many messages as one may have. Send one without its id.'
    )
}
