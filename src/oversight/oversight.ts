import type { Campaigns, TriggerCampaign } from '../campaigns/campaigns.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type ApprovalsOptions, createApprovals } from './approvals/approvals.ts'
import { type Asked, createConfirmations } from './confirmations/confirmations.ts'
import { audienceOf, createFacts, type Facts, type Sample } from './facts/facts.ts'
import { describeFacts } from './facts/wording.ts'
import { createGate } from './policies/gate.ts'
import { createReachFacts } from './policies/reach-facts.ts'
import { createRestGate, type RoutedSkill } from './policies/rest.ts'

export type { Approvals, Decided, OnDecided } from './approvals/approvals.ts'
export { approvalRoutes } from './approvals/routes.ts'
export type { ApprovalRow } from './approvals/store.ts'
export { AskedMeanwhile } from './confirmations/approval.ts'
export { type Asked, type Confirmations, keyOfConfirmation, type Redeemed } from './confirmations/confirmations.ts'
export type { Facts, FactsOf, Sample } from './facts/facts.ts'
export { describeFacts } from './facts/wording.ts'
export { readPolicy, readPolicyChange } from './policies/read-policy.ts'
export { admitWith } from './policies/rest.ts'
export type { Action, Effect, Grants, Reach, ReachFacts, Verdict } from './policies/verdict.ts'
export type Oversight = ReturnType<typeof createOversight>

export interface OversightOptions {
  pool: Pool
  metrics: Metrics
  campaigns: Pick<Campaigns, 'saving' | 'previewTrigger'>
  idempotencyHours: number
  approvals: Omit<ApprovalsOptions, 'pool' | 'metrics' | 'gate' | 'factsOf'>
}

/** What a caller is shown before it agrees, as the data of a question and of a preview. */
export type Shown = {
  confirmationId: string
  skill: 'trigger-campaign'
  campaignId: string
  campaignVersion: number
  recipients: number
  devices: number
  excluded: Record<string, number>
  sample: Sample[]
  /** Only where the audience could not be counted in time: the numbers are lower bounds. */
  complete?: false
}

/** Shows what an action of an agent would do before it is done, and decides whether it may be. */
export function createOversight({ pool, metrics, campaigns, idempotencyHours, ...options }: OversightOptions) {
  const factsOf = createFacts(campaigns)
  const confirmations = createConfirmations({ pool, factsOf, idempotencyHours })
  const reachFacts = createReachFacts(pool, factsOf)
  const gate = createGate({ pool, factsOf: reachFacts })
  const approvals = createApprovals({ pool, metrics, gate, factsOf: reachFacts, ...options.approvals })
  return {
    /** Judges an action by the policy of its caller's key; at once where the key has none. */
    gate,
    /** The same for requests to the REST API. */
    restGate: (skills: Iterable<RoutedSkill>) => createRestGate({ gate, confirmations }, skills),
    /** Asks people, and keeps their decisions. */
    approvals,
    /** Counts what a trigger would reach and renders a sample, within some seconds. Sends nothing. */
    factsOf,

    /** Issues and redeems the ids under which callers agree to what they were shown. */
    confirmations,

    /**
     * Shows a trigger to its caller: the facts in words and as data, under an id with which the same caller may agree.
     * Throws the obstacle where the trigger would be refused anyway. `known`: facts that were counted a moment ago.
     */
    async show(projectId: ProjectId, caller: Asked, command: TriggerCampaign, known?: Facts) {
      const facts = known ?? (await factsOf(projectId, command))
      if (facts.obstacle) throw facts.obstacle
      const confirmationId = await confirmations.issue(projectId, caller, command, facts)
      return { text: describeFacts(facts), data: shown(confirmationId, facts) }
    },

    /** Whether a trigger goes to everyone in the segment: by its own audience, or by the default of its campaign. */
    isBroadcast: async (projectId: ProjectId, command: TriggerCampaign): Promise<boolean> =>
      (await audienceOf(campaigns, projectId, command)).broadcast,

    /** The same, with the version of the campaign where its default audience decides. Another version may decide otherwise. */
    audienceOf: (projectId: ProjectId, command: TriggerCampaign) => audienceOf(campaigns, projectId, command),

    jobs: [confirmations.keepJob, approvals.job],

    /** Deletes some thousand confirmations and approvals of a project that is being erased, and returns how many. */
    eraseWindow: async (db: Db, projectId: ProjectId): Promise<number> =>
      (await confirmations.eraseWindow(db, projectId)) + (await approvals.eraseWindow(db, projectId))
  }
}

function shown(confirmationId: string, facts: Facts): Shown {
  const { campaignId, campaignVersion, recipients, devices, excluded, sample, complete } = facts
  return {
    confirmationId,
    skill: 'trigger-campaign',
    campaignId,
    campaignVersion,
    recipients,
    devices,
    excluded,
    sample,
    ...(!complete && { complete })
  }
}
