import { PrepareFirst } from '../events/events.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { type ProjectId, timeOfId } from '../platform/ids.ts'
import { eventMatches, type PatternMatcher, patternPairs, referencesIn } from '../segments/segments.ts'
import type { Journey } from './journey.ts'
import { eventsAtOnce, eventsSince, exitJourneys } from './leaving-store.ts'
import { type Awaited, keepUntil, type Plan } from './plan.ts'

/** Events of a user are looked through up to this many times `eventsAtOnce`. */
const mostRounds = 50
/** Users whose events are read at once, because each event may have 64 KiB of properties. */
const usersAtOnce = 100

type Properties = Readonly<Record<string, unknown>>

/** A user on the way. */
interface Leaving {
  userId: string
  /** When the user entered: events before count for nothing. */
  since: Date
  until?: Date
  /** The values that conditions on the event may refer to. Those that many users share are never copied for each of them. */
  own: Properties
  shared: Properties
}

/**
 * The users of these who sent the event, as stored. Where its conditions have patterns, `db` must be the pool: patterns are
 * decided on another connection, for which a transaction would wait while it holds one.
 */
export async function thoseWhoSent<One extends Leaving>(
  db: Db,
  projectId: ProjectId,
  awaited: Awaited,
  users: One[],
  patterns: PatternMatcher
): Promise<Set<One>> {
  const found = new Set<One>()
  for (let at = 0; at < users.length; at += usersAtOnce)
    for (const one of await lookUp(db, projectId, awaited, users.slice(at, at + usersAtOnce), patterns)) found.add(one)
  return found
}

async function lookUp<One extends Leaving>(
  db: Db,
  projectId: ProjectId,
  { event, where }: Awaited,
  users: One[],
  patterns: PatternMatcher
): Promise<One[]> {
  const found: One[] = []
  const now = new Date()
  const names = [...new Set(referencesIn({ all: where }).map(([name]) => name!))]
  // Without conditions, any event decides.
  const most = where.length === 0 ? 1 : eventsAtOnce
  let rest = users.map((user) => ({ user, from: user.since, after: undefined as string | undefined }))
  for (let round = 0; rest.length > 0 && round < mostRounds; round += 1) {
    const places = rest.map(({ user, from, after }) => ({ userId: user.userId, since: from, after, until: user.until }))
    const events = await eventsSince(db, projectId, places, [event], most)
    const matches = await patterns.decide(events.flatMap(({ properties }) => patternPairs(where, properties)))
    const eventsOf = Map.groupBy(events, ({ place }) => place)
    rest = rest.flatMap(({ user }, place) => {
      const sent = eventsOf.get(place) ?? []
      const values = { now, trigger: valuesOf(user, names), patterns: matches }
      if (sent.some(({ properties }) => eventMatches(where, { ...values, properties }))) found.push(user)
      else if (sent.length === most) return [{ user, from: sent.at(-1)!.at, after: sent.at(-1)!.id }]
      return []
    })
  }
  return found
}

/** The values of these names: a trigger may have thousands of others. */
const valuesOf = ({ own, shared }: Leaving, names: string[]): Properties =>
  Object.fromEntries(
    names.flatMap((name) => {
      const values = Object.hasOwn(own, name) ? own : shared
      return Object.hasOwn(values, name) ? [[name, values[name]]] : []
    })
  )

/** Longer than any transaction that writes journeys. */
const writingMs = 3_600_000

interface Due {
  plan: Plan
  step: number
  members: Journey[]
  /** Values that a member shares with others. */
  sharedOf: (journey: Journey) => Properties
  now: Date
}

export interface ExitTools {
  pool: Pool
  patterns: PatternMatcher
  /** By which event a journey ended, or null, as far as that was decided before the transaction was repeated. */
  decided: Map<string, string | null>
}

/**
 * Ends the journeys of users who left while their journeys were being written: the worker that handled the event did not see
 * them yet. Looks only before the first message that follows the beginning of a journey; from then on every worker sees it.
 * Returns the others. Throws `PrepareFirst` once for all journeys if the events have patterns.
 */
export async function withoutUnseenExits(
  tx: Db,
  projectId: ProjectId,
  { plan, step, members, sharedOf, now }: Due,
  { pool, patterns, decided }: ExitTools
): Promise<Journey[]> {
  if (step !== (plan.delayMs > 0 ? 0 : 1)) return members
  const awaited = [plan.exit, step === 0 ? plan.unless : undefined].filter((one) => one !== undefined)
  const undecided = awaited.length === 0 ? [] : members.filter(({ id }) => !decided.has(id))
  const decide = async (db: Db) => {
    const users = undecided.map((journey) => leavingOf(journey, sharedOf(journey)))
    const reasonOf = new Map<string, string>()
    for (const one of awaited)
      for (const { id } of await thoseWhoSent(db, projectId, one, users, patterns)) reasonOf.set(id, one.event)
    for (const { id } of users) decided.set(id, reasonOf.get(id) ?? null)
  }
  if (undecided.length > 0) {
    if (awaited.some(hasPattern)) throw new PrepareFirst(() => decide(pool))
    await decide(tx)
  }
  const keep_until = keepUntil(plan, { state: 'exited', step, first_trigger: null }, now)
  const exits = members.flatMap(({ id }) => {
    const reason = decided.get(id) ?? null
    return reason === null ? [] : { id, reason, keep_until }
  })
  if (exits.length === 0) return members
  await exitJourneys(tx, projectId, exits, now)
  const left = new Set(exits.map(({ id }) => id))
  return members.filter(({ id }) => !left.has(id))
}

const hasPattern = ({ where }: Awaited) => where.some(({ operator }) => operator === 'matches')

const leavingOf = ({ id, user_id, entered_at, properties }: Journey, shared: Properties) => ({
  id,
  userId: user_id,
  since: entered_at,
  // The event that began a journey may have arrived late. The id of the journey has the time at which it was handled.
  until: new Date(Math.max(entered_at.getTime(), timeOfId(id)) + writingMs),
  own: properties,
  shared
})
