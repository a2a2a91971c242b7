import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

export interface ActivityRow {
  device_id: string
  id: string
  type: string
  channel: string | null
  state: Record<string, unknown>
  started_at: Date
}

/** A phone shows few activities; more come only from a mistake. */
const mostOnPhone = 10
/** A Live Activity runs for 8 hours, and its end stays on the lock screen for 4 more. */
const longestMs = 12 * 3_600_000

const start = statement(
  'simulator_activities.start',
  `insert into simulator_activities (project_id, device_id, id, type, channel, state, number, started_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (project_id, device_id, id) do nothing`
)
const trim = statement(
  'simulator_activities.trim',
  `delete from simulator_activities where project_id = $1 and (started_at < $3
       or (device_id = $2 and id in (
             select id from simulator_activities where project_id = $1 and device_id = $2
              order by started_at desc, number desc offset ${mostOnPhone})))`
)
const update = statement(
  'simulator_activities.update',
  `update simulator_activities set state = state || $4::jsonb, number = $5
    where project_id = $1 and device_id = $2 and id = $3 and number < $5`
)
const end = statement(
  'simulator_activities.end',
  'delete from simulator_activities where project_id = $1 and device_id = $2 and id = $3'
)
// The activities of phones that are online, or of one phone.
const reached = `project_id = $1 and channel = $2 and number < $3 and ($4::text is null or device_id = $4)
     and not exists (select 1 from simulator_phones p
                      where p.project_id = $1 and p.device_id = simulator_activities.device_id
                        and p.offline_since is not null)`
const updateAll = statement(
  'simulator_activities.update_all',
  `update simulator_activities set state = state || $5::jsonb, number = $3 where ${reached}`
)
const endAll = statement('simulator_activities.end_all', `delete from simulator_activities where ${reached}`)
const remove = statement(
  'simulator_activities.delete',
  'delete from simulator_activities where project_id = $1 and device_id = $2'
)
const clear = statement('simulator_activities.clear', 'delete from simulator_activities where project_id = $1')
const ofPhones = statement(
  'simulator_activities.of_phones',
  `select device_id, id, type, channel, state, started_at from simulator_activities
    where project_id = $1 and device_id = any($2::text[]) order by started_at desc, id`
)

export async function startActivity(
  db: Db,
  projectId: ProjectId,
  { device_id, id, type, channel, state, started_at }: ActivityRow,
  number: string
): Promise<void> {
  await db.run(start, [projectId, device_id, id, type, channel, JSON.stringify(state), number, started_at])
  await db.run(trim, [projectId, device_id, new Date(started_at.getTime() - longestMs)])
}

export const updateActivity = (db: Db, projectId: ProjectId, deviceId: string, id: string, state: object, at: string) =>
  db.run(update, [projectId, deviceId, id, JSON.stringify(state), at])

export const endActivity = (db: Db, projectId: ProjectId, deviceId: string, id: string) =>
  db.run(end, [projectId, deviceId, id])

/** A broadcast to a channel. `deviceId` is the only phone that it reaches; null: all that are online. */
export const updateChannel = (
  db: Db,
  projectId: ProjectId,
  channel: string,
  number: string,
  deviceId: string | null,
  state: object
) => db.run(updateAll, [projectId, channel, number, deviceId, JSON.stringify(state)])

export const endChannel = (db: Db, projectId: ProjectId, channel: string, number: string, deviceId: string | null) =>
  db.run(endAll, [projectId, channel, number, deviceId])

export const removeActivities = (db: Db, projectId: ProjectId, deviceId: string) =>
  db.run(remove, [projectId, deviceId])

export const clearActivities = (db: Db, projectId: ProjectId) => db.run(clear, [projectId])

export const activitiesOf = (db: Db, projectId: ProjectId, deviceIds: string[]) =>
  db.query<ActivityRow>(ofPhones, [projectId, deviceIds])
