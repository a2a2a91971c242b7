import type { Campaign } from '../../../../../wire.ts'
import type { Shown } from '../../../parts/phone/phone.tsx'
import type { CampaignDraft } from '../draft.ts'

type Message = NonNullable<Campaign['message']>

/** One text of a campaign: a step, a variant and a language. */
export interface Place {
  /** The path of the message. */
  path: string
  step: string | null
  variant: string | null
  /** The language of a translation; null: the default language. */
  tag: string | null
  message: Message
}

/** Every text of a campaign, in the order of the editor. */
export function placesOf({ message, variants, steps }: Pick<CampaignDraft, 'message' | 'variants' | 'steps'>): Place[] {
  const own = steps
    ? steps.map((step, index) => ({ ...step, step: step.id as string | null, at: `steps[${index}].` }))
    : [{ message, variants, step: null, at: '' }]
  return own.flatMap(({ step, at, message: single, variants: several }) =>
    several
      ? several.flatMap((one, index) => inLanguages(`${at}variants[${index}].message`, step, one.id, one.message ?? {}))
      : inLanguages(`${at}message`, step, null, single ?? {})
  )
}

const inLanguages = (path: string, step: string | null, variant: string | null, message: Message): Place[] =>
  [null, ...Object.keys(message.translations ?? {})].map((tag) => ({ path, step, variant, tag, message }))

export const placeKey = ({ path, tag }: Pick<Place, 'path' | 'tag'>) => `${path} ${tag ?? ''}`

/** The text of a place as it is typed, with templates. A translation falls back to the default language. */
export function typedAt({ message, tag }: Place): Shown {
  const own = tag === null ? undefined : message.translations?.[tag]
  return {
    title: own?.title || message.title,
    body: own?.body || message.body,
    image_url: own?.image_url || message.image_url,
    buttons: (message.actions ?? []).map(({ id, title }) => own?.actions?.[id] || title)
  }
}

/** The place that a field belongs to: `message.translations.de.title` is the German text of the message. */
export function placeOf(places: Place[], path: string): Place | undefined {
  const inside = places.filter((place) => path === place.path || path.startsWith(`${place.path}.`))
  const translated = inside.find(
    ({ path: at, tag }) =>
      tag !== null && (path === `${at}.translations.${tag}` || path.startsWith(`${at}.translations.${tag}.`))
  )
  return translated ?? inside[0]
}
