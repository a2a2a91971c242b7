// What a task is, in words of our own. The dialects turn it into what each kind of client reads.

export type TaskState =
  | 'submitted'
  | 'working'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'input-required'
  | 'auth-required'

export type DialectName = 'plain' | 'official' | 'legacy'

export const taskStates: readonly TaskState[] = [
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'rejected',
  'input-required',
  'auth-required'
]

const ended = new Set<TaskState>(['completed', 'failed', 'canceled', 'rejected'])
const waiting = new Set<TaskState>(['input-required', 'auth-required'])

/** Nothing moves it any more. */
export const isTerminal = (state: TaskState): boolean => ended.has(state)
/** It waits for its caller. */
export const isInterrupted = (state: TaskState): boolean => waiting.has(state)
/** A blocking call answers, and a stream closes. */
export const isSettled = (state: TaskState): boolean => ended.has(state) || waiting.has(state)

export interface PartExtras {
  filename?: string
  mediaType?: string
  metadata?: Record<string, unknown>
}

export type Part = PartExtras & ({ text: string } | { data: unknown } | { raw: string } | { url: string })

export interface Message {
  messageId: string
  role: 'user' | 'agent'
  parts: Part[]
  contextId?: string
  taskId?: string
  metadata?: Record<string, unknown>
  extensions?: string[]
  referenceTaskIds?: string[]
}

export interface Artifact {
  artifactId: string
  name: string
  description?: string
  parts: Part[]
}

export interface Status {
  state: TaskState
  /** RFC 3339 in UTC with milliseconds. */
  at: string
  message?: Message
}

/** What happened to a task, in order: streams and webhooks tell it from here, on whatever node they are. */
export type LogEntry = { status: Status } | { artifact: number }

/** What a task is about, as far as its messages have said. */
export interface Request {
  skill?: string
  fields: Record<string, unknown>
  /** Names of fields that no skill knows. Some skills ask about them instead of ignoring them. */
  unknown?: string[]
  /** What a text was taken to ask for, to be said with the result. */
  understood?: string
  /** A question that a text raised, as it was read: the answer is read with it. Nothing is done while it is open. */
  pending?: unknown
}

export interface Task {
  id: string
  contextId: string
  status: Status
  artifacts: Artifact[]
  history: Message[]
  log: LogEntry[]
  request: Request
  dialect: DialectName
  revision: number
  /** How often someone else had to take it over. */
  takeovers: number
}

/** Where a task calls when its state changes. */
export interface PushConfig {
  id: string
  taskId: string
  url: string
  token?: string
  authentication?: { scheme: string; credentials?: string }
  dialect: DialectName
}

/** The task as it was after its first so many entries. */
export function taskAt(task: Task, entries: number): Task {
  if (entries >= task.log.length) return task
  const seen = task.log.slice(0, entries)
  let status = task.status
  let artifacts = 0
  for (const entry of seen) {
    if ('status' in entry) status = entry.status
    else artifacts = Math.max(artifacts, entry.artifact + 1)
  }
  return { ...task, status, artifacts: task.artifacts.slice(0, artifacts), log: seen }
}
