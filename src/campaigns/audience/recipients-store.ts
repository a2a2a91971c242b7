import type { reach } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import { type Statement, statement } from '../../platform/db/statement.ts'
import { firstIdAt, isUuid, type ProjectId, timeOfId } from '../../platform/ids.ts'
import type { Recipient } from '../../templates/templates.ts'
import type { Choices } from '../../users/users.ts'
import type { StoredTarget, TargetKind } from './request.ts'

/** A recipient with its active push token, if it has one. */
export type Reachable = Recipient & Omit<reach.ReachRow, 'id' | 'user_id'> & { choices: Choices | null }

// Users and tokens are found by lists of keys, as devices are: one by one they cost the server twice as much. Every row has its
// device, so the joins could be inner and left ones. Full ones are never made row by row, whatever statistics say
// (docs/decisions/0081). Two concurrent registrations may leave a device with two tokens: the newer one is used.
const load = statement(
  'campaigns.recipients',
  `with d as materialized (select * from devices where project_id = $1 and id = any($2::text[]))
   select distinct on (d.id) d.id as device_id, d.user_id, u.project_user_id, u.properties, d.platform, d.facts,
          d.push_permission, u.choices, t.token, t.type, t.environment, t.app_identifier, t.registered_at
     from d
     full join (
       select * from users where project_id = $1 and id = any((select array_agg(user_id) from d)::uuid[]) offset 0
     ) u on u.id = d.user_id
     full join (
       select * from push_tokens where project_id = $1 and device_id = any($2::text[]) and dead_since is null offset 0
     ) t on t.device_id = d.id
    order by d.id, t.registered_at desc nulls last`
)
// Counts the triggers of a campaign that reached each user. Failed messages did not. The time of a message is in its id. That of
// its trigger only bounds what is read of each user, by how long messages of the campaign have waited: batches of a capped
// campaign wait for each other.
const received = statement(
  'campaigns.received',
  `select m.user_id, count(distinct m.trigger_id)::int as triggers from messages m
    where m.project_id = $1 and m.user_id = any($2::uuid[]) and m.trigger_id >= $3 and m.trigger_id <> $4
      and m.campaign_id = $5 and m.message_id >= $6 and m.state in ('queued', 'handed', 'unknown', 'accepted')
    group by m.user_id`
)
const longestWait = statement(
  'campaigns.longest_wait',
  'select longest_wait_days as days from campaigns where project_id = $1 and id = $2'
)
const noteWait = statement(
  'campaigns.note_wait',
  'update campaigns set longest_wait_days = $3 where project_id = $1 and id = $2 and longest_wait_days < $3'
)
// Users whom as many triggers have reached as a limit allows, of all campaigns or those of its topic, leaving out
// transactional ones.
const overLimits = statement(
  'campaigns.over_limits',
  `select m.user_id from messages m
     join campaigns c on c.project_id = $1 and c.id = m.campaign_id
     join json_to_recordset($3::json) as l(place int, count int, since uuid, topic text)
       on m.message_id >= l.since and (l.topic is null or c.topic = l.topic)
    where m.project_id = $1 and m.user_id = any($2::uuid[]) and m.trigger_id >= $4 and m.trigger_id <> $5
      and m.state in ('queued', 'handed', 'unknown', 'accepted') and c.transactional is not true
    group by m.user_id, l.place having count(distinct m.trigger_id) >= min(l.count)`
)

// Three look-ups by key: one condition with `or` would read the whole table.
const named = statement(
  'campaigns.targets',
  `select 'project_user_id' as kind, u.project_user_id as value, u.id as user_id, d.id as device_id
     from users u left join devices d on d.project_id = $1 and d.user_id = u.id
    where u.project_id = $1 and u.project_user_id = any($2::text[])
   union all
   select 'user_id', u.id::text, u.id, d.id
     from users u left join devices d on d.project_id = $1 and d.user_id = u.id
    where u.project_id = $1 and u.id = any($3::uuid[])
   union all
   select 'device_id', d.id, d.user_id, d.id from devices d where d.project_id = $1 and d.id = any($4::text[])`
)

const reached = `u.id as user_id, d.id as device_id, u.project_user_id, u.properties, d.platform, d.facts, d.push_permission,
          u.choices, t.token, t.type, t.environment, t.app_identifier, t.registered_at`
const theirTokens = 'left join push_tokens t on t.project_id = $1 and t.device_id = d.id and t.dead_since is null'
// The same look-ups, with all that a message needs: for a few targets, of which most are reached. They are statements of their
// own, because PostgreSQL plans each list anew, all three of them for targets of one kind.
const reachable: Record<TargetKind, Statement> = {
  project_user_id: statement(
    'campaigns.reachable_names',
    `select 'project_user_id' as kind, u.project_user_id as value, ${reached}
       from users u left join devices d on d.project_id = $1 and d.user_id = u.id ${theirTokens}
      where u.project_id = $1 and u.project_user_id = any($2::text[])`
  ),
  user_id: statement(
    'campaigns.reachable_users',
    `select 'user_id' as kind, u.id::text as value, ${reached}
       from users u left join devices d on d.project_id = $1 and d.user_id = u.id ${theirTokens}
      where u.project_id = $1 and u.id = any($2::uuid[])`
  ),
  device_id: statement(
    'campaigns.reachable_devices',
    `select 'device_id' as kind, d.id as value, ${reached}
       from devices d join users u on u.project_id = $1 and u.id = d.user_id ${theirTokens}
      where d.project_id = $1 and d.id = any($2::text[])`
  )
}

/** Devices with their users, in the order of their ids. Deleted devices are missing. */
export const loadRecipients = (db: Db, projectId: ProjectId, deviceIds: string[]) =>
  db.query<Reachable>(load, [projectId, deviceIds])

const dayMs = 86_400_000
/** The longest that a trigger waits for its time. */
const longestWaitMs = 91 * dayMs
/** The longest that the messages of a trigger usually wait. Longer waits are noted at their campaign. */
const usualWaitMs = 7 * dayMs

/**
 * Notes how long messages of a trigger have waited, for a long throttle, a pause or a time that was moved. They are written
 * after it: a day more covers the time in between.
 */
export async function noteLongWait(
  db: Db,
  projectId: ProjectId,
  { id, campaign_id }: { id: string; campaign_id: string }
): Promise<void> {
  const waitedMs = Date.now() - timeOfId(id)
  if (waitedMs > usualWaitMs - dayMs) await db.run(noteWait, [projectId, campaign_id, Math.ceil(waitedMs / dayMs) + 1])
}

/** For each user, the number of other triggers of the campaign that reached them since a time. */
export async function countReceived(
  tx: Db,
  projectId: ProjectId,
  { campaignId, triggerId, sinceMs }: { campaignId: string; triggerId: string; sinceMs: number },
  userIds: string[]
): Promise<Map<string, number>> {
  const noted = await tx.one<{ days: number }>(longestWait, [projectId, campaignId])
  const waitMs = Math.max(usualWaitMs, (noted?.days ?? 0) * dayMs)
  const values = [projectId, userIds, firstIdAt(sinceMs - waitMs), triggerId, campaignId, firstIdAt(sinceMs)]
  const rows = await tx.query<{ user_id: string; triggers: number }>(received, values)
  return new Map(rows.map(({ user_id, triggers }) => [user_id, triggers]))
}

/** A limit of messages to one user since a time, of all campaigns or, with a topic, of its campaigns. */
export interface LimitSince {
  count: number
  sinceMs: number
  topic: string | null
}

/** The users who have received as many messages of other triggers as one of the limits allows. */
export async function usersOverLimits(
  tx: Db,
  projectId: ProjectId,
  triggerId: string,
  limits: LimitSince[],
  userIds: string[]
): Promise<Set<string>> {
  const rows = limits.map(({ count, sinceMs, topic }, place) => ({ place, count, topic, since: firstIdAt(sinceMs) }))
  const earliest = firstIdAt(Math.min(...limits.map(({ sinceMs }) => sinceMs)) - longestWaitMs)
  const values = [projectId, userIds, JSON.stringify(rows), earliest, triggerId]
  const over = await tx.query<{ user_id: string }>(overLimits, values)
  return new Set(over.map(({ user_id }) => user_id))
}

export interface Named {
  kind: TargetKind
  value: string
  user_id: string
  /** Null: the user has no device. */
  device_id: string | null
}

/** The users and devices that targets name. Unknown targets are missing from the result. */
export const findNamed = (db: Db, projectId: ProjectId, targets: StoredTarget[]): Promise<Named[]> => {
  const { project_user_id, user_id, device_id } = valuesOf(targets)
  return db.query<Named>(named, [projectId, project_user_id, user_id, device_id])
}

function valuesOf(targets: StoredTarget[]): Record<TargetKind, string[]> {
  const values: Record<TargetKind, string[]> = { project_user_id: [], user_id: [], device_id: [] }
  for (const [kind, value] of targets) if (kind !== 'user_id' || isUuid(value)) values[kind].push(value)
  return values
}

/** The same with the recipients, by their devices. */
export async function findNamedReachable(
  db: Db,
  projectId: ProjectId,
  targets: StoredTarget[]
): Promise<{ named: Named[]; recipients: Map<string, Reachable> }> {
  const values = valuesOf(targets)
  const kinds = (Object.keys(reachable) as TargetKind[]).filter((kind) => values[kind].length > 0)
  const found = await Promise.all(
    kinds.map((kind) => db.query<Named & Reachable>(reachable[kind], [projectId, values[kind]]))
  )
  const rows = found.flat()
  const recipients = new Map<string, Reachable>()
  for (const { kind: _kind, value: _value, ...row } of rows) {
    if (row.device_id === null) continue
    const known = recipients.get(row.device_id)
    // A device with two tokens has two rows: the newer token is used.
    if (!known || (known.registered_at ?? 0) < (row.registered_at ?? 0)) recipients.set(row.device_id, row)
  }
  return { named: rows, recipients }
}
