import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
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

// One statement stores the events and puts those that campaigns react to into the queue. The project is locked for the
// queue alone: the events themselves lock their users.
const insert = statement(
  'events.insert',
  `with given as materialized (
     select e.*, (select true from wanted_events w where w.project_id = $1 and w.name = e.name limit 1) as wanted
       from json_to_recordset($2::json)
         as e(user_id uuid, at timestamptz, id uuid, device_id text, name text, message_id text, details jsonb,
              properties jsonb, place uuid)),
   stored as (
     insert into events (project_id, user_id, at, id, device_id, name, message_id, details, properties)
     select p.project_id, e.user_id, e.at, e.id, e.device_id, e.name, e.message_id, e.details, e.properties
       from projects p cross join given e where p.project_id = $1 and p.deleted_at is null
     returning 1),
   held as (select project_id from projects where project_id = $1 and deleted_at is null
       and exists (select from given where wanted) for key share),
   queued as (
     insert into event_queue (project_id, id, event_at, event_id)
     select h.project_id, coalesce(e.place, e.id), e.at, e.id from held h cross join given e where e.wanted
     returning 1)
   select (select count(*) from stored)::int as stored, (select count(*) from queued)::int as queued`
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

/** Returns how many events were stored, none if the project is being erased, and how many wait for subscribers. */
export async function insertEvents(db: Db, projectId: ProjectId, events: NewEvent[]) {
  const rows = events.map(({ userId, at, id, deviceId, name, messageId, details, properties }) => {
    const place = newId()
    return {
      user_id: userId,
      at,
      id: id ?? place,
      device_id: deviceId,
      name,
      message_id: messageId,
      details,
      properties,
      // The queue is in the order of arrival. An id that was derived from a command's id has no time in it.
      ...(id !== undefined && { place })
    }
  })
  return (await db.one<{ stored: number; queued: number }>(insert, [projectId, JSON.stringify(rows)]))!
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
