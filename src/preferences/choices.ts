import type { Choices } from '../users/users.ts'

/** The fields of a campaign that decide whose no it respects. */
export interface Chosen {
  topic?: string | undefined
  transactional?: boolean | undefined
  live_activity?: unknown
}

/** Such messages ignore preferences and the limits of the project. Live Activities count as transactional. */
export const isTransactional = ({ transactional, live_activity }: Chosen): boolean =>
  transactional === true || live_activity !== undefined

/** By topic: whether users who have made no choice receive it. */
export type TopicDefaults = ReadonlyMap<string, boolean>

/** Why a user does not want a campaign; undefined: the user may receive it. */
export function refusalBy(
  choices: Choices | null,
  campaign: Chosen,
  defaults: TopicDefaults
): 'opted_out' | 'topic_opted_out' | undefined {
  if (isTransactional(campaign)) return undefined
  if (choices?.out) return 'opted_out'
  const { topic } = campaign
  if (topic === undefined) return undefined
  return (chosen(choices, topic) ?? defaults.get(topic) ?? true) ? undefined : 'topic_opted_out'
}

/** The choice of a user for a topic. A topic may be called constructor, which every object inherits. */
export const chosen = (choices: Choices | null, topic: string): boolean | undefined =>
  choices?.topics && Object.hasOwn(choices.topics, topic) ? choices.topics[topic] : undefined

/** What a caller says about the consent of a person. */
export interface GivenConsent {
  source: string
  text?: string | undefined
  at?: string | undefined
}

/** A change of preferences. Null restores the default, absent changes nothing. */
export interface ChoiceChange {
  opted_out?: boolean | null | undefined
  topics?: Record<string, boolean | null> | null | undefined
  consent?: GivenConsent | undefined
}

/** The choices after a change; null if none is left. */
export function changed(choices: Choices | null, { opted_out, topics }: ChoiceChange): Choices | null {
  const out = opted_out === undefined ? choices?.out : opted_out === true || undefined
  const merged = { ...choices?.topics, ...topics }
  const wanted = Object.entries(merged).filter((entry): entry is [string, boolean] => entry[1] !== null)
  const next = { ...(out && { out }), ...(wanted.length > 0 && { topics: Object.fromEntries(wanted) }) }
  return Object.keys(next).length > 0 ? next : null
}

export interface Preferences {
  opted_out: boolean
  topics: Record<string, boolean>
}

/** The preferences as callers see them: every topic of the project, with the default where the user has made no choice. */
export const shown = (
  choices: Choices | null,
  topics: readonly { id: string; subscribed: boolean }[]
): Preferences => ({
  opted_out: choices?.out ?? false,
  topics: Object.fromEntries(topics.map(({ id, subscribed }) => [id, chosen(choices, id) ?? subscribed]))
})
