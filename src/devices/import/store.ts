import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { WrittenDevice } from '../store.ts'

export interface WrittenImport extends WrittenDevice {
  created_at: Date
  last_seen_at: Date
}

// Unlike an app, an import was not told by the device itself: the earlier creation and the later sighting stay.
const write = statement(
  'devices.import',
  `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
   select p.project_id, d.id, d.user_id, d.platform, d.push_permission, jsonb_strip_nulls(d.facts), d.created_at, $3, d.last_seen_at
     from projects p
    cross join json_to_recordset($2::json)
       as d(id text, user_id uuid, platform text, push_permission boolean, facts jsonb, created_at timestamptz, last_seen_at timestamptz)
    where p.project_id = $1 and p.deleted_at is null
   on conflict (project_id, id) do update
      set platform = excluded.platform, push_permission = excluded.push_permission, facts = excluded.facts,
          updated_at = excluded.updated_at, created_at = least(devices.created_at, excluded.created_at),
          last_seen_at = greatest(devices.last_seen_at, excluded.last_seen_at)
   returning id, user_id, (xmax = 0) as inserted`
)

/**
 * Returns the user of each device: the one given for a new device, its own for one that exists. An update by
 * `on conflict` locks its row first, so only a row that was inserted has the xmax 0.
 */
export async function writeImported(db: Db, projectId: ProjectId, devices: WrittenImport[], at: Date) {
  if (devices.length === 0) return []
  // Rows are locked in the order of their ids, as every writer of devices does.
  const rows = devices.sort((one, two) => (one.id < two.id ? -1 : 1))
  const values = [projectId, JSON.stringify(rows), at]
  return db.query<{ id: string; user_id: string; inserted: boolean }>(write, values)
}
