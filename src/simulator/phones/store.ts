import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { InboxRow } from '../fleet/store.ts'

export interface PhoneRow {
  device_id: string
  offline_since: Date | null
  uninstalled_at: Date | null
}

/** Where a push is that the phone does not show. */
export type Fate = 'held' | 'dropped' | 'replaced' | 'expired' | 'discarded' | 'dismissed' | 'opened' | 'removed'

// Every change of phones takes this lock first, and so does every batch of the inbox: no push is held for a phone that
// has just come back.
const lock = statement(
  'simulator_phones.lock',
  'update simulators set phones_number = phones_number + 1 where project_id = $1'
)
const changes = statement('simulator_phones.changes', 'select phones_number from simulators where project_id = $1')
const put = statement(
  'simulator_phones.put',
  `insert into simulator_phones (project_id, device_id, offline_since, uninstalled_at, changed_at)
   values ($1, $2, $3, $4, $5)
   on conflict (project_id, device_id) do update
      set offline_since = excluded.offline_since, uninstalled_at = excluded.uninstalled_at,
          changed_at = excluded.changed_at`
)
const trim = statement(
  'simulator_phones.trim',
  `delete from simulator_phones where project_id = $1 and device_id in (
     select device_id from simulator_phones where project_id = $1 order by changed_at desc offset $2)`
)
const remove = statement(
  'simulator_phones.delete',
  'delete from simulator_phones where project_id = $1 and device_id = $2'
)
const find = statement(
  'simulator_phones.find',
  `select device_id, offline_since, uninstalled_at from simulator_phones
    where project_id = $1 and device_id = any($2::text[])`
)
const special = statement(
  'simulator_phones.special',
  `select device_id, offline_since, uninstalled_at from simulator_phones
    where project_id = $1 and (offline_since is not null or uninstalled_at is not null)
    order by changed_at desc limit $2`
)
const offline = statement(
  'simulator_phones.offline',
  `select device_id from simulator_phones
    where project_id = $1 and offline_since is not null and device_id = any($2::text[])`
)
const addDead = statement(
  'simulator_dead_tokens.add',
  `insert into simulator_dead_tokens (project_id, hash, since)
   select s.project_id, hash, $3 from simulators s cross join unnest($2::text[]) as hash where s.project_id = $1
   on conflict do nothing`
)
const trimDead = statement(
  'simulator_dead_tokens.trim',
  `delete from simulator_dead_tokens where project_id = $1 and hash in (
     select hash from simulator_dead_tokens where project_id = $1 order by since desc offset $2)`
)
const dead = statement(
  'simulator_dead_tokens.all',
  'select hash, since from simulator_dead_tokens where project_id = $1'
)

const hold = statement(
  'simulator_inbox.hold',
  `update simulator_inbox set phone = $3, phone_at = $4, held_until = $5, held_key = $6
    where project_id = $1 and number = $2`
)
const replace = statement(
  'simulator_inbox.replace_held',
  `update simulator_inbox set phone = 'replaced', phone_at = $5
    where project_id = $1 and device_id = $2 and phone = 'held' and held_key = $3 and number < $4`
)
const discardUnkeyed = statement(
  'simulator_inbox.discard_unkeyed',
  `update simulator_inbox set phone = 'discarded', phone_at = $4
    where project_id = $1 and device_id = $2 and phone = 'held' and held_key is null
      and (select count(*) from simulator_inbox
            where project_id = $1 and device_id = $2 and phone = 'held' and held_key is null) > $3`
)
const discardKeyed = statement(
  'simulator_inbox.discard_keyed',
  `update simulator_inbox set phone = 'discarded', phone_at = $4
    where project_id = $1 and device_id = $2 and phone = 'held' and held_key is not null and number in (
      select number from simulator_inbox
       where project_id = $1 and device_id = $2 and phone = 'held' and held_key is not null
       order by number desc offset $3)`
)
const heldOf = statement(
  'simulator_inbox.held',
  `select number, item, held_until from simulator_inbox
    where project_id = $1 and device_id = $2 and phone = 'held' order by number`
)
const settle = statement(
  'simulator_inbox.settle_held',
  `update simulator_inbox
      set phone = case when held_until <= $3 then 'expired' else 'shown' end, phone_at = $3
    where project_id = $1 and device_id = $2 and phone = 'held'`
)
const clearScreen = statement(
  'simulator_inbox.clear_screen',
  `update simulator_inbox set phone = 'removed', phone_at = $3
    where project_id = $1 and device_id = $2 and (phone is null or phone in ('shown', 'held'))`
)
// The text of an item begins with its id.
const one = statement(
  'simulator_inbox.one',
  `select number, item, phone from simulator_inbox where project_id = $1 and starts_with(item, $2)`
)
const mark = statement(
  'simulator_inbox.mark',
  `update simulator_inbox set phone = $3, phone_at = $4
    where project_id = $1 and number = $2 and (phone is null or phone = 'shown')`
)
const onScreens = statement(
  'simulator_inbox.on_screens',
  `select number, item, device_id, phone, phone_at from simulator_inbox
    where project_id = $1 and device_id = any($2::text[])
      and (phone is null or phone in ('shown', 'held'))
    order by number desc limit 5000`
)
const recent = statement(
  'simulator_inbox.recent_devices',
  `select device_id, max(number) as number from simulator_inbox
    where project_id = $1 and device_id is not null group by device_id order by max(number) desc limit $2`
)
const newestBroadcasts = statement(
  'simulator_inbox.newest_broadcasts',
  `select distinct on (i.channel) i.number, i.item, i.channel from simulator_inbox i
     join simulator_channels c on c.project_id = $1 and c.id = i.channel and c.storage = 1
    where i.project_id = $1 and i.device_id is null and i.channel = any($2::text[])
    order by i.channel, i.number desc`
)

/** Locks all phones of a project until the transaction ends, and counts the change. False without a simulator. */
export const lockPhones = async (db: Db, projectId: ProjectId): Promise<boolean> =>
  (await db.run(lock, [projectId])) > 0

export const phoneChanges = async (db: Db, projectId: ProjectId): Promise<string> =>
  (await db.one<{ phones_number: string }>(changes, [projectId]))?.phones_number ?? '0'

export async function putPhone(db: Db, projectId: ProjectId, phone: PhoneRow, at: Date, most: number): Promise<void> {
  await db.run(put, [projectId, phone.device_id, phone.offline_since, phone.uninstalled_at, at])
  await db.run(trim, [projectId, most])
}

export const removePhone = (db: Db, projectId: ProjectId, deviceId: string) => db.run(remove, [projectId, deviceId])

export const findPhones = (db: Db, projectId: ProjectId, deviceIds: string[]) =>
  db.query<PhoneRow>(find, [projectId, deviceIds])

/** The phones that are offline or without the app, the latest change first. */
export const specialPhones = (db: Db, projectId: ProjectId, limit: number) =>
  db.query<PhoneRow>(special, [projectId, limit])

export const offlineAmong = async (db: Db, projectId: ProjectId, deviceIds: string[]): Promise<Set<string>> =>
  new Set((await db.query<{ device_id: string }>(offline, [projectId, deviceIds])).map(({ device_id }) => device_id))

export async function addDeadTokens(db: Db, projectId: ProjectId, hashes: string[], since: Date, most: number) {
  await db.run(addDead, [projectId, hashes, since])
  await db.run(trimDead, [projectId, most])
}

export const deadTokens = (db: Db, projectId: ProjectId) => db.query<{ hash: string; since: Date }>(dead, [projectId])

export interface Held {
  deviceId: string
  number: string
  key: string | null
  until: Date
}

export async function holdPush(db: Db, projectId: ProjectId, { deviceId, number, key, until }: Held, at: Date) {
  await db.run(hold, [projectId, number, 'held', at, until, key])
  if (key !== null) await db.run(replace, [projectId, deviceId, key, number, at])
}

export const dropPush = (db: Db, projectId: ProjectId, number: string, at: Date) =>
  db.run(hold, [projectId, number, 'dropped', at, null, null])

export async function limitHeld(
  db: Db,
  projectId: ProjectId,
  deviceId: string,
  { withoutKey, keys }: { withoutKey: number; keys: number },
  at: Date
): Promise<void> {
  await db.run(discardUnkeyed, [projectId, deviceId, withoutKey, at])
  await db.run(discardKeyed, [projectId, deviceId, keys, at])
}

export const heldPushes = (db: Db, projectId: ProjectId, deviceId: string) =>
  db.query<InboxRow & { held_until: Date }>(heldOf, [projectId, deviceId])

/** Gives the held pushes to the phone, except those that have expired. */
export const settleHeld = (db: Db, projectId: ProjectId, deviceId: string, at: Date) =>
  db.run(settle, [projectId, deviceId, at])

export const clearScreenOf = (db: Db, projectId: ProjectId, deviceId: string, at: Date) =>
  db.run(clearScreen, [projectId, deviceId, at])

export const findPush = (db: Db, projectId: ProjectId, id: string) =>
  db.one<InboxRow & { phone: string | null }>(one, [projectId, `{"id":${JSON.stringify(id)},`])

/** False if the phone does not show the push. */
export const markPush = async (db: Db, projectId: ProjectId, number: string, fate: Fate, at: Date): Promise<boolean> =>
  (await db.run(mark, [projectId, number, fate, at])) > 0

export interface ScreenRow extends InboxRow {
  device_id: string
  phone: 'shown' | 'held' | null
  phone_at: Date | null
}

/** The pushes that these phones show or that wait for them, newest first. */
export const pushesOnScreens = (db: Db, projectId: ProjectId, deviceIds: string[]) =>
  db.query<ScreenRow>(onScreens, [projectId, deviceIds])

/** The devices that something was sent to, the latest first. */
export const recentDevices = async (db: Db, projectId: ProjectId, limit: number): Promise<string[]> =>
  (await db.query<{ device_id: string }>(recent, [projectId, limit])).map(({ device_id }) => device_id)

/** The newest broadcast of each of these channels, as far as Apple stores it. */
export const storedBroadcasts = (db: Db, projectId: ProjectId, channels: string[]) =>
  db.query<InboxRow & { channel: string }>(newestBroadcasts, [projectId, channels])
