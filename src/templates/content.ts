import { isObject } from '../platform/fields.ts'

/** Fields of a push that a person sees; each is a template. */
export interface MessageTemplates {
  title?: string | undefined
  body?: string | undefined
  image_url?: string | undefined
  landing_url?: string | undefined
}

/** A Live Activity to start; every string inside is a template. */
export interface ActivityTemplates {
  attributes_type: string
  attributes: Record<string, unknown>
  content_state: Record<string, unknown>
  alert?: { title?: string | undefined; body?: string | undefined } | undefined
}

/** The templates of a campaign. With both, the Live Activity is rendered. `{{ campaign.id }}` and `.name` refer to it. */
export interface Source {
  campaign_id?: string | undefined
  name: string
  message?: MessageTemplates | undefined
  live_activity?: ActivityTemplates | undefined
}

/** Levels of objects and lists in a Live Activity. */
export const templateDepth = 16

/** Yields every template with its path; undefined for one that is nested too deeply. */
export function* templatesOf({
  message,
  live_activity
}: {
  message?: unknown
  live_activity?: unknown
}): Generator<[string, string | undefined]> {
  for (const [name, source] of Object.entries(isObject(message) ? message : {}))
    if (typeof source === 'string') yield [`message.${name}`, source]
  if (!isObject(live_activity)) return
  const { attributes, content_state, alert } = live_activity
  yield* templatesIn({ attributes, content_state, alert }, 'live_activity', 0)
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
