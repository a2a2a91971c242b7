import type { Db } from '../../platform/db/db.ts'
import { parseDuration } from '../../platform/duration.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { isTransactional } from '../../preferences/preferences.ts'
import type { MessageLimit, Project } from '../../projects/projects.ts'
import type { Campaign } from '../definition/definition.ts'
import { countReceived, usersOverLimits } from './recipients-store.ts'

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

/** Users who have received as many messages of all campaigns as the project allows. The trigger itself does not count. */
export async function overLimits(
  db: Db,
  projectId: ProjectId,
  triggerId: string,
  limits: readonly MessageLimit[],
  userIds: string[]
): Promise<Set<string>> {
  if (limits.length === 0 || userIds.length === 0) return new Set()
  const now = Date.now()
  const since = limits.map(({ count, within, topic = null }) => ({
    count,
    sinceMs: now - parseDuration(within)!,
    topic
  }))
  return usersOverLimits(db, projectId, triggerId, since, userIds)
}

/** Users who have reached the frequency cap of a campaign. The trigger itself does not count. */
export async function overCap(
  db: Db,
  projectId: ProjectId,
  { frequency_cap: cap }: Campaign,
  { campaignId, triggerId }: { campaignId: string; triggerId: string },
  userIds: string[]
): Promise<Set<string>> {
  if (!cap || userIds.length === 0) return new Set()
  const sinceMs = Date.now() - parseDuration(cap.within)!
  const received = await countReceived(db, projectId, { campaignId, triggerId, sinceMs }, userIds)
  return new Set(userIds.filter((id) => (received.get(id) ?? 0) >= cap.count))
}
