import { PrepareFirst } from '../events/events.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { eventMatches, type PatternMatcher, patternPairs } from '../segments/segments.ts'
import type { Plan } from './plan.ts'
import { eventsAtOnce, eventsSince } from './store.ts'

/** Events of a user are looked through up to this many times `eventsAtOnce`. */
const mostRounds = 50

/** A user on the way, with the values that conditions on the exit event may refer to. */
interface Leaving {
  userId: string
  /** When the user entered: events before count for nothing. */
  since: Date
  after?: string
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
  const leaving = new Set<string>()
  const now = new Date()
  let rest = users
  for (let round = 0; exit && rest.length > 0 && round < mostRounds; round += 1) {
    const events = await eventsSince(db, projectId, rest, [exit.event])
    const unknown = patterns.unknown(events.flatMap(({ properties }) => patternPairs(exit.where, properties)))
    if (unknown.length > 0) throw new PrepareFirst(() => patterns.learn(unknown))
    const eventsOf = Map.groupBy(events, ({ user_id }) => user_id)
    rest = rest.flatMap((user) => {
      const own = eventsOf.get(user.userId) ?? []
      const values = { now, trigger: user.properties, patterns: patterns.matches }
      if (own.some(({ properties }) => eventMatches(exit.where, { ...values, properties }))) leaving.add(user.userId)
      else if (own.length === eventsAtOnce) return [{ ...user, since: own.at(-1)!.at, after: own.at(-1)!.id }]
      return []
    })
  }
  return leaving
}
