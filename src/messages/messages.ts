import type { Carriers } from '../channels/channels.ts'
import type { Discarding } from '../platform/backup/paused.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Presence } from '../platform/db/presence.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Mode } from '../projects/projects.ts'
import { Dispatcher, type DispatchOptions } from './dispatch/dispatch.ts'
import { findLostJob, keepMessagesJob, retryJob, scheduleRetry } from './jobs.ts'
import { Journal } from './journal/journal.ts'
import { createRecovery } from './journal/recovery.ts'
import * as maintenance from './maintenance.ts'
import { eraseMessages } from './maintenance-store.ts'
import { isSettled, type MessageRow, type Recheck } from './message.ts'
import type { Pauses } from './pauses.ts'
import { createPersist } from './persist.ts'
import { countMinute } from './reading/minutes-store.ts'
import { listMessages } from './reading/reading.ts'
import type { MessageFilter } from './reading/reading-store.ts'
import { resultOf } from './reading/results.ts'
import { releaseSendJob } from './release-send.ts'
import { createSend } from './send.ts'
import { inOrder, type OnSettled, Settler } from './settle.ts'
import { findByMessageId, findUnanswered, markMessagesUnknown, releaseMessages, releaseMessagesOf } from './store.ts'

export { crashesForgiven, type Next, nextStep, type Retries } from './dispatch/retry-policy.ts'
export { messageMonths } from './jobs.ts'
export { countWaitingMessages, moveMessages, type Report } from './maintenance.ts'
export type { MessageRow, MessageState, OutcomeChange, Recheck, Verdict } from './message.ts'
export { createPauses, type Pauses } from './pauses.ts'
export { outcomesOver } from './reading/minutes-store.ts'
export { listMessages } from './reading/reading.ts'
export { type DeliveryResult, shownResult } from './reading/results.ts'
export { messageManagementRoutes, messageRoutes, ResultsQuery } from './routes.ts'
export { ResultsAnswer } from './schemas.ts'
export type { AdmitSend } from './send.ts'
export type { OnSettled } from './settle.ts'
export type Messages = ReturnType<typeof createMessages>

export interface MessagesOptions {
  pool: Pool
  carriers: Carriers
  log: Log
  metrics: Metrics
  idempotencyHours: number
  /** Knows which processes are alive, so that other nodes continue messages of a dead one at once. */
  presence?: Presence | undefined
  /** The name of this process in the list of nodes: the owner of messages that it dispatches. */
  nodeId?: string
  /** Where processes of this machine note accepted pushes until the database has them. */
  journalFolder?: string
  credentials: { project(projectId: ProjectId, tx?: Db): Promise<{ mode: Mode } | undefined> }
  pauses: Pauses
  /** Those of these triggers that were canceled. */
  canceledAmong?: (db: Db, projectId: ProjectId, triggerIds: string[]) => Promise<ReadonlySet<string>>
  /** Checks messages of campaigns that were written before against the choices of their users and quiet hours. */
  recheck?: Recheck
  /** Subscribers that take part in the transaction that settles messages; settle.ts gives their order. */
  onSettled?: readonly OnSettled[]
}

/**
 * The life of a message, the same for every caller: a channel drafts it, `persist` writes it, `dispatch` gives it to a
 * gateway, and its outcome settles it. `send` does all four for a request.
 */
export function createMessages({
  pool,
  carriers,
  log,
  metrics,
  idempotencyHours,
  presence,
  nodeId = newId(),
  journalFolder,
  credentials,
  pauses,
  canceledAmong = async () => new Set(),
  recheck = async () => new Map(),
  onSettled = []
}: MessagesOptions) {
  const publish = inOrder([...onSettled, countMinute])
  const journal = journalFolder === undefined ? undefined : new Journal(journalFolder, nodeId, log)
  const settler = new Settler({ pool, log, metrics, publish, scheduleRetry, journal })
  const recovery =
    journalFolder === undefined ? undefined : createRecovery({ pool, folder: journalFolder, nodeId, settler, log })
  const dispatcher = new Dispatcher({ pool, nodeId, carriers, settler, recovery, pauses, recheck, log })
  const isSimulated = async (projectId: ProjectId, tx?: Db) =>
    (await credentials.project(projectId, tx))?.mode === 'simulator'
  const persist = createPersist(nodeId, dispatcher.claims, isSimulated)

  /** Cancels rows of dead owners for good, in one transaction, so that the retry job cannot find them in between. */
  async function cancelAsUnknown(
    tx: Db,
    projectId: ProjectId,
    triggerId: string,
    deviceIds: string[],
    owners?: string[]
  ): Promise<void> {
    await markMessagesUnknown(tx, projectId, triggerId, deviceIds, owners)
    while ((await maintenance.cancelBatch(tx, projectId, triggerId, publish)) > 0);
  }

  /**
   * Cancels the claimed rows of canceled triggers, and returns the others. A dead node may have left such rows after the
   * cancel was acknowledged, and they may be due before the job that continues the cancel finds them.
   */
  async function withoutCanceled(projectId: ProjectId, rows: MessageRow[]): Promise<MessageRow[]> {
    const triggerIds = new Set(rows.flatMap((row) => (row.campaign_id === null ? [] : row.trigger_id)))
    const canceled = await canceledAmong(pool, projectId, [...triggerIds])
    if (canceled.size === 0) return rows
    const isCanceled = ({ trigger_id }: MessageRow) => canceled.has(trigger_id)
    for (const [triggerId, own] of Map.groupBy(rows.filter(isCanceled), (row) => row.trigger_id)) {
      const ids = own.map(({ device_id }) => device_id)
      await againIfRaced(() => pool.transaction((tx) => cancelAsUnknown(tx, projectId, triggerId, ids, [nodeId])))
    }
    return rows.filter((row) => !isCanceled(row))
  }

  return {
    send: createSend({ pool, idempotencyHours, presence, nodeId, persist, dispatcher, pauses }),
    /** One entry for each device of each message, newest first. */
    list: (projectId: ProjectId, filter: MessageFilter) => listMessages(pool, projectId, filter),
    persist,
    /** Empties the journal of this process, if the database has all of its outcomes. */
    forgetOutcomes: () => journal?.tidy(),
    /**
     * Dispatches rows that are not settled, as fast as the gateways accept them, until the deadline; the retry job
     * makes later retries. A job that runs again, because the database could not be reached when it ended, finds open
     * rows that this process or another one still follows: these are not dispatched again. Returns the rows of other
     * processes.
     */
    dispatch: (projectId: ProjectId, rows: MessageRow[], options: DispatchOptions): Promise<MessageRow[]> =>
      dispatcher.dispatch(projectId, rows, options),
    byOwner: (projectId: ProjectId, rows: MessageRow[]) => dispatcher.byOwner(projectId, rows),
    /** Releases rows without a time, of a batch or of small triggers: from now on the retry job finds the open ones by their time. */
    async release(db: Db, projectId: ProjectId, rows: MessageRow[]): Promise<void> {
      const open = rows.filter((row) => !isSettled(row) && row.due_at === null)
      for (const [triggerId, own] of Map.groupBy(open, ({ trigger_id }) => trigger_id)) {
        const ids = own.map(({ device_id }) => device_id)
        const released = await releaseMessages(db, projectId, triggerId, ids)
        // Rows that were settled or got a time meanwhile stay unchanged.
        for (const row of own) if (row.due_at === null) row.due_at = released.get(row.device_id) ?? null
      }
    },
    /** Releases the open rows of triggers whose job is gone. */
    releaseOf: (projectId: ProjectId, triggerIds: string[]): Promise<unknown> =>
      againIfRaced(() => releaseMessagesOf(pool, projectId, triggerIds)),
    /** Rows of these triggers without a response of a gateway, for a job that runs again after a crash. */
    findUnanswered: (
      projectId: ProjectId,
      triggerIds: string[],
      deviceIds?: string[],
      db: Db = pool
    ): Promise<MessageRow[]> => findUnanswered(db, projectId, triggerIds, deviceIds),

    /** Skips up to 1,000 messages of a trigger that no gateway has received; returns 0 when none is left. */
    cancel: (tx: Db, projectId: ProjectId, triggerId: string): Promise<number> =>
      maintenance.cancelBatch(tx, projectId, triggerId, publish),
    /** Cancels a message that no gateway has. Returns whether there was anything to cancel. */
    cancelWaiting: (projectId: ProjectId, messageId: string): Promise<boolean> =>
      againIfRaced(() =>
        pool.transaction(async (tx) => (await maintenance.cancelBatch(tx, projectId, messageId, publish)) > 0)
      ),
    /** Cancels messages of a send that no gateway has. `untouched`: none of them was ever given to one. */
    async cancelSend(projectId: ProjectId, messageIds: string[]) {
      const [before, rows] = await againIfRaced(() =>
        pool.transaction(async (tx) => {
          const found = await findByMessageId(tx, projectId, messageIds)
          for (const id of messageIds) while ((await maintenance.cancelBatch(tx, projectId, id, publish)) > 0);
          return [found, await findByMessageId(tx, projectId, messageIds)]
        })
      )
      const byMessage = Map.groupBy(rows, ({ message_id }) => message_id)
      return {
        results: messageIds.map((id) => resultOf(id, byMessage.get(id) ?? [])),
        untouched:
          before.every(({ state, attempts }) => state === 'queued' && attempts === 0) &&
          rows.every(({ state }) => state === 'skipped')
      }
    },
    /** Cancels rows whose owner died. */
    cancelClaimed: (tx: Db, projectId: ProjectId, triggerId: string, rows: MessageRow[]): Promise<void> =>
      cancelAsUnknown(
        tx,
        projectId,
        triggerId,
        rows.map(({ device_id }) => device_id)
      ),
    /** Cancels rows of a trigger that dead nodes own: otherwise the retry job would send them. */
    async cancelOfDeadNodes(projectId: ProjectId, triggerId: string): Promise<void> {
      const { free } = await dispatcher.byOwner(projectId, await findUnanswered(pool, projectId, [triggerId]))
      // A run of this process may be about to dispatch rows that it owns.
      const owners = new Set(free.flatMap(({ owner }) => (owner === null || owner === nodeId ? [] : owner)))
      const ids = free.flatMap(({ owner, device_id }) => (owner !== null && owners.has(owner) ? device_id : []))
      if (ids.length === 0) return
      await againIfRaced(() => pool.transaction((tx) => cancelAsUnknown(tx, projectId, triggerId, ids, [...owners])))
    },

    /** Cancels what waited in a backup. Triggers come first, with their messages. */
    discard: (discarding: Discarding, projectId: ProjectId): Promise<void> =>
      maintenance.discard(discarding, projectId, publish),
    discardOfTrigger: (discarding: Discarding, projectId: ProjectId, triggerId: string): Promise<void> =>
      maintenance.discardOfTrigger(discarding, projectId, triggerId, publish),

    /** Whether the project is paused, so that none of its messages may be dispatched. */
    paused: pauses.paused,
    pausedSince: pauses.since,
    /** Makes waiting messages due, after a pause. */
    resume: (tx: Db, projectId: ProjectId): Promise<void> => scheduleRetry(tx, projectId, new Date()),
    /** Writes reports of devices, in the transaction that stores their events. */
    recordReports: (tx: Db, projectId: ProjectId, reports: maintenance.Report[]): Promise<void> =>
      maintenance.recordReports(tx, projectId, reports, publish),
    /** Before users are deleted: deletes their messages, and publishes open ones as skipped. */
    removeOfUsers: (tx: Db, projectId: ProjectId, userIds: string[]): Promise<void> =>
      maintenance.removeOfUsers(tx, projectId, userIds, publish),
    eraseWindow: eraseMessages,

    /** At a start, before anything is dispatched: records what earlier processes of this machine had noted. */
    recover: async (): Promise<void> => recovery?.ofEarlierProcesses(),

    jobs: [
      retryJob(pool, nodeId, dispatcher, pauses, withoutCanceled, recovery),
      releaseSendJob(pool),
      findLostJob(pool),
      keepMessagesJob(pool)
    ],
    /** Waits for the outcomes of dispatched messages, after the sender was closed. */
    close: (deadlineMs: number): Promise<void> => dispatcher.close(deadlineMs)
  }
}
