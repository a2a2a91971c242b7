import { hash } from 'node:crypto'
import type { Oversight } from '../oversight/oversight.ts'
import type { Pool } from '../platform/db/db.ts'
import { findClaims } from '../platform/idempotency/idempotency.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { ApiCaller } from '../projects/projects.ts'
import { defaultDialect } from './dialects/choose.ts'
import { AgentError } from './errors.ts'
import { isInterrupted, type Message, type Task } from './model.ts'
import { canonical } from './operations.ts'
import type { Skill } from './skills/skill.ts'
import type { Skills } from './skills/skills.ts'
import { triggerCommandOf } from './skills/trigger-campaign/command.ts'
import type { Answer, MessageKey, Work } from './tasks/beginnings.ts'
import type { Engine } from './tasks/engine.ts'
import type { Tasks } from './tasks/tasks.ts'
import type { ReadText } from './turns/meaning.ts'
import { isForbidden } from './turns/policed.ts'
import type { Turn } from './turns/turn.ts'
import { takeTurn } from './turns/turns.ts'

/** A request to a skill that arrived by another protocol. */
export interface Performance {
  caller: ApiCaller
  agent: string | undefined
  skill: Skill
  fields: Record<string, unknown>
  /** The key of the request, so that a repeat has no second effect. */
  key: string | undefined
  admit: (skill: Skill) => undefined | Promise<undefined>
}

/** The task in its present state, or the missing and wrong fields because of which there is none. */
export type Performed = { task: Task } | { refused: string }

interface Needs {
  pool: Pool
  engine: Engine
  tasks: Tasks
  skills: Skills
  readText: ReadText
  oversight: Pick<Oversight, 'audienceOf'>
}

const scope = 'mcp' as const

/**
 * Performs a skill for a protocol without conversations. The request becomes a task like that of a message with data,
 * so it runs once, survives a crash of its node and passes the same oversight. Such a protocol cannot answer a
 * question, so an incomplete request creates no task. A broadcast needs the id of a preview, whatever the policy of the
 * key says.
 */
export const createPerform =
  ({ pool, engine, tasks, skills, readText, oversight }: Needs) =>
  async ({ caller, agent, skill, fields, key: given, admit }: Performance): Promise<Performed> => {
    const projectId = caller.project.id
    const data = { ...fields, skill: skill.id }
    const message: Message = { messageId: given ?? newId(), role: 'user', parts: [{ data }] }
    const text = canonical(data)
    // Each API key has idempotency keys of its own: what another one did is not shown to it. A key that replaced another
    // one goes on with those of the first key of its chain.
    const owner = caller.key ? `key ${caller.key.originId}` : caller.actor
    const named = `${owner} ${message.messageId}`
    const key = { scope, key: named, fingerprint: hash('sha256', text, 'hex'), bytes: text.length }
    const first = given === undefined ? undefined : await firstTask(pool, projectId, key)
    if (first !== undefined) return { task: await tasks.find(projectId, first) }
    const turn = await takeTurn(message, undefined, { skills, readText })
    // The engine rejects a skill that the policy forbids. Its caller is asked for no field, and does not learn whether
    // this is a broadcast.
    const forbidden = isForbidden(caller, skill)
    // A no becomes a task, which ends the confirmation that it names.
    if (turn.kind === 'stop' && turn.state !== 'canceled' && !forbidden) return { refused: turn.reason }
    const { broadcast, campaignVersion } = forbidden ? {} : await audienceOf(oversight, projectId, turn)
    if (broadcast) return { refused: previewFirst }
    // The default audience of this version was checked. A change of the campaign at this moment may bring another one, so
    // the trigger is bound to the version.
    const { campaignVersion: wanted = campaignVersion } = turn.request.fields
    if (wanted !== campaignVersion && campaignVersion !== undefined)
      return { refused: `The campaign has version ${campaignVersion} now, not ${wanted}.` }
    if (campaignVersion !== undefined) message.parts = [{ data: { ...data, campaignVersion } }]
    const sending = { message, immediately: false, historyLength: undefined, config: undefined }
    const { settled } = await engine.take(projectId, sending, defaultDialect('1.0'), { caller, agent, key, admit })
    const task = await settled
    // A repeat of a task that stopped returns the task as it was then; it may have gone on since.
    return { task: isInterrupted(task.status.state) ? await tasks.find(projectId, task.id) : task }
  }

const previewFirst =
  'This is a broadcast, and a broadcast needs a confirmationId. Call preview-campaign with the same arguments, show its result to the person you act for, and call trigger-campaign again with the confirmationId in it.'

/** The audience of a trigger that no preview has shown. */
async function audienceOf(
  oversight: Needs['oversight'],
  projectId: ProjectId,
  turn: Turn
): Promise<{ broadcast?: boolean; campaignVersion?: number }> {
  const { fields } = turn.request
  if (turn.kind === 'stop' || !turn.skill.triggers || fields.confirmationId !== undefined) return {}
  return oversight.audienceOf(projectId, triggerCommandOf(fields))
}

/** The id of the task that the first request with this key made. */
async function firstTask(pool: Pool, projectId: ProjectId, key: MessageKey): Promise<string | undefined> {
  const claim = (await findClaims<Work, Answer>(pool, projectId, [key])).get(key.key)
  if (claim?.state === 'other')
    throw new AgentError('key_used', 'This idempotencyKey was used with other arguments: give each action its own.')
  if (claim?.state === 'answered') return 'task' in claim.answer ? claim.answer.task.id : claim.answer.taskId
  return claim?.state === 'running' ? claim.work?.taskId : undefined
}
