import { type Campaign, countReceivedInAll } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import { parseDuration } from '../../platform/duration.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { isTransactional } from '../../preferences/preferences.ts'
import type { MessageLimit, Project } from '../../projects/projects.ts'
import { choice } from '../../users/users.ts'
import type { Drafts } from './draft.ts'

export type ProjectOf = (projectId: ProjectId) => Promise<Pick<Project, 'messageLimits' | 'quietHours'> | undefined>

/** The rules of a project over all its campaigns, as far as they concern one of them. */
export interface ProjectRules {
  limits: readonly MessageLimit[]
  quietHours: Project['quietHours']
}

const none: ProjectRules = { limits: [], quietHours: null }

/** Transactional messages pass all of them. */
export async function rulesFor(projectOf: ProjectOf, projectId: ProjectId, campaign: Campaign): Promise<ProjectRules> {
  if (isTransactional(campaign)) return none
  const { messageLimits, quietHours } = (await projectOf(projectId)) ?? { messageLimits: [], quietHours: null }
  const limits = messageLimits.filter(({ topic }) => topic === undefined || topic === campaign.topic)
  return { limits, quietHours }
}

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
  const now = Date.now()
  const capped = new Set<string>()
  for (const { count, within, topic } of limits) {
    const of = { triggerId, sinceMs: now - parseDuration(within)!, topic: topic ?? null }
    const received = await countReceivedInAll(tx, projectId, of, userIds)
    for (const [userId, triggers] of received) if (triggers >= count) capped.add(userId)
  }
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
