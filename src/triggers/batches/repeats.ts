import { instantsOf, occurrenceId, readWall } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { usersOfOthers } from './batch-store.ts'
import type { Drafts } from './draft.ts'
import type { RunningTrigger } from './expansion-store.ts'

/**
 * Skips users who got the same occurrence in another zone. An occurrence at the local time of users is one trigger for each
 * instant, and a user may have moved between two of them.
 */
export async function withoutRepeats<Some extends Drafts>(
  tx: Db,
  projectId: ProjectId,
  { id, campaign_id, source }: Pick<RunningTrigger, 'id' | 'campaign_id' | 'source'>,
  drafts: Some
): Promise<Some> {
  if (typeof source?.local !== 'string' || drafts.messages.length === 0) return drafts
  const local = readWall(source.local)!
  const ids = instantsOf(local).map((at) => occurrenceId(projectId, campaign_id, { at, local }, true))
  const others = ids.filter((other) => other !== id)
  const userIds = [...new Set(drafts.messages.map(({ userId }) => userId))]
  const reached = await usersOfOthers(tx, projectId, userIds, others)
  if (reached.size === 0) return drafts
  const skips = drafts.messages.flatMap(({ userId, endpoint }) =>
    reached.has(userId)
      ? { triggerId: id, kind: 'device_id' as const, value: endpoint.deviceId, reason: 'already_sent', userId }
      : []
  )
  return {
    ...drafts,
    messages: drafts.messages.filter(({ userId }) => !reached.has(userId)),
    skips: [...drafts.skips, ...skips]
  }
}
