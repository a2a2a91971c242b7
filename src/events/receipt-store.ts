import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { idOf, type ProjectId } from '../platform/ids.ts'
import type { EventFacts } from './fields.ts'

/** How long an id of a caller's event is remembered. */
export const rememberedMs = 7 * 24 * 3_600_000

// A second transaction with the same id waits here for the first one, so an event is stored once over all nodes.
const receive = statement(
  'event_receipts.receive',
  `insert into event_receipts (project_id, id, received_at)
   select p.project_id, r.id, $3 from projects p cross join unnest($2::uuid[]) as r(id)
    where p.project_id = $1 and p.deleted_at is null
   on conflict (project_id, id) do update set received_at = excluded.received_at
    where event_receipts.received_at <= $4
   returning id`
)
const sweep = statement(
  'event_receipts.sweep_window',
  `delete from event_receipts where project_id = $1 and id in (
     select id from event_receipts where project_id = $1 and received_at <= $2 limit 5000)`
)
const erase = statement(
  'event_receipts.erase_window',
  `delete from event_receipts where project_id = $1 and id in (
     select id from event_receipts where project_id = $1 limit 5000)`
)

/** Returns the events that did not arrive before. Events without an id always count as new. */
export async function firstArrivals<Event extends EventFacts>(
  db: Db,
  projectId: ProjectId,
  events: Event[],
  at: Date
): Promise<Event[]> {
  // Sorted, so that two transactions with the same ids wait for each other in one order.
  const ids = [...new Set(events.flatMap(({ callerId }) => (callerId === undefined ? [] : idOf(callerId))))].sort()
  if (ids.length === 0) return events
  const forgotten = new Date(at.getTime() - rememberedMs)
  const rows = await db.query<{ id: string }>(receive, [projectId, ids, at, forgotten])
  const fresh = new Set(rows.map(({ id }) => id))
  // The first of two events with one id in the same batch takes the id out of the set.
  return events.filter(({ callerId }) => callerId === undefined || fresh.delete(idOf(callerId)))
}

export const sweepReceiptWindow = (db: Db, projectId: ProjectId, before: Date) => db.run(sweep, [projectId, before])

export const eraseReceiptWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
