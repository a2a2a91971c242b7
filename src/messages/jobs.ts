import type { Db, Pool } from '../platform/db/db.ts'
import { byId, dropPartitions, makePartitions } from '../platform/db/partitions.ts'
import { sweepKeys } from '../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../platform/ids.ts'
import { defineJob, RetryLater, recurring } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import { livingNodes } from '../platform/nodes/nodes.ts'
import { mostDaysAhead, steadyMs } from '../platform/time.ts'
import { listRetentions } from '../projects/projects.ts'
import { claimUntil } from './dispatch/claims.ts'
import type { Dispatcher } from './dispatch/dispatch.ts'
import type { Recovery } from './journal/recovery.ts'
import { deleteOldMessages } from './maintenance-store.ts'
import type { MessageRow } from './message.ts'
import type { Pauses } from './pauses.ts'
import { deleteOldHours, foldMinutes } from './reading/minutes-store.ts'
import { claimDueMessages, claimExpiredMessages, findLeftBehind, findPaused, nextDueAt } from './store.ts'

/**
 * A message is settled soon after it is written. Half of each page stays free for the new version of the row, so that
 * no index changes.
 */
/** The id of a message that is sent later lies up to 90 days ahead. */
export const messageMonths = { ...byId('messages', 50), ahead: 4 }

const retryJobRef = { name: 'delivery.retry', queue: 'retries' }
/** How long one round waits for gateways. */
const roundMs = 10_000
const leastWaitMs = 500
/** A due row that was not claimed is followed by a living process, which will settle it. */
const othersWaitMs = 1_000

/** Schedules the retry job of the project for that time. Each project has one job, whose payload is its key. */
export const scheduleRetry = (tx: Db, projectId: ProjectId, runAt: Date): Promise<void> =>
  add(tx, retryJobRef, { projectId }, { projectId, key: projectId, runAt })

/**
 * Dispatches messages that are due, and reschedules itself for the next one. The rows decide; the job only wakes at
 * their time.
 */
export const retryJob = (
  pool: Pool,
  owner: string,
  dispatcher: Dispatcher,
  pauses: Pauses,
  withoutCanceled: (projectId: ProjectId, rows: MessageRow[]) => Promise<MessageRow[]>,
  recovery?: Recovery
) => {
  async function claim(projectId: ProjectId, claimSome: typeof claimDueMessages): Promise<MessageRow[]> {
    const until = claimUntil()
    const living = await livingNodes(pool, owner)
    await recovery?.ofNodes((id) => !living.has(id))
    // Read after the await, so that it includes rows that this process began to follow meanwhile.
    const followed = dispatcher.followedKeys(projectId)
    const rows = await claimSome(pool, projectId, { at: new Date(), until, owner, living, followed })
    for (const row of rows) dispatcher.claims.mark(row, until)
    return rows
  }

  /**
   * Settles messages whose time to live is over, and no others: while the project is paused, and where the job fails again
   * and again, so that no message waits for ever.
   */
  async function expire(projectId: ProjectId, signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted()
      const rows = await claim(projectId, claimExpiredMessages)
      if (rows.length === 0) return
      await dispatcher.expire(projectId, rows)
    }
  }

  return defineJob<{ projectId: ProjectId }>({
    ...retryJobRef,
    async run({ projectId }, { signal, freeSlot, attempt }) {
      if (attempt > 1) await expire(projectId, signal)
      for (;;) {
        signal.throwIfAborted()
        // The resume of the project adds this job again.
        if (await pauses.paused(projectId)) return expire(projectId, signal)
        const rows = await claim(projectId, claimDueMessages)
        if (rows.length === 0) break
        freeSlot()
        const wanted = await withoutCanceled(projectId, rows)
        await dispatcher.dispatch(projectId, wanted, { deadline: steadyMs() + roundMs, signal })
      }
      const next = await nextDueAt(pool, projectId)
      if (!next) return
      const inMs = next.getTime() - Date.now()
      const afterMs = inMs <= 0 ? othersWaitMs : Math.max(leastWaitMs, inMs)
      throw new RetryLater('more messages are due later', afterMs, { anew: true })
    },
    // The others get a new job from the one that finds lost messages.
    giveUp: ({ projectId }) => expire(projectId)
  })
}

/** Runs every few seconds: finds projects with messages that a dead process owned. */
export const findLostJob = (pool: Pool) =>
  recurring({
    name: 'delivery.find_lost',
    everyMs: 5_000,
    async run() {
      for (const { project_id } of await findLeftBehind(pool, new Date(Date.now() - leastWaitMs)))
        await scheduleRetry(pool, project_id, new Date())
    }
  })

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A month is not dropped while a message in it may still be open. */
const longestLifeDays = 30
/** Nor while a trigger whose id lies in it may start: it can be moved by as many days. */
const longestMoveDays = mostDaysAhead

/** The console shows single minutes of the last day only. */
const minutesDays = 2
/** Longer than the longest period of results. */
const hoursDays = 402

/** Runs hourly: creates months ahead, and deletes expired messages and idempotency keys. */
export const keepMessagesJob = (pool: Pool) =>
  recurring({
    name: 'messages.keep',
    everyMs: hourMs,
    async run({ signal }) {
      await makePartitions(pool, messageMonths, new Date())
      // Before months are dropped: settles messages of paused projects whose time to live is over.
      for (const { project_id } of await findPaused(pool)) await scheduleRetry(pool, project_id, new Date())
      const kept = await listRetentions(pool)
      const agoOf = (days: number) => Date.now() - days * dayMs
      const longest = kept.reduce((most, { retention }) => Math.max(most, retention.messages_days), longestLifeDays)
      await dropPartitions(pool, messageMonths, new Date(agoOf(longest + longestMoveDays)))
      for (const { projectId, retention } of kept) {
        const before = agoOf(retention.messages_days)
        while ((await deleteOldMessages(pool, projectId, before)) > 0) signal.throwIfAborted()
        await foldMinutes(pool, projectId, new Date(agoOf(minutesDays)))
        await deleteOldHours(pool, projectId, new Date(agoOf(hoursDays)))
      }
      while ((await sweepKeys(pool, new Date())) > 0) signal.throwIfAborted()
    }
  })
