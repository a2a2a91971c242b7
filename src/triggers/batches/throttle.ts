import { type Campaign, passThrottle, reserveThrottle } from '../../campaigns/campaigns.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { RetryLater } from '../../platform/jobs/definition.ts'
import { type BatchRow, giveTurn } from './batch-store.ts'
import type { RunningTrigger } from './expansion-store.ts'

/** A batch that is later than this has missed its turn: after a pause or an outage many are due at once. */
const lateMs = 1_000
/** Clocks of nodes and of the database differ a little. */
const earlyEnoughMs = 1_000
/** The wait of a batch that finds the pace used up though no other has a turn. */
const leastWaitMs = 100

/** Times at which a throttle lets batches go, in turn with other triggers of the campaign. */
export async function dueTimes(
  tx: Db,
  projectId: ProjectId,
  campaignId: string,
  { throttle_per_second: perSecond }: Campaign,
  parts: string[][],
  at: Date
): Promise<Date[]> {
  if (perSecond === undefined || parts.length === 0) return parts.map(() => at)
  const all = parts.reduce((sum, part) => sum + part.length, 0)
  let next = (await reserveThrottle(tx, projectId, campaignId, all, perSecond, at)).getTime()
  return parts.map((part) => {
    const from = next
    next += (part.length * 1000) / perSecond
    return new Date(from)
  })
}

/**
 * Lets a planned batch go at the pace of the throttle. If others have used the pace up, because many missed their turns in a
 * pause or an outage, or quiet hours held them, it gets another turn. Throws to wait for it.
 */
export async function awaitTurn(
  pool: Pool,
  projectId: ProjectId,
  trigger: RunningTrigger,
  batch: BatchRow,
  { throttle_per_second: perSecond }: Campaign
): Promise<void> {
  if (perSecond === undefined) return
  const { campaign_id: id } = trigger
  const { length } = batch.device_ids
  // A worker that died after it gave the turn left a job that comes too early.
  const earlyMs = batch.turned ? batch.due_at.getTime() - Date.now() : 0
  if (earlyMs > earlyEnoughMs) throw waiting(earlyMs)
  const dueAt = await againIfRaced(() =>
    pool.transaction(async (tx) => {
      const at = new Date()
      if (await passThrottle(tx, projectId, id, length, perSecond, hasTurn(batch, at) ? batch.due_at : at)) return
      const from = await reserveThrottle(tx, projectId, id, length, perSecond, at)
      const dueAt = new Date(Math.max(from.getTime(), at.getTime() + leastWaitMs))
      await giveTurn(tx, projectId, trigger.id, batch.number, dueAt)
      return dueAt
    })
  )
  if (dueAt) throw waiting(Math.max(0, dueAt.getTime() - Date.now()))
}

/** One that quiet hours held has had none. */
const hasTurn = ({ due_at, deferred, turned }: BatchRow, at: Date) =>
  (turned || !deferred) && at.getTime() - due_at.getTime() <= lateMs

const waiting = (ms: number) => new RetryLater('the throttle has another turn for this batch', ms, { counts: false })
