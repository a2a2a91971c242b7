import { PrepareFirst } from '../events/events.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { eventMatches, type PatternMatcher, patternPairs } from '../segments/segments.ts'
import type { Plan } from './plan.ts'
import { eventsSince } from './store.ts'

/** A user on the way, with the values that conditions on the exit event may refer to. */
interface Leaving {
  userId: string
  /** When the user entered: events before count for nothing. */
  since: Date
  properties: Record<string, unknown>
}

/** The users of these whose stored events end their way. Throws `PrepareFirst` for patterns that are not decided yet. */
export async function usersWithExit(
  db: Db,
  projectId: ProjectId,
  { exit }: Plan,
  users: Leaving[],
  patterns: PatternMatcher
): Promise<ReadonlySet<string>> {
  if (!exit || users.length === 0) return new Set()
  const events = await eventsSince(db, projectId, users, [exit.event])
  const unknown = patterns.unknown(events.flatMap(({ properties }) => patternPairs(exit.where, properties)))
  if (unknown.length > 0) throw new PrepareFirst(() => patterns.learn(unknown))
  const propertiesOf = new Map(users.map(({ userId, properties }) => [userId, properties]))
  const now = new Date()
  const ending = events.filter(({ user_id, properties }) =>
    eventMatches(exit.where, { properties, now, trigger: propertiesOf.get(user_id) ?? {}, patterns: patterns.matches })
  )
  return new Set(ending.map(({ user_id }) => user_id))
}
