import type { Db } from '../platform/db/db.ts'
import { refusing } from '../platform/fields.ts'
import type { ProjectId } from '../platform/ids.ts'
import { readTime, timeRule } from '../platform/time.ts'
import type { ApiCaller } from '../projects/projects.ts'
import { type Choices, consent as store } from '../users/users.ts'
import { type ChoiceChange, chosen, type GivenConsent } from './choices.ts'

export type Via = store.Via

export interface Consent extends Via {
  /** Null: messages at all. */
  topic: string | null
  granted: boolean
  at: Date
  recorded_at: Date
  source: string | null
  text: string | null
}

/** The kind of the caller. A secret key with a policy is one that was made for an agent. */
export function viaOf({ actor, key }: ApiCaller): Via {
  if (!key) return { via: actor.startsWith('member ') ? 'member' : 'token', actor }
  return { via: key.policy ? 'agent' : key.kind === 'public' ? 'public_key' : 'secret_key', actor }
}

/** Clocks of callers may be ahead of this one. */
const mostAheadMs = 300_000
const refuse = refusing('invalid_parameter')

/** When the person chose: now, unless the caller knows better. */
function timeOf({ at }: GivenConsent, now: Date): Date {
  if (at === undefined) return now
  const read = readTime(at)
  if (!read) throw refuse('consent.at', timeRule)
  if (read.getTime() > now.getTime() + mostAheadMs) throw refuse('consent.at', 'must not be in the future')
  return read
}

type Decision = { topic: string; granted: boolean }

/** Each yes and no of a change. Null restores a default, which is no choice of the person. */
const decisionsIn = ({ opted_out, topics }: ChoiceChange): Decision[] => [
  ...(typeof opted_out === 'boolean' ? [{ topic: store.everything, granted: !opted_out }] : []),
  ...Object.entries(topics ?? {}).flatMap(([topic, granted]) => (granted === null ? [] : [{ topic, granted }]))
]

const isNew = (before: Choices | null, { topic, granted }: Decision): boolean =>
  topic === store.everything ? (before?.out ?? false) === granted : chosen(before, topic) !== granted

/**
 * Keeps the evidence of a change. Without a `consent` it has only the time and the caller, and a repeated choice does not
 * replace what is known of the first one.
 */
export async function recordConsent(
  tx: Db,
  projectId: ProjectId,
  { userId, before, wanted, by }: { userId: string; before: Choices | null; wanted: ChoiceChange; by: Via }
): Promise<void> {
  const { consent } = wanted
  const decisions = decisionsIn(wanted)
  if (consent && decisions.length === 0)
    throw refuse('consent', 'must come with a choice: opted_out or a topic, true or false')
  const kept = consent ? decisions : decisions.filter((decision) => isNew(before, decision))
  const now = new Date()
  const at = consent ? timeOf(consent, now) : now
  if (kept.length === 0) return
  const said = { source: consent?.source ?? null, wording: consent?.text ?? null }
  await store.putConsents(tx, projectId, userId, kept, { ...by, ...said, at, recordedAt: now })
}

/** The latest yes and the latest no to each topic, and to messages at all, which come first. */
export const consentsOf = async (db: Db, projectId: ProjectId, userId: string): Promise<Consent[]> =>
  (await store.consentsOf(db, projectId, userId)).map(({ topic, wording, ...rest }) => ({
    topic: topic === store.everything ? null : topic,
    granted: rest.granted,
    at: rest.at,
    recorded_at: rest.recorded_at,
    source: rest.source,
    text: wording,
    via: rest.via,
    actor: rest.actor
  }))
