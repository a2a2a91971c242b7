import { isObject } from '../../platform/fields.ts'
import { isInterrupted, type Message, type Part, type Task } from '../model.ts'

/** One step of a task as a person reads it: a message of the agent, a state with its reason, or a result. */
export interface Step {
  kind: 'message' | 'state' | 'result'
  /** Null for messages of the agent, which carry no time. */
  at: string | null
  /** The name of the state, for a state. */
  state: string | null
  /** The name of the artifact, for a result. */
  name: string | null
  text: string | null
  data: unknown[]
}

export interface TaskRecord {
  id: string
  context_id: string
  state: string
  begun_at: string
  changed_at: string
  asked_by: {
    actor: string | null
    /** Null for a key, whose name is key_name, and for a forgotten name. */
    actor_name: string | null
    key_id: string | null
    key_name: string | null
    agent: string | null
  }
  /** The first message, shortened to one line: its text, its skill, or the confirmation that it answers. */
  request: string
  /** The skill and the fields that the messages led to. */
  understood: { skill: string | null; fields: Record<string, unknown>; text: string | null } | null
  steps: Step[]
}

/** The record of a task for people: the sender, the messages, the questions and the results. */
export function recordOf(task: Task, actorName: string | null): TaskRecord {
  const { id, contextId, status, by, log } = task
  const first = log.find((entry) => 'status' in entry)
  return {
    id,
    context_id: contextId,
    state: status.state,
    begun_at: first && 'status' in first ? first.status.at : status.at,
    changed_at: status.at,
    asked_by: {
      actor: by?.actor ?? null,
      actor_name: by?.keyId === undefined ? actorName : null,
      key_id: by?.keyId ?? null,
      key_name: by?.keyName ?? null,
      agent: by?.agent ?? null
    },
    request: requestOf(task),
    understood: understoodOf(task),
    steps: stepsOf(task)
  }
}

/** Messages that came as data say themselves what they ask for; a text leads to the request that is stored. */
function understoodOf({ request, history }: Task): TaskRecord['understood'] {
  const { skill, fields, understood = null } = request
  const given = history.filter(({ role }) => role === 'user').flatMap(({ parts }) => contentOf(parts).data)
  const data: Record<string, unknown> = Object.assign({}, ...given.filter(isObject))
  const named = skill ?? (typeof data.skill === 'string' ? data.skill : null)
  const { skill: _, ...asked } = skill === undefined ? data : fields
  return named === null ? null : { skill: named, fields: asked, text: understood }
}

const longestRequest = 200

function requestOf({ history }: Task): string {
  const parts = history.find(({ role }) => role === 'user')?.parts ?? []
  const text = parts.flatMap((part) => ('text' in part ? part.text : [])).join(' ')
  const request = text || namedBy(Object.assign({}, ...contentOf(parts).data.filter(isObject)))
  // The cut may fall into a character that takes two.
  return request.slice(0, longestRequest).toWellFormed()
}

/** The skill that data names, or the confirmation that it answers. */
function namedBy({ skill, confirmationId, confirmation_id, confirm }: Record<string, unknown>): string {
  if (typeof skill === 'string') return skill
  const id = confirmationId ?? confirmation_id
  return typeof id === 'string' ? `${confirm === false ? 'decline' : 'confirm'} ${id}` : ''
}

/** States and results in the order of the log, with each message of the agent behind the question that it answers. */
function stepsOf({ history, log, artifacts }: Task): Step[] {
  const answers = answersOf(history)
  const steps: Step[] = [...(answers.get(undefined) ?? [])]
  for (const entry of log) {
    if ('artifact' in entry) {
      const { name, parts } = artifacts[entry.artifact]!
      steps.push({ ...contentOf(parts), kind: 'result', at: null, state: null, name })
      continue
    }
    const { state, at, message } = entry.status
    const { text, data } = contentOf(message?.parts ?? [])
    const shown = message?.metadata ? [...data, message.metadata] : data
    steps.push({ kind: 'state', at, state, name: null, text, data: shown })
    if (isInterrupted(state)) steps.push(...(answers.get(message?.messageId) ?? []))
  }
  return steps
}

/** Messages of the agent, by the question before each. The first messages have none. */
function answersOf(history: Message[]): Map<string | undefined, Step[]> {
  const answers = new Map<string | undefined, Step[]>()
  let question: string | undefined
  for (const { role, messageId, parts } of history) {
    if (role === 'agent') question = messageId
    else {
      const step: Step = { ...contentOf(parts), kind: 'message', at: null, state: null, name: null }
      answers.set(question, [...(answers.get(question) ?? []), step])
    }
  }
  return answers
}

function contentOf(parts: Part[]): Pick<Step, 'text' | 'data'> {
  const texts = parts.flatMap((part) => ('text' in part ? part.text : []))
  return {
    text: texts.length > 0 ? texts.join('\n') : null,
    data: parts.flatMap((part) => ('data' in part ? [part.data] : []))
  }
}
