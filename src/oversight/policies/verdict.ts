import type { TriggerCampaign } from '../../campaigns/campaigns.ts'
import type { SendPush } from '../../channels/channels.ts'
import type { Permit, Policy } from '../../projects/projects.ts'
import type { Facts } from '../facts/facts.ts'

/** What an action does to the world, as skills declare it. */
export type Effect = 'read' | 'write' | 'send' | 'stop'

/** The users that an action of the effect `send` reaches. */
export type Reach = { trigger: TriggerCampaign } | { push: SendPush }

/** An action of a caller, the same for every surface. */
export interface Action {
  skill: string
  effect: Effect
  /** Absent where the action reaches no one. */
  reach?: Reach | undefined
}

/** What a person is shown of an action before it is done. An action without a campaign has no version. */
export type ReachFacts = Pick<Facts, 'recipients' | 'devices' | 'excluded' | 'sample' | 'complete'> &
  Partial<Pick<Facts, 'campaignId' | 'campaignName' | 'campaignVersion' | 'broadcast' | 'obstacle'>>

/** The agreements that an action has already. */
export interface Grants {
  /** A confirmation that its caller has redeemed. */
  confirmationId?: string | undefined
  /** An approval by a person. */
  approvalId?: string | undefined
  /** Counted a moment ago, so that they are not counted twice. */
  facts?: ReachFacts | undefined
}

export type Verdict =
  /** It may be done, within the permit where there is one. */
  | { kind: 'allowed'; permit?: Permit }
  | { kind: 'refused'; code: 'policy_refused' | 'dry_run_only'; rule: keyof Policy; reason: string }
  | { kind: 'approval'; reason: string; facts: ReachFacts }
  | { kind: 'confirmation'; reason: string; facts: ReachFacts }

export type Refused = Verdict & { kind: 'refused' }
