import { PrepareFirst } from '../events/events.ts'
import type { Db } from '../platform/db/db.ts'
import { type ProjectId, timeOfId } from '../platform/ids.ts'
import { eventMatches, type PatternMatcher, patternPairs } from '../segments/segments.ts'
import type { Journey } from './journey.ts'
import { eventsAtOnce, eventsSince, exitJourneys } from './leaving-store.ts'
import { type Awaited, keepUntil, type Plan } from './plan.ts'

/** Events of a user are looked through up to this many times `eventsAtOnce`. */
const mostRounds = 50

/** A user on the way, with the values that conditions on the event may refer to. */
interface Leaving {
  userId: string
  /** When the user entered: events before count for nothing. */
  since: Date
  after?: string
  until?: Date
  properties: Record<string, unknown>
}

/** The users of these who sent the event, as stored. Throws `PrepareFirst` for patterns that are not decided yet. */
export async function usersWithEvent(
  db: Db,
  projectId: ProjectId,
  awaited: Awaited | undefined,
  users: Leaving[],
  patterns: PatternMatcher
): Promise<ReadonlySet<string>> {
  const leaving = new Set<string>()
  const now = new Date()
  let rest = users
  for (let round = 0; awaited && rest.length > 0 && round < mostRounds; round += 1) {
    const { event, where } = awaited
    const events = await eventsSince(db, projectId, rest, [event])
    const unknown = patterns.unknown(events.flatMap(({ properties }) => patternPairs(where, properties)))
    if (unknown.length > 0) throw new PrepareFirst(() => patterns.learn(unknown))
    const eventsOf = Map.groupBy(events, ({ user_id }) => user_id)
    rest = rest.flatMap((user) => {
      const own = eventsOf.get(user.userId) ?? []
      const values = { now, trigger: user.properties, patterns: patterns.matches }
      if (own.some(({ properties }) => eventMatches(where, { ...values, properties }))) leaving.add(user.userId)
      else if (own.length === eventsAtOnce) return [{ ...user, since: own.at(-1)!.at, after: own.at(-1)!.id }]
      return []
    })
  }
  return leaving
}

/** Longer than any transaction that writes journeys. */
const writingMs = 3_600_000

interface Due {
  plan: Plan
  step: number
  members: Journey[]
  /** Values that all members share. */
  properties: Record<string, unknown>
  patterns: PatternMatcher
  now: Date
}

/**
 * Ends the journeys of users who left while their journeys were being written: the worker that handled the event did not see
 * them yet. Looks only before the first message that follows the beginning of a journey; from then on every worker sees it.
 * Returns the others.
 */
export async function withoutUnseenExits(tx: Db, projectId: ProjectId, due: Due): Promise<Journey[]> {
  const { plan, step, members, properties, patterns, now } = due
  if (step !== (plan.delayMs > 0 ? 0 : 1)) return members
  const users = members.map(({ id, user_id, entered_at, properties: own }) => ({
    userId: user_id,
    since: entered_at,
    // The event that began a journey may have arrived late. The id of the journey has the time at which it was handled.
    until: new Date(Math.max(entered_at.getTime(), timeOfId(id)) + writingMs),
    properties: { ...properties, ...own }
  }))
  const reasonOf = new Map<string, string>()
  for (const awaited of step === 0 ? [plan.exit, plan.unless] : [plan.exit])
    for (const userId of await usersWithEvent(tx, projectId, awaited, users, patterns))
      reasonOf.set(userId, awaited!.event)
  if (reasonOf.size === 0) return members
  const keep_until = keepUntil(plan, { state: 'exited', step }, now)
  const exits = members.flatMap(({ id, user_id }) => {
    const reason = reasonOf.get(user_id)
    return reason === undefined ? [] : { id, reason, keep_until }
  })
  await exitJourneys(tx, projectId, exits, now)
  return members.filter(({ user_id }) => !reasonOf.has(user_id))
}
