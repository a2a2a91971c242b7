import { type Campaign, lockThrottle, passThrottle, reserveThrottle } from '../../campaigns/campaigns.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { RetryLater } from '../../platform/jobs/definition.ts'
import { addBatchJobs } from './batch-jobs.ts'
import type { BatchRow } from './batch-store.ts'
import type { RunningTrigger } from './expansion-store.ts'
import { beyondPlan, giveTurns, missedTurns, type Planned } from './turn-store.ts'

/** A job may come a little before the turn of its batch. */
const earlyEnoughMs = 1_000
/** The wait of a batch that finds the pace used up though no other has a turn. */
const leastWaitMs = 100
/** A turn that is sooner than this is now. */
const soonMs = 100
/** Batches that get turns together. */
const turnsTogether = 500

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
  const from = await reserveThrottle(tx, projectId, campaignId, all, perSecond)
  return after(
    from,
    parts.map(({ length }) => length),
    perSecond
  )
}

/** Turns that follow each other. */
function after(from: Date, devices: number[], perSecond: number): Date[] {
  let next = from.getTime()
  return devices.map((count) => {
    const at = next
    next += (count * 1000) / perSecond
    return new Date(at)
  })
}

/** Whether a batch need not wait for its turn. */
export const isNow = (turn: Date, at: Date): boolean => turn.getTime() - at.getTime() <= soonMs

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
  // A worker that died after it gave the turn left a job that comes too early, and other batches give turns too.
  if (batch.early_ms > earlyEnoughMs) throw waiting(batch.early_ms)
  // One that quiet hours held has had none.
  const turn = batch.turned || !batch.deferred ? batch.due_at : null
  const waitMs = await againIfRaced(() =>
    pool.transaction(async (tx) => {
      const { length } = batch.device_ids
      if (await passThrottle(tx, projectId, trigger.campaign_id, length, perSecond, turn)) return 0
      return takeTurns(tx, projectId, trigger, batch.number, perSecond)
    })
  )
  if (waitMs > 0) throw waiting(waitMs)
}

/** Gives the batch a turn, and all others of its trigger that missed theirs, which would ask one by one. Returns how long it waits. */
async function takeTurns(
  tx: Db,
  projectId: ProjectId,
  { id, campaign_id }: RunningTrigger,
  number: number,
  perSecond: number
): Promise<number> {
  const now = await lockThrottle(tx, projectId, campaign_id)
  const missed = await missedTurns(tx, projectId, id, number, turnsTogether)
  if (missed[0]?.number !== number) return leastWaitMs
  const [own] = await replan(tx, projectId, id, campaign_id, missed, perSecond)
  return Math.max(leastWaitMs, own!.dueAt.getTime() - now.getTime())
}

/** Gives batches the next turns of the plan. */
async function replan(
  tx: Db,
  projectId: ProjectId,
  triggerId: string,
  campaignId: string,
  batches: Planned[],
  perSecond: number
) {
  const all = batches.reduce((sum, { devices }) => sum + devices, 0)
  const from = await reserveThrottle(tx, projectId, campaignId, all, perSecond)
  const dueAt = after(
    from,
    batches.map(({ devices }) => devices),
    perSecond
  )
  const turns = batches.map(({ number }, place) => ({ number, dueAt: dueAt[place]! }))
  await giveTurns(tx, projectId, triggerId, turns)
  return turns
}

/** Brings the batches of a trigger forward whose turns came after those of a trigger that was canceled since. */
export async function takeFreedTurns(
  pool: Pool,
  projectId: ProjectId,
  { id, campaign_id }: RunningTrigger,
  { throttle_per_second: perSecond }: Campaign
): Promise<void> {
  if (perSecond === undefined) return
  const find = (db: Db) => beyondPlan(db, projectId, campaign_id, id, turnsTogether)
  if ((await find(pool)).length === 0) return
  await againIfRaced(() =>
    pool.transaction(async (tx) => {
      await lockThrottle(tx, projectId, campaign_id)
      const found = await find(tx)
      if (found.length === 0) return
      await addBatchJobs(tx, projectId, id, await replan(tx, projectId, id, campaign_id, found, perSecond))
    })
  )
}

const waiting = (ms: number) => new RetryLater('the throttle has another turn for this batch', ms, { counts: false })
