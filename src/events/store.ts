import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { EventFacts } from './fields.ts'

export interface EventRow {
  id: string
  user_id: string
  at: Date
  device_id: string | null
  name: string
  message_id: string | null
  details: Record<string, string>
  properties: Record<string, unknown>
}

export interface NewEvent extends EventFacts {
  userId: string
  /** Null if only the user is known. */
  deviceId: string | null
}

// Stores nothing if the project is being erased, or if the names of events that campaigns react to have changed.
const insert = statement(
  'events.insert',
  `insert into events (project_id, user_id, at, id, device_id, name, message_id, details, properties)
   select p.project_id, e.user_id, e.at, e.id, e.device_id, e.name, e.message_id, e.details, e.properties
     from projects p
    cross join json_to_recordset($2::json)
       as e(user_id uuid, at timestamptz, id uuid, device_id text, name text, message_id text, details jsonb, properties jsonb)
    where p.project_id = $1 and p.deleted_at is null and p.wanted_events_version = $3`
)
// Matches by time and id, which the index has, and not by user: the history may have moved to another user meanwhile.
const known = statement(
  'events.known',
  `select e.id from json_to_recordset($2::json) as n(at timestamptz, id uuid)
     join events e on e.project_id = $1 and e.at = n.at and e.id = n.id`
)
const move = statement('events.move', 'update events set user_id = $3 where project_id = $1 and user_id = $2')
// Reads a window of the next events by key and filters inside it, so that a rare name does not read the whole history.
// The last row of the window is returned whatever its name, because the next page starts there.
const columns = 'id, user_id, at, device_id, name, message_id, details, properties'
const windowOf = (ofUser: string) => `
  select * from (
    select ${columns}, ($5::text is null or device_id = $5) and ($6::text is null or name = $6) as hit,
           row_number() over (order by at desc, id desc)::int as place, count(*) over ()::int as seen
      from (select ${columns} from events
             where project_id = $1 ${ofUser} and ($2::timestamptz is null or (at, id) < ($2, $3::uuid))
             order by at desc, id desc limit $4) newest) w
   where w.hit or w.place = w.seen order by w.place`
const newest = statement('events.newest', windowOf(''))
const newestOfUser = statement('events.newest_of_user', windowOf('and user_id = $7'))
const sweep = statement(
  'events.sweep_window',
  `delete from events where project_id = $1 and at < $2 and (user_id, at, id) in (
     select user_id, at, id from events where project_id = $1 and at < $2 order by at, id limit 5000)`
)
const erase = statement(
  'events.erase_window',
  `delete from events where project_id = $1 and (user_id, at, id) in (
     select user_id, at, id from events where project_id = $1 order by at, id limit 5000)`
)

export interface StoredEvent extends NewEvent {
  id: string
}

/** Returns whether the events were stored: all of them, or none. `version`: of the names that the caller knows. */
export async function insertEvents(db: Db, projectId: ProjectId, events: StoredEvent[], version: string) {
  const rows = events.map(({ userId, at, id, deviceId, name, messageId, details, properties }) => ({
    user_id: userId,
    at,
    id,
    device_id: deviceId,
    name,
    message_id: messageId,
    details,
    properties
  }))
  return (await db.run(insert, [projectId, JSON.stringify(rows), version])) === rows.length
}

/** Returns the events that are not stored yet. Only an event with an id of its own can be stored already. */
export async function notStored<Event extends EventFacts>(db: Db, projectId: ProjectId, events: Event[]) {
  const named = events.filter(({ id }) => id !== undefined).map(({ at, id }) => ({ at, id }))
  if (named.length === 0) return events
  const rows = await db.query<{ id: string }>(known, [projectId, JSON.stringify(named)])
  const stored = new Set(rows.map(({ id }) => id))
  return events.filter(({ id }) => id === undefined || !stored.has(id))
}

/** Moves the history of one user to another. */
export const moveEvents = (db: Db, projectId: ProjectId, fromUserId: string, toUserId: string) =>
  db.run(move, [projectId, fromUserId, toUserId])

export interface EventFilter {
  userId: string | undefined
  deviceId: string | undefined
  name: string | undefined
  after: [Date, string] | undefined
  window: number
}

export function listEvents(db: Db, projectId: ProjectId, { userId, deviceId, name, after, window }: EventFilter) {
  const values = [projectId, after?.[0] ?? null, after?.[1] ?? null, window, deviceId ?? null, name ?? null]
  type Windowed = EventRow & { hit: boolean; seen: number }
  return userId === undefined
    ? db.query<Windowed>(newest, values)
    : db.query<Windowed>(newestOfUser, [...values, userId])
}

export const sweepEventWindow = (db: Db, projectId: ProjectId, before: Date) => db.run(sweep, [projectId, before])

export const eraseEventWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
