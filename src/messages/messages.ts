import type { Sender } from '../gateways/gateways.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Presence } from '../platform/db/presence.ts'
import { againIfRaced } from '../platform/db/races.ts'
import type { IdempotencyKey } from '../platform/idempotency.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { createHandOver, type HandOverOptions, type Sorted } from './dispatch.ts'
import type { ActivityChangeItem, ActivityStartItem, PushItem } from './items.ts'
import { findLostJob, keepMessagesJob, retryJob, scheduleRetry } from './jobs.ts'
import * as upkeep from './maintenance.ts'
import { isSettled, type MessageDraft, type MessageRow } from './message.ts'
import type { Pauses } from './pauses.ts'
import { rowOf, writeRows } from './persist.ts'
import type { DeliveryResult } from './results.ts'
import { createSending } from './send.ts'
import { createRecorder, type OnOutcomes } from './settle.ts'
import { findUnanswered, giveUpMessages, leaveMessages } from './store.ts'

export type { Content, FailureCode } from '../gateways/gateways.ts'
export { collapseIdOf, payloadSize } from './draft.ts'
export { type PushItem, parseActivityChanges, parseActivityStarts, parsePushItems } from './items.ts'
export { messageMonths } from './jobs.ts'
export { moveMessages, type Report } from './maintenance.ts'
export type { MessageDraft, MessageRow, MessageState, OutcomeChange, PushTarget } from './message.ts'
export { countMinute } from './minutes.ts'
export { createPauses } from './pauses.ts'
export { type DeliveryResult, shownResult } from './results.ts'
export type { OnOutcomes } from './settle.ts'
export { activityTargetOf, pushTargetOf } from './targets.ts'
export type Delivery = ReturnType<typeof createDelivery>

export interface DeliveryOptions {
  pool: Pool
  sender: Sender
  log: Log
  metrics: Metrics
  idempotencyHours: number
  /** Tells which processes live, so that what a dead one left is gone on with at once. */
  presence?: Presence | undefined
  /** What this process is called in the list of nodes: the owner of what it dispatches. */
  nodeId?: string
  isSimulated: (projectId: ProjectId, tx?: Db) => Promise<boolean>
  pauses: Pauses
  onOutcomes?: OnOutcomes
}

/** Messages to devices, from whoever wants them sent: written first, handed over, followed to their end. */
export function createDelivery({
  pool,
  sender,
  log,
  metrics,
  idempotencyHours,
  presence,
  nodeId = newId(),
  isSimulated,
  pauses,
  onOutcomes = async () => {}
}: DeliveryOptions) {
  const recorder = createRecorder({ pool, log, metrics, onOutcomes, scheduleRetry })
  const hands = createHandOver({ pool, nodeId, sender, recorder, pauses, log })
  const sending = createSending({ pool, idempotencyHours, presence, nodeId, isSimulated, hands, pauses })

  return {
    /** Sends now, and answers one result for each item, at the latest after 10 s. */
    sendNow: async (projectId: ProjectId, items: PushItem[], key?: IdempotencyKey): Promise<DeliveryResult[]> =>
      (await sending.pushes(projectId, items, key)).results,
    send: (projectId: ProjectId, items: PushItem[], key?: IdempotencyKey) => sending.pushes(projectId, items, key),
    startActivities: (projectId: ProjectId, items: ActivityStartItem[], key?: IdempotencyKey) =>
      sending.starts(projectId, items, key),
    changeActivities: (
      projectId: ProjectId,
      kind: 'activity-update' | 'activity-end',
      items: ActivityChangeItem[],
      key?: IdempotencyKey
    ) => sending.changes(projectId, kind, items, key),

    /**
     * For campaigns: writes what is to be sent. Answers the rows that stand, also those of an earlier run. `attended`: by
     * somebody who hands them over at once, who is replaced if he dies, and who says `leave` before he goes. Then no time
     * is written with them, and so no index is touched when they end.
     */
    async write(
      tx: Db,
      projectId: ProjectId,
      drafts: MessageDraft[],
      { attended = false } = {}
    ): Promise<MessageRow[]> {
      const simulated = await isSimulated(projectId, tx)
      const at = new Date()
      const rows = drafts.map((draft, place) => rowOf(draft, place, simulated, at, nodeId))
      if (attended) for (const row of rows) hands.attend(row, at)
      return writeRows(tx, projectId, rows)
    },
    /** What was attended and has not ended is found by its time from now on, like all others. */
    async leave(tx: Db, projectId: ProjectId, triggerId: string, rows: MessageRow[]): Promise<void> {
      const open = rows.filter((row) => !isSettled(row) && row.due_at === null)
      if (open.length === 0) return
      const ids = open.map(({ device_id }) => device_id)
      const left = await leaveMessages(tx, projectId, triggerId, ids)
      // Not those that have ended or were given a time meanwhile.
      for (const row of open) if (row.due_at === null) row.due_at = left.get(row.device_id) ?? null
    },
    /** What was in hands that are gone is canceled, for good: nobody finds it in between. */
    async abandon(tx: Db, projectId: ProjectId, triggerId: string, rows: MessageRow[]): Promise<void> {
      const ids = rows.map(({ device_id }) => device_id)
      await giveUpMessages(tx, projectId, triggerId, ids)
      while ((await upkeep.cancelWindowOf(tx, projectId, triggerId, onOutcomes)) > 0);
    },
    /** What nodes that died had in hands of a canceled trigger: without this the retry job would send it. */
    async abandonDead(projectId: ProjectId, triggerId: string): Promise<void> {
      const { free } = await hands.sort(projectId, await findUnanswered(pool, projectId, [triggerId]))
      // What is free and of this process may be about to be dispatched.
      const owners = new Set(free.flatMap(({ owner }) => (owner === null || owner === nodeId ? [] : owner)))
      const ids = free.flatMap(({ owner, device_id }) => (owner !== null && owners.has(owner) ? device_id : []))
      if (ids.length === 0) return
      await againIfRaced(() =>
        pool.transaction(async (tx) => {
          await giveUpMessages(tx, projectId, triggerId, ids, [...owners])
          while ((await upkeep.cancelWindowOf(tx, projectId, triggerId, onOutcomes)) > 0);
        })
      )
    },
    /** For campaigns that go on after a crash: what of these triggers was written, and never came back from a gateway. */
    unanswered: (
      projectId: ProjectId,
      triggerIds: string[],
      deviceIds?: string[],
      db: Db = pool
    ): Promise<MessageRow[]> => findUnanswered(db, projectId, triggerIds, deviceIds),
    /**
     * Hands over what is not settled, as fast as the gateways take it; what must be tried later goes on by itself. A job
     * that runs again, because the database was away when it ended, finds open rows that this process or another one still
     * follows: these are not handed over again. Returns those of other processes.
     */
    handOver: (projectId: ProjectId, rows: MessageRow[], options: HandOverOptions): Promise<MessageRow[]> =>
      hands.handOver(projectId, rows, options),
    /** Which of these rows this process follows, which another one that lives, and which none. */
    sort: (projectId: ProjectId, rows: MessageRow[]): Promise<Sorted> => hands.sort(projectId, rows),
    /** Whether nothing may be given to a gateway now, and since when. */
    paused: pauses.paused,
    pausedSince: pauses.since,
    /** After a pause: what waits is due. */
    resume: (tx: Db, projectId: ProjectId): Promise<void> => scheduleRetry(tx, projectId, new Date()),
    /** Skips up to a window of what waits under a trigger; 0 when nothing is left that could be handed over anew. */
    cancel: (tx: Db, projectId: ProjectId, triggerId: string): Promise<number> =>
      upkeep.cancelWindowOf(tx, projectId, triggerId, onOutcomes),

    /** What devices report about messages, in the transaction that stores it. */
    recordReports: (tx: Db, projectId: ProjectId, reports: upkeep.Report[]): Promise<void> =>
      upkeep.recordReports(tx, projectId, reports, onOutcomes),
    /** Before users are removed: their messages go, and what was not sent is told as skipped. */
    removeOfUsers: (tx: Db, projectId: ProjectId, userIds: string[]): Promise<void> =>
      upkeep.removeOfUsers(tx, projectId, userIds, onOutcomes),
    eraseWindow: upkeep.eraseMessageWindow,

    jobs: [retryJob(pool, nodeId, hands, pauses), findLostJob(pool), keepMessagesJob(pool)],
    /** Waits for what is with the gateways, after the sender was closed. */
    close: (deadlineMs: number): Promise<void> => hands.close(deadlineMs)
  }
}
