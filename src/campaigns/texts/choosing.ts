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
  /** `winner`: the variant that all get. */
  choose(recipient: Pick<Recipient, 'user_id' | 'properties' | 'facts'>, winner?: string): Choice
}

interface Option {
  id: string
  weight: number
  message: Message
  place: number
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
    return { step: stepId, source: { ...common, message, live_activity }, variants: [], choose: () => only }
  }
  const messages = variants?.map((variant) => variant.message) ?? [message!]
  const choices = messages.map((one, place) => choiceIn(one, place, stepId, variants?.[place]?.id ?? null))
  if (!variants) return { step: stepId, source: { ...common, messages }, variants: [], choose: choices[0]! }
  const options: Option[] = variants.map((variant, place) => ({ ...variant, place }))
  const pick = variantOf(campaign_id ?? '', options)
  const places = new Map(options.map(({ id, place }) => [id, place]))
  return {
    step: stepId,
    source: { ...common, messages },
    variants: [...places.keys()].sort(),
    choose: (recipient, winner) => {
      const won = winner === undefined ? undefined : places.get(winner)
      return choices[won ?? pick(recipient.user_id).place]!(recipient)
    }
  }
}

/** Chooses the language of one message. Choices are shared: a batch needs few. */
function choiceIn(
  { language, translations }: Message,
  place: number,
  step: string | null,
  variant: string | null
): (recipient: Pick<Recipient, 'properties' | 'facts'>) => Choice {
  const own: Choice = { text: String(place), step, variant, language: language ?? null }
  const tags = Object.keys(translations ?? {})
  if (tags.length === 0) return () => own
  const byTag = new Map(tags.map((tag) => [tag, { ...own, text: `${place} ${tag}`, language: tag } satisfies Choice]))
  const pick = languageOf(tags, own.language)
  return (recipient) => byTag.get(pick(recipient) ?? '') ?? own
}

/** Whether a user gets nothing of this campaign, for comparison. Undefined if the campaign has no holdout. */
export const heldOutOf = ({ campaign_id, holdout }: Campaign) => holdoutOf(campaign_id ?? '', holdout)
