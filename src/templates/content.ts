import { isObject } from '../platform/fields.ts'

/** Fields of a push that a person sees; each is a template. */
export interface MessageTemplates {
  title?: string | undefined
  body?: string | undefined
  image_url?: string | undefined
  landing_url?: string | undefined
  /** Templates too, except for their names and ids. */
  thread_id?: string | undefined
  collapse_key?: string | undefined
  badge?: number | string | undefined
  data?: Readonly<Record<string, string>> | undefined
  actions?: readonly { id: string; title: string; landing_url?: string | undefined }[] | undefined
  /** The same for every recipient. */
  sound?: string | undefined
  channel_id?: string | undefined
  category?: string | undefined
  interruption_level?: 'passive' | 'active' | 'time-sensitive' | 'critical' | undefined
  relevance_score?: number | undefined
  silent?: boolean | undefined
}

/** A Live Activity to start; every string inside is a template. */
export interface ActivityTemplates {
  attributes_type: string
  attributes: Record<string, unknown>
  content_state: Record<string, unknown>
  alert?: { title?: string | undefined; body?: string | undefined } | undefined
  /** The broadcast channel that it listens to. */
  apns_channel_id?: string | undefined
}

/** A message in several languages. A text that a translation lacks, or has empty, is that of the message. */
export interface TranslatedTemplates extends MessageTemplates {
  translations?: Readonly<Record<string, Translation>> | undefined
}

/** The texts of one language; those of buttons by their ids. */
type Translation = Pick<MessageTemplates, 'title' | 'body' | 'image_url' | 'landing_url'> & {
  actions?: Readonly<Record<string, string>> | undefined
}

/** The templates of a campaign. With both, the Live Activity is rendered. `{{ campaign.id }}` and `.name` refer to it. */
export interface Source {
  campaign_id?: string | undefined
  name: string
  message?: MessageTemplates | undefined
  live_activity?: ActivityTemplates | undefined
  /** Instead of `message`: several, of which each recipient names one by its place, and a language: `0`, `1 pt-BR`. */
  messages?: readonly TranslatedTemplates[] | undefined
  /** Whether values that are missing are reported for each recipient. */
  watch?: boolean | undefined
}

/** The content with this name; undefined: the only one. */
export function contentOf(source: Source, text: string | undefined): Pick<Source, 'message' | 'live_activity'> {
  if (text === undefined) return source
  const [place = '', tag] = text.split(' ')
  const { translations, ...message } = source.messages?.[Number(place)] ?? {}
  const { actions: titles, ...texts } = (tag !== undefined && translations?.[tag]) || {}
  const actions = message.actions?.map((action) => ({ ...action, title: titleIn(titles, action.id) ?? action.title }))
  return { message: { ...message, ...withoutEmpty(texts), ...(actions && { actions }) } }
}

/** A text that is empty is one that the translation lacks: a file has a line for it before it is translated. */
const withoutEmpty = (texts: Omit<Translation, 'actions'>) =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

/** The translated text of a button. A button may be called constructor, which every object inherits. */
export const titleIn = (titles: Readonly<Record<string, string>> | undefined, id: string): string | undefined =>
  titles && Object.hasOwn(titles, id) ? titles[id] : undefined

/** Every template of a source. */
export function* sourcesOf({ message, live_activity, messages = [] }: Source): Generator<string> {
  for (const [, source] of templatesOf({ message, live_activity })) if (source !== undefined) yield source
  for (const one of messages) for (const [, source] of templatesOf({ message: one })) yield source!
}

/** Levels of objects and lists in a Live Activity. */
export const templateDepth = 16

/** A campaign as it was given: nothing about its fields is certain yet. */
interface Given {
  message?: unknown
  variants?: unknown
  steps?: unknown
  live_activity?: unknown
}

/** Yields every template with its path; undefined for one that is nested too deeply. */
export function* templatesOf(campaign: Given, path = ''): Generator<[string, string | undefined]> {
  const { message, variants, steps, live_activity } = campaign
  yield* templatesOfMessage(message, `${path}message`)
  for (const [index, variant] of listOf(variants).entries())
    yield* templatesOfMessage(variant.message, `${path}variants[${index}].message`)
  for (const [index, { message, variants }] of listOf(steps).entries())
    yield* templatesOf({ message, variants }, `${path}steps[${index}].`)
  if (!isObject(live_activity)) return
  const { attributes, content_state, alert, apns_channel_id } = live_activity
  yield* templatesIn({ attributes, content_state, alert, apns_channel_id }, 'live_activity', 0)
}

const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])

/** The texts of a message and of its translations. */
function* templatesOfMessage(message: unknown, path: string): Generator<[string, string]> {
  if (!isObject(message)) return
  const { translations, language: _, ...texts } = message
  for (const [name, source] of Object.entries(texts)) if (typeof source === 'string') yield [`${path}.${name}`, source]
  for (const [name, source] of Object.entries(isObject(texts.data) ? texts.data : {}))
    if (typeof source === 'string') yield [`${path}.data.${name}`, source]
  for (const [index, action] of listOf(texts.actions).entries())
    for (const name of ['title', 'landing_url'])
      if (typeof action[name] === 'string') yield [`${path}.actions[${index}].${name}`, action[name]]
  // In a translation: the titles by the ids of the actions.
  for (const [id, title] of Object.entries(isObject(texts.actions) ? texts.actions : {}))
    if (typeof title === 'string') yield [`${path}.actions.${id}`, title]
  for (const [tag, texts] of Object.entries(isObject(translations) ? translations : {}))
    yield* templatesOfMessage(texts, `${path}.translations.${tag}`)
}

/** Yields every string in a value with its path; undefined for one that is nested too deeply. */
function* templatesIn(value: unknown, path: string, depth: number): Generator<[string, string | undefined]> {
  if (typeof value === 'string') yield [path, value]
  else if (depth > templateDepth) yield [path, undefined]
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* templatesIn(item, `${path}[${index}]`, depth + 1)
  else if (isObject(value))
    for (const [name, item] of Object.entries(value)) yield* templatesIn(item, `${path}.${name}`, depth + 1)
}
