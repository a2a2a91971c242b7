import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

export interface SizeRow {
  /** In UTC: 2026-11-16. */
  day: string
  users: number
  reachable_users: number
  devices: number
  complete: boolean
  counted_at: Date
}

const put = statement(
  'segment_sizes.put',
  `insert into segment_sizes (project_id, segment_id, day, users, reachable_users, devices, complete, counted_at)
   select project_id, id, $3, $4, $5, $6, $7, $8 from saved_segments where project_id = $1 and id = $2
   on conflict (project_id, segment_id, day) do update set users = excluded.users,
     reachable_users = excluded.reachable_users, devices = excluded.devices, complete = excluded.complete,
     counted_at = excluded.counted_at`
)
const list = statement(
  'segment_sizes.list',
  `select day::text, users, reachable_users, devices, complete, counted_at from segment_sizes
    where project_id = $1 and segment_id = $2 and ($3::date is null or day < $3) order by day desc limit $4`
)
const due = statement(
  'saved_segments.due',
  `select s.id from saved_segments s
    where s.project_id = $1 and not exists (
      select 1 from segment_sizes z where z.project_id = $1 and z.segment_id = s.id and z.day = $2)
    order by s.id`
)
const sweep = statement(
  'segment_sizes.sweep',
  'delete from segment_sizes where project_id = $1 and segment_id = $2 and day < $3'
)

export const putSize = (db: Db, projectId: ProjectId, segmentId: string, { day, ...size }: SizeRow) =>
  db.run(put, [
    projectId,
    segmentId,
    day,
    size.users,
    size.reachable_users,
    size.devices,
    size.complete,
    size.counted_at
  ])

/** The newest sizes, before a day. */
export const listSizes = (db: Db, projectId: ProjectId, segmentId: string, before: string | null, limit: number) =>
  db.query<SizeRow>(list, [projectId, segmentId, before, limit])

/** The saved segments that have no size of this day. */
export const segmentsDue = async (db: Db, projectId: ProjectId, day: string) =>
  (await db.query<{ id: string }>(due, [projectId, day])).map(({ id }) => id)

export const sweepSizes = (db: Db, projectId: ProjectId, segmentId: string, before: string) =>
  db.run(sweep, [projectId, segmentId, before])
