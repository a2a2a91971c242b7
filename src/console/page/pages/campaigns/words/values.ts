import type { AttributeCondition, Campaign, Segment } from '../../../../../wire.ts'
import { triggerTypes } from '../draft.ts'
import { filtersInWords, segmentInWords } from './segment.ts'
import { cronInWords, durationInWords, secondsInWords } from './timing.ts'

type Audience = NonNullable<Campaign['default_audience']>

const spelled: Record<string, (value: never) => string> = {
  segment: (segment: Segment) => segmentInWords(segment),
  where: (where: AttributeCondition[]) => filtersInWords(where) || 'none',
  type: (type: Campaign['type']) => triggerTypes[type] ?? type,
  default_audience: audienceInWords,
  cron: cronInWords,
  ttl_seconds: secondsInWords,
  holdout: (percent: number) => `${percent} %`,
  delay: durationInWords,
  wait: durationInWords,
  within: durationInWords,
  late: durationInWords,
  timezone: (zone: string) => (zone === 'user' ? 'each user’s own' : zone),
  on_missing: (action: string) => (action === 'skip' ? 'don’t send' : 'send with a blank'),
  action: (action: string) => (action === 'skip' ? 'don’t send' : 'delay until they end'),
  reentry: (reentry: string) =>
    reentry === 'every' ? 'after every event' : reentry === 'once' ? 'once only' : `after ${durationInWords(reentry)}`
}

export function audienceInWords({ broadcast, targets }: Audience): string {
  if (broadcast) return 'everyone in the audience'
  const ids = (targets ?? []).map((target) => target.project_user_id ?? target.device_id ?? target.user_id ?? '')
  return ids.length === 0 ? 'nobody' : ids.length > 20 ? `${ids.length.toLocaleString()} targets` : ids.join(', ')
}

const longest = 4_000

/** The value of a field as text. Objects without words of their own are one `name: value` per line. */
export function valueInWords(path: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return 'not set'
  const name = /(\w+)(\[\d+\])?$/.exec(path)?.[1] ?? ''
  const spell = spelled[name]
  const text = spell && !mistyped(name, value) ? spell(value as never) : plain(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

const isObject = (value: unknown) => typeof value === 'object' && !Array.isArray(value)
const fits: Record<string, (value: unknown) => boolean> = {
  segment: isObject,
  default_audience: isObject,
  where: (value) => Array.isArray(value),
  ttl_seconds: (value) => typeof value === 'number',
  holdout: (value) => typeof value === 'number'
}

/** A field that is being typed may hold a text where a list or a number belongs. */
const mistyped = (name: string, value: unknown) => !(fits[name]?.(value) ?? typeof value === 'string')

function plain(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.map(entry).join('\n')
  return Object.entries(value)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')}: ${valueInWords(name, inner).replaceAll('\n', ' · ')}`)
    .join('\n')
}

/** A step, a variant or a button in a list that changed as a whole. */
const entry = (value: unknown): string =>
  typeof value === 'object' && value !== null ? plain(value).replaceAll('\n', ' · ') : plain(value)
