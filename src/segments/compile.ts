import { parseDuration } from '../platform/duration.ts'
import { isStorable } from '../platform/json/storable.ts'
import { compare, type Place, type PostponedCheck, type Scope } from './compare.ts'
import {
  type AttributeCondition,
  attributeOf,
  type CountOperator,
  type EventCondition,
  type Segment,
  segmentLimits
} from './language.ts'
import { perList } from './lists.ts'
import { fillPattern } from './pattern.ts'
import { follow, Room, resolve } from './trigger-reference.ts'

export interface CompiledSegment {
  /** The trigger lacks a property that the segment refers to, so no user matches. */
  matchesNone: boolean
  /** The condition refers to devices `d`: only matching devices receive the message. */
  usesDevice: boolean
  /** The condition refers to users `u`. */
  usesUser: boolean
  /** True or false, never null, for each row of `u` (users) and, if it uses devices, `d` (devices of that user). */
  condition: string
  /** Checks that each row must pass besides, if the scope postpones them. */
  postponed: PostponedCheck[]
  /** The values of all placeholders, from `firstPlaceholder` on. */
  values: unknown[]
}

interface Compiling {
  place: Place
  properties: Readonly<Record<string, unknown>>
  room: Room
  now: Date
  matchesNone: boolean
  usesDevice: boolean
  usesUser: boolean
  postponed: PostponedCheck[]
  scope: Scope | undefined
}

/**
 * Compiles a parsed segment to one SQL condition. `now` is the time at which the trigger was accepted, so that every batch
 * of a long broadcast evaluates the same condition. In the query, `$1` is the project: Citus must find it beside each table.
 */
export function compileSegment(
  segment: Segment,
  triggerProperties: Readonly<Record<string, unknown>>,
  now: Date,
  firstPlaceholder = 2,
  scope?: Scope
): CompiledSegment {
  const { compiling, placed } = begin(triggerProperties, now, scope)
  const written = nodeSql(segment, compiling, true)
  const { matchesNone, usesDevice, usesUser } = compiling
  const uses = { matchesNone, usesDevice, usesUser }
  if (matchesNone) return { ...uses, condition: 'false', postponed: [], values: [] }
  const { number, values } = numbering(placed, firstPlaceholder)
  const postponed = compiling.postponed.map(({ text, holds }) => ({ text: number(text), holds }))
  return { ...uses, condition: number(written), postponed, values }
}

function begin(properties: Readonly<Record<string, unknown>>, now: Date, scope: Scope | undefined) {
  const placed: unknown[] = []
  const compiling: Compiling = {
    place: (value, type) => `<${placed.push(value) - 1}>::${type}`,
    properties,
    room: new Room(segmentLimits.filled),
    now,
    matchesNone: false,
    usesDevice: false,
    usesUser: false,
    postponed: [],
    scope
  }
  return { compiling, placed }
}

/** The number of events of the user `u` that a condition counts, up to a limit. Null: the trigger lacks a property. */
export function compileEventCount(
  condition: EventCondition,
  triggerProperties: Readonly<Record<string, unknown>>,
  now: Date,
  firstPlaceholder: number,
  limit: number
): { sql: string; values: unknown[] } | null {
  const { compiling, placed } = begin(triggerProperties, now, undefined)
  const counted = `select 1 from events e where ${ofUser} and ${eventSqlOf(condition, compiling)} limit ${compiling.place(limit, 'int')}`
  if (compiling.matchesNone) return null
  const { number, values } = numbering(placed, firstPlaceholder)
  return { sql: number(`(select count(*)::int from (${counted}) counted)`), values }
}

/** Numbers the placeholders last: a part that is always false needs none, and PostgreSQL accepts no gaps. */
function numbering(placed: unknown[], firstPlaceholder: number) {
  const values: unknown[] = []
  const numbers = new Map<string, number>()
  const number = (written: string) =>
    written.replace(/<([0-9]+)>/g, (_, index: string) => {
      const place = numbers.get(index) ?? firstPlaceholder - 1 + values.push(placed[Number(index)])
      numbers.set(index, place)
      return `$${place}`
    })
  return { number, values }
}

/** Each one has a text of every row sent from PostgreSQL. */
const mostPostponed = 4

/** `required`: no user who fails this part is in the segment, so it may admit more whose check is postponed. */
function nodeSql(segment: Segment, compiling: Compiling, required: boolean): string {
  const joined = (parts: Segment[], word: string, ofNone: string, required: boolean) =>
    parts.length === 0 ? ofNone : `(${parts.map((part) => nodeSql(part, compiling, required)).join(` ${word} `)})`
  if ('all' in segment) return joined(segment.all, 'and', 'true', required)
  if ('any' in segment) return joined(segment.any, 'or', 'false', false)
  if ('ref' in segment) throw new Error(`The saved segment ${segment.ref} is not written out.`)
  if ('not' in segment) return `(not ${nodeSql(segment.not, compiling, false)})`
  return 'event' in segment ? eventSql(segment, compiling) : attributeSql(segment, 'segment', compiling, required)
}

function attributeSql(
  condition: AttributeCondition,
  where: 'segment' | 'where',
  compiling: Compiling,
  required = false
): string {
  const attribute = attributeOf(condition.attribute, where)!
  if (attribute.of === 'device') compiling.usesDevice = true
  if (attribute.of === 'user') compiling.usesUser = true
  // Each further value could take as long as the one that was too large.
  if (compiling.matchesNone) return 'false'
  const { operator } = condition
  const given = Object.hasOwn(condition, 'value')
  const wanted = given ? resolve(condition.value, compiling.properties, compiling.room) : null
  const pattern = operator === 'matches' ? patternOf(condition.value as string, wanted, compiling) : wanted
  if (pattern === undefined || !allStorable(wanted)) {
    compiling.matchesNone = true
    return 'false'
  }
  const { now, place, scope, postponed } = compiling
  const postpones = required && scope?.postpones && postponed.length < mostPostponed
  const postpone = postpones ? (check: PostponedCheck) => postponed.push(check) : undefined
  return compare(attribute, { operator, wanted: pattern, now, place, scope, postpone })
}

function patternOf(written: string, resolved: unknown, { properties }: Compiling): unknown {
  // A single reference keeps its type, and only a text is a pattern.
  if (typeof resolved !== 'string') return resolved
  return fillPattern(written, (reference) => follow(reference, properties))
}

/** PostgreSQL accepts neither NUL nor half a surrogate pair. Bodies with such are refused; this check is a second safeguard. */
const allStorable = (value: unknown): boolean => (Array.isArray(value) ? listStorable(value) : itemStorable(value))
const itemStorable = (item: unknown): boolean => typeof item !== 'string' || isStorable(item)
const listStorable = perList((list) => list.every(itemStorable))

const counts: Record<CountOperator, { over: 0 | 1; sign: string }> = {
  at_least: { over: 0, sign: '>=' },
  at_most: { over: 1, sign: '<=' },
  exactly: { over: 1, sign: '=' }
}

const ofUser = 'e.project_id = $1 and e.user_id = u.id'

/** The condition that an event `e` must meet to count. */
function eventSqlOf({ event, within, where = [] }: EventCondition, compiling: Compiling): string {
  const { place, now } = compiling
  compiling.usesUser = true
  // The times limit the partitions that are read, and exclude events that happen during a broadcast.
  const bounds = [`e.at <= ${place(now.toISOString(), 'timestamptz')}`]
  if (within !== undefined)
    bounds.push(`e.at >= ${place(new Date(now.getTime() - parseDuration(within)!).toISOString(), 'timestamptz')}`)
  return [
    ...bounds,
    `e.name = ${place(event, 'text')}`,
    ...where.map((condition) => attributeSql(condition, 'where', compiling))
  ].join(' and ')
}

function eventSql(condition: EventCondition, compiling: Compiling): string {
  const { scope } = compiling
  const { operator, count } = condition
  const conditions = eventSqlOf(condition, compiling)
  if (operator === 'at_least' && count === 0) return 'true'
  if (operator === 'at_least' && count === 1) return anySql(conditions, scope)
  if (operator !== 'at_least' && count === 0) return `(not ${anySql(conditions, scope)})`
  return scope ? countedTogether(condition, conditions, compiling) : countedAlone(condition, conditions, compiling)
}

/** Counts the events of one user, only up to the limit that decides the condition. */
function countedAlone({ operator, count }: EventCondition, conditions: string, { place }: Compiling): string {
  const { over, sign } = counts[operator]
  const enough = `select 1 from events e where ${ofUser} and ${conditions} limit ${place(count + over, 'int')}`
  return `((select count(*) from (${enough}) counted) ${sign} ${place(count, 'int')})`
}

/** Counts the events of a batch of users in one read, which costs a third of a look-up for each user. */
function countedTogether({ operator, count }: EventCondition, conditions: string, { place, scope }: Compiling): string {
  const sign = operator === 'at_most' ? '>' : counts[operator].sign
  const among = `coalesce(u.id in (select e.user_id from events e where ${conditions} and ${scope!.events}
    group by e.user_id having count(*) ${sign} ${place(count, 'int')}), false)`
  return operator === 'at_most' ? `(not ${among})` : among
}

/**
 * Without a scope `offset 0` keeps the planner from a join, which would read the events of the whole project. With one it
 * chooses by its statistics between a look-up for each user and one hashed read of the batch; `coalesce` prevents a join
 * there too, because the planner cannot revise a join while it runs. The scope names the project: a second column would
 * make the hash slower.
 */
const anySql = (conditions: string, scope: Scope | undefined) =>
  scope
    ? `coalesce(exists (select 1 from events e where e.user_id = u.id and ${conditions} and ${scope.events}), false)`
    : `exists (select 1 from events e where ${ofUser} and ${conditions} offset 0)`
