import type { Pool } from '../../platform/db/db.ts'
import { isObject } from '../../platform/fields.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { ApiCaller } from '../../projects/projects.ts'
import type { Message, Part, Task } from '../model.ts'
import { confirmedSkill } from '../turns/confirming.ts'
import type { Turn } from '../turns/turns.ts'
import { findOpenTasks } from './store.ts'

/** Questions of one context that are named. */
const mostNamed = 5
const longestQuestion = 200

/** The meaning of a message for the open questions of its context. */
export type Addressed =
  /** It answers this task. */
  | { taskId: string; message: Message }
  /** Several wait, so the message gets a question of its own. */
  | { which: Turn }

const dataOf = (part: Part): Record<string, unknown> => ('data' in part && isObject(part.data) ? part.data : {})
const namesSkill = (part: Part) => (dataOf(part).skill ?? undefined) !== undefined

/**
 * Finds the open question that a message without a task answers, by its context. Undefined if it begins a task: at
 * once where it names no context, or a skill, unless it says no to a trigger.
 */
export async function addressed(
  pool: Pool,
  projectId: ProjectId,
  { actor }: ApiCaller,
  message: Message
): Promise<Addressed | undefined> {
  const { contextId, taskId, referenceTaskIds = [] } = message
  if (contextId === undefined || taskId !== undefined) return undefined
  const refusal = message.parts.some(namesSkill) ? Object.assign({}, ...message.parts.map(dataOf)) : undefined
  if (refusal && (refusal.skill !== confirmedSkill || refusal.confirm !== false)) return undefined
  const open = await findOpenTasks(pool, projectId, contextId, actor, mostNamed + 1)
  const [only, ...others] = open
  if (!only) return undefined
  const confirmationId = confirmationIn(message)
  if (confirmationId !== undefined) {
    // The id says which question is meant. Where that one is not open here, the message is a task of its own.
    const asked = open.find(({ request }) => request.fields.confirmationId === confirmationId)
    return asked && { taskId: asked.id, message }
  }
  if (refusal) return declined(open, refusal, message)
  if (others.length === 0) return { taskId: only.id, message }
  const referred = open.filter(({ id }) => referenceTaskIds.includes(id))
  if (referred.length === 1) return { taskId: referred[0]!.id, message }
  return named(open, message) ?? { which: askWhich(open) }
}

/** The confirmation that the data of a message names. */
function confirmationIn({ parts }: Message): unknown {
  for (const part of parts) {
    const { confirmationId, confirmation_id } = dataOf(part)
    const id = confirmationId ?? confirmation_id ?? undefined
    if (id !== undefined) return id
  }
  return undefined
}

/** The only question about the trigger to which data says no. */
function declined(open: Task[], { campaignId, campaign_id }: Record<string, unknown>, message: Message) {
  const campaign = campaignId ?? campaign_id ?? undefined
  const meant = open.filter(
    ({ request: { skill, fields } }) =>
      skill === confirmedSkill && (campaign === undefined || campaign === fields.campaignId)
  )
  return meant.length === 1 ? { taskId: meant[0]!.id, message } : undefined
}

/** A text that begins with the id of an open task answers that one. */
function named(open: Task[], message: Message): Addressed | undefined {
  const [first, ...rest] = message.parts
  const text = first && 'text' in first ? first.text.trimStart() : ''
  const task = open.find(({ id }) => text.toLowerCase().startsWith(id))
  const answer = text.slice(task?.id.length).replace(/^[\s:,]+/, '')
  return task && answer !== ''
    ? { taskId: task.id, message: { ...message, parts: [{ ...first, text: answer }, ...rest] } }
    : undefined
}

function askWhich(open: Task[]): Turn {
  const lines = open.slice(0, mostNamed).map(({ id, status }) => {
    const [part] = status.message?.parts ?? []
    const asks = part && 'text' in part ? part.text : status.state
    return `${id}: ${asks.length > longestQuestion ? `${asks.slice(0, longestQuestion)}…` : asks}`
  })
  const more = open.length > mostNamed ? ['There are more.'] : []
  const reason = [
    'Several questions are open in this context. Send the answer with its taskId, or begin the text with it.',
    ...lines,
    ...more
  ]
  const tasks = open.slice(0, mostNamed).map(({ id }) => id)
  return {
    kind: 'stop',
    state: 'input-required',
    request: { fields: {}, asksWhich: true },
    reason: reason.join('\n'),
    data: { openTasks: tasks }
  }
}
