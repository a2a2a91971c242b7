import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { identity } from '../users/users.ts'
import { isSettled, type MessageState, type OutcomeChange, openStates } from './message.ts'
import type { OnOutcomes } from './settle.ts'

// What happens to messages besides being sent: their users move or go, devices report back, time passes.

const told = 'trigger_id, device_id, message_id, campaign_id, user_id'

// Before several rows are changed they are locked in the order in which outcomes are recorded.
const lockOfUsers = statement(
  'messages.lock_of_users',
  `select 1 from messages where project_id = $1 and user_id = any($2::uuid[])
    order by trigger_id, device_id for update`
)
const move = statement('messages.move', 'update messages set user_id = $3 where project_id = $1 and user_id = $2')
const remove = statement(
  'messages.remove_of_users',
  `delete from messages where project_id = $1 and user_id = any($2::uuid[]) returning ${told}, state`
)
const cancelWindow = statement(
  'messages.cancel_window',
  `with open as (
     select trigger_id, device_id, state from messages
      where project_id = $1 and trigger_id = $2 and state in ('queued', 'unknown')
      order by device_id limit 1000 for update)
   update messages set state = 'skipped', reason = 'CANCELED', due_at = null, settled_at = $3
     from open
    where messages.project_id = $1 and messages.trigger_id = open.trigger_id and messages.device_id = open.device_id
   returning messages.trigger_id, messages.device_id, messages.message_id, messages.campaign_id, messages.user_id,
             open.state`
)
// Once for each device: the first report counts. A tap without a report of its arrival is both.
const report = (column: string) => `
  update messages set ${column} = g.at
    from json_to_recordset($2::json) as g(message_id uuid, device_id text, at timestamptz)
   where messages.project_id = $1 and messages.message_id = g.message_id and messages.device_id = g.device_id
     and messages.${column} is null
  returning messages.trigger_id, messages.device_id, messages.message_id, messages.campaign_id, messages.user_id,
            messages.state`
const delivered = statement('messages.delivered', report('delivered_at'))
const tapped = statement('messages.tapped', report('tapped_at'))
const sweep = statement(
  'messages.sweep_window',
  `delete from messages where project_id = $1 and trigger_id < $2 and (trigger_id, device_id) in (
     select trigger_id, device_id from messages
      where project_id = $1 and trigger_id < $2 and state not in ${openStates} order by trigger_id, device_id limit 5000)`
)
const erase = statement(
  'messages.erase_window',
  `delete from messages where project_id = $1 and (trigger_id, device_id) in (
     select trigger_id, device_id from messages where project_id = $1 order by trigger_id, device_id limit 5000)`
)

interface Touched {
  trigger_id: string
  device_id: string
  message_id: string
  campaign_id: string | null
  user_id: string
  state: MessageState
}

type What = Omit<OutcomeChange, 'triggerId' | 'campaignId' | 'messageId' | 'deviceId' | 'userId'>

const changeOf = (row: Touched, more: What): OutcomeChange => ({
  triggerId: row.trigger_id,
  campaignId: row.campaign_id,
  messageId: row.message_id,
  deviceId: row.device_id,
  userId: row.user_id,
  ...more
})

const canceled = (row: Touched) => changeOf(row, { to: 'skipped', reason: 'CANCELED', kind: 'state' })

/** For whoever joins two users. */
export const moveMessages = async (tx: Db, projectId: ProjectId, fromUserId: string, toUserId: string) => {
  await tx.run(lockOfUsers, [projectId, [fromUserId]])
  await tx.run(move, [projectId, fromUserId, toUserId])
}

/** Before users are removed, in that transaction. Nothing new can be written for them meanwhile. */
export async function removeOfUsers(tx: Db, projectId: ProjectId, userIds: string[], onOutcomes: OnOutcomes) {
  await identity.lock(tx, projectId, userIds)
  await tx.run(lockOfUsers, [projectId, userIds])
  const rows = await tx.query<Touched>(remove, [projectId, userIds])
  const open = rows.filter((row) => !isSettled(row))
  if (open.length > 0) await onOutcomes(tx, projectId, open.map(canceled))
}

/** Skips up to a window of what waits under a trigger, and answers how many there were. */
export async function cancelWindowOf(
  tx: Db,
  projectId: ProjectId,
  triggerId: string,
  onOutcomes: OnOutcomes
): Promise<number> {
  const rows = await tx.query<Touched>(cancelWindow, [projectId, triggerId, new Date()])
  if (rows.length > 0) await onOutcomes(tx, projectId, rows.map(canceled))
  return rows.length
}

/** A device tells what became of a message. */
export interface Report {
  messageId: string
  deviceId: string
  kind: 'delivered' | 'tapped'
  at: Date
}

export async function recordReports(tx: Db, projectId: ProjectId, reports: Report[], onOutcomes: OnOutcomes) {
  const changes: OutcomeChange[] = []
  for (const kind of ['delivered', 'tapped'] as const) {
    const first = new Map<string, object>()
    for (const { messageId, deviceId, at, kind: said } of reports) {
      const key = JSON.stringify([messageId, deviceId])
      if ((kind === 'delivered' || said === 'tapped') && !first.has(key))
        first.set(key, { message_id: messageId, device_id: deviceId, at })
    }
    if (first.size === 0) continue
    const given = JSON.stringify([...first.keys()].sort().map((key) => first.get(key)))
    const rows = await tx.query<Touched>(kind === 'delivered' ? delivered : tapped, [projectId, given])
    changes.push(...rows.map((row) => changeOf(row, { to: row.state, reason: null, kind })))
  }
  if (changes.length > 0) await onOutcomes(tx, projectId, changes)
}

export const sweepMessageWindow = (db: Db, projectId: ProjectId, beforeId: string) =>
  db.run(sweep, [projectId, beforeId])

export const eraseMessageWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
