import { type Fields, isObject } from '../../platform/fields.ts'
import { brazeSegment } from './braze.ts'
import { brazeText, oneSignalText, type TranslatedText } from './liquid.ts'
import { oneSignalSegment } from './onesignal.ts'

/** A campaign or a saved segment as a file has it, and what could not be translated. */
export interface Translation {
  document: Record<string, unknown>
  problems: string[]
  notes: string[]
}

type Service = 'onesignal' | 'braze'

/** Translates each object of a JSON file: segments, audiences, messages, and campaigns with both. */
export function translateJson(service: Service, value: unknown): Translation[] {
  const list = Array.isArray(value)
    ? value
    : isObject(value) && Array.isArray(value.segments)
      ? value.segments
      : [value]
  return list.map((one, index) => translateOne(service, isObject(one) ? one : {}, index))
}

export const translateText = (service: Service, text: string): TranslatedText =>
  service === 'braze' ? brazeText(text) : oneSignalText(text)

function translateOne(service: Service, given: Fields, index: number): Translation {
  const problems: string[] = []
  const notes: string[] = []
  const name = typeof given.name === 'string' && given.name !== '' ? given.name : `${service} ${index + 1}`
  const id = idOf(name)
  const found = service === 'braze' ? brazeAudience(given) : oneSignalFilters(given)
  problems.push(...(found?.problems ?? []))
  notes.push(...(found?.notes ?? []))
  const message = (service === 'braze' ? brazeMessage : oneSignalMessage)(given, (path, text) => {
    const translated = translateText(service, text)
    problems.push(...translated.problems.map((problem) => `${path}: ${problem}`))
    return translated.text
  })
  if (!found && !message) problems.push(`${name}: neither a segment nor a message was found`)
  const segment = found && { segment: found.segment }
  const document = message
    ? { campaign_id: id, name, status: 'draft', ...segment, message }
    : { segment_id: id, name, ...(segment ?? { segment: { any: [] } }) }
  return { document, problems, notes }
}

const idOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 64) || 'translated'

const oneSignalFilters = ({ filters }: Fields) => (Array.isArray(filters) ? oneSignalSegment(filters) : undefined)

function brazeAudience(given: Fields) {
  if (isObject(given.audience)) return brazeSegment(given.audience)
  return ['AND', 'OR', 'custom_attribute', 'last_used_app', 'push_subscription_status'].some((name) => name in given)
    ? brazeSegment(given)
    : undefined
}

type Say = (path: string, text: string) => string
const textIn = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Texts by language: the default one is English, as OneSignal demands, and the others are translations. */
function oneSignalMessage(given: Fields, say: Say): Fields | undefined {
  const source = isObject(given.template) ? given.template : given
  const [headings, contents] = [
    isObject(source.headings) ? source.headings : {},
    isObject(source.contents) ? source.contents : {}
  ]
  const languages = [...new Set([...Object.keys(headings), ...Object.keys(contents)])]
  if (languages.length === 0) return undefined
  const first = languages.includes('en') ? 'en' : languages[0]!
  const texts = (language: string) => {
    const [title, body] = [textIn(headings[language]), textIn(contents[language])]
    return {
      ...(title && { title: say(`headings.${language}`, title) }),
      ...(body && { body: say(`contents.${language}`, body) })
    }
  }
  const others = languages.filter((language) => language !== first)
  const [url, image] = [textIn(source.url), textIn(source.big_picture) ?? textIn(source.global_image)]
  return {
    ...texts(first),
    ...(image && { image_url: say('big_picture', image) }),
    ...(url && { landing_url: say('url', url) }),
    ...(others.length > 0 && {
      language: first,
      translations: Object.fromEntries(others.map((one) => [one, texts(one)]))
    })
  }
}

/** The push of a campaign: `messages` by channel, as in /messages/send, or by id, as in /campaigns/details. */
function brazeMessage({ messages }: Fields, say: Say): Fields | undefined {
  if (!isObject(messages)) return undefined
  const pushes = Object.entries(messages).filter(
    ([name, one]) => isObject(one) && /push/.test(`${name} ${String(one.channel)}`)
  ) as [string, Fields][]
  const [first] = pushes
  if (!first) return undefined
  const [place, push] = first
  const alert = isObject(push.alert) ? push.alert : { body: push.alert, title: push.title }
  const [title, body] = [textIn(alert.title) ?? textIn(push.title), textIn(alert.body) ?? textIn(push.message)]
  const [image, link] = [textIn(push.image_url) ?? textIn(push.asset_file_url), textIn(push.custom_uri)]
  return {
    ...(title && { title: say(`messages.${place}.title`, title) }),
    ...(body && { body: say(`messages.${place}.alert`, body) }),
    ...(image && { image_url: say(`messages.${place}.image_url`, image) }),
    ...(link && { landing_url: say(`messages.${place}.custom_uri`, link) })
  }
}
