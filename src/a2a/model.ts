import type { Permit } from '../projects/projects.ts'
import type { TaskState } from './states.ts'

// A task in the service's own terms. The dialects spell it for each kind of client.

export { type TaskState, taskStates } from './states.ts'

export type DialectName = 'plain' | 'official' | 'legacy'

const ended = new Set<TaskState>(['completed', 'failed', 'canceled', 'rejected'])
const waiting = new Set<TaskState>(['input-required', 'auth-required'])

/** Whether a task in this state has ended for good. */
export const isTerminal = (state: TaskState): boolean => ended.has(state)
/** Whether a task in this state waits for its caller. */
export const isInterrupted = (state: TaskState): boolean => waiting.has(state)
/** Whether a blocking call returns, and a stream closes, in this state. */
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
  /** An RFC 3339 time in UTC with milliseconds. */
  at: string
  message?: Message
}

/** The log of a task, in order. Streams and webhooks on every node replay it. */
export type LogEntry = { status: Status } | { artifact: number }

/** The request that a task's messages have made so far. */
export interface Request {
  skill?: string
  fields: Record<string, unknown>
  /** Names of fields that no skill knows. Some skills ask about them instead of ignoring them. */
  unknown?: string[]
  /** How a text was understood; the result repeats it. */
  understood?: string
  /**
   * The reading that raised an open question. The reader of the answer takes it into account; until then nothing runs.
   */
  pending?: unknown
  /** It asks which of several questions a message answers, and is none of them. */
  asksWhich?: true
  /** The approval that the request waits for. Only a decision about it lets the task go on. */
  approvalId?: string
  /** The limits within which a policy lets the request reach people. */
  permit?: Permit
}

/** The sender of a task's first message. */
export interface Asker {
  /** The name of the sender in the audit log. */
  actor: string
  keyId?: string
  keyName?: string
  /** The first key of the chain of rotations, if that is another one. */
  originId?: string
  /** The name that the agent gave itself. */
  agent?: string
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
  /** The number of times that another node took the task over. */
  takeovers: number
  /** Tasks that earlier versions stored have none. */
  by?: Asker
  /**
   * A cancel arrived during a run that may already have had an effect. The run ends the task and undoes what it can.
   */
  cancelRequested?: true
}

/** A webhook that a task calls when its state changes. */
export interface PushConfig {
  id: string
  taskId: string
  url: string
  token?: string
  authentication?: { scheme: string; credentials?: string }
  dialect: DialectName
}

/** The task as it was after the first `entries` entries of its log. */
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
