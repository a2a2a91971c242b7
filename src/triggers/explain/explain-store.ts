import type { StoredTarget } from '../../campaigns/campaigns.ts'
import type { MessageState } from '../../messages/messages.ts'
import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

export interface SkipRow {
  kind: StoredTarget[0]
  value: string
  reason: string
}

export interface MessageRow {
  device_id: string
  message_id: string
  state: MessageState
  reason: string | null
  reason_message: string | null
  variant: string | null
  language: string | null
}

/** A device whose message is not written yet. */
export interface PlannedDevice {
  id: string
  due_at: Date
  /** Quiet hours hold it; after these it may wait for a turn at the throttle. */
  deferred: boolean
}

const devices = statement(
  'explain.devices',
  'select id from devices where project_id = $1 and user_id = $2 order by last_seen_at desc, id limit 100'
)
const owner = statement('explain.user_of_device', 'select user_id from devices where project_id = $1 and id = $2')
// A target without its properties is its kind and its id.
const named = statement(
  'explain.targets',
  `select t.target from triggers, jsonb_array_elements(audience -> 'targets') with ordinality as t(target, place)
    where project_id = $1 and id = $2 and t.target - 2 = any($3::jsonb[]) order by t.place limit $4`
)
const skips = statement(
  'explain.skips',
  `select kind, value, reason from trigger_skips
    where project_id = $1 and trigger_id = $2 and (user_id = $3 or (kind = 'project_user_id' and value = $4))`
)
const skipsOfUserRows = statement(
  'explain.skips_of_user',
  `select trigger_id, kind, value, reason, at from trigger_skips
    where project_id = $1 and user_id = $2 order by at desc, trigger_id limit 10000`
)
const messages = statement(
  'explain.messages',
  `select device_id, message_id, state, reason, reason_message, variant, language from messages
    where project_id = $1 and trigger_id = $2 and user_id = $3`
)
const planned = statement(
  'explain.waiting',
  `select d.id, c.due_at, c.held and c.quiet_until is null as deferred from trigger_chunks c
     join unnest($3::text[]) as d(id) on d.id = any(c.device_ids)
    where c.project_id = $1 and c.trigger_id = $2 and c.state = 'planned' limit 200`
)

/** The newest ten thousand triggers that passed a user over, and why. */
export const skipsOfUser = (db: Db, projectId: ProjectId, userId: string) =>
  db.query(skipsOfUserRows, [projectId, userId])

/** The devices of a user, the last seen first; at most 100. */
export const devicesOf = async (db: Db, projectId: ProjectId, userId: string): Promise<string[]> =>
  (await db.query<{ id: string }>(devices, [projectId, userId])).map(({ id }) => id)

export const userOfDevice = async (db: Db, projectId: ProjectId, deviceId: string): Promise<string | undefined> =>
  (await db.one<{ user_id: string }>(owner, [projectId, deviceId]))?.user_id

/** Those of these targets that a trigger names, in its order and with their properties. */
export const namedTargets = async (
  db: Db,
  projectId: ProjectId,
  triggerId: string,
  targets: StoredTarget[],
  most: number
) => {
  const texts = targets.map((target) => JSON.stringify(target))
  const rows = await db.query<{ target: StoredTarget }>(named, [projectId, triggerId, texts, most])
  return rows.map(({ target }) => target)
}

export const skipsOf = (db: Db, projectId: ProjectId, triggerId: string, userId: string, name: string | null) =>
  db.query<SkipRow>(skips, [projectId, triggerId, userId, name])

export const messagesOf = (db: Db, projectId: ProjectId, triggerId: string, userId: string) =>
  db.query<MessageRow>(messages, [projectId, triggerId, userId])

export const plannedDevices = (db: Db, projectId: ProjectId, triggerId: string, deviceIds: string[]) =>
  db.query<PlannedDevice>(planned, [projectId, triggerId, deviceIds])
