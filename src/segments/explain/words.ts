import { type AttributeCondition, attributeOf, type EventCondition, type Operator, segmentLimits } from '../language.ts'
import { piecesOf, Room, resolve } from '../trigger-reference.ts'
import { type Judged, mostCounted } from './explain-store.ts'

type Properties = Readonly<Record<string, unknown>>

/** What each operator needs, and what it needs under a `not`. */
const needs: Record<Operator, [needs: string, negated: string]> = {
  equals: ['needs', 'must not be'],
  not_equals: ['must not be', 'needs'],
  greater_than: ['needs more than', 'must not be more than'],
  greater_or_equal: ['needs at least', 'must be less than'],
  less_than: ['needs less than', 'must not be less than'],
  less_or_equal: ['needs at most', 'must be more than'],
  contains: ['needs to contain', 'must not contain'],
  not_contains: ['must not contain', 'needs to contain'],
  starts_with: ['needs to start with', 'must not start with'],
  ends_with: ['needs to end with', 'must not end with'],
  matches: ['needs to match', 'must not match'],
  exists: ['needs a value', 'must not be set'],
  not_exists: ['must not be set', 'needs a value'],
  in: ['needs one of', 'must be none of'],
  not_in: ['must be none of', 'needs one of'],
  before: ['needs to be before', 'must not be before'],
  after: ['needs to be after', 'must not be after'],
  within_last: ['needs to be within the last', 'must not be within the last']
}

/** The operators as a filter of events reads them. */
const reads: Record<Operator, string> = {
  equals: 'is',
  not_equals: 'is not',
  greater_than: 'is more than',
  greater_or_equal: 'is at least',
  less_than: 'is less than',
  less_or_equal: 'is at most',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'starts with',
  ends_with: 'ends with',
  matches: 'matches',
  exists: 'is set',
  not_exists: 'is not set',
  in: 'is one of',
  not_in: 'is none of',
  before: 'is before',
  after: 'is after',
  within_last: 'is within the last'
}

const labels: Record<string, string> = {
  'user.id': 'user ID',
  'device.platform': 'platform',
  'device.app_version': 'app version',
  'device.os_version': 'OS version',
  'device.locale': 'region',
  'device.language': 'language',
  'device.timezone': 'time zone'
}
/** The names of device attributes in the facts of a device. */
const facts: Record<string, string> = { locale: 'locale_region', language: 'locale_language' }

const longest = 80
const mostListed = 5

/** `"free"`, `19`, `true`; a long text is cut. */
function shown(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : (JSON.stringify(value) ?? 'nothing')
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

const plain = (value: unknown) => (typeof value === 'string' ? value : shown(value))

/** Values that people read without quotes: times and durations. */
const unquoted: ReadonlySet<Operator> = new Set(['before', 'after', 'within_last'])

function wantedText(operator: Operator, wanted: unknown): string {
  if (operator === 'exists' || operator === 'not_exists') return ''
  if (Array.isArray(wanted)) {
    const more = wanted.length - mostListed
    return ` ${wanted.slice(0, mostListed).map(shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  }
  return ` ${unquoted.has(operator) ? plain(wanted) : shown(wanted)}`
}

const kinds: Record<string, string> = { string: 'text', number: 'number', boolean: 'true/false value' }

/** Words that name the types of two values that cannot be compared: the number 19 and the text "30". */
function typed(stored: unknown, wanted: unknown): [stored: string, wanted: string] {
  const [one, other] = [kinds[typeof stored], kinds[typeof wanted]]
  return one && other && one !== other ? [`the ${one} `, `the ${other} `] : ['', '']
}

/** The names of trigger properties that a value refers to. */
function referencesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf)
  const pieces = typeof value === 'string' ? (piecesOf(value) ?? []) : []
  return pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [`trigger.${piece.path.join('.')}`]))
}

function lacking(name: string, value: unknown): string {
  const [first] = referencesOf(value)
  return `${name} is compared with ${first ?? 'a value'}, which the trigger does not have`
}

const wantedOf = (value: unknown, properties: Properties) => resolve(value, properties, new Room(segmentLimits.filled))

/** Whether a condition refers to a property that the trigger does not have. No user matches such a segment. */
export const lacksProperty = (leaf: AttributeCondition | EventCondition, trigger: Properties): boolean =>
  ('event' in leaf ? (leaf.where ?? []) : [leaf]).some(
    ({ value }) => value !== undefined && wantedOf(value, trigger) === undefined
  )

/** `age is 19, needs more than 30`. */
export function attributeText(
  condition: AttributeCondition,
  negated: boolean,
  row: Judged,
  trigger: Properties
): string {
  const { attribute: written, operator, value } = condition
  const attribute = attributeOf(written, 'segment')!
  const name = labels[written] ?? attribute.name
  const wanted = value === undefined ? null : wantedOf(value, trigger)
  if (wanted === undefined) return lacking(name, value)
  const stored = storedOf(attribute, row)
  const isTyped = attribute.kind === 'json' && !Array.isArray(wanted) && !unquoted.has(operator)
  const [ofStored, ofWanted] = isTyped && stored !== null && wanted !== null ? typed(stored, wanted) : ['', '']
  const has = stored === undefined ? 'is not set' : `is ${ofStored}${shown(stored)}`
  const text = wantedText(operator, wanted)
  return `${name} ${has}, ${needs[operator][negated ? 1 : 0]}${ofWanted ? ` ${ofWanted}${text.trim()}` : text}`
}

function storedOf(attribute: NonNullable<ReturnType<typeof attributeOf>>, row: Judged): unknown {
  const { name } = attribute
  if (attribute.kind === 'json') return Object.hasOwn(row.properties, name) ? row.properties[name] : undefined
  if (attribute.of === 'device')
    return (name === 'platform' ? row.platform : row.facts?.[facts[name] ?? name]) ?? undefined
  const user = { id: row.project_user_id, created_at: row.created_at, last_seen_at: row.last_seen_at }
  return user[name as keyof typeof user] ?? undefined
}

const counted: Record<EventCondition['operator'], [needs: string, negated: string]> = {
  at_least: ['needs at least', 'needs fewer than'],
  at_most: ['needs at most', 'needs more than'],
  exactly: ['needs exactly', 'must not be exactly']
}

/** `did "purchase" once in the last 30d, needs at least 3`. */
export function eventText(
  { event, operator, count, within, where = [] }: EventCondition,
  negated: boolean,
  found: number | null,
  trigger: Properties
): string {
  const filters = where.map(({ attribute, operator: compares, value }) => {
    const { name } = attributeOf(attribute, 'where')!
    const wanted = value === undefined ? null : wantedOf(value, trigger)
    return `${name} ${reads[compares]}${wanted === undefined ? ' a missing trigger property' : wantedText(compares, wanted)}`
  })
  const what = `${shown(event)}${filters.length > 0 ? ` where ${filters.join(' and ')}` : ''}`
  const lacks = where.find(({ value }) => value !== undefined && wantedOf(value, trigger) === undefined)
  if (lacks) return lacking(`the filter of ${shown(event)}`, lacks.value)
  const times =
    found === null || found === 0
      ? `did not do ${what}`
      : `did ${what} ${found > mostCounted ? `more than ${mostCounted} times` : found === 1 ? 'once' : `${found} times`}`
  return `${times}${within === undefined ? '' : ` in the last ${within}`}, ${counted[operator][negated ? 1 : 0]} ${count}`
}
