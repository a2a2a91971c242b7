import type { SkippedTarget } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

export interface NewBatch {
  number: number
  deviceIds: string[]
  /** For each device the place of its target, if targets have properties of their own. */
  places?: number[]
  dueAt: Date
  /** Whether it split off another batch: quiet hours hold it, or it was not rendered in time. */
  deferred: boolean
  /** The time from which its messages live, if that is not the end of quiet hours at which it is due. */
  liveFrom?: Date
}

export interface BatchRow {
  number: number
  device_ids: string[]
  /** For each device the place of its target; null: no target has properties of its own. */
  places: number[] | null
  state: 'planned' | 'written'
  due_at: Date
  deferred: boolean
  /** Whether its devices count as targeted already. */
  counted: boolean
  /** Whether it has a turn at the throttle that was given to it alone (throttle.ts). */
  turned: boolean
  /** How long it is until `due_at`, by the clock of the database. */
  early_ms: number
  /** For a deferred one, the time from which its messages live: when the quiet hours end that held it. */
  quiet_until: Date
}

/** A target or device that a trigger sends nothing to, with the reason. */
export interface Skip extends SkippedTarget {
  triggerId: string
  /** The variant and the language that the device would have received; `holdout` for the holdout. Only counted. */
  variant?: string | null
  language?: string | null
}

/** A deferred batch that lost devices, because their users are being deleted. */
export interface ShrunkBatch {
  trigger_id: string
  number: number
  /** Devices taken out. */
  devices: number
  empty: boolean
}

const insert = statement(
  'trigger_chunks.insert',
  `insert into trigger_chunks (project_id, trigger_id, number, device_ids, state, due_at, held, counted, places,
          quiet_until)
   select t.project_id, t.id, c.number, array(select json_array_elements_text(c.device_ids)), 'planned', c.due_at, c.held,
          true, case when c.places is not null then array(select json_array_elements_text(c.places)::int) end, c.quiet_until
     from triggers t
    cross join json_to_recordset($3::json) as c(number int, device_ids json, due_at timestamptz, held boolean, places json,
      quiet_until timestamptz)
    where t.project_id = $1 and t.id = $2`
)
const open = statement(
  'trigger_chunks.open',
  `select number, due_at, held as deferred from trigger_chunks where project_id = $1 and trigger_id = $2 order by due_at limit 500`
)
const find = statement(
  'trigger_chunks.find',
  `select number, device_ids, places, state, due_at, held as deferred, held or counted as counted, turned,
          extract(epoch from due_at - now())::float8 * 1000 as early_ms, coalesce(quiet_until, due_at) as quiet_until
     from trigger_chunks
    where project_id = $1 and trigger_id = $2 and number = $3`
)
// The row lock makes the second of two concurrent runs wait, and then find the batch written.
const claim = statement(
  'trigger_chunks.written',
  `update trigger_chunks set state = 'written' where project_id = $1 and trigger_id = $2 and number = $3
     and state = 'planned' returning device_ids, places`
)
// Deleting a user locks its devices first and then takes them out of deferred batches.
const lock = statement(
  'trigger_chunks.keep_devices',
  'select id from devices where project_id = $1 and id = any($2::text[]) order by id for key share'
)
const remove = statement(
  'trigger_chunks.delete',
  `delete from trigger_chunks where project_id = $1 and trigger_id = $2 and number = $3
   returning state, cardinality(device_ids) as devices`
)
const removePlanned = statement(
  'trigger_chunks.delete_planned',
  `delete from trigger_chunks where project_id = $1 and trigger_id = $2 and state = 'planned'
   returning cardinality(device_ids) as devices, held or counted as counted`
)
const removeAll = statement(
  'trigger_chunks.delete_all',
  `delete from trigger_chunks where project_id = $1 and trigger_id = $2
   returning cardinality(device_ids) as devices, state = 'planned' and (held or counted) as counted`
)
const insertSkips = statement(
  'trigger_skips.insert',
  `insert into trigger_skips (project_id, trigger_id, kind, value, reason, user_id, at)
   select t.project_id, t.id, s.kind, s.value, s.reason, s.user_id, $3
     from triggers t
     join json_to_recordset($2::json) as s(trigger_id uuid, kind text, value text, reason text, user_id uuid)
       on s.trigger_id = t.id
    where t.project_id = $1
   on conflict (project_id, trigger_id, kind, value) do nothing
   returning trigger_id as "triggerId", kind, value`
)
// Reads the project's deferred batches: 0.1 ms for a thousand devices. An index on devices would cost more for each
// deferred batch. Rows are locked in order, so that two deletions of users cannot deadlock.
const take = statement(
  'trigger_chunks.take_held',
  `with own as (select array_agg(id::text) as ids from devices where project_id = $1 and user_id = any($2::uuid[])),
   held as (
     select trigger_id, number, cardinality(device_ids) as devices from trigger_chunks
      where project_id = $1 and held and state = 'planned' and device_ids && (select ids from own)
      order by trigger_id, number for update)
   update trigger_chunks c
      set device_ids = array(
        select d.id from unnest(c.device_ids) with ordinality as d(id, place)
         where d.id <> all((select ids from own)::text[]) order by d.place),
          places = case when c.places is not null then array(
        select d.target from unnest(c.device_ids, c.places) with ordinality as d(id, target, place)
         where d.id <> all((select ids from own)::text[]) order by d.place) end
     from held h
    where c.project_id = $1 and c.trigger_id = h.trigger_id and c.number = h.number
   returning c.trigger_id, c.number, h.devices - cardinality(c.device_ids) as devices,
             cardinality(c.device_ids) = 0 as empty`
)
// One range of the index for each user: the ids begin with their times, which are at most some days apart.
const reachedByOthers = statement(
  'triggers.reached_by_others',
  `select distinct user_id from messages
    where project_id = $1 and user_id = any($2::uuid[]) and trigger_id >= $4 and trigger_id <= $5
      and trigger_id::text = any($3::text[]) and state <> 'skipped'`
)
const reached = statement(
  'triggers.users_reached',
  'select distinct user_id from messages where project_id = $1 and trigger_id = $2 and user_id = any($3::uuid[])'
)
// Expanded by the lists of devices of this campaign only; other held batches of the project are read without them.
const held = statement(
  'trigger_chunks.held_users',
  `with own as materialized (
     select id, user_id from devices where project_id = $1 and user_id = any($3::uuid[]))
   select own.user_id, max(c.due_at) as until
     from trigger_chunks c
     join triggers t on t.project_id = $1 and t.id = c.trigger_id and t.campaign_id = $2
    cross join unnest(c.device_ids) as d(id)
     join own on own.id = d.id
    where c.project_id = $1 and c.held and c.state = 'planned'
    group by own.user_id`
)
const removeEmpty = statement(
  'trigger_chunks.delete_empty',
  `delete from trigger_chunks c using unnest($2::uuid[], $3::int[]) as e(trigger_id, number)
    where c.project_id = $1 and c.trigger_id = e.trigger_id and c.number = e.number`
)

export async function insertBatches(tx: Db, projectId: ProjectId, id: string, batches: NewBatch[]) {
  if (batches.length === 0) return
  const rows = batches.map(({ number, deviceIds, places, dueAt, deferred, liveFrom }) => ({
    number,
    device_ids: deviceIds,
    due_at: dueAt,
    held: deferred,
    quiet_until: liveFrom,
    ...(places && { places })
  }))
  await tx.run(insert, [projectId, id, JSON.stringify(rows)])
}

/** The batches that are due first: thousands may be deferred by quiet hours, and few others open. */
export const openBatches = (db: Db, projectId: ProjectId, id: string) =>
  db.query<Pick<BatchRow, 'number' | 'due_at' | 'deferred'>>(open, [projectId, id])

export const findBatch = (db: Db, projectId: ProjectId, id: string, number: number) =>
  db.one<BatchRow>(find, [projectId, id, number])

/** Marks a planned batch as written. Returns its devices as of now, without those of users deleted since it was read. */
export const claimBatch = (tx: Db, projectId: ProjectId, id: string, number: number) =>
  tx.one<Pick<BatchRow, 'device_ids' | 'places'>>(claim, [projectId, id, number])

/** Locks the deferred devices until the end of the transaction. Returns those that still exist, by the time they are due. */
export async function lockDevices(tx: Db, projectId: ProjectId, deferred: Map<number, string[]>) {
  if (deferred.size === 0) return deferred
  const rows = await tx.query<{ id: string }>(lock, [projectId, [...deferred.values()].flat()])
  const locked = new Set(rows.map(({ id }) => id))
  const left = [...deferred].map(([until, ids]) => [until, ids.filter((id) => locked.has(id))] as const)
  return new Map(left.filter(([, ids]) => ids.length > 0))
}

/** Returns the deleted batch, or undefined if another run has deleted it. */
export const deleteBatch = (tx: Db, projectId: ProjectId, id: string, number: number) =>
  tx.one<{ state: BatchRow['state']; devices: number }>(remove, [projectId, id, number])

export const deletePlannedBatches = (tx: Db, projectId: ProjectId, id: string) =>
  tx.query<{ devices: number; counted: boolean }>(removePlanned, [projectId, id])

/** Also batches that were being sent, whose devices have messages: `counted` is true only for those without. */
export const deleteBatches = (tx: Db, projectId: ProjectId, id: string) =>
  tx.query<{ devices: number; counted: boolean }>(removeAll, [projectId, id])

/** Takes the devices of users out of deferred batches, and deletes the batches that are empty then. */
export async function shrinkDeferredBatches(tx: Db, projectId: ProjectId, userIds: string[]): Promise<ShrunkBatch[]> {
  const shrunk = await tx.query<ShrunkBatch>(take, [projectId, userIds])
  if (shrunk.length === 0) return []
  const empty = shrunk.filter((batch) => batch.empty)
  const [triggerIds, numbers] = [empty.map(({ trigger_id }) => trigger_id), empty.map(({ number }) => number)]
  await tx.run(removeEmpty, [projectId, triggerIds, numbers])
  return shrunk
}

/** The users of these to whom the trigger has sent a message. */
export async function usersReached(tx: Db, projectId: ProjectId, id: string, userIds: string[]): Promise<Set<string>> {
  const rows = await tx.query<{ user_id: string }>(reached, [projectId, id, userIds])
  return new Set(rows.map(({ user_id }) => user_id))
}

/** The users of these to whom one of the triggers has sent a message. */
export async function usersOfOthers(
  tx: Db,
  projectId: ProjectId,
  userIds: string[],
  triggerIds: string[]
): Promise<Set<string>> {
  const sorted = triggerIds.toSorted()
  const values = [projectId, userIds, sorted, sorted[0] ?? null, sorted.at(-1) ?? null]
  const rows = await tx.query<{ user_id: string }>(reachedByOthers, values)
  return new Set(rows.map(({ user_id }) => user_id))
}

/** The users of these to whom quiet hours hold a message of a campaign, with the time at which it is due. */
export async function heldUsers(
  db: Db,
  projectId: ProjectId,
  campaignId: string,
  userIds: string[]
): Promise<Map<string, Date>> {
  const rows = await db.query<{ user_id: string; until: Date }>(held, [projectId, campaignId, userIds])
  return new Map(rows.map(({ user_id, until }) => [user_id, until]))
}

/** Returns the skips that are new: a device that two targets lead to is skipped once. */
export async function addSkips(tx: Db, projectId: ProjectId, skips: Skip[], at: Date): Promise<Skip[]> {
  if (skips.length === 0) return []
  const sorted = skips.toSorted((one, two) => (keyOf(one) < keyOf(two) ? -1 : 1))
  const rows = sorted.map(({ triggerId, kind, value, reason, userId }) => ({
    trigger_id: triggerId,
    kind,
    value,
    reason,
    user_id: userId
  }))
  const added = await tx.query<SkipKey>(insertSkips, [projectId, JSON.stringify(rows), at])
  const fresh = new Set(added.map(keyOf))
  return skips.filter((skip) => fresh.has(keyOf(skip)))
}

type SkipKey = Pick<Skip, 'triggerId' | 'kind' | 'value'>
const keyOf = ({ triggerId, kind, value }: SkipKey) => `${triggerId} ${kind} ${value}`
