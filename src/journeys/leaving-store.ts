import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { endOfTime, type Journey } from './journey.ts'

const exit = statement(
  'journeys.exit',
  `update journeys j set state = 'exited', reason = g.reason, ended_at = $3, properties = '{}', keep_until = g.keep_until
     from json_to_recordset($2::json) as g(id uuid, reason text, keep_until timestamptz)
    where j.project_id = $1 and j.id = g.id and j.state = 'waiting'`
)
// A trigger of a later step was made for users who were in the steps already.
const ofTrigger = statement(
  'journeys.of_trigger',
  `select distinct on (user_id) user_id, state, entered_at from journeys
    where project_id = $1 and campaign_id = $2 and user_id = any($5::uuid[]) and campaign_version = $6
      and (first_trigger = $3 or ($7 and entered_at <= $4))
    order by user_id, entered_at desc, id desc`
)
/** The events of one user that are read at once. */
export const eventsAtOnce = 20
const laterEvents = statement(
  'journeys.later_events',
  `select e.id, e.user_id, e.name, e.at, e.properties, g.place::int - 1 as place
     from unnest($2::uuid[], $3::timestamptz[], $5::uuid[], $6::timestamptz[])
          with ordinality as g(user_id, since, after, until, place)
     cross join lateral (
       select * from events e where e.project_id = $1 and e.user_id = g.user_id and e.at >= g.since and e.at <= g.until
          and (e.at, e.id) > (g.since, g.after) and e.name = any($4::text[]) order by e.at, e.id limit $7) e`
)

export const exitJourneys = (
  tx: Db,
  projectId: ProjectId,
  exits: { id: string; reason: string; keep_until: Date | null }[],
  at: Date
) => tx.run(exit, [projectId, JSON.stringify(exits), at])

/** The journeys to which a trigger belongs, one for each of these users. */
interface TriggerOfJourneys {
  id: string
  campaign_id: string
  campaign_version: number
  /** The users of a `step` had entered before. */
  origin: string
  started_at: Date
}

export const journeysOfTrigger = (
  db: Db,
  projectId: ProjectId,
  { id, campaign_id, campaign_version, origin, started_at }: TriggerOfJourneys,
  userIds: string[]
) =>
  db.query<Pick<Journey, 'user_id' | 'state' | 'entered_at'>>(ofTrigger, [
    ...[projectId, campaign_id, id, started_at, userIds],
    ...[campaign_version, origin === 'step']
  ])

interface SinceThen {
  userId: string
  since: Date
  /** The last event of that time that does not count. */
  after?: string | undefined
  /** Absent: events count whenever they happened since. */
  until?: Date | undefined
}
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

interface LaterEvent {
  id: string
  user_id: string
  name: string
  at: Date
  properties: Record<string, unknown>
  /** The place of the user in the list, which may name a user several times. */
  place: number
}

/** Events of users after a time: an event that arrives late may have been followed by another that came before it. */
export const eventsSince = (tx: Db, projectId: ProjectId, users: SinceThen[], names: string[], most = eventsAtOnce) =>
  tx.query<LaterEvent>(laterEvents, [
    projectId,
    users.map(({ userId }) => userId),
    users.map(({ since }) => since),
    names,
    users.map(({ after = lastId }) => after),
    users.map(({ until = endOfTime }) => until),
    most
  ])
