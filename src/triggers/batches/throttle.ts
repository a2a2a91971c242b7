import { type Campaign, reserveThrottle } from '../../campaigns/campaigns.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { RetryLater } from '../../platform/jobs/definition.ts'
import { type BatchRow, giveTurn } from './batch-store.ts'
import type { RunningTrigger } from './expansion-store.ts'

/** A batch that is later than this has missed its turn: after a pause or an outage many are due at once. */
const lateMs = 1_000
/** A second turn is missed later, so that a batch whose jobs always run late does not wait for ever. */
const lateAgainMs = 60_000

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

/** Gives a planned batch another turn if it missed its own, or had none because quiet hours held it. Throws to wait for it. */
export async function awaitTurn(
  pool: Pool,
  projectId: ProjectId,
  trigger: RunningTrigger,
  batch: BatchRow,
  { throttle_per_second: perSecond }: Campaign
): Promise<void> {
  if (perSecond === undefined || !needsTurn(batch)) return
  const dueAt = await pool.transaction(async (tx) => {
    const at = new Date()
    const from = await reserveThrottle(tx, projectId, trigger.campaign_id, batch.device_ids.length, perSecond, at)
    const dueAt = from > at ? from : at
    await giveTurn(tx, projectId, trigger.id, batch.number, dueAt)
    return dueAt
  })
  const waitMs = dueAt.getTime() - Date.now()
  if (waitMs > 0) throw new RetryLater('the throttle has another turn for this batch', waitMs, { counts: false })
}

function needsTurn({ due_at, deferred, turned }: BatchRow): boolean {
  const late = Date.now() - due_at.getTime()
  return turned ? late > lateAgainMs : deferred || late > lateMs
}
