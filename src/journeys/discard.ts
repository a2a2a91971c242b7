import { CampaignErased } from '../campaigns/campaigns.ts'
import type { Discarding } from '../platform/backup/paused.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { keepMsOf, type Plan, type Plans } from './plan.ts'
import { type Bucket, endJourneys, endOfTime, lockDue, overdueOfProject } from './store.ts'

const stoppedTogether = 500

/**
 * Stops the journeys whose next message waited in a backup. Events and triggers begin journeys in jobs, which do not run
 * during the pause, so all journeys were in the backup.
 */
export const createDiscard =
  ({ pool, plans }: { pool: Pool; plans: Plans }) =>
  async ({ dueBy, all, write }: Discarding, projectId: ProjectId): Promise<void> => {
    for (let stopped = 1; stopped > 0; ) {
      stopped = 0
      // At most 10,000 at once.
      for (const bucket of await overdueOfProject(pool, projectId, all ? endOfTime : dueBy)) {
        const plan = await plans(pool, projectId, bucket.campaignId, bucket.version).catch((error: unknown) => {
          if (!(error instanceof CampaignErased)) throw error
        })
        if (!plan) continue
        for (let more = stoppedTogether; more === stoppedTogether; stopped += more)
          more = await write((tx) => stopSome(tx, projectId, plan, bucket))
      }
    }
  }

async function stopSome(tx: Db, projectId: ProjectId, plan: Plan, bucket: Bucket): Promise<number> {
  const ids = (await lockDue(tx, projectId, bucket, firstIdAt(0), stoppedTogether)).map(({ id }) => id)
  const ended = { state: 'stopped', reason: 'discarded', triggerId: null, keepMs: keepMsOf(plan) } as const
  if (ids.length > 0) await endJourneys(tx, projectId, ids, ended, new Date())
  return ids.length
}
