import type { Campaign, Segment } from '../../../../wire.ts'
import { languageName } from './message/language-name.ts'

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
  status: 'active',
  segment: { all: [] },
  message: {}
}

/** Leaves out the fields that the service adds. */
export function draftOf(campaign: Campaign): CampaignDraft {
  const { version: _v, created_at: _c, updated_at: _u, warnings: _w, ...draft } = campaign
  delete (draft as { result?: string }).result
  return draft as CampaignDraft
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

type Message = NonNullable<CampaignDraft['message']>

/** A text that people may read: one message, in one language. */
export interface PlacedText {
  /** `Step 1 · Variant a · German (de)`, from the parts that there are. */
  label: string
  message: Message
}

/** Every text of the campaign: each step, each variant, each language. */
export function everyText({ message, variants, steps }: CampaignDraft): PlacedText[] {
  const own = textsOf({ message, variants }, [])
  return [...own, ...(steps ?? []).flatMap((step) => textsOf(step, [`Step ${step.id}`]))]
}

function textsOf({ message, variants }: Pick<CampaignDraft, 'message' | 'variants'>, place: string[]): PlacedText[] {
  if (variants) return variants.flatMap(({ id, message: one }) => inLanguages(one, [...place, `Variant ${id}`]))
  return message ? inLanguages(message, place) : []
}

function inLanguages({ translations, ...message }: Message, place: string[]): PlacedText[] {
  const tags = Object.entries(translations ?? {})
  const first = message.language ? languageName(message.language) : 'Default language'
  const labelOf = (language: string) => [...place, ...(tags.length > 0 ? [language] : [])].join(' · ')
  return [
    { label: labelOf(first), message },
    ...tags.map(([tag, texts]) => ({
      label: labelOf(languageName(tag)),
      message: { ...message, ...texts, language: tag }
    }))
  ]
}
