import type { Campaign, Segment } from '../../../../wire.ts'

export const triggerTypes: Record<Campaign['type'], string> = {
  api_triggered: 'API',
  scheduled: 'Schedule',
  event_triggered: 'Event'
}

/** A Live Activity in the editor. `attributes` and `content_state` are texts while they are not valid JSON. */
export interface LiveActivityDraft {
  attributes_type: string
  attributes: object | string
  content_state: object | string
  alert?: { title?: string; body?: string }
  apns_channel_id?: string
}

/** The fields of a campaign that a file holds and the editor changes. */
export type CampaignDraft = Partial<Pick<Campaign, 'campaign_id'>> &
  Omit<Campaign, 'campaign_id' | 'segment' | 'live_activity' | 'version' | 'created_at' | 'updated_at' | 'warnings'> & {
    segment: Segment
    live_activity?: LiveActivityDraft
  }

export const emptyDraft: CampaignDraft = {
  name: '',
  type: 'api_triggered',
  status: 'draft',
  segment: { all: [] },
  message: {}
}

const added = ['version', 'created_at', 'updated_at', 'warnings', 'result', 'winners', 'next_at']

/** Leaves out the fields that the service adds. */
export function draftOf(campaign: Campaign): CampaignDraft {
  return Object.fromEntries(
    Object.entries(campaign).filter(([name]) => !added.includes(name))
  ) as unknown as CampaignDraft
}

const filled = (fields: object | undefined) =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined && value !== ''))
const orAbsent = (fields: object) => (Object.keys(fields).length > 0 ? fields : undefined)

/** Leaves out blank fields, as a file would. */
export function withoutBlanks(draft: CampaignDraft): CampaignDraft {
  const message = orAbsent(filled(draft.message))
  const live_activity = draft.live_activity && {
    ...draft.live_activity,
    alert: orAbsent(filled(draft.live_activity.alert))
  }
  return filled({
    ...draft,
    message,
    live_activity: live_activity && filled(live_activity)
  }) as unknown as CampaignDraft
}
