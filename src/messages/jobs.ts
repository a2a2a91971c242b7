import type { Db, Pool } from '../platform/db/db.ts'
import { byId, dropPartitions, makePartitions } from '../platform/db/partitions.ts'
import { sweepKeys } from '../platform/idempotency.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { defineJob, RetryLater, recurring } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import { livingNodes } from '../platform/nodes.ts'
import { steadyMs } from '../platform/time.ts'
import { listRetentions } from '../projects/projects.ts'
import { heldUntil } from './claims.ts'
import type { createHandOver } from './dispatch.ts'
import { sweepMessageWindow } from './maintenance.ts'
import type { MessageRow } from './message.ts'
import { forgetMinutes } from './minutes.ts'
import type { Pauses } from './pauses.ts'
import { findLeftBehind, findPaused, nextDueAt, takeDueMessages, takeExpiredMessages } from './store.ts'

/** A message is written and soon after given its end: half a page is kept for that, so that no index is touched by it. */
export const messageMonths = byId('messages', 50)

const retryJobRef = { name: 'delivery.retry', queue: 'retries' }
/** How long one round waits for gateways. */
const roundMs = 10_000
const leastWaitMs = 500
/** What is due and was not taken is followed by a process that lives; that one will settle it. */
const othersWaitMs = 1_000

/** Says that a message of the project is to be tried again then. One job a project, whose payload is its key. */
export const scheduleRetry = (tx: Db, projectId: ProjectId, runAt: Date): Promise<void> =>
  add(tx, retryJobRef, { projectId }, { projectId, key: projectId, runAt })

/** Hands over what is due, and comes back when the next is. The rows are the truth: this is only their alarm clock. */
export const retryJob = (pool: Pool, owner: string, hands: ReturnType<typeof createHandOver>, pauses: Pauses) => {
  async function claim(projectId: ProjectId, take: typeof takeDueMessages): Promise<MessageRow[]> {
    const until = heldUntil()
    const living = await livingNodes(pool, owner)
    // After the await: what this process began to follow meanwhile is among them.
    const followed = hands.followedOf(projectId)
    const rows = await take(pool, projectId, { at: new Date(), until, owner, living, followed })
    for (const row of rows) hands.markHeld(row, until)
    return rows
  }

  /** Nothing is sent, and the resume adds this job anew. What nobody wants any more ends. */
  async function expire(projectId: ProjectId, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const rows = await claim(projectId, takeExpiredMessages)
      if (rows.length === 0) return
      await hands.expire(projectId, rows)
    }
  }

  return defineJob<{ projectId: ProjectId }>({
    ...retryJobRef,
    async run({ projectId }, { signal, freeSlot }) {
      for (;;) {
        signal.throwIfAborted()
        if (await pauses.paused(projectId)) return expire(projectId, signal)
        const rows = await claim(projectId, takeDueMessages)
        if (rows.length === 0) break
        freeSlot()
        await hands.handOver(projectId, rows, { untilMs: steadyMs() + roundMs, signal })
      }
      const next = await nextDueAt(pool, projectId)
      if (!next) return
      const inMs = next.getTime() - Date.now()
      const afterMs = inMs <= 0 ? othersWaitMs : Math.max(leastWaitMs, inMs)
      throw new RetryLater('more messages are due later', afterMs, { counts: false })
    }
  })
}

/** Every few seconds: whose process died with messages in its hands. */
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
/** A month is not dropped while a message in it may still be on its way. */
const longestLifeDays = 30

/** Longer ago nobody looks at single minutes. */
const minutesDays = 2

/** Hourly: months ahead are made; messages and idempotency keys go when their time is over. */
export const keepMessagesJob = (pool: Pool) =>
  recurring({
    name: 'messages.keep',
    everyMs: hourMs,
    async run({ signal }) {
      await makePartitions(pool, messageMonths, new Date())
      // Before months are dropped: what waits in a paused project ends when its time to live does.
      for (const { project_id } of await findPaused(pool)) await scheduleRetry(pool, project_id, new Date())
      const kept = await listRetentions(pool)
      const agoOf = (days: number) => Date.now() - days * dayMs
      const longest = kept.reduce((most, { retention }) => Math.max(most, retention.messages_days), longestLifeDays)
      await dropPartitions(pool, messageMonths, new Date(agoOf(longest)))
      for (const { projectId, retention } of kept) {
        const before = firstIdAt(agoOf(retention.messages_days))
        while ((await sweepMessageWindow(pool, projectId, before)) > 0) signal.throwIfAborted()
        await forgetMinutes(pool, projectId, new Date(agoOf(minutesDays)))
      }
      while ((await sweepKeys(pool, new Date())) > 0) signal.throwIfAborted()
    }
  })
