import { overLimits } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { MessageLimit } from '../../projects/projects.ts'
import { choice } from '../../users/users.ts'
import type { Drafts } from './draft.ts'

/**
 * Skips users who have received as many messages of all campaigns as the project allows. Their rows are locked, so the
 * count is exact for batches that are written at the same time, and batches for other users do not wait.
 */
export async function withinMessageLimits<Some extends Drafts>(
  tx: Db,
  projectId: ProjectId,
  triggerId: string,
  limits: readonly MessageLimit[],
  drafts: Some
): Promise<Some> {
  if (limits.length === 0 || drafts.messages.length === 0) return drafts
  const userIds = [...new Set(drafts.messages.map(({ userId }) => userId))]
  await choice.lockToCount(tx, projectId, userIds)
  const capped = await overLimits(tx, projectId, triggerId, limits, userIds)
  if (capped.size === 0) return drafts
  const skips = drafts.messages.flatMap(({ userId, endpoint }) =>
    capped.has(userId)
      ? { triggerId, kind: 'device_id' as const, value: endpoint.deviceId, reason: 'capped', userId }
      : []
  )
  return {
    ...drafts,
    messages: drafts.messages.filter(({ userId }) => !capped.has(userId)),
    skips: [...drafts.skips, ...skips]
  }
}
