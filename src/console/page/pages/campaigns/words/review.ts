import type { Campaign } from '../../../../../wire.ts'
import type { CampaignDraft } from '../draft.ts'
import { languageName } from '../message/language-name.ts'
import { filtersInWords, segmentInWords } from './segment.ts'
import { durationInWords, listed, scheduleInWords, secondsInWords } from './timing.ts'
import { audienceInWords } from './values.ts'

type Event = { event: string; where?: object[] | undefined }
type Message = NonNullable<Campaign['message']>

const eventInWords = ({ event, where }: Event) => {
  const filters = filtersInWords(where as never)
  return `${event || 'an event that is not named'}${filters ? ` where ${filters}` : ''}`
}

/** Who gets the campaign. `topicName` is the name of its topic. */
export function whoInWords(draft: CampaignDraft, topicName = draft.topic): string[] {
  const { type, segment, default_audience, transactional, holdout } = draft
  const conditions = segmentInWords(segment)
  const within = conditions === 'everyone' ? 'All users can get it.' : `Only users who match: ${conditions}.`
  const to =
    type === 'event_triggered'
      ? 'It goes to the user of each event.'
      : default_audience
        ? `It goes to ${audienceInWords(default_audience)}${type === 'scheduled' ? '.' : ', unless a trigger names others.'}`
        : type === 'scheduled'
          ? 'It goes to nobody until it has a default audience.'
          : 'Each trigger names its users.'
  return [
    within,
    to,
    ...(topicName ? [`Users who turned off “${topicName}” are left out.`] : []),
    ...(transactional ? ['It is transactional: users who opted out get it too.'] : []),
    ...(holdout ? [`${holdout} % of the users get nothing, to compare with.`] : [])
  ]
}

export function whenInWords({ type, schedule, event_trigger }: CampaignDraft): string[] {
  if (type === 'scheduled')
    return [schedule ? `It is sent ${scheduleInWords(schedule)}.` : 'It is sent when it has a schedule.']
  if (type === 'api_triggered') return ['It is sent when your code, a person or an agent triggers it.']
  if (!event_trigger) return ['It is sent after an event, once the event is named.']
  const { delay, unless, reentry } = event_trigger
  const wait = delay ? `${durationInWords(delay)} after` : 'Right after'
  return [
    `${wait} the event ${eventInWords(event_trigger)}.`,
    ...(unless ? [`Not if ${eventInWords(unless)} comes first.`] : []),
    ...(reentry === 'once' ? ['Each user gets it once only.'] : []),
    ...(reentry && reentry !== 'once' && reentry !== 'every'
      ? [`The same user gets it again after ${durationInWords(reentry)} at the earliest.`]
      : [])
  ]
}

/** The languages of messages, the default one first. */
function languagesIn(messages: (Message | undefined)[]): string[] {
  const tags = messages.flatMap((message) => Object.keys(message?.translations ?? {}))
  const [own] = messages.flatMap((message) => message?.language ?? [])
  return [...new Set([own === undefined ? 'the default language' : languageName(own), ...tags.map(languageName)])]
}

export function messageInWords({ message, variants, steps, exit, live_activity, winner }: CampaignDraft): string[] {
  if (live_activity) return [`It starts the Live Activity ${live_activity.attributes_type || 'without a type yet'}.`]
  const places = steps ?? [{ message, variants }]
  const messages = places.flatMap((place) => [place.message, ...(place.variants ?? []).map((one) => one.message)])
  const languages = languagesIn(messages)
  const tested = places.flatMap((place) => (place.variants ? [place.variants] : []))
  const waits = (steps ?? []).flatMap(({ wait }, index) => (wait && index > 0 ? [durationInWords(wait)] : []))
  return [
    steps
      ? `A sequence of ${steps.length} ${steps.length === 1 ? 'message' : 'messages'}${waits.length > 0 ? `, with waits of ${listed(waits)}` : ''}.`
      : message?.silent
        ? 'A silent push that wakes the app.'
        : 'One notification.',
    ...(exit ? [`A user leaves the sequence after ${eventInWords(exit)}.`] : []),
    ...(languages.length > 1 ? [`In ${languages.length} languages: ${listed(languages)}.`] : []),
    ...tested.map((given) => `Users are split over ${given.length} variants: ${sharesInWords(given)}.`),
    ...(winner ? [`After ${winner.after.toLocaleString()} messages only the best variant is sent.`] : [])
  ]
}

function sharesInWords(variants: NonNullable<Campaign['variants']>): string {
  const all = variants.reduce((sum, { weight }) => sum + Number(weight), 0)
  return listed(variants.map(({ id, weight }) => (all > 0 ? `${id} (${Math.round((100 * weight) / all)} %)` : id)))
}

export function limitsInWords(draft: CampaignDraft): string[] {
  const { frequency_cap, quiet_hours, throttle_per_second, ttl_seconds, on_missing, conversion } = draft
  return [
    ...(frequency_cap
      ? [`At most ${frequency_cap.count} per user within ${durationInWords(frequency_cap.within)}.`]
      : []),
    ...(quiet_hours
      ? [
          `Between ${quiet_hours.from} and ${quiet_hours.to} (${quiet_hours.timezone === 'user' ? 'the user’s time' : quiet_hours.timezone === 'device' ? 'the device’s time' : quiet_hours.timezone}) ${quiet_hours.action === 'skip' ? 'it is not sent.' : 'it waits until quiet hours end.'}`
        ]
      : []),
    ...(throttle_per_second ? [`At most ${throttle_per_second.toLocaleString()} messages a second.`] : []),
    ...(ttl_seconds === undefined ? [] : [`Phones that are offline get it within ${secondsInWords(ttl_seconds)}.`]),
    ...(on_missing === 'skip' ? ['Users for whom a value in the text is missing get nothing.'] : []),
    ...(conversion ? [`A conversion is ${conversion.event} within ${durationInWords(conversion.within)}.`] : [])
  ]
}
