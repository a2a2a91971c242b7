import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Facts, Platform } from './schemas.ts'
import type { TokenType } from './tokens.ts'

export interface DeviceRow {
  id: string
  user_id: string
  platform: Platform
  push_permission: boolean
  facts: Facts
  created_at: Date
  updated_at: Date
  last_seen_at: Date
  token: string | null
  type: TokenType | null
  environment: 'production' | 'sandbox' | null
  app_identifier: string | null
  registered_at: Date | null
  dead_since: Date | null
  dead_reason: string | null
}

export type WrittenDevice = Pick<DeviceRow, 'id' | 'user_id' | 'platform' | 'push_permission' | 'facts'>

export const deviceColumns = `d.id, d.user_id, d.platform, d.push_permission, d.facts, d.created_at, d.updated_at, d.last_seen_at,
          t.token, t.type, t.environment, t.app_identifier, t.registered_at,
          t.dead_since, t.dead_reason`
const source = 'from devices d left join push_tokens t on t.project_id = $1 and t.device_id = d.id'

// Rows are locked in the order of their ids, so that two batches cannot wait for each other.
const lockMany = statement(
  'devices.lock',
  `select id, user_id, push_permission, facts from devices
    where project_id = $1 and id = any($2::text[]) order by id for no key update`
)
const upsert = statement(
  'devices.upsert',
  `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
   select p.project_id, d.id, d.user_id, d.platform, d.push_permission, jsonb_strip_nulls(d.facts), $3, $3, $3
     from projects p
    cross join json_to_recordset($2::json)
       as d(id text, user_id uuid, platform text, push_permission boolean, facts jsonb)
    where p.project_id = $1 and p.deleted_at is null
   on conflict (project_id, id) do update
      set platform = excluded.platform, push_permission = excluded.push_permission, facts = excluded.facts,
          updated_at = excluded.updated_at, last_seen_at = excluded.last_seen_at
   returning id, user_id`
)
const find = statement(
  'devices.find',
  `select ${deviceColumns} ${source} where d.project_id = $1 and d.id = any($2::text[])`
)
// Stronger than an upsert's lock: it also blocks events that are being written for the device's present user.
const lockOne = statement(
  'devices.lock_to_move',
  'select user_id from devices where project_id = $1 and id = $2 for update'
)
const lockOfUsers = statement(
  'devices.lock_of_users',
  `select id from devices where project_id = $1 and user_id = any($2::uuid[]) order by id for update`
)
// Skips locked rows instead of waiting, and returns one of those that it skipped.
const lockArrived = statement(
  'devices.lock_arrived',
  `select id from devices
    where project_id = $1 and user_id = any($2::uuid[]) and not id = any(array(
     select id from devices where project_id = $1 and user_id = any($2::uuid[]) for update skip locked)) limit 1`
)
const hold = statement(
  'devices.hold',
  `select id, user_id from devices where project_id = $1 and id = any($2::text[]) order by id for key share`
)
const move = statement(
  'devices.move',
  `update devices set user_id = $3, updated_at = $4, last_seen_at = $4 where project_id = $1 and id = $2`
)
// Skips locked rows instead of waiting, and writes at most once a minute per device.
const seen = statement(
  'devices.mark_seen',
  `update devices set last_seen_at = $3 where project_id = $1 and id = any(array(
     select id from devices where project_id = $1 and id = any($2::text[]) and last_seen_at < $4
        for no key update skip locked))`
)
const newest = statement(
  'devices.newest',
  `select ${deviceColumns} ${source}
    where d.project_id = $1 and ($2::timestamptz is null or (d.created_at, d.id) < ($2, $3::text))
    order by d.created_at desc, d.id desc limit $4`
)
const newestOfUser = statement(
  'devices.newest_of_user',
  `select ${deviceColumns} ${source}
    where d.project_id = $1 and d.user_id = $5 and ($2::timestamptz is null or (d.created_at, d.id) < ($2, $3::text))
    order by d.created_at desc, d.id desc limit $4`
)
const remove = statement('devices.delete', 'delete from devices where project_id = $1 and id = $2')
const ofUser = statement(
  'devices.count_of_user',
  'select count(*)::int as n from devices where project_id = $1 and user_id = $2'
)
const erase = statement(
  'devices.erase_window',
  `delete from devices where project_id = $1 and id in (
     select id from devices where project_id = $1 order by id limit 5000)`
)

export const lockDevices = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.query<Pick<DeviceRow, 'id' | 'user_id' | 'push_permission' | 'facts'>>(lockMany, [projectId, ids])

/**
 * Returns the user of each written device. If another node created the device just now, it is that node's user and not
 * the one given.
 */
export async function upsertDevices(db: Db, projectId: ProjectId, devices: WrittenDevice[], at: Date) {
  const rows = devices.sort((one, two) => (one.id < two.id ? -1 : 1))
  const written = await db.query<{ id: string; user_id: string }>(upsert, [projectId, JSON.stringify(rows), at])
  return new Map(written.map(({ id, user_id }) => [id, user_id]))
}

export const findDevices = (db: Db, projectId: ProjectId, ids: string[]) => db.query<DeviceRow>(find, [projectId, ids])

/** Locks a device until the end of the transaction, and returns its user. */
export const lockDevice = async (db: Db, projectId: ProjectId, id: string) =>
  (await db.one<{ user_id: string }>(lockOne, [projectId, id]))?.user_id

/**
 * Call this before users are deleted. The cascade would lock users first and devices in any order, and could deadlock
 * with writers that use our order.
 */
export const lockDevicesOf = (db: Db, projectId: ProjectId, userIds: string[]) =>
  db.query<{ id: string }>(lockOfUsers, [projectId, userIds])

/** Locks the devices that came to the users since `lockDevicesOf`. False if another transaction holds one. */
export const lockArrivedDevices = async (db: Db, projectId: ProjectId, userIds: string[]): Promise<boolean> =>
  (await db.one(lockArrived, [projectId, userIds])) === undefined

/** Returns the user of each existing device, and locks the devices, so that none changes its user in the transaction. */
export async function holdDevices(db: Db, projectId: ProjectId, ids: string[]): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; user_id: string }>(hold, [projectId, ids])
  return new Map(rows.map(({ id, user_id }) => [id, user_id]))
}

export const moveDevice = (db: Db, projectId: ProjectId, id: string, userId: string, at: Date) =>
  db.run(move, [projectId, id, userId, at])

/** The cascade deletes the tokens of the device. */
export const deleteDevice = (db: Db, projectId: ProjectId, id: string) => db.run(remove, [projectId, id])

export const countDevicesOf = async (db: Db, projectId: ProjectId, userId: string): Promise<number> =>
  (await db.one<{ n: number }>(ofUser, [projectId, userId]))!.n

const seenAgainMs = 60_000

export const markDevicesSeen = (db: Db, projectId: ProjectId, ids: string[], at: Date) =>
  db.run(seen, [projectId, ids, at, new Date(at.getTime() - seenAgainMs)])

export function listDevices(
  db: Db,
  projectId: ProjectId,
  { userId, after, limit }: { userId: string | undefined; after: [Date, string] | undefined; limit: number }
) {
  const values = [projectId, after?.[0] ?? null, after?.[1] ?? null, limit]
  return userId === undefined
    ? db.query<DeviceRow>(newest, values)
    : db.query<DeviceRow>(newestOfUser, [...values, userId])
}

export const eraseDeviceWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
