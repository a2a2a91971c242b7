import type { Preview } from '../../../../../wire.ts'
import type { Shown } from '../../../parts/phone/phone.tsx'
import type { CampaignDraft } from '../draft.ts'
import { bestSample } from '../preview/sample-message.tsx'
import { isSame } from '../words/differences.ts'
import { type Place, placeKey, placesOf, typedAt } from './places.ts'

/** The rendered notification, with the buttons that the service adds for platforms that show them. */
type Rendered = NonNullable<NonNullable<Preview['texts'][number]['content']>['notification']> & {
  actions?: { title: string }[]
}
type Content = Preview['texts'][number]['content']

const isTemplate = (text: string | null | undefined) => /\{[{%]/.test(text ?? '')

/** The rendered text of a place, its missing values and why it cannot be sent; undefined if there is none. */
export function renderedAt(data: Preview | undefined, { step, variant, tag, message }: Place) {
  const language = tag ?? message.language ?? null
  const text = data?.texts.find(
    (one) => one.step === step && one.variant === variant && (one.language ?? null) === language
  )
  return text ?? (data?.texts.length === 0 ? bestSample(data) : undefined)
}

/**
 * The notification at a place while it is typed. A text without a template is shown at once; one with a template as the
 * service has rendered it, and as it is typed until then.
 */
export function shownAt(place: Place, content: Content | undefined, of: CampaignDraft | undefined): Shown {
  const typed = typedAt(place)
  const before = of && placesOf(of).find((one) => placeKey(one) === placeKey(place))
  const asked = before && typedAt(before)
  const made = content?.notification as Rendered | undefined
  const pick = (name: 'title' | 'body' | 'image_url', rendered: string | undefined) =>
    isTemplate(typed[name]) && made && asked?.[name] === typed[name] ? rendered : typed[name]
  const buttons = typed.buttons?.map((text, index) => {
    const rendered = asked?.buttons?.[index] === text ? made?.actions?.[index]?.title : undefined
    return isTemplate(text) ? (rendered ?? text) : text
  })
  return {
    title: pick('title', made?.title),
    body: pick('body', made?.body),
    image_url: pick('image_url', made?.imageUrl),
    buttons
  }
}

/** The state of a Live Activity: as rendered, or as typed until then. */
export function activityShown(
  { live_activity }: CampaignDraft,
  content: Content | undefined,
  of: CampaignDraft | undefined
) {
  if (!live_activity) return undefined
  const { attributes_type, content_state } = live_activity
  const state = typeof content_state === 'object' ? content_state : {}
  const made = content?.activity && isSame(of?.live_activity?.content_state, content_state)
  return { type: attributes_type || 'Live Activity', state: made ? content.activity!.contentState : state }
}
