import type { CampaignFields, Message } from './schema.ts'

/** A message of a campaign, with the place where it stands. */
export interface PlacedMessage {
  path: string
  step?: string
  variant?: string
  message: Message
}

type Step = NonNullable<CampaignFields['steps']>[number]
type Placing = Pick<CampaignFields, 'message' | 'variants' | 'steps'>

/** All messages of a campaign: its own, those of its variants, and those of its steps. */
export function everyMessage(campaign: Placing): PlacedMessage[] {
  const own = placed(campaign, '')
  const later = (campaign.steps ?? []).flatMap((step, index) =>
    placed(step, `steps[${index}].`).map((one) => ({ ...one, step: step.id }))
  )
  return [...own, ...later]
}

const placed = ({ message, variants }: Pick<Step, 'message' | 'variants'>, path: string): PlacedMessage[] => [
  ...(message ? [{ path: `${path}message`, message }] : []),
  ...(variants ?? []).map((variant, index) => ({
    path: `${path}variants[${index}].message`,
    variant: variant.id,
    message: variant.message
  }))
]
