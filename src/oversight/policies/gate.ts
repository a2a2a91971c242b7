import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import {
  type ApiCaller,
  type CallerKey,
  counted,
  overspent,
  type Policy,
  recipientsUsed
} from '../../projects/projects.ts'
import type { ReachFactsOf } from './reach-facts.ts'
import { refused, refusedByRules } from './rules.ts'
import type { Action, Grants, Reach, ReachFacts, Verdict } from './verdict.ts'

const allowed: Verdict = { kind: 'allowed' }

/** An audience may grow by this share between its count and its expansion, as after a confirmation. */
const headroom = 1.05

export type Gate = ReturnType<typeof createGate>

/** Judges the actions of callers by the policy of their key, for every surface. */
export function createGate({ pool, factsOf }: { pool: Pool; factsOf: ReachFactsOf }) {
  async function withPreview(projectId: ProjectId, verdict: Verdict & { kind: 'refused' }, reach: Reach) {
    const { recipients, devices, complete } = await factsOf(projectId, reach)
    const users = `${complete ? '' : 'at least '}${counted(recipients, 'user')}`
    return { ...verdict, reason: `${verdict.reason} It would reach ${users} on ${counted(devices, 'device')}.` }
  }

  async function judgeReach(projectId: ProjectId, key: CallerKey, policy: Policy, reach: Reach, grants: Grants) {
    const { max_recipients_per_day: perDay } = policy
    const used = perDay === null ? 0 : await recipientsUsed(pool, projectId, key.originId)
    const left = perDay === null ? null : Math.max(0, perDay - used)
    const isApproved = grants.approvalId !== undefined
    const mostUnseen = least([policy.max_recipients, isApproved ? null : policy.approval_above, left])
    const named = namedBy(reach)
    const asks = policy.confirm_broadcasts && !isApproved && grants.confirmationId === undefined && named === undefined
    const permitOf = (recipients: number, most: number): Verdict => ({
      kind: 'allowed',
      permit: { keyId: key.originId, recipients, most, perDay }
    })
    // Named targets are an upper bound: where they fit, nothing is counted.
    if (named !== undefined && (mostUnseen === null || named <= mostUnseen))
      return perDay === null ? allowed : permitOf(named, named)
    if (!asks && !isApproved && mostUnseen === null) return allowed
    const facts = grants.facts ?? (await factsOf(projectId, reach))
    // The capability refuses it for this obstacle. If the obstacle ends first, the permit of 0 users still stops it.
    if (facts.obstacle) return permitOf(0, 0)
    const verdict = judgeFacts(policy, facts, { isApproved, asks, used })
    if (verdict) return verdict
    const grown = Math.floor(facts.recipients * headroom)
    const agreed = isApproved ? (facts.complete ? grown : null) : policy.approval_above
    const most = least([policy.max_recipients, agreed, perDay === null ? null : grown])
    return most === null ? allowed : permitOf(facts.recipients, most)
  }

  /** Returns at once for a caller whose key has no policy. */
  return (caller: ApiCaller, action: Action, grants: Grants = {}): Verdict | Promise<Verdict> => {
    const { key, project } = caller
    if (!key?.policy) return allowed
    const refusal = refusedByRules(key.policy, action, sentAt(action, new Date()))
    if (refusal?.code === 'dry_run_only' && action.reach) return withPreview(project.id, refusal, action.reach)
    if (refusal) return refusal
    return action.reach ? judgeReach(project.id, key, key.policy, action.reach, grants) : allowed
  }
}

/** The verdict on counted recipients; undefined where they may be reached. */
function judgeFacts(
  { max_recipients: max, max_recipients_per_day: perDay, approval_above: above }: Policy,
  facts: ReachFacts,
  { isApproved, asks, used }: { isApproved: boolean; asks: boolean; used: number }
): Verdict | undefined {
  const { recipients, complete } = facts
  const users = `${complete ? '' : 'at least '}${counted(recipients, 'user')}`
  if (max !== null && recipients > max)
    return refused('max_recipients', `The action would reach ${users}, and the key may reach ${max} at once.`)
  if (perDay !== null && used + recipients > perDay)
    return refused('max_recipients_per_day', overspent(recipients, perDay, used).message)
  if (!complete && (max !== null || perDay !== null))
    return refused(
      max === null ? 'max_recipients_per_day' : 'max_recipients',
      `The audience has ${users} and is too large to be counted in time, and the key has a limit. Name the targets.`
    )
  if (above !== null && !isApproved && (recipients > above || !complete)) {
    const reason = `The action would reach ${users}, and the policy of the key wants a person to approve more than ${above}.`
    return { kind: 'approval', reason, facts }
  }
  if (asks && facts.broadcast)
    return {
      kind: 'confirmation',
      reason: 'The policy of the key wants broadcasts to be confirmed with a confirmationId.',
      facts
    }
  return undefined
}

/** The most users that an action can reach by its own words; undefined where its audience decides. */
function namedBy(reach: Reach): number | undefined {
  if ('push' in reach) return 1
  const { audience } = reach.trigger
  return audience && 'targets' in audience ? audience.targets.length : undefined
}

/** When an action would send: at its time, or now. */
function sentAt({ reach }: Action, now: Date): Date {
  const at = reach && 'trigger' in reach && reach.trigger.sendAt !== undefined ? new Date(reach.trigger.sendAt) : now
  return at > now ? at : now
}

/** The smallest limit; null where there is none. */
function least(limits: (number | null)[]): number | null {
  const set = limits.filter((limit) => limit !== null)
  return set.length === 0 ? null : Math.min(...set)
}
