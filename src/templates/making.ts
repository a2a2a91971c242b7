import type { ActivityTemplates, MessageTemplates, Source } from './content.ts'
import { isTemplate, TemplateFailed } from './template.ts'

/** A notification of a campaign. Its names are those of gateways/push.ts. */
export interface MadeNotification {
  title?: string
  body?: string
  imageUrl?: string
  landingUrl?: string
  threadId?: string
  collapseKey?: string
  badge?: number
  data?: Record<string, string>
  actions?: { id: string; title: string; landingUrl?: string }[]
  sound?: string
  channelId?: string
  category?: string
  interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical'
  relevanceScore?: number
  silent?: true
}

/** A push or a Live Activity with its templates rendered. Texts that rendered to nothing are absent. */
export type Made =
  | { kind: 'alert'; notification: MadeNotification }
  | {
      kind: 'activity-start'
      activity: {
        attributesType: string
        attributes: object
        contentState: object
        alert: { title: string; body: string }
        channel?: string
      }
    }

/** Makes the text of a template from values, which differ by the way of rendering. `path`: its field in the message or activity. */
export type Compile<Values> = (source: string, path: string) => (values: Values) => string
type Compiled<Values> = (values: Values) => unknown
export type Make<Values> = (values: Values) => Made

/** Makes the content of one text for a recipient. Throws `TemplateFailed`. */
export const makeOf = <Values>(
  { live_activity, message }: Pick<Source, 'message' | 'live_activity'>,
  compile: Compile<Values>
): Make<Values> => (live_activity ? activityOf(live_activity, compile) : alertOf(message ?? {}, compile))

/** A compiled value of any structure. Strings are templates, other values stay as they are. */
function compiled<Values>(value: unknown, path: string, compile: Compile<Values>): Compiled<Values> {
  if (typeof value === 'string') return isTemplate(value) ? compile(value, path) : () => value
  if (Array.isArray(value)) {
    const parts = value.map((item, index) => compiled(item, `${path}[${index}]`, compile))
    return (values) => parts.map((part) => part(values))
  }
  if (typeof value === 'object' && value !== null) {
    const pathOf = (name: string) => (path === '' ? name : `${path}.${name}`)
    const parts = Object.entries(value).map(([name, inner]) => [name, compiled(inner, pathOf(name), compile)] as const)
    return (values) => Object.fromEntries(parts.map(([name, part]) => [name, part(values)]))
  }
  return () => value
}

function alertOf<Values>(message: MessageTemplates, compile: Compile<Values>): Make<Values> {
  const { title, body, image_url, landing_url, thread_id, collapse_key, silent } = message
  const fields = [
    ['title', 'title', title],
    ['body', 'body', body],
    ['imageUrl', 'image_url', image_url],
    ['landingUrl', 'landing_url', landing_url],
    ['threadId', 'thread_id', thread_id],
    ['collapseKey', 'collapse_key', collapse_key]
  ] as const
  const more = extrasOf(message, compile)
  const parts = fields.flatMap(([name, path, text]) =>
    text === undefined ? [] : [[name, compiled(text, path, compile)] as const]
  )
  return (values) => {
    const notification: Record<string, string> = {}
    for (const [name, part] of parts) {
      const text = part(values) as string
      if (text !== '') notification[name] = text
    }
    if (notification.title === undefined && notification.body === undefined && !silent)
      throw new TemplateFailed('title and body are empty')
    checkAddress('image_url', notification.imageUrl, /^https?:$/)
    checkAddress('landing_url', notification.landingUrl, /./)
    return { kind: 'alert', notification: more ? { ...notification, ...more(values) } : notification }
  }
}

type Extras<Values> = (values: Values) => MadeNotification

/** The fields of a message that are not plain texts; undefined if it has none. */
function extrasOf<Values>(message: MessageTemplates, compile: Compile<Values>): Extras<Values> | undefined {
  const { sound, channel_id, category, interruption_level, relevance_score, silent, badge, data, actions } = message
  const fixed: MadeNotification = {
    ...(sound && { sound }),
    ...(channel_id && { channelId: channel_id }),
    ...(category && { category }),
    ...(interruption_level && { interruptionLevel: interruption_level }),
    ...(relevance_score !== undefined && { relevanceScore: relevance_score }),
    ...(silent && { silent })
  }
  const rest = { badge, data, actions: actions?.map(({ title, landing_url }) => ({ title, landing_url })) }
  if (Object.keys(fixed).length === 0 && badge === undefined && !data && !actions) return undefined
  const filled = compiled(rest, '', compile)
  return (values) => {
    const made = filled(values) as typeof rest
    return {
      ...fixed,
      ...badgeOf(made.badge),
      ...(made.data && { data: made.data as Record<string, string> }),
      ...(actions && { actions: actions.map(({ id }, index) => actionOf(id, made.actions![index]!)) })
    }
  }
}

/** A template that renders to nothing sets no badge. */
function badgeOf(badge: number | string | undefined): { badge?: number } {
  if (badge === undefined || (typeof badge === 'string' && badge.trim() === '')) return {}
  const number = Number(badge)
  if (!Number.isInteger(number) || number < 0 || number > 2_147_483_647)
    throw new TemplateFailed('badge is not a whole number')
  return { badge: number }
}

function actionOf(id: string, { title, landing_url }: { title: string; landing_url: string | undefined }) {
  if (title === '') throw new TemplateFailed(`the title of the action ${id} is empty`)
  checkAddress(`landing_url of the action ${id}`, landing_url || undefined, /./)
  return { id, title, ...(landing_url && { landingUrl: landing_url }) }
}

function checkAddress(name: string, text: string | undefined, scheme: RegExp): void {
  if (text !== undefined && !(URL.canParse(text) && scheme.test(new URL(text).protocol)))
    throw new TemplateFailed(`${name} is not an address`)
}

function activityOf<Values>(
  { attributes_type, apns_channel_id, alert = {}, ...rest }: ActivityTemplates,
  compile: Compile<Values>
): Make<Values> {
  const attributes = compiled(rest.attributes, 'attributes', compile)
  const state = compiled(rest.content_state, 'content_state', compile)
  const shown = compiled({ title: alert.title ?? 'Live Activity', body: alert.body ?? 'Started' }, 'alert', compile)
  const channelOf = apns_channel_id === undefined ? undefined : compiled(apns_channel_id, 'apns_channel_id', compile)
  return (values) => ({
    kind: 'activity-start',
    activity: {
      attributesType: attributes_type,
      attributes: attributes(values) as object,
      contentState: state(values) as object,
      alert: shown(values) as { title: string; body: string },
      ...(channelOf && { channel: checkChannel(channelOf(values) as string) })
    }
  })
}

/** An activity without its channel would never change, so a channel that rendered to nothing is a fault. */
function checkChannel(id: string): string {
  if (!/^[A-Za-z0-9+/]{1,255}={0,2}$/.test(id)) throw new TemplateFailed('apns_channel_id is not an id of Apple')
  return id
}
