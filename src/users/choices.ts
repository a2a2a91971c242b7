import type { Refusal } from '../platform/errors.ts'
import { isAbsent, isObject, refusing } from '../platform/fields.ts'
import type { Choices } from './choice-store.ts'

/** A project has no more topics. */
const mostTopics = 200

/** The preferences of a user, as an export writes them. */
export function choicesIn(user: unknown): Choices | undefined | Refusal {
  const given = isObject(user) ? user.preferences : undefined
  if (isAbsent(given)) return undefined
  const { opted_out = false, topics = {} } = isObject(given) ? given : { topics: null }
  const names = isObject(topics) ? Object.entries(topics) : undefined
  const sound = names?.every(([name, wanted]) => /^[a-z0-9_-]{1,64}$/.test(name) && typeof wanted === 'boolean')
  if (!sound || names!.length > mostTopics || typeof opted_out !== 'boolean')
    return refusing('invalid_parameter')('preferences', 'must be {"opted_out": false, "topics": {"offers": true}}')
  return { ...(opted_out && { out: true }), ...(names!.length > 0 && { topics: topics as Record<string, boolean> }) }
}

/** The choices of an entry, with the project_user_id of its user. */
export type GivenChoices = readonly [projectUserId: string, choices: Choices]

/** The choices of each user, of whom several entries may have some. Of a yes and a no, the no wins. */
export function choicesByUser(given: readonly GivenChoices[]): Map<string, Choices> {
  const byUser = new Map<string, Choices>()
  for (const [user, choices] of given) byUser.set(user, stricter(byUser.get(user) ?? {}, choices))
  return byUser
}

function stricter(one: Choices, two: Choices): Choices {
  const topics = new Map(Object.entries(one.topics ?? {}))
  for (const [topic, wanted] of Object.entries(two.topics ?? {}))
    topics.set(topic, wanted && topics.get(topic) !== false)
  return { ...((one.out || two.out) && { out: true }), ...(topics.size > 0 && { topics: Object.fromEntries(topics) }) }
}
