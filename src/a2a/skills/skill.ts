import type { TSchema } from '@sinclair/typebox'
import type { Reach } from '../../oversight/oversight.ts'
import type { Db } from '../../platform/db/db.ts'
import type { IdempotencyKey } from '../../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { ApiCaller, Permit } from '../../projects/projects.ts'
import type { DrawnUser } from '../../users/users.ts'
import type { Part } from '../model.ts'
import type { SkillText } from '../text/skill-text.ts'
import type { Capabilities } from './capabilities.ts'
import type { Settled } from './spellings.ts'

/**
 * The effect of a skill: `read` changes nothing, `write` changes data of the project, `send` reaches people, and `stop`
 * ends what another action began.
 */
export type Effect = 'read' | 'write' | 'send' | 'stop'

/** A route of /api/v1 as its documentation names it. */
export type RestRoute = `${'GET' | 'POST'} /${string}`

/** Data and metadata that a task sends with its sentence. */
export interface Beside {
  /** A data part of the message. */
  data?: Record<string, unknown>
  /** The metadata of the message. */
  metadata?: Record<string, unknown>
}

/** How a skill ended. `reason` is one or two sentences for the caller. */
export type Outcome = Beside & Ending

type Ending =
  /** `earlier`: the effect is that of an earlier call with the same key. */
  | { kind: 'completed'; artifacts: Result[]; reason?: string; earlier?: boolean }
  /** The skill began and could not finish. Its artifacts show the part that was done. */
  | { kind: 'failed'; reason: string; artifacts?: Result[] }
  /** The skill did not begin, because the request cannot be carried out. */
  | { kind: 'rejected'; reason: string }
  /** The skill did nothing, or undid everything, because the task is to be canceled. */
  | { kind: 'canceled'; reason: string }
  /** The skill needs more input or a setup; the next message goes on with the task. */
  | { kind: 'input-required' | 'auth-required'; reason: string }

export interface Result {
  name: string
  parts: Part[]
}

export interface SkillCall {
  projectId: ProjectId
  taskId: string
  /** The id of this run of the task. A message that goes on with the task begins a new run; a takeover keeps the id. */
  runId: string
  /** When this run began. A takeover keeps the time. */
  begunAt: Date
  messageId: string
  /** The sender of the task, also if another node runs the task later. */
  caller: ApiCaller
  fields: Record<string, unknown>
  /** The limits that the policy of the caller sets. */
  permit?: Permit | undefined
  /**
   * Aborted when the task is to be canceled, took too long, or its node stops. A skill that has done nothing yet may throw
   * the signal's reason.
   */
  signal: AbortSignal
}

export type TogetherCall = Pick<SkillCall, 'runId' | 'fields'>

export type EffectKey = Pick<IdempotencyKey, 'scope' | 'key'>

/** The user that a call will put and the outcome it will have, known before it runs. */
export interface Ahead {
  /** Contains an id that was drawn for the user. A new user gets this id; for an existing one, `learn` replaces it. */
  user: DrawnUser
  outcome: Outcome
  /** Puts the id that the user really has into the outcome. */
  learn(id: string): void
}

export interface Skill {
  id: string
  name: string
  description: string
  tags: string[]
  /** Phrasings for the card. */
  examples: string[]
  effect: Effect
  /** The routes that do the same: a key that may use the skill may call them. */
  rest: readonly RestRoute[]
  /** Left off the contract's cards: only a client that names our extension sees it there. Every client can call it. */
  extension?: true
  /** Data that asks for it, for forms and docs. */
  example: Record<string, unknown>
  /** The name of its artifact, and an example of its data, for the docs. */
  artifact?: { name: string; example: object }
  /** Exceptions from the rules that the docs give for all skills. */
  exception?: string
  /** The grammar of its texts. A skill without one takes data only. */
  text?: SkillText
  /** The fields, for checking and for the docs. An absent field of `required` is asked for. */
  schema: TSchema
  /** The data of its artifact, in the form that agents read. */
  output: TSchema
  /** Other spellings that it accepts, such as the REST API's; `settle` turns them into fields of the schema. */
  spellings?: Record<string, TSchema>
  /** Turns other spellings of a request into the fields of the schema, so that later steps know only these. */
  settle?(fields: Record<string, unknown>): Settled
  /**
   * Makes the skill ask about unknown fields, with this advice, because ignoring such a field could do more than the
   * caller meant. Other skills ignore unknown fields.
   */
  asksAboutUnknown?: string
  /** Groups of fields of which a request must have at least one each. */
  oneOf?: readonly (readonly string[])[]
  /** Returns the field that is not even checked, because another one is given. */
  ignores?(fields: Record<string, unknown>): string | undefined
  /** Whether the skill counts against the campaign triggers a second of the project's plan. */
  triggers?: true
  /** The people that a request reaches, for policies and approvals. Skills of the effect `send` have it. */
  reach?(fields: Record<string, unknown>): Reach
  /** Must have its effect once per run id: another node runs it again when the first one dies. */
  run(call: SkillCall): Promise<Outcome>
  /**
   * The key that the effect of a run claims in its own transaction. A cancel claims the same key: the first of the two gets
   * it, and the other one does nothing. Without such a key a cancel waits for the end of the run.
   */
  effectKey?(call: TogetherCall): EffectKey
  /** Undoes the effect of a run as far as possible, and returns what remains of it. */
  undo?(call: SkillCall, done: Outcome & { kind: 'completed' }): Promise<Outcome>
  /**
   * For skills that only write to our own database: runs many calls of one project in the transaction that writes their
   * tasks, so that both happen once or not at all. Returns outcomes by position; throws only for errors that concern no single call.
   */
  runTogether?(tx: Db, projectId: ProjectId, calls: TogetherCall[]): Promise<Outcome[]>
  /**
   * Predicts what `runTogether` will do, if it can only succeed or fail together with the task. Otherwise undefined.
   */
  foresee?(call: TogetherCall): Ahead | undefined
}

/** Makes a skill from the capabilities that it calls. */
export type MakeSkill = (does: Capabilities) => Skill & Required<Pick<Skill, 'artifact'>>

export const result = (name: string, data: Record<string, unknown>): Result => ({ name, parts: [{ data }] })
