import type { ChannelChange } from '../channels/channels.ts'
import type { FailureCode } from '../gateways/gateways.ts'
import type { Retries } from '../messages/messages.ts'
import type { DiscardScope } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

export interface ChangeRow {
  /** pg returns a bigint as text. */
  number: string
  message_id: string
  kind: 'activity-update' | 'activity-end'
  activity: ChannelChange['activity']
  priority: 'high' | 'normal'
  not_after: Date
  at_seconds: string | null
  /** queued, handed and unknown are open; the others are final. */
  state: 'queued' | 'handed' | 'unknown' | 'accepted' | 'failed' | 'superseded'
  due_at: Date | null
  attempts: number
  retries: Retries
  gateway_message_id: string | null
  reason: FailureCode | null
  reason_message: string | null
  created_at: Date
  settled_at: Date | null
}

const columns = `number, message_id, kind, activity, priority, not_after, at_seconds, state, due_at, attempts, retries,
  gateway_message_id, reason, reason_message, created_at, settled_at`

// The update locks the channel: numbers are given one after the other, and every number below a visible one is visible.
const insert = statement(
  'live_activity_changes.insert',
  `with channel as (
     update live_activity_channels set last_number = last_number + 1, content_state = $6, updated_at = $9
      where project_id = $1 and id = $2 and state = 'active'
     returning project_id, id, last_number)
   insert into live_activity_changes (project_id, channel_id, number, message_id, kind, activity, priority, not_after, state,
     attempts, retries, created_at)
   select project_id, id, last_number, $3, $4, $5, $7, $8, 'queued', 0, '{}', $9 from channel
   returning number`
)
const find = statement(
  'live_activity_changes.find',
  `select ${columns} from live_activity_changes where project_id = $1 and channel_id = $2 and message_id = $3`
)
const newest = statement(
  'live_activity_changes.newest',
  `select ${columns} from live_activity_changes
    where project_id = $1 and channel_id = $2 order by number desc limit 1`
)
const supersede = statement(
  'live_activity_changes.supersede',
  `update live_activity_changes set state = 'superseded', reason = 'SUPERSEDED', reason_message = null, settled_at = $3
    where project_id = $1 and channel_id = $2 and settled_at is null and kind = 'activity-update'
      and number < (select last_number from live_activity_channels where project_id = $1 and id = $2)
   returning message_id`
)
const firstOpen = statement(
  'live_activity_changes.first_open',
  `select ${columns} from live_activity_changes
    where project_id = $1 and channel_id = $2 and settled_at is null order by number limit 1`
)
const handOver = statement(
  'live_activity_changes.hand_over',
  `with channel as (
     update live_activity_channels set last_timestamp = greatest(last_timestamp, $4), handed_at = $6
      where project_id = $1 and id = $2)
   update live_activity_changes set state = 'handed', at_seconds = $4, retries = $5, due_at = null
    where project_id = $1 and channel_id = $2 and number = $3`
)
const settle = statement(
  'live_activity_changes.settle',
  `update live_activity_changes
      set state = $4, due_at = $5, attempts = $6, retries = $7, gateway_message_id = $8, reason = $9, reason_message = $10,
          settled_at = $11
    where project_id = $1 and channel_id = $2 and number = $3 and settled_at is null`
)
const cancelOpen = statement(
  'live_activity_changes.cancel_open',
  `update live_activity_changes set state = 'failed', reason = 'CANCELED', reason_message = null, settled_at = $3
    where project_id = $1 and channel_id = $2 and settled_at is null`
)
const discardOpen = statement(
  'live_activity_changes.discard',
  `update live_activity_changes set state = 'failed', reason = 'CANCELED', reason_message = $3, settled_at = $4
    where project_id = $1 and settled_at is null and created_at < $2
   returning channel_id`
)
const countOpen = statement(
  'live_activity_changes.count_open',
  `select count(*)::int as count from live_activity_changes
    where project_id = $1 and settled_at is null and created_at < $2`
)
const sweep = statement(
  'live_activity_changes.sweep_window',
  `delete from live_activity_changes where project_id = $1 and (channel_id, number) in (
     select channel_id, number from live_activity_changes where project_id = $1 and settled_at < $2 limit 5000)`
)
const erase = statement(
  'live_activity_changes.erase_window',
  `delete from live_activity_changes where project_id = $1 and (channel_id, number) in (
     select channel_id, number from live_activity_changes where project_id = $1 limit 5000)`
)

export interface NewChange {
  messageId: string
  kind: ChangeRow['kind']
  activity: ChannelChange['activity']
  priority: ChangeRow['priority']
  notAfter: Date
}

/** Appends a change and keeps its state on the channel. Returns its number; undefined if the channel is not active. */
export const insertChange = async (
  db: Db,
  projectId: ProjectId,
  channelId: string,
  { messageId, kind, activity, priority, notAfter }: NewChange
): Promise<string | undefined> => {
  const state = JSON.stringify(activity.contentState)
  const values = [
    projectId,
    channelId,
    messageId,
    kind,
    JSON.stringify(activity),
    state,
    priority,
    notAfter,
    new Date()
  ]
  return (await db.one<{ number: string }>(insert, values))?.number
}

export const findChange = (db: Db, projectId: ProjectId, channelId: string, messageId: string) =>
  db.one<ChangeRow>(find, [projectId, channelId, messageId])

export const findNewest = (db: Db, projectId: ProjectId, channelId: string) =>
  db.one<ChangeRow>(newest, [projectId, channelId])

/** Settles updates that a newer change makes pointless. An end stays, because activities must not outlive it. */
export const supersedeOlder = (db: Db, projectId: ProjectId, channelId: string) =>
  db.run(supersede, [projectId, channelId, new Date()])

export const findFirstOpen = (db: Db, projectId: ProjectId, channelId: string) =>
  db.one<ChangeRow>(firstOpen, [projectId, channelId])

/** Written before the request leaves, so that a repeat after a crash has the same time. */
export const handChangeOver = (
  db: Db,
  projectId: ProjectId,
  channelId: string,
  number: string,
  { atSeconds, retries }: { atSeconds: number; retries: Retries }
) => db.run(handOver, [projectId, channelId, number, atSeconds, retries, new Date()])

export type Settlement = Pick<
  ChangeRow,
  'state' | 'due_at' | 'attempts' | 'retries' | 'gateway_message_id' | 'reason' | 'reason_message'
>

export const settleChange = (
  db: Db,
  projectId: ProjectId,
  channelId: string,
  number: string,
  { state, due_at, attempts, retries, gateway_message_id, reason, reason_message }: Settlement
) => {
  const settledAt = state === 'queued' || state === 'unknown' ? null : new Date()
  const said = [gateway_message_id, reason, reason_message]
  return db.run(settle, [projectId, channelId, number, state, due_at, attempts, retries, ...said, settledAt])
}

export const cancelChanges = (db: Db, projectId: ProjectId, channelId: string) =>
  db.run(cancelOpen, [projectId, channelId, new Date()])

/** Cancels the changes that waited in a backup, and returns their channels. */
export const discardChanges = async (db: Db, projectId: ProjectId, { restoredAt }: DiscardScope, reason: string) => {
  const rows = await db.query<{ channel_id: string }>(discardOpen, [projectId, restoredAt, reason, new Date()])
  return new Set(rows.map(({ channel_id }) => channel_id))
}

/** Changes that waited in a backup. */
export const countWaitingChanges = async (db: Db, projectId: ProjectId, { restoredAt }: DiscardScope) =>
  (await db.one<{ count: number }>(countOpen, [projectId, restoredAt]))!.count

/** Deletes a batch of changes that were settled before this time. */
export const sweepChanges = (db: Db, projectId: ProjectId, before: Date) => db.run(sweep, [projectId, before])

export const eraseChanges = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
