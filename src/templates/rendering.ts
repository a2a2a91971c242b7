import { type ActivityTemplates, contentOf, type MessageTemplates, type Source } from './content.ts'
import { noteMissing, notingMissing } from './missing.ts'
import {
  compileTemplate,
  deviceScope,
  isTemplate,
  type Template,
  TemplateFailed,
  type TemplateScope,
  userScope
} from './template.ts'

/** A recipient with the data that templates and eligibility checks use. */
export interface Recipient {
  device_id: string
  user_id: string
  project_user_id: string | null
  properties: Record<string, unknown>
  platform: 'IOS' | 'ANDROID' | 'WEB'
  facts: Readonly<Record<string, string | null>>
  /** The properties of its target, merged over those of the trigger. */
  own?: Record<string, unknown> | undefined
}

/** The part of a recipient that templates can refer to, and the name of its text if the campaign has several. */
export type Addressee = Omit<Recipient, 'user_id'> & { text?: string | undefined }

export interface Triggered {
  properties: Record<string, unknown>
}

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

export interface Making {
  /** Renders the content for one recipient. Throws `TemplateFailed`. */
  make(recipient: Addressee): Made
  /** Renders the templates of a text that are the same for every recipient. */
  shared(text?: string): void
}

export interface Rendering {
  for(trigger: Triggered): Making
}

/** A compiled value of any structure. Strings are templates, other values stay as they are. */
type Compiled = (scope: TemplateScope, once: Once) => unknown
/** Renders a template without recipient data once for all; undefined for other templates. */
type Once = (template: Template) => string | undefined

function compiled(value: unknown, found: Template[]): Compiled {
  if (typeof value === 'string') {
    if (!isTemplate(value)) return () => value
    const template = compileTemplate(value)
    found.push(template)
    return (scope, once) => once(template) ?? template.render(scope)
  }
  if (Array.isArray(value)) {
    const parts = value.map((item) => compiled(item, found))
    return (scope, once) => parts.map((part) => part(scope, once))
  }
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).map(([name, inner]) => [name, compiled(inner, found)] as const)
    return (scope, once) => Object.fromEntries(parts.map(([name, part]) => [name, part(scope, once)]))
  }
  return () => value
}

type Make = (scope: TemplateScope, once: Once) => Made

/** A compiled text, with the templates in it that are the same for every recipient. */
interface Text {
  make: Make
  shared: ReadonlySet<Template>
}

function textOf({ live_activity, message }: Pick<Source, 'message' | 'live_activity'>): Text {
  const templates: Template[] = []
  const make = live_activity ? activityOf(live_activity, templates) : alertOf(message ?? {}, templates)
  const isShared = ({ dependsOn }: Template) => !dependsOn.has('user') && !dependsOn.has('device')
  return { make, shared: new Set(templates.filter(isShared)) }
}

const ofTrigger = ({ dependsOn }: Template) => dependsOn.has('trigger') || dependsOn.has('event')

export function renderingOf(campaign: Source): Rendering {
  const texts = new Map<string | undefined, Text>()
  // Compiled when they are needed: few recipients need all languages.
  const named = (text: string | undefined): Text => {
    const known = texts.get(text) ?? textOf(contentOf(campaign, text))
    texts.set(text, known)
    return known
  }
  const { name, campaign_id: id, messages } = campaign
  // Checked by the caller: a template that cannot be compiled is noticed here.
  if (!messages) named(undefined)
  return {
    for({ properties: trigger }) {
      const rendered = new Map<Template, Outcome>()
      // With properties of its own, a recipient shares only the templates without `trigger`.
      const onceOf =
        (shared: Text['shared'], own = false): Once =>
        (template) => {
          if (!shared.has(template) || (own && ofTrigger(template))) return undefined
          const known =
            rendered.get(template) ?? outcomeOf(template, { trigger, event: trigger, campaign: { id, name } })
          rendered.set(template, known)
          for (const one of known.missing) noteMissing(one)
          if (known.text instanceof TemplateFailed) throw known.text
          return known.text
        }
      return {
        make: (recipient) => {
          const { make, shared } = named(recipient.text)
          return make(scopeOf(recipient, trigger, { id, name }), onceOf(shared, recipient.own !== undefined))
        },
        shared(text) {
          const { shared } = named(text)
          for (const template of shared) onceOf(shared)(template)
        }
      }
    }
  }
}

/** The outcome of a template that is the same for every recipient, with the names that had no value. */
interface Outcome {
  text: string | TemplateFailed
  missing: string[]
}

/** A shared template that fails for one recipient fails for all. Its outcome is kept, because failing may cost the whole budget. */
function outcomeOf(template: Template, scope: TemplateScope): Outcome {
  const [text, missing] = notingMissing(() => {
    try {
      return template.render(scope)
    } catch (error) {
      if (error instanceof TemplateFailed) return error
      throw error
    }
  })
  return { text, missing }
}

function scopeOf(
  { device_id, project_user_id, properties, platform, facts, own }: Addressee,
  shared: Record<string, unknown>,
  campaign: Record<string, unknown>
): TemplateScope {
  const trigger = own ? { ...shared, ...own } : shared
  return {
    user: userScope(project_user_id, properties),
    device: deviceScope(device_id, platform, facts),
    trigger,
    event: trigger,
    campaign
  }
}

function alertOf(message: MessageTemplates, found: Template[]): Make {
  const { title, body, image_url, landing_url, thread_id, collapse_key, silent } = message
  const fields = {
    ...{ title, body, imageUrl: image_url, landingUrl: landing_url },
    ...{ threadId: thread_id, collapseKey: collapse_key }
  }
  const more = extrasOf(message, found)
  const parts = Object.entries(fields).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, compiled(text, found)] as const]
  )
  return (scope, once) => {
    const notification: Record<string, string> = {}
    for (const [name, part] of parts) {
      const text = part(scope, once) as string
      if (text !== '') notification[name] = text
    }
    if (notification.title === undefined && notification.body === undefined && !silent)
      throw new TemplateFailed('title and body are empty')
    checkAddress('image_url', notification.imageUrl, /^https?:$/)
    checkAddress('landing_url', notification.landingUrl, /./)
    return { kind: 'alert', notification: more ? { ...notification, ...more(scope, once) } : notification }
  }
}

type Extras = (scope: TemplateScope, once: Once) => MadeNotification

/** The fields of a message that are not plain texts; undefined if it has none. */
function extrasOf(message: MessageTemplates, found: Template[]): Extras | undefined {
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
  const filled = compiled(rest, found)
  return (scope, once) => {
    const made = filled(scope, once) as typeof rest
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

function activityOf(
  { attributes_type, apns_channel_id, alert = {}, ...rest }: ActivityTemplates,
  found: Template[]
): Make {
  const [attributes, state] = [compiled(rest.attributes, found), compiled(rest.content_state, found)]
  const shown = compiled({ title: alert.title ?? 'Live Activity', body: alert.body ?? 'Started' }, found)
  const channelOf = apns_channel_id === undefined ? undefined : compiled(apns_channel_id, found)
  return (scope, once) => ({
    kind: 'activity-start',
    activity: {
      attributesType: attributes_type,
      attributes: attributes(scope, once) as object,
      contentState: state(scope, once) as object,
      alert: shown(scope, once) as { title: string; body: string },
      ...(channelOf && { channel: checkChannel(channelOf(scope, once) as string) })
    }
  })
}

/** An activity without its channel would never change, so a channel that rendered to nothing is a fault. */
function checkChannel(id: string): string {
  if (!/^[A-Za-z0-9+/]{1,255}={0,2}$/.test(id)) throw new TemplateFailed('apns_channel_id is not an id of Apple')
  return id
}
