import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { createAccept } from './accept.ts'
import { createSaving } from './saving.ts'
import { eraseCampaignWindow } from './store.ts'
import { eraseTriggerWindow, findTrigger, listTriggers, type TriggerRow } from './trigger-store.ts'

export type Campaigns = ReturnType<typeof createCampaigns>

export interface CampaignsOptions {
  pool: Pool
  metrics: Metrics
  idempotencyHours: number
}

export function createCampaigns({ pool, metrics, idempotencyHours }: CampaignsOptions) {
  const saving = createSaving(pool)
  return {
    saving,
    /** Records the trigger and answers at once; workers do the rest. */
    trigger: createAccept({ pool, metrics, idempotencyHours }),

    async getTrigger(projectId: ProjectId, triggerId: string): Promise<TriggerRow> {
      const row = isUuid(triggerId) ? await findTrigger(pool, projectId, triggerId) : undefined
      if (!row) throw new Refusal('not_found', 'There is no trigger of this id.')
      return row
    },

    listTriggers: (
      projectId: ProjectId,
      filter: Parameters<typeof listTriggers>[2],
      before: string | null,
      limit: number
    ) => listTriggers(pool, projectId, filter, before, limit),

    /** Up to a window of what a project that is being erased has here. */
    async eraseWindow(projectId: ProjectId): Promise<number> {
      return (await eraseTriggerWindow(pool, projectId)) || eraseCampaignWindow(pool, projectId)
    }
  }
}
