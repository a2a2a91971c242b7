import type { AttributeCondition, Segment } from '../../../../../wire.ts'

/** A segment as the editor shows it: a group of conditions, of which all or any must match. */
export type Group = { mode: 'all' | 'any'; parts: Segment[] }

/** Finds the errors about a path of the campaign. `only` leaves out those about values inside it. */
export type FindError = (path: string, only?: boolean) => string | undefined

type Operator = AttributeCondition['operator']

export const operators: { value: Operator; label: string }[] = [
  { value: 'equals', label: 'is' },
  { value: 'not_equals', label: 'is not' },
  { value: 'greater_than', label: 'is greater than' },
  { value: 'greater_or_equal', label: 'is at least' },
  { value: 'less_than', label: 'is less than' },
  { value: 'less_or_equal', label: 'is at most' },
  { value: 'contains', label: 'contains' },
  { value: 'not_contains', label: 'does not contain' },
  { value: 'starts_with', label: 'starts with' },
  { value: 'ends_with', label: 'ends with' },
  { value: 'matches', label: 'matches regex' },
  { value: 'exists', label: 'is set' },
  { value: 'not_exists', label: 'is not set' },
  { value: 'in', label: 'is one of' },
  { value: 'not_in', label: 'is not one of' },
  { value: 'before', label: 'is before' },
  { value: 'after', label: 'is after' },
  { value: 'within_last', label: 'is within the last' }
]

/** Operators whose opposite the language has no word for: the condition stands in a `not`. */
const negations: Partial<Record<Operator, string>> = {
  starts_with: 'does not start with',
  ends_with: 'does not end with',
  matches: 'does not match regex',
  within_last: 'is not within the last'
}

const timely: readonly Operator[] = ['before', 'after', 'within_last']
const textual: readonly Operator[] = ['contains', 'not_contains', 'starts_with', 'ends_with', 'matches']

/** The operators that fit an attribute, in words, the opposite of each included. `withNot`: a condition may be negated. */
export function operatorsFor({ attribute, operator }: AttributeCondition, negated: boolean, withNot: boolean) {
  const isTime = attribute === 'user.created_at' || attribute === 'user.last_seen_at'
  const isText = attributes.includes(attribute) && !isTime
  const fits = (value: Operator) => !(isTime && textual.includes(value)) && !(isText && timely.includes(value))
  return operators
    .filter(({ value }) => value === operator || fits(value))
    .flatMap(({ value, label }) => {
      const opposite = negations[value] ?? (negated && value === operator ? `not: ${label}` : undefined)
      const both = [{ value: value as string, label }]
      return withNot && opposite ? [...both, { value: `not ${value}`, label: opposite }] : both
    })
}

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

export const takesNoValue = (operator: string) => operator === 'exists' || operator === 'not_exists'
export const takesList = (operator: string) => operator === 'in' || operator === 'not_in'

/** Wraps a single condition in a group, because the editor adds conditions to groups. */
export function asGroup(segment: Segment | undefined): Group {
  if (!segment || Object.keys(segment).length === 0) return { mode: 'all', parts: [] }
  if ('all' in segment) return { mode: 'all', parts: segment.all }
  if ('any' in segment) return { mode: 'any', parts: segment.any }
  return { mode: 'all', parts: [segment] }
}

export const asSegment = ({ mode, parts }: Group): Segment => (mode === 'all' ? { all: parts } : { any: parts })

export type ValueType = 'text' | 'number' | 'true/false' | 'null' | 'trigger property'

const reference = /^\{\{\s*trigger\.([^{}]+?)\s*\}\}$/

export function typeOf(value: unknown): ValueType {
  if (value === null) return 'null'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'true/false'
  return typeof value === 'string' && reference.test(value) ? 'trigger property' : 'text'
}

export const referenceName = (value: unknown) => reference.exec(String(value))?.[1] ?? ''
export const referenceTo = (name: string) => `{{ trigger.${name} }}`

/** The value a condition starts with when its type is changed. */
export const initialValues: Record<ValueType, unknown> = {
  text: '',
  number: 0,
  'true/false': true,
  null: null,
  'trigger property': referenceTo('name')
}
