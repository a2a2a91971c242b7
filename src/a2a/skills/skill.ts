import type { TSchema } from '@sinclair/typebox'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { DrawnUser } from '../../users/users.ts'
import type { Part } from '../model.ts'
import type { Settled } from './spellings.ts'

/** How a skill ended. `reason` is one or two sentences for whoever asked. */
export type Outcome =
  | { kind: 'completed'; artifacts: Result[]; reason?: string }
  /** It was begun and could not be finished. What there is to show is shown. */
  | { kind: 'failed'; reason: string; artifacts?: Result[] }
  /** It was not begun: the request is not one that can be done. */
  | { kind: 'rejected'; reason: string }
  /** It can be done once something is given or set up; a further message goes on. */
  | { kind: 'input-required' | 'auth-required'; reason: string }

export interface Result {
  name: string
  parts: Part[]
}

export interface SkillCall {
  projectId: ProjectId
  taskId: string
  /** Of this run of the task: another after each message that goes on with it, the same when a node takes it over. */
  runId: string
  /** When this run began; the same when a node takes it over. */
  begunAt: Date
  messageId: string
  fields: Record<string, unknown>
  /** Aborted when the task was canceled, took too long, or its node stops. */
  signal: AbortSignal
}

export type TogetherCall = Pick<SkillCall, 'runId' | 'fields'>

/** What a call will do and how it will end, before anything is done. */
export interface Ahead {
  /** With the id that it gets if it is new. That id stands in the outcome until `learn`. */
  user: DrawnUser
  outcome: Outcome
  /** Tells the id that the user has. */
  learn(id: string): void
}

export interface Skill {
  id: string
  name: string
  description: string
  tags: string[]
  /** Phrasings for the card. */
  examples: string[]
  /** The fields, for checking and for the docs. `required` holds what a caller is asked for when it is absent. */
  schema: TSchema
  /** Other spellings that are taken too, such as the REST API's; `settle` turns them into fields of the schema. */
  spellings?: Record<string, TSchema>
  /** Turns other spellings of a request into the fields of the schema, so that all that follows knows only these. */
  settle?(fields: Record<string, unknown>): Settled
  /** A field that it does not know is asked about, since ignoring it may do more than was meant. Else it is ignored. */
  asksAboutUnknown?: true
  /** Of each of these groups at least one must be given. */
  oneOf?: readonly (readonly string[])[]
  /** The field that is not looked at, not even to see whether it fits, since another one is given. */
  ignores?(fields: Record<string, unknown>): string | undefined
  /** Whether it counts as a campaign trigger, of which a project has so many a second by its plan. */
  triggers?: true
  /** Doing it twice under one run id must be doing it once: another node takes it over when the first one dies. */
  run(call: SkillCall): Promise<Outcome>
  /**
   * Where all it does is in our own database: does many calls of one project in the transaction that writes their
   * tasks, so that both happen once or not at all. Answers by position; throws only for what no call is at fault for.
   */
  runTogether?(tx: Db, projectId: ProjectId, calls: TogetherCall[]): Promise<Outcome[]>
  /** What `runTogether` would do, where it is sure to be done or to fail with the task. Else undefined. */
  foresee?(call: TogetherCall): Ahead | undefined
}

export const result = (name: string, data: Record<string, unknown>): Result => ({ name, parts: [{ data }] })
