import { checkSendPush, type SendPush, sendPushes } from '../../channels/channels.ts'
import type { Pool } from '../../platform/db/db.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import { identity } from '../../users/users.ts'
import type { FactsOf } from '../facts/facts.ts'
import type { Reach, ReachFacts } from './verdict.ts'

export type ReachFactsOf = (projectId: ProjectId, reach: Reach) => Promise<ReachFacts>

/** Makes the function that counts what an action would reach. It sends nothing. */
export const createReachFacts =
  (pool: Pool, factsOf: FactsOf): ReachFactsOf =>
  (projectId, reach) =>
    'trigger' in reach ? factsOf(projectId, reach.trigger) : pushFacts(pool, projectId, reach.push)

/** What a push would reach. It is drafted as it would be sent, and nothing is written. */
async function pushFacts(pool: Pool, projectId: ProjectId, push: SendPush): Promise<ReachFacts> {
  const heading = { messageId: newId(), priority: 'high' as const, notAfter: Date.now() }
  const drafted = (await sendPushes([checkSendPush(push)]).draft(pool, projectId, [heading])).flat()
  const drafts = drafted.flatMap((one) => ('reason' in one ? [] : one))
  const excluded: Record<string, number> = {}
  for (const one of drafted)
    if ('reason' in one) excluded[one.reason.toLowerCase()] = (excluded[one.reason.toLowerCase()] ?? 0) + 1
  const projectUserId =
    'projectUserId' in push.target ? push.target.projectUserId : await nameOf(pool, projectId, drafted[0]?.userId)
  return {
    recipients: new Set(drafts.map(({ userId }) => userId)).size,
    devices: drafts.length,
    excluded,
    sample: [{ projectUserId, title: push.title ?? null, body: push.body ?? null }],
    complete: true
  }
}

/** The user who has the device now: it may be another by the time of the yes. */
const nameOf = async (pool: Pool, projectId: ProjectId, userId: string | null | undefined): Promise<string | null> =>
  userId ? ((await identity.namesOf(pool, projectId, [userId])).get(userId) ?? null) : null
