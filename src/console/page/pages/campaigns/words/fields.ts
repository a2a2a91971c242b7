import { languageName } from '../message/language-name.ts'
import { valueAt } from '../paths.ts'

const labels: Record<string, string> = {
  name: 'Name',
  campaign_id: 'ID',
  type: 'Trigger type',
  status: 'Status',
  segment: 'Conditions',
  default_audience: 'Default audience',
  topic: 'Topic',
  transactional: 'Transactional',
  holdout: 'Holdout',
  message: 'Message',
  variants: 'Variants',
  steps: 'Steps',
  exit: 'Event that ends the sequence',
  winner: 'Best variant',
  on_missing: 'If a value is missing',
  live_activity: 'Live Activity',
  attributes_type: 'Attributes type',
  attributes: 'Attributes',
  content_state: 'Content state',
  apns_channel_id: 'Channel',
  alert: 'Alert',
  schedule: 'Schedule',
  event_trigger: 'Event',
  conversion: 'Conversions',
  ttl_seconds: 'Time to live',
  throttle_per_second: 'Messages per second',
  frequency_cap: 'Limit per user',
  quiet_hours: 'Quiet hours',
  title: 'Title',
  body: 'Body',
  image_url: 'Image URL',
  landing_url: 'Link',
  language: 'Default language',
  translations: 'Languages',
  actions: 'Buttons',
  sound: 'Sound',
  badge: 'Badge',
  channel_id: 'Android channel',
  thread_id: 'Thread',
  collapse_key: 'Collapse key',
  category: 'Category',
  interruption_level: 'Interruption level',
  relevance_score: 'Relevance',
  silent: 'Silent push',
  data: 'Data',
  id: 'ID',
  wait: 'Wait before it',
  weight: 'Weight',
  at: 'Date and time',
  cron: 'Repeats',
  timezone: 'Time zone',
  fallback_timezone: 'Time zone of users without one',
  starts_at: 'Not before',
  ends_at: 'Not after',
  late: 'Send late for up to',
  event: 'Event',
  where: 'Event filters',
  delay: 'Wait',
  unless: 'Event that stops it',
  reentry: 'Same user again',
  after: 'After this many messages',
  by: 'Best by',
  within: 'Within',
  count: 'Count',
  from: 'From',
  to: 'To',
  action: 'During quiet hours',
  value_property: 'Value property',
  targets: 'Users and devices',
  broadcast: 'Everyone'
}

/** Names that say nothing beside the name inside them: `message.title` is the title. */
const silent = new Set(['message', 'translations', 'variants', 'steps'])

/** The label of a field, as the editor has it: `Step 2 · Variant b · German (de) · Title`. */
export function labelOf(path: string, campaign: unknown): string {
  const names = path.split(/\.|(?=\[)/)
  const parts = names.map((name, index) => {
    const upTo = names
      .slice(0, index + 1)
      .join('.')
      .replaceAll('.[', '[')
    const above = names[index - 1]
    if (name.startsWith('[')) return entryLabel(above, Number(name.slice(1, -1)), valueAt(campaign, `${upTo}.id`))
    if (above === 'translations') return languageName(name)
    if (above === 'actions') return `Button ${name}`
    const inside = index < names.length - 1
    return inside && silent.has(name) ? '' : (labels[name] ?? name)
  })
  return parts.filter((part) => part !== '').join(' · ')
}

const entries: Record<string, string> = { steps: 'Step', variants: 'Variant', actions: 'Button' }

function entryLabel(list: string | undefined, index: number, id: unknown): string {
  const what = entries[list ?? '']
  if (what === undefined) return String(index + 1)
  return list === 'variants' && typeof id === 'string' ? `${what} ${id}` : `${what} ${index + 1}`
}
