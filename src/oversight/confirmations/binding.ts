import { isDeepStrictEqual } from 'node:util'
import { checkTriggerCampaign, type TriggerCampaign } from '../../campaigns/campaigns.ts'

/** The figures that a caller agrees to. */
export interface Figures {
  campaignVersion: number
  recipients: number
  /** false: `recipients` is a lower bound. */
  complete: boolean
}

/** A number may differ by this share of the number that was shown: below 20 not at all. */
const tolerance = 0.05

/** A number of people or devices. If it is not complete, it is a lower bound. */
export interface Counted {
  count: number
  complete: boolean
}

/**
 * Whether a yes to the number that was shown is no yes to the number of now. A yes to "at least" holds for more and not
 * for fewer. An audience that was counted, and takes too long to be counted now, may have grown.
 */
function isOther(shown: Counted, now: Counted): boolean {
  const more = now.count - shown.count
  const allowed = shown.count * tolerance
  const grown = shown.complete && (more > allowed || !now.complete)
  const shrunk = now.complete && -more > allowed
  return grown || shrunk
}

/** Why a yes to what was shown is no yes to what would be done now; undefined where it is. */
export function whyChanged(shown: Figures, now: Figures): string | undefined {
  if (now.campaignVersion !== shown.campaignVersion)
    return `The campaign was changed meanwhile: it has version ${now.campaignVersion}, not ${shown.campaignVersion}.`
  return whyOther('recipients', countedOf(shown), countedOf(now))
}

/** The change of a number in words; undefined where a yes still holds for it. */
export function whyOther(noun: string, shown: Counted, now: Counted): string | undefined {
  if (!isOther(shown, now)) return undefined
  const [before, after] = [shown, now].map(({ count, complete }) => `${complete ? '' : 'at least '}${count}`)
  return `The audience has changed meanwhile: ${after} instead of ${before} ${noun}.`
}

const countedOf = ({ recipients, complete }: Figures): Counted => ({ count: recipients, complete })

/** Whether two commands ask for the same campaign, audience, properties and time, however they are spelt. */
export const isSame = (one: TriggerCampaign, other: TriggerCampaign): boolean =>
  isDeepStrictEqual(boundOf(one), boundOf(other))

function boundOf(command: TriggerCampaign) {
  const { campaignId, audience, properties, sendAt } = checkTriggerCampaign(command)
  return { campaignId, audience, properties, sendAt }
}
