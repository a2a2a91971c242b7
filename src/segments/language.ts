/** The segment language (decision 0021). A parsed segment is plain JSON and is stored as it is. */
export type Segment = AllOf | AnyOf | NotOf | SavedRef | AttributeCondition | EventCondition

export interface AllOf {
  all: Segment[]
}
export interface AnyOf {
  any: Segment[]
}
export interface NotOf {
  not: Segment
}
/** A saved segment. It is written out before the segment is compiled. */
export interface SavedRef {
  ref: string
}
export interface AttributeCondition {
  attribute: string
  operator: Operator
  /** A scalar, a list for `in` and `not_in`, a duration for `within_last`; absent for `exists` and `not_exists`. */
  value?: unknown
}
export interface EventCondition {
  event: string
  operator: CountOperator
  count: number
  within?: string
  /** Conditions on `event.<property>`. An event counts if all of them hold. */
  where?: AttributeCondition[]
}

export const operators = [
  'equals',
  'not_equals',
  'greater_than',
  'greater_or_equal',
  'less_than',
  'less_or_equal',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'matches',
  'exists',
  'not_exists',
  'in',
  'not_in',
  'before',
  'after',
  'within_last'
] as const
export type Operator = (typeof operators)[number]

export const countOperators = ['at_least', 'at_most', 'exactly'] as const
export type CountOperator = (typeof countOperators)[number]

export const segmentLimits = {
  /** Levels of nested groups. */
  depth: 20,
  /** Saved segments that refer to each other in a row. */
  refs: 5,
  /** Conditions, including those in `where`. */
  conditions: 200,
  listLength: 1_000,
  /** Code points of a text that a stored value is compared with. */
  textLength: 4_096,
  patternLength: 512,
  /** PostgreSQL keeps 32 compiled patterns; with more, each row would compile them all again. */
  patterns: 20,
  /** Each reads the history of each user. */
  events: 20,
  nameLength: 256,
  /** Groups and conditions together, because an empty group costs time too. */
  nodes: 1_000,
  /** Characters of all values as written, plus 8 for each entry of a list. */
  size: 262_144,
  /** The characters of all values after references to the trigger are replaced. */
  filled: 1_048_576,
  count: 1_000_000
} as const

/**
 * The attribute of a condition. `json` is a property of any type; the others have one type: `text`, `version` (text in
 * the order of versions) or `time`.
 */
export type Attribute =
  | { kind: 'json'; of: 'user' | 'event'; name: string }
  | { kind: 'text' | 'version' | 'time'; of: 'user' | 'device'; name: FixedName }

export type FixedName = 'id' | 'created_at' | 'last_seen_at' | DeviceName
type DeviceName = 'platform' | 'app_version' | 'os_version' | 'locale' | 'language' | 'timezone'

const fixed = new Map<string, Attribute>([
  ['user.id', { kind: 'text', of: 'user', name: 'id' }],
  ['user.created_at', { kind: 'time', of: 'user', name: 'created_at' }],
  ['user.last_seen_at', { kind: 'time', of: 'user', name: 'last_seen_at' }],
  ['device.platform', { kind: 'text', of: 'device', name: 'platform' }],
  ['device.app_version', { kind: 'version', of: 'device', name: 'app_version' }],
  ['device.os_version', { kind: 'version', of: 'device', name: 'os_version' }],
  ['device.locale', { kind: 'text', of: 'device', name: 'locale' }],
  ['device.language', { kind: 'text', of: 'device', name: 'language' }],
  ['device.timezone', { kind: 'text', of: 'device', name: 'timezone' }]
])

export const fixedAttributes = [...fixed.keys()]

/** `user.properties.id` is the property of that name, `user.id` is not. Names may hold dots: properties are flat. */
export function attributeOf(written: string, place: 'segment' | 'where'): Attribute | undefined {
  if (place === 'segment') {
    const known = fixed.get(written)
    if (known) return known
  }
  const [owner, of] = place === 'where' ? (['event.', 'event'] as const) : (['user.', 'user'] as const)
  if (!written.startsWith(owner)) return undefined
  const rest = written.slice(owner.length)
  const name = rest.startsWith('properties.') ? rest.slice('properties.'.length) : rest
  return name === '' ? undefined : { kind: 'json', of, name }
}
