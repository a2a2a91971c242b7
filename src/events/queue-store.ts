import type { DiscardScope } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import { heldProject, statement } from '../platform/db/statement.ts'
import { firstIdAt, newId, type ProjectId } from '../platform/ids.ts'
import type { EventRow } from './store.ts'

const fill = statement(
  'event_queue.fill',
  `${heldProject}
   insert into event_queue (project_id, id, event_at, event_id)
   select p.project_id, q.id, q.event_at, q.event_id from project p
    cross join unnest($2::uuid[], $3::timestamptz[], $4::uuid[]) as q(id, event_at, event_id)`
)
// Locked until the end of the transaction: a worker that took over the job of a slow one waits here and then finds the
// rows deleted. The event is found by time and id, because its user may be another by now.
const claim = statement(
  'event_queue.claim',
  `select q.id as place, q.event_at, q.event_id, e.id, e.user_id, e.at, e.device_id, e.name, e.message_id, e.properties
     from (select id, event_at, event_id from event_queue
            where project_id = $1 and ($3::uuid is null or id < $3) order by id limit $2 for update) q
     left join lateral (select * from events e
                         where e.project_id = $1 and e.at = q.event_at and e.id = q.event_id limit 1) e on true
    order by q.id`
)
const count = statement(
  'event_queue.count',
  'select count(*)::int as count from event_queue where project_id = $1 and id < $2'
)
const find = statement(
  'event_queue.find_event',
  `select id, user_id, at, device_id, name, message_id, properties from events
    where project_id = $1 and at = $2 and id = $3`
)
const remove = statement('event_queue.remove', 'delete from event_queue where project_id = $1 and id = any($2::uuid[])')
const waiting = statement(
  'event_queue.waiting',
  `select p.project_id from projects p
    where exists (select 1 from event_queue q where q.project_id = p.project_id) order by p.project_id`,
  { acrossProjects: 'the sweeper finds the projects whose events wait without a job' }
)
const erase = statement(
  'event_queue.erase_window',
  `delete from event_queue where project_id = $1 and id in (
     select id from event_queue where project_id = $1 limit 5000)`
)

export type QueuedEvent = Omit<EventRow, 'details'>
type Place = { place: string; event_at: Date; event_id: string }
/** Null fields: the event was deleted meanwhile, with its user or by retention. */
export type QueueRow = Place & (QueuedEvent | { [Field in keyof QueuedEvent]: null })

/** Puts stored events into the queue, in this order. */
export const fillQueue = (tx: Db, projectId: ProjectId, events: { at: Date; id: string }[]) =>
  tx.run(fill, [projectId, events.map(() => newId()), events.map(({ at }) => at), events.map(({ id }) => id)])

/** `before`: only events whose place in the queue is older than this id. */
export const claimQueued = (tx: Db, projectId: ProjectId, most: number, before: string | null = null) =>
  tx.query<QueueRow>(claim, [projectId, most, before])

/** Events that waited in a backup. */
export const countQueued = async (db: Db, projectId: ProjectId, { restoredAt }: DiscardScope): Promise<number> =>
  (await db.one<{ count: number }>(count, [projectId, firstIdAt(restoredAt.getTime())]))!.count

export const findQueued = (db: Db, projectId: ProjectId, at: Date, id: string) =>
  db.query<QueuedEvent>(find, [projectId, at, id])

export const removeQueued = (tx: Db, projectId: ProjectId, places: string[]) => tx.run(remove, [projectId, places])

export const waitingProjects = async (db: Db): Promise<ProjectId[]> =>
  (await db.query<{ project_id: ProjectId }>(waiting)).map(({ project_id }) => project_id)

export const eraseQueueWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
