import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { countReached, lockReservation } from '../../projects/projects.ts'
import { usersReached } from './batch-store.ts'
import type { Drafts } from './draft.ts'
import type { RunningTrigger } from './expansion-store.ts'

/**
 * Skips the users beyond the limit that the policy of the trigger's key sets. The audience may have grown since the
 * trigger was accepted. The lock makes the count exact for batches that are written at the same time.
 */
export async function withinLimit<Some extends Drafts>(
  tx: Db,
  projectId: ProjectId,
  { id, most_recipients: limit }: Pick<RunningTrigger, 'id' | 'most_recipients'>,
  drafts: Some
): Promise<Some> {
  if (limit === null || drafts.messages.length === 0) return drafts
  const reservation = await lockReservation(tx, projectId, id)
  const userIds = [...new Set(drafts.messages.map(({ userId }) => userId))]
  const before = await usersReached(tx, projectId, id, userIds)
  const left = Math.max(0, limit - (reservation?.reached ?? limit))
  const added = userIds.filter((userId) => !before.has(userId)).slice(0, left)
  await countReached(tx, projectId, id, added.length)
  const reached = new Set([...before, ...added])
  const skips = drafts.messages.flatMap(({ userId, endpoint }) =>
    reached.has(userId)
      ? []
      : { triggerId: id, kind: 'device_id' as const, value: endpoint.deviceId, reason: 'policy_limit', userId }
  )
  return {
    ...drafts,
    messages: drafts.messages.filter(({ userId }) => reached.has(userId)),
    skips: [...drafts.skips, ...skips]
  }
}
