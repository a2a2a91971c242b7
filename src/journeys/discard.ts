import { CampaignErased } from '../campaigns/campaigns.ts'
import type { Discarding } from '../platform/backup/paused.ts'
import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { endOfTime } from './journey.ts'
import { overdueOfProject } from './maintenance-store.ts'
import type { Plans } from './plan.ts'
import { stopDue } from './stop.ts'

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
        if (plan) stopped += await stopDue(write, projectId, plan, bucket, 'discarded')
      }
    }
  }
