import { isDeepStrictEqual } from 'node:util'
import { checkTriggerCampaign, type TriggerCampaign } from '../../campaigns/campaigns.ts'

/** The figures that a caller agrees to. */
export interface Figures {
  campaignVersion: number
  recipients: number
  /** false: `recipients` is a lower bound. */
  complete: boolean
}

/** The number of recipients may differ by this share of the number that was shown: below 20 people not at all. */
const tolerance = 0.05

/**
 * Why a yes to what was shown is no yes to what would be done now; undefined where it is. A yes to "at least" holds for
 * more recipients and not for fewer. An audience that was counted, and takes too long to be counted now, may have grown.
 */
export function whyChanged(shown: Figures, now: Figures): string | undefined {
  if (now.campaignVersion !== shown.campaignVersion)
    return `The campaign was changed meanwhile: it has version ${now.campaignVersion}, not ${shown.campaignVersion}.`
  const more = now.recipients - shown.recipients
  const allowed = shown.recipients * tolerance
  const grown = shown.complete && (more > allowed || !now.complete)
  const shrunk = now.complete && -more > allowed
  if (!grown && !shrunk) return undefined
  const [before, after] = [shown, now].map(({ recipients, complete }) => `${complete ? '' : 'at least '}${recipients}`)
  return `The audience has changed meanwhile: ${after} instead of ${before} recipients.`
}

/** Whether two commands ask for the same campaign, audience and properties, however they are spelt. */
export const isSame = (one: TriggerCampaign, other: TriggerCampaign): boolean =>
  isDeepStrictEqual(boundOf(one), boundOf(other))

function boundOf(command: TriggerCampaign) {
  const { campaignId, audience, properties } = checkTriggerCampaign(command)
  return { campaignId, audience, properties }
}
