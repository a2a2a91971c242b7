import type { Recipient, Source } from '../../templates/templates.ts'
import type { Campaign, Message } from '../definition/definition.ts'
import { languageOf } from './language.ts'
import { holdoutOf, variantOf } from './share.ts'

/** The text that a recipient gets. */
export interface Choice {
  /** Names the text for the renderer; undefined if the campaign has only one. */
  text: string | undefined
  step: string | null
  variant: string | null
  language: string | null
}

/** The texts of one step of a campaign, or of a campaign without steps. */
export interface Texts {
  step: string | null
  source: Source
  /** The ids of its variants, in order; none if it has a single message. */
  variants: readonly string[]
  /** The name of a text for the renderer. `tag`: a translation; null: the default language. */
  nameOf(variant: string | null, tag: string | null): string | undefined
  /** `winner`: the variant that all get. */
  choose(recipient: Pick<Recipient, 'user_id' | 'properties' | 'facts'>, winner?: string): Choice
}

/** The texts of a step; null: those of a campaign without steps, else of its first step. */
export function textsOf(campaign: Campaign, step: string | null, watch = campaign.on_missing === 'skip'): Texts {
  const { campaign_id, name, live_activity, steps } = campaign
  const found = steps?.find(({ id }) => id === step) ?? steps?.[0]
  const { message, variants } = found ?? campaign
  const stepId = found?.id ?? null
  const common = { campaign_id, name, watch }
  if (live_activity || (!variants && !message?.translations)) {
    const only: Choice = { text: undefined, step: stepId, variant: null, language: message?.language ?? null }
    const source = { ...common, message, live_activity }
    return { step: stepId, source, variants: [], nameOf: () => undefined, choose: () => only }
  }
  const messages = variants?.map((variant) => variant.message) ?? [message!]
  const places = new Map(variants?.map(({ id }, place) => [id, place]))
  const choices = messages.map((one, place) => choiceIn(one, place, stepId, variants?.[place]?.id ?? null))
  const pick = variants && variantOf(campaign_id ?? '', variants)
  return {
    step: stepId,
    source: { ...common, messages },
    variants: [...places.keys()].sort(),
    nameOf: (variant, tag) => nameOf(places.get(variant ?? '') ?? 0, tag),
    choose: (recipient, winner) => {
      if (!pick) return choices[0]!(recipient)
      const chosen = winner !== undefined && places.has(winner) ? winner : pick(recipient.user_id).id
      return choices[places.get(chosen)!]!(recipient)
    }
  }
}

/** The name by which the renderer finds a text. */
const nameOf = (place: number, tag: string | null) => (tag === null ? String(place) : `${place} ${tag}`)

/** Chooses the language of one message. Choices are shared: a batch needs few. */
function choiceIn(
  { language, translations }: Message,
  place: number,
  step: string | null,
  variant: string | null
): (recipient: Pick<Recipient, 'properties' | 'facts'>) => Choice {
  const own: Choice = { text: nameOf(place, null), step, variant, language: language ?? null }
  const tags = Object.keys(translations ?? {})
  if (tags.length === 0) return () => own
  const byTag = new Map(tags.map((tag) => [tag, { ...own, text: nameOf(place, tag), language: tag } satisfies Choice]))
  const pick = languageOf(tags, own.language)
  return (recipient) => byTag.get(pick(recipient) ?? '') ?? own
}

/** Whether a user gets nothing of this campaign, for comparison. Undefined if the campaign has no holdout. */
export const heldOutOf = ({ campaign_id, holdout }: Campaign) => holdoutOf(campaign_id ?? '', holdout)
