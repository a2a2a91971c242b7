import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { type EventRow, listEvents } from './store.ts'

const rowsOfPage = 1_000

/** An event as people read it. */
export const managedEvent = (row: EventRow, projectUserId: string | null) => ({
  id: row.id,
  at: row.at,
  name: row.name,
  user_id: row.user_id,
  project_user_id: projectUserId,
  device_id: row.device_id,
  message_id: row.message_id,
  details: row.details,
  properties: row.properties
})

/** All events of a user, newest first, in pages: memory does not grow with the history. */
export async function* historyOf(pool: Pool, projectId: ProjectId, userId: string): AsyncGenerator<EventRow[]> {
  const filter = { userId, deviceId: undefined, name: undefined, window: rowsOfPage }
  let after: [Date, string] | undefined
  for (;;) {
    const rows: EventRow[] = await pool.reading((db) => listEvents(db, projectId, { ...filter, after }))
    yield rows
    const last = rows.at(-1)
    if (!last || rows.length < rowsOfPage) return
    after = [last.at, last.id]
  }
}
