import type { DiscardScope } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { type MessageState, openStates } from './message.ts'
import { releasedAt } from './store.ts'

const published = 'trigger_id, device_id, message_id, campaign_id, user_id, variant, language, step'

// Locks rows in the order in which outcomes lock them, before it changes several of them.
const lock = statement(
  'messages.lock_of_users',
  `select 1 from messages where project_id = $1 and user_id = any($2::uuid[])
    order by trigger_id, device_id for update`
)
const move = statement('messages.move', 'update messages set user_id = $3 where project_id = $1 and user_id = $2')
const remove = statement(
  'messages.remove_of_users',
  `delete from messages where project_id = $1 and user_id = any($2::uuid[]) returning ${published}, state`
)
const cancelBatch = statement(
  'messages.cancel_window',
  `with open as (
     select trigger_id, device_id, state from messages
      where project_id = $1 and trigger_id = $2 and state in ('queued', 'unknown')
      order by device_id limit 1000 for update)
   update messages set state = 'skipped', reason = 'CANCELED', due_at = null, settled_at = $3
     from open
    where messages.project_id = $1 and messages.trigger_id = open.trigger_id and messages.device_id = open.device_id
   returning ${published.replace(/\w+/g, 'messages.$&')}, open.state`
)
// All open rows: those that are still handed belonged to processes of the installation that was backed up.
const discarding = (which: string) => `with open as (
     select trigger_id, device_id, state from messages
      where project_id = $1 and state in ${openStates} and ${which}
      limit 1000 for update)
   update messages set state = 'skipped', reason = 'CANCELED', reason_message = $3, due_at = null, owner = null, settled_at = $4
     from open
    where messages.project_id = $1 and messages.trigger_id = open.trigger_id and messages.device_id = open.device_id
   returning ${published.replace(/\w+/g, 'messages.$&')}, open.state, (select max(device_id) from open) as last`
// Each window begins where the last one ended: a broadcast has a million rows, and most of them are settled.
const discardOfTrigger = statement(
  'messages.discard_of_trigger',
  discarding('trigger_id = $2 and device_id > $5 order by device_id')
)
// The id of a message begins with the time of its sending, which a retry does not change.
const waits = 'due_at is not null and created_at < $2'
const discardWaiting = statement(
  'messages.discard_waiting',
  discarding(`${waits} and ($5::uuid is null or message_id < $5)`)
)
const countWaiting = statement(
  'messages.count_waiting',
  `select count(*) filter (where message_id < $3)::int as due, count(*) filter (where message_id >= $3)::int as later
     from messages where project_id = $1 and ${waits} and campaign_id is null`
)
// Rows of a large send have no time of their own (docs/decisions/0087). Those of a trigger stay: their batch or start job finds them.
const untimed = `project_id = $1 and trigger_id between $2 and $3 and campaign_id is null and due_at is null
      and state in ${openStates}`
const releaseSend = statement(
  'messages.release_send',
  `update messages set due_at = ${releasedAt('messages')} where ${untimed}`
)
const countOfSend = statement('messages.count_of_send', `select count(*)::int as count from messages where ${untimed}`)
// The first report of a device counts. A tap without an earlier delivery report counts as both.
const report = (column: string) => `
  update messages set ${column} = g.at
    from json_to_recordset($2::json) as g(message_id uuid, device_id text, at timestamptz)
   where messages.project_id = $1 and messages.message_id = g.message_id and messages.device_id = g.device_id
     and messages.${column} is null
  returning ${published.replace(/\w+/g, 'messages.$&')}, messages.state`
const delivered = statement('messages.delivered', report('delivered_at'))
const tapped = statement('messages.tapped', report('tapped_at'))
const sweep = statement(
  'messages.sweep_window',
  `delete from messages where project_id = $1 and trigger_id < $2 and (trigger_id, device_id) in (
     select trigger_id, device_id from messages
      where project_id = $1 and trigger_id < $2 and state not in ${openStates} and created_at < $3
      order by trigger_id, device_id limit 5000)`
)
const erase = statement(
  'messages.erase_window',
  `delete from messages where project_id = $1 and (trigger_id, device_id) in (
     select trigger_id, device_id from messages where project_id = $1 order by trigger_id, device_id limit 5000)`
)

/** The first and the last id of the messages of one request. */
export interface SendRange {
  first: string
  last: string
}

export interface Touched {
  trigger_id: string
  device_id: string
  message_id: string
  campaign_id: string | null
  variant: string | null
  language: string | null
  step: string | null
  user_id: string
  state: MessageState
}

/** Locks the messages of users until the end of the transaction. */
export const lockOfUsers = (tx: Db, projectId: ProjectId, userIds: string[]) => tx.run(lock, [projectId, userIds])

export const moveToUser = (tx: Db, projectId: ProjectId, fromUserId: string, toUserId: string) =>
  tx.run(move, [projectId, fromUserId, toUserId])

export const deleteOfUsers = (tx: Db, projectId: ProjectId, userIds: string[]) =>
  tx.query<Touched>(remove, [projectId, userIds])

/** Skips up to 1,000 messages of a trigger that no gateway has received. */
export const cancelQueued = (tx: Db, projectId: ProjectId, triggerId: string, at: Date) =>
  tx.query<Touched>(cancelBatch, [projectId, triggerId, at])

/** Skips the next 1,000 open messages of a trigger of a restored installation. `last` is the device of the last one. */
export const discardMessagesOf = (tx: Db, projectId: ProjectId, triggerId: string, reason: string, after: string) =>
  tx.query<Touched & { last: string }>(discardOfTrigger, [projectId, triggerId, reason, new Date(), after])

/** Skips up to 1,000 messages of direct sends that waited in a backup. */
export const discardMessages = (
  tx: Db,
  projectId: ProjectId,
  { restoredAt, dueBy, all }: DiscardScope,
  reason: string
) =>
  tx.query<Touched>(discardWaiting, [
    projectId,
    restoredAt,
    reason,
    new Date(),
    all ? null : firstIdAt(dueBy.getTime() + 1)
  ])

/** Messages of direct sends that waited for their time in a backup. */
export const countTimed = async (
  db: Db,
  projectId: ProjectId,
  { restoredAt, dueBy }: DiscardScope
): Promise<{ due: number; later: number }> =>
  (await db.one<{ due: number; later: number }>(countWaiting, [projectId, restoredAt, firstIdAt(dueBy.getTime() + 1)]))!

/** Sets a time for the open rows of a large send, and returns their number. */
export const releaseSendRows = (db: Db, projectId: ProjectId, { first, last }: SendRange) =>
  db.run(releaseSend, [projectId, first, last])

export const countSendRows = async (db: Db, projectId: ProjectId, { first, last }: SendRange): Promise<number> =>
  (await db.one<{ count: number }>(countOfSend, [projectId, first, last]))!.count

/** `reports` is JSON. Returns the messages that had no report of this kind before. */
export const writeReports = (tx: Db, projectId: ProjectId, kind: 'delivered' | 'tapped', reports: string) =>
  tx.query<Touched>(kind === 'delivered' ? delivered : tapped, [projectId, reports])

/** Deletes up to 5,000 settled messages that are older than a time. The id of their trigger may be older than they are. */
export const deleteOldMessages = (db: Db, projectId: ProjectId, beforeMs: number) =>
  db.run(sweep, [projectId, firstIdAt(beforeMs), new Date(beforeMs)])

/** Deletes up to 5,000 messages of a project that is being erased. */
export const eraseMessages = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
