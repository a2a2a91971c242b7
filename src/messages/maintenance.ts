import { type Discarding, type DiscardScope, discardedSentence } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import {
  cancelQueued,
  countSendRows,
  countTimed,
  deleteOfUsers,
  discardMessages,
  discardMessagesOf,
  lockOfUsers,
  moveToUser,
  releaseSendRows,
  type Touched,
  writeReports
} from './maintenance-store.ts'
import { isSettled, type OutcomeChange } from './message.ts'
import { openSends } from './release-send.ts'
import type { Publish } from './settle.ts'

// Changes of messages besides sending: users are merged or deleted, triggers are canceled, devices report.

type Change = Pick<OutcomeChange, 'to' | 'reason' | 'kind'>

const changeOf = (row: Touched, change: Change): OutcomeChange => ({
  triggerId: row.trigger_id,
  campaignId: row.campaign_id,
  variant: row.variant,
  language: row.language,
  step: row.step,
  messageId: row.message_id,
  deviceId: row.device_id,
  userId: row.user_id,
  ...change
})

const canceled = (row: Touched) => changeOf(row, { to: 'skipped', reason: 'CANCELED', kind: 'state' })

/** Moves messages when two users are merged. */
export const moveMessages = async (tx: Db, projectId: ProjectId, fromUserId: string, toUserId: string) => {
  await lockOfUsers(tx, projectId, [fromUserId])
  await moveToUser(tx, projectId, fromUserId, toUserId)
}

/** Runs before users are deleted, in that transaction, which has locked them: that keeps new messages out. */
export async function removeOfUsers(tx: Db, projectId: ProjectId, userIds: string[], publish: Publish) {
  await lockOfUsers(tx, projectId, userIds)
  const open = (await deleteOfUsers(tx, projectId, userIds)).filter((row) => !isSettled(row))
  if (open.length > 0) await publish(tx, projectId, open.map(canceled))
}

/** Skips up to 1,000 messages of a trigger that no gateway has received, and returns their number. */
export async function cancelBatch(tx: Db, projectId: ProjectId, triggerId: string, publish: Publish): Promise<number> {
  const rows = await cancelQueued(tx, projectId, triggerId, new Date())
  if (rows.length > 0) await publish(tx, projectId, rows.map(canceled))
  return rows.length
}

/** Skips the messages of a trigger of a restored installation: the processes that owned some of them are gone. */
export async function discardOfTrigger(
  { write }: Discarding,
  projectId: ProjectId,
  triggerId: string,
  publish: Publish
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    after = await write(async (tx) => {
      const rows = await discardMessagesOf(tx, projectId, triggerId, discardedSentence, from)
      if (rows.length > 0) await publish(tx, projectId, rows.map(canceled))
      return rows[0]?.last
    })
  }
}

/** Messages of direct sends that waited in a backup, or were being sent. */
export async function countWaitingMessages(db: Db, projectId: ProjectId, scope: DiscardScope) {
  const { due, later } = await countTimed(db, projectId, scope)
  const open = (await openSends(db, projectId)).map((range) => countSendRows(db, projectId, range))
  return { due: (await Promise.all(open)).reduce((sum, count) => sum + count, due), later }
}

/** Skips messages of direct sends that waited in a backup. */
export async function discard(discarding: Discarding, projectId: ProjectId, publish: Publish): Promise<void> {
  await discarding.write(async (tx) => {
    for (const range of await openSends(tx, projectId)) await releaseSendRows(tx, projectId, range)
  })
  const skipSome = async (tx: Db) => {
    const rows = await discardMessages(tx, projectId, discarding, discardedSentence)
    if (rows.length > 0) await publish(tx, projectId, rows.map(canceled))
    return rows.length
  }
  while ((await discarding.write(skipSome)) > 0);
}

/** The report of a device that a message arrived or was tapped. */
export interface Report {
  messageId: string
  deviceId: string
  kind: 'delivered' | 'tapped'
  at: Date
}

export async function recordReports(tx: Db, projectId: ProjectId, reports: Report[], publish: Publish) {
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
    const rows = await writeReports(tx, projectId, kind, given)
    changes.push(...rows.map((row) => changeOf(row, { to: row.state, reason: null, kind })))
  }
  if (changes.length > 0) await publish(tx, projectId, changes)
}
