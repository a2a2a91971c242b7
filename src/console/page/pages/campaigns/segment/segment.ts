/** The segment language as the editor handles it: plain JSON, the same that is saved. */
export type Segment =
  | { all: Segment[] }
  | { any: Segment[] }
  | { not: Segment }
  | { attribute: string; operator: string; value?: unknown }
  | { event: string; operator: string; count: number; within?: string; where?: Condition[] }
export type Condition = { attribute: string; operator: string; value?: unknown }
export type Group = { mode: 'all' | 'any'; parts: Segment[] }

export const operators: [name: string, label: string][] = [
  ['equals', 'is'],
  ['not_equals', 'is not'],
  ['greater_than', 'is greater than'],
  ['greater_or_equal', 'is at least'],
  ['less_than', 'is less than'],
  ['less_or_equal', 'is at most'],
  ['contains', 'contains'],
  ['not_contains', 'does not contain'],
  ['starts_with', 'starts with'],
  ['ends_with', 'ends with'],
  ['matches', 'matches regex'],
  ['exists', 'is set'],
  ['not_exists', 'is not set'],
  ['in', 'is one of'],
  ['not_in', 'is not one of'],
  ['before', 'is before'],
  ['after', 'is after'],
  ['within_last', 'is within the last']
]

export const attributes = [
  'user.id',
  'user.created_at',
  'user.last_seen_at',
  'device.platform',
  'device.app_version',
  'device.os_version',
  'device.locale',
  'device.language',
  'device.timezone'
]

export const valueless = (operator: string) => operator === 'exists' || operator === 'not_exists'
export const listed = (operator: string) => operator === 'in' || operator === 'not_in'

/** A segment is edited as a group; one that is a single condition becomes a group of it. */
export function asGroup(segment: Segment | undefined): Group {
  if (!segment || Object.keys(segment).length === 0) return { mode: 'all', parts: [] }
  if ('all' in segment) return { mode: 'all', parts: segment.all }
  if ('any' in segment) return { mode: 'any', parts: segment.any }
  return { mode: 'all', parts: [segment] }
}

export const asSegment = ({ mode, parts }: Group): Segment => (mode === 'all' ? { all: parts } : { any: parts })

export type ValueKind = 'text' | 'number' | 'true/false' | 'null' | 'trigger property'

const reference = /^\{\{\s*trigger\.([^{}]+?)\s*\}\}$/

export function kindOf(value: unknown): ValueKind {
  if (value === null) return 'null'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'true/false'
  return typeof value === 'string' && reference.test(value) ? 'trigger property' : 'text'
}

export const referenceName = (value: unknown) => reference.exec(String(value))?.[1] ?? ''
export const referenceTo = (name: string) => `{{ trigger.${name} }}`

/** What a kind starts with, when the kind of a value is changed. */
export const firstOf: Record<ValueKind, unknown> = {
  text: '',
  number: 0,
  'true/false': true,
  null: null,
  'trigger property': referenceTo('name')
}
