import { newId } from '../../platform/ids.ts'
import type { Asker, DialectName, LogEntry, Message, Request, Status, Task, TaskState } from '../model.ts'
import { isInterrupted, isTerminal } from '../model.ts'
import type { Beside, Outcome, Result } from '../skills/skill.ts'

// Every step of a task, as a function from one revision to the next. Nothing here writes.

/** The most messages kept of one task; the oldest are dropped first. */
const mostMessages = 100
const mostHistory = 12 * 1024 * 1024
/** A task with a longer log takes no further messages: the log is stored and replayed as a whole. */
const mostEntries = 1_000
const mostLog = 1024 * 1024
const patienceMs = 24 * 3_600_000
/** The longest silence of the node that runs a task. With the recovery job, another node takes over within 15 s. */
export const leaseMs = 8_000
/** The time in which a job runs its task. After that the job counts as lost, and the recovery job takes over. */
const jobMs = 3_600_000

const allowed: Record<TaskState, readonly TaskState[]> = (() => {
  const running: TaskState[] = [
    'working',
    'completed',
    'failed',
    'rejected',
    'canceled',
    'input-required',
    'auth-required'
  ]
  return {
    submitted: running,
    working: running,
    'input-required': ['working', 'canceled', 'failed'],
    'auth-required': ['working', 'canceled', 'failed'],
    completed: [],
    failed: [],
    canceled: [],
    rejected: []
  }
})()

let lastMs = 0
let lastText = ''

/**
 * The time of a step as text, formatted once a millisecond: many tasks step in the same one, and formatting costs more
 * than the step.
 */
function now(): string {
  const ms = Date.now()
  if (ms !== lastMs) {
    lastMs = ms
    lastText = new Date(ms).toISOString()
  }
  return lastText
}

/** A new task, as its first message makes it. */
export function newTask(message: Message, request: Request, dialect: DialectName, by?: Asker): Task {
  const id = newId()
  const contextId = message.contextId ?? newId()
  const status: Status = { state: 'submitted', at: now() }
  return {
    id,
    contextId,
    status,
    artifacts: [],
    history: [{ ...message, contextId, taskId: id }],
    log: [{ status }],
    request,
    dialect,
    revision: 1,
    takeovers: 0,
    ...(by && { by })
  }
}

/** Adds a further message of the caller. A separate step changes the state. */
export function heard(task: Task, message: Message, request: Request, dialect: DialectName): Task {
  const history = latest([...task.history, { ...message, contextId: task.contextId, taskId: task.id }])
  return { ...task, history, request, dialect }
}

/** Whether the log has reached its limit. */
export const isFull = ({ log }: Task): boolean => log.length >= mostEntries || JSON.stringify(log).length >= mostLog

/** The latest messages, as many as a task keeps; the last one is kept whatever its size. */
function latest(messages: Message[]): Message[] {
  const kept: Message[] = []
  let size = 0
  for (const message of messages.slice(-mostMessages).reverse()) {
    size += JSON.stringify(message).length
    if (kept.length > 0 && size > mostHistory) break
    kept.unshift(message)
  }
  return kept
}

/** Several steps make one revision: it counts writes, not states. */
export const written = (task: Task): Task => ({ ...task, revision: task.revision + 1 })

type Saying = Beside & { result?: string | undefined }

export function moved(task: Task, state: TaskState, reason?: string, beside: Saying = {}): Task {
  const from = task.status.state
  if (!allowed[from].includes(state)) throw new Error(`a task cannot go from ${from} to ${state}`)
  return entered(task, state, reason, beside)
}

/** Answers a message with a reason, and leaves the state as it is. */
export const answered = (task: Task, reason: string, beside: Saying): Task =>
  entered(task, task.status.state, reason, beside)

function entered(task: Task, state: TaskState, reason: string | undefined, beside: Saying): Task {
  const status: Status = { state, at: now() }
  if (reason !== undefined) status.message = agentMessage(task, reason, beside)
  // The agent's questions and explanations are part of the conversation.
  const history =
    isInterrupted(state) && status.message ? [...task.history, status.message].slice(-mostMessages) : task.history
  return { ...task, status, history, log: [...task.log, { status }] }
}

const agentMessage = ({ id, contextId }: Task, text: string, { data, result, metadata }: Saying): Message => ({
  messageId: newId(),
  role: 'agent',
  parts: [{ text }, ...(data ? [{ data }] : []), ...(result !== undefined ? [{ text: result }] : [])],
  contextId,
  taskId: id,
  ...(metadata && { metadata })
})

export function ended(task: Task, outcome: Outcome): Task {
  const results = 'artifacts' in outcome ? (outcome.artifacts ?? []) : []
  const artifacts = [...task.artifacts, ...results.map((one) => ({ artifactId: newId(), ...one }))]
  const entries = results.map((_, index): LogEntry => ({ artifact: task.artifacts.length + index }))
  const { understood } = task.request
  return moved(
    { ...task, artifacts, log: [...task.log, ...entries] },
    outcome.kind,
    outcome.reason ?? done(understood),
    understood === undefined ? outcome : { ...outcome, result: inWords(results) }
  )
}

/** The most characters of a result that a message repeats. */
const mostRepeated = 4_000

/** The results as text, for clients that sent text: many of them show only texts and ignore data parts. */
function inWords(results: Result[]): string | undefined {
  const data = results.flatMap(({ parts }) => parts.flatMap((part) => ('data' in part ? [part.data] : [])))
  if (data.length === 0) return undefined
  const text = data.map((one) => JSON.stringify(one)).join('\n')
  return text.length > mostRepeated ? `${text.slice(0, mostRepeated).toWellFormed()}…` : text
}

/** Restates an understood request in words that say that it was carried out. */
const done = (understood: string | undefined) => (understood === undefined ? undefined : `Done: ${understood}`)

/** The id of the run that the task is in: the position in its log where the run began. */
export const runIdOf = ({ id, log }: Task): string => `${id}.${lastBegin(log)}`
/** When that run began. */
export const begunAtOf = ({ log }: Task): Date => new Date((log[lastBegin(log)] as { status: Status }).status.at)

const lastBegin = (log: LogEntry[]): number =>
  log.findLastIndex((entry) => 'status' in entry && entry.status.state === 'working')

/** The time from which the task is overdue, by its state. */
export function dueAt({ status: { state } }: Task, byJob = false): Date | null {
  if (isTerminal(state)) return null
  const within = isInterrupted(state) ? patienceMs : byJob ? jobMs : leaseMs
  return new Date(Date.now() + within)
}
