import { parseDuration } from '../platform/duration.ts'
import { isStorable } from '../platform/json.ts'
import { type Asked, compare, type Place } from './compare.ts'
import {
  type AttributeCondition,
  attributeOf,
  type CountOperator,
  type EventCondition,
  type Segment,
  segmentLimits
} from './language.ts'
import { fillPattern } from './pattern.ts'
import { follow, Room, resolve } from './trigger-reference.ts'

export interface CompiledSegment {
  /** The trigger lacks a property that the segment refers to: nobody matches, whatever the rest says. */
  nobody: boolean
  /** A device condition is in it: the condition speaks of devices `d` too, and only matching devices get the message. */
  usesDevice: boolean
  /** It speaks of users `u`, not of devices alone or of nothing at all. */
  usesUser: boolean
  /** True or false, never null, for each row of `u` (users) and, if it uses devices, `d` (devices of that user). */
  condition: string
  /** For the placeholders in it, from `firstPlaceholder` on. */
  values: unknown[]
}

interface Compiling {
  place: Place
  properties: Readonly<Record<string, unknown>>
  room: Room
  now: Date
  nobody: boolean
  usesDevice: boolean
  usesUser: boolean
  asked: Asked | undefined
}

/**
 * A parsed segment as one SQL condition. `now` is the moment the trigger was accepted, so that every window of a long
 * broadcast asks the same question.
 */
export function compileSegment(
  segment: Segment,
  triggerProperties: Readonly<Record<string, unknown>>,
  now: Date,
  firstPlaceholder = 1,
  asked?: Asked
): CompiledSegment {
  const placed: unknown[] = []
  const compiling: Compiling = {
    place: (value, type) => `<${placed.push(value) - 1}>::${type}`,
    properties: triggerProperties,
    room: new Room(segmentLimits.filled),
    now,
    nobody: false,
    usesDevice: false,
    usesUser: false,
    asked
  }
  const written = nodeSql(segment, compiling)
  const { nobody, usesDevice, usesUser } = compiling
  if (nobody) return { nobody, usesDevice, usesUser, condition: 'false', values: [] }
  return { nobody, usesDevice, usesUser, ...numbered(written, placed, firstPlaceholder) }
}

/** Gives out the numbers last: a part that turned out to be always false needs none, and PostgreSQL wants no gaps. */
function numbered(written: string, placed: unknown[], firstPlaceholder: number) {
  const values: unknown[] = []
  const numbers = new Map<string, number>()
  const condition = written.replace(/<([0-9]+)>/g, (_, index: string) => {
    const number = numbers.get(index) ?? firstPlaceholder - 1 + values.push(placed[Number(index)])
    numbers.set(index, number)
    return `$${number}`
  })
  return { condition, values }
}

function nodeSql(segment: Segment, compiling: Compiling): string {
  if ('all' in segment) return joined(segment.all, 'and', 'true', compiling)
  if ('any' in segment) return joined(segment.any, 'or', 'false', compiling)
  if ('not' in segment) return `(not ${nodeSql(segment.not, compiling)})`
  return 'event' in segment ? eventSql(segment, compiling) : attributeSql(segment, 'segment', compiling)
}

function joined(parts: Segment[], word: string, ofNone: string, compiling: Compiling): string {
  return parts.length === 0 ? ofNone : `(${parts.map((part) => nodeSql(part, compiling)).join(` ${word} `)})`
}

function attributeSql(condition: AttributeCondition, where: 'segment' | 'where', compiling: Compiling): string {
  const attribute = attributeOf(condition.attribute, where)!
  if (attribute.of === 'device') compiling.usesDevice = true
  if (attribute.of === 'user') compiling.usesUser = true
  // Nothing can change that any more, and each further value could take as long as the one that was too large.
  if (compiling.nobody) return 'false'
  const { operator } = condition
  const given = Object.hasOwn(condition, 'value')
  const wanted = given ? resolve(condition.value, compiling.properties, compiling.room) : null
  const pattern = operator === 'matches' ? patternOf(condition.value as string, wanted, compiling) : wanted
  if (pattern === undefined || !allStorable(wanted)) {
    compiling.nobody = true
    return 'false'
  }
  const { now, place, asked } = compiling
  return compare(attribute, { operator, wanted: pattern, now, place, asked })
}

function patternOf(written: string, resolved: unknown, { properties }: Compiling): unknown {
  // Exactly one reference keeps its type, and a number is no text to look for.
  if (typeof resolved !== 'string') return resolved
  return fillPattern(written, (reference) => follow(reference, properties))
}

/** PostgreSQL takes neither NUL nor half a surrogate pair. Bodies with such are refused, so this is a second lock. */
const allStorable = (value: unknown): boolean =>
  (Array.isArray(value) ? value : [value]).every((item) => typeof item !== 'string' || isStorable(item))

const counts: Record<CountOperator, { over: 0 | 1; sign: string }> = {
  at_least: { over: 0, sign: '>=' },
  at_most: { over: 1, sign: '<=' },
  exactly: { over: 1, sign: '=' }
}

/** Counts no further than it must: whoever bought a thousand times is known after the first. */
function eventSql({ event, operator, count, within, where = [] }: EventCondition, compiling: Compiling): string {
  const { place, now, asked } = compiling
  compiling.usesUser = true
  // The times bound the months that are looked into, and keep what happens during a broadcast out of it.
  const bounds = [`e.at <= ${place(now.toISOString(), 'timestamptz')}`]
  if (within !== undefined)
    bounds.push(`e.at >= ${place(new Date(now.getTime() - parseDuration(within)!).toISOString(), 'timestamptz')}`)
  const conditions = [
    'e.project_id = u.project_id',
    'e.user_id = u.id',
    ...bounds,
    `e.name = ${place(event, 'text')}`,
    ...where.map((condition) => attributeSql(condition, 'where', compiling))
  ].join(' and ')
  if (operator === 'at_least' && count === 0) return 'true'
  const any = anySql(conditions, asked)
  if (operator === 'at_least' && count === 1) return any
  if (operator !== 'at_least' && count === 0) return `(not ${any})`
  const { over, sign } = counts[operator]
  const enough = `select 1 from events e where ${conditions} limit ${place(count + over, 'int')}`
  const counted = `((select count(*) from (${enough}) counted) ${sign} ${place(count, 'int')})`
  if (!asked) return counted
  return operator === 'at_most' ? `(not ${any} or ${counted})` : `(${any} and ${counted})`
}

/**
 * Without bounds `offset 0` keeps the planner from joining: it would read the events of the whole project. With bounds it
 * chooses, by what it knows of them, whether to look up each user or to read them all and remember who has any; coalesce
 * keeps it from joining there too, which it would do in ways that it cannot change its mind about.
 */
const anySql = (conditions: string, asked: Asked | undefined) =>
  asked
    ? `coalesce(exists (select 1 from events e where ${conditions} and ${asked.events}), false)`
    : `exists (select 1 from events e where ${conditions} offset 0)`
