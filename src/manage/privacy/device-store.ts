import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

// The index of messages by user and the key of events serve this: only rows of the user are read.
const used = statement(
  'erasures.used_devices',
  `select device_id as id from messages where project_id = $1 and user_id = $2 and device_id <> ''
    union
   select device_id from events where project_id = $1 and user_id = $2 and device_id is not null
    limit $3`
)
const shared = statement(
  'erasures.shared_devices',
  `select d.id from devices d join users u on u.project_id = $1 and u.id = d.user_id
    where d.project_id = $1 and d.id = any($2::text[]) and d.user_id <> $3 and u.project_user_id is not null
    union
   select m.device_id from messages m join users u on u.project_id = $1 and u.id = m.user_id
    where m.project_id = $1 and m.device_id = any($2::text[]) and m.user_id <> $3 and u.project_user_id is not null`
)

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)

/** Devices on which the messages and events of a user were: also devices that were logged out or deleted since. */
export const usedDevices = async (db: Db, projectId: ProjectId, userId: string, limit: number): Promise<string[]> =>
  idsOf(await db.query<{ id: string }>(used, [projectId, userId, limit]))

/** Those of the devices that another named user has now, or got messages on. */
export const sharedDevices = async (
  db: Db,
  projectId: ProjectId,
  userId: string,
  deviceIds: string[]
): Promise<Set<string>> => new Set(idsOf(await db.query<{ id: string }>(shared, [projectId, deviceIds, userId])))

// Tables whose rows may name a device and no user.
const filled = statement(
  'erasures.tables_with_copies',
  `select exists (select 1 from a2a_tasks where project_id = $1) as a2a_tasks,
          exists (select 1 from approvals where project_id = $1) as approvals,
          exists (select 1 from idempotency_keys where project_id = $1) as idempotency_keys,
          exists (select 1 from simulator_inbox where project_id = $1) as simulator_inbox,
          exists (select 1 from triggers where project_id = $1) as triggers,
          exists (select 1 from webhook_calls where project_id = $1) as webhook_calls`
)
export type DeviceCopyTable =
  | 'a2a_tasks'
  | 'approvals'
  | 'idempotency_keys'
  | 'simulator_inbox'
  | 'triggers'
  | 'webhook_calls'

/** Whether the project has rows in tables that may name a device and no user. */
export const tablesWithCopies = async (db: Db, projectId: ProjectId) =>
  (await db.one<Record<DeviceCopyTable, boolean>>(filled, [projectId]))!
