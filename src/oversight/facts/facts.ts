import {
  type Campaigns,
  type CheckedTrigger,
  checkTriggerCampaign,
  readAudience,
  type TriggerCampaign
} from '../../campaigns/campaigns.ts'
import { Refusal } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { whyRefused } from '../../triggers/triggers.ts'

/** What a trigger would reach if it were accepted now. */
export interface Facts {
  campaignId: string
  campaignName: string
  campaignVersion: number
  /** Whether its effective audience is a broadcast: its own, or the default audience of the campaign. */
  broadcast: boolean
  /** Distinct users with a device that would receive the message. */
  recipients: number
  devices: number
  /** Number of targets and devices that would receive nothing, by reason. */
  excluded: Record<string, number>
  sample: Sample[]
  /** false: the time was too short for the whole audience, and the numbers are lower bounds. */
  complete: boolean
  /** Why a trigger would be refused or would reach nobody by its definition; null: it can be accepted. */
  obstacle: Refusal | null
}

/** The message as one of its recipients would see it. `projectUserId` is null for an anonymous user. */
export interface Sample {
  projectUserId: string | null
  title: string | null
  body: string | null
}

export type FactsOf = (projectId: ProjectId, command: TriggerCampaign) => Promise<Facts>

/** Makes the function that counts the audience of a trigger and renders a sample. It sends nothing. */
export const createFacts =
  (campaigns: Pick<Campaigns, 'saving' | 'previewTrigger'>): FactsOf =>
  (projectId, command) =>
    countFacts(campaigns, projectId, checkTriggerCampaign(command))

async function countFacts(
  campaigns: Pick<Campaigns, 'saving' | 'previewTrigger'>,
  projectId: ProjectId,
  { campaignId, ...request }: CheckedTrigger
): Promise<Facts> {
  const { definition, version } = await campaigns.saving.get(projectId, campaignId).catch(asNoCampaign)
  const { name, type, status, default_audience } = definition
  const audience = request.audience ?? (default_audience ? readAudience(default_audience) : null)
  const preview = await campaigns.previewTrigger(projectId, definition, request)
  const { users, devices, skipped, complete } = preview.audience
  const runs = type === 'api_triggered' && status === 'active'
  return {
    campaignId,
    campaignName: name,
    campaignVersion: version,
    broadcast: audience !== null && 'broadcast' in audience,
    recipients: users,
    devices,
    excluded: skipped,
    sample: preview.sample.flatMap(({ project_user_id, content, reason }) => {
      const shown = reason === null && (content?.notification ?? content?.activity?.alert)
      return shown ? [{ projectUserId: project_user_id, title: shown.title ?? null, body: shown.body ?? null }] : []
    }),
    complete,
    obstacle: runs ? (audience ? null : noAudience()) : whyRefused(definition)
  }
}

/** Who gets a trigger: everyone in the segment or not, and by which version of the campaign where its default decides. */
export async function audienceOf(
  campaigns: Pick<Campaigns, 'saving'>,
  projectId: ProjectId,
  { campaignId, audience }: TriggerCampaign
): Promise<{ broadcast: boolean; campaignVersion?: number }> {
  if (audience) return { broadcast: 'broadcast' in audience }
  const { definition, version } = await campaigns.saving.get(projectId, campaignId).catch(asNoCampaign)
  return { broadcast: definition.default_audience?.broadcast === true, campaignVersion: version }
}

/** The campaign of a path is `not_found`; the one that a trigger names has a code of its own. */
function asNoCampaign(error: unknown): never {
  throw error instanceof Refusal && error.code === 'not_found'
    ? new Refusal('campaign_not_found', error.message)
    : error
}

const noAudience = () =>
  new Refusal('invalid_trigger', 'The trigger names no audience, and the campaign has no default audience.')
