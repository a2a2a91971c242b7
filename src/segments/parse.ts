import { durationRule, parseDuration } from '../platform/duration.ts'
import { type Detail, Refusal } from '../platform/errors.ts'
import { isObject, longerThan } from '../platform/fields.ts'
import { isStorable } from '../platform/json/storable.ts'
import {
  type AttributeCondition,
  attributeOf,
  countOperators,
  type EventCondition,
  fixedAttributes,
  segmentLimits as limits,
  operators,
  type Segment
} from './language.ts'
import { Room } from './trigger-reference.ts'
import { valueProblems } from './value.ts'

type Fields = Record<string, unknown>

interface Reading {
  problems: Detail[]
  conditions: number
  patterns: number
  events: number
  nodes: number
  room: Room
  full: boolean
}

const maxProblems = 20

/** Checks a segment and returns its plain form. The refusal lists all problems, each with its path. */
export function parseSegment(value: unknown, path = 'segment'): Segment {
  const problems: Detail[] = []
  const segment = readSegment(value, path, problems)
  const [first] = problems
  if (first) throw new Refusal('invalid_segment', `${first.path}: ${first.message}`, problems)
  return segment
}

const newReading = (): Reading => ({
  problems: [],
  conditions: 0,
  patterns: 0,
  events: 0,
  nodes: 0,
  room: new Room(limits.size),
  full: false
})

/** Checks conditions on one event, `event.<property>`, outside of a segment. Adds problems to a list. */
export function readConditions(value: readonly unknown[], path: string, problems: Detail[]): AttributeCondition[] {
  const reading = newReading()
  const found = value.map((item, index) => readWhere(item, `${path}[${index}]`, reading))
  if (reading.full)
    reading.problems.push({ path, message: `must have at most ${limits.size} characters in its values` })
  problems.push(...reading.problems.slice(0, maxProblems))
  return found.filter((item) => item !== undefined)
}

/** Like `parseSegment`, but adds problems to a list. The result is valid only if it added none. */
export function readSegment(value: unknown, path: string, problems: Detail[]): Segment {
  const reading = newReading()
  const everyone = { all: [] }
  const segment =
    value === undefined || (isObject(value) && Object.keys(value).length === 0)
      ? everyone
      : readNode(value, path, 1, reading)
  const tell = (message: string) => reading.problems.push({ path, message })
  if (reading.conditions > limits.conditions) tell(`must have at most ${limits.conditions} conditions`)
  if (reading.patterns > limits.patterns) tell(`must have at most ${limits.patterns} conditions with matches`)
  if (reading.events > limits.events) tell(`must have at most ${limits.events} conditions on events`)
  if (reading.nodes > limits.nodes) tell(`must have at most ${limits.nodes} groups and conditions`)
  if (reading.full)
    tell(`must have at most ${limits.size} characters in its values, each entry of a list counting 8 more`)
  problems.push(...reading.problems.slice(0, maxProblems))
  return segment ?? everyone
}

const kinds = new Map([
  ['all', new Set(['all'])],
  ['any', new Set(['any'])],
  ['not', new Set(['not'])],
  ['ref', new Set(['ref'])],
  ['attribute', new Set(['attribute', 'operator', 'value'])],
  ['event', new Set(['event', 'operator', 'count', 'within', 'where'])]
])

function readNode(value: unknown, path: string, depth: number, reading: Reading): Segment | undefined {
  const tell = teller(reading, path)
  // A body of ten megabytes can hold a million faults, so the list is limited.
  if (reading.problems.length >= maxProblems || reading.conditions > limits.conditions) return undefined
  if (++reading.nodes > limits.nodes || reading.full) return undefined
  if (!isObject(value)) return tell('', 'must be an object')
  if (depth > limits.depth) return tell('', `must not be nested deeper than ${limits.depth} levels`)
  const given = [...kinds.keys()].filter((name) => Object.hasOwn(value, name))
  const [kind] = given
  if (kind === undefined || given.length > 1)
    return tell('', 'must have exactly one of all, any, not, ref, attribute, event')
  refuseUnknown(value, kinds.get(kind)!, tell)
  if (kind === 'attribute') return readAttribute(value, path, 'segment', reading)
  if (kind === 'event') return readEvent(value, path, reading)
  if (kind === 'ref') return readRef(value, path, reading)
  if (kind === 'not') {
    const inner = readNode(value.not, `${path}.not`, depth + 1, reading)
    return inner && { not: inner }
  }
  const list = value[kind]
  if (!Array.isArray(list)) return tell(`.${kind}`, 'must be a list of conditions')
  // Empty groups cost time too, although they hold no conditions.
  if (list.length > limits.conditions) return tell(`.${kind}`, `must have at most ${limits.conditions} entries`)
  const inner = list
    .map((item, index) => readNode(item, `${path}.${kind}[${index}]`, depth + 1, reading))
    .filter((item) => item !== undefined)
  return kind === 'all' ? { all: inner } : { any: inner }
}

function readAttribute(
  value: Fields,
  path: string,
  place: 'segment' | 'where',
  reading: Reading
): AttributeCondition | undefined {
  const tell = teller(reading, path)
  reading.conditions++
  if (!reading.room.take(value.value)) reading.full = true
  if (reading.full) return undefined
  const written = value.attribute
  const operator = operators.find((name) => name === value.operator)
  if (!operator) tell('.operator', unknownOperator(value.operator, operators))
  const attribute = typeof written === 'string' ? attributeOf(written, place) : undefined
  if (!attribute || typeof written !== 'string') {
    const known = place === 'where' ? 'event.<property>' : `user.<property>, ${fixedAttributes.join(', ')}`
    return tell(
      '.attribute',
      typeof written === 'string' ? `is unknown; known are ${known}` : `must be one of ${known}`
    )
  }
  if (written.includes('{{')) return tell('.attribute', 'must not hold {{: only a value can refer to the trigger')
  if (longerThan(attribute.name, limits.nameLength) || !isStorable(attribute.name))
    return tell('.attribute', `must name a property of at most ${limits.nameLength} characters`)
  if (!operator) return undefined
  if (operator === 'matches') reading.patterns++
  for (const problem of valueProblems(attribute, operator, value.value, Object.hasOwn(value, 'value')))
    tell(problem.path, problem.message)
  return Object.hasOwn(value, 'value')
    ? { attribute: written, operator, value: value.value }
    : { attribute: written, operator }
}

function readRef({ ref }: Fields, path: string, reading: Reading): Segment | undefined {
  reading.conditions++
  if (typeof ref !== 'string' || ref === '' || longerThan(ref, 255) || !isStorable(ref))
    return teller(reading, path)('.ref', 'must be the id of a saved segment, 1 to 255 characters')
  return { ref }
}

function readEvent(value: Fields, path: string, reading: Reading): EventCondition | undefined {
  const tell = teller(reading, path)
  reading.conditions++
  reading.events++
  const { event, count, within, where } = value
  const operator = countOperators.find((name) => name === value.operator)
  if (!operator) tell('.operator', unknownOperator(value.operator, countOperators))
  if (typeof event !== 'string' || event === '' || longerThan(event, limits.nameLength) || !isStorable(event))
    return tell('.event', `must be the name of an event, 1 to ${limits.nameLength} characters`)
  if (event.includes('{{')) return tell('.event', 'must not hold {{: only a value can refer to the trigger')
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > limits.count)
    return tell('.count', `must be a whole number from 0 to ${limits.count}`)
  const condition: EventCondition = { event, operator: operator ?? 'at_least', count }
  if (within !== undefined) {
    if (parseDuration(within) === undefined) return tell('.within', durationRule)
    condition.within = within as string
  }
  if (where !== undefined) {
    if (!Array.isArray(where)) return tell('.where', 'must be a list of conditions')
    if (where.length > limits.conditions) return tell('.where', `must have at most ${limits.conditions} entries`)
    condition.where = where
      .map((item, index) => readWhere(item, `${path}.where[${index}]`, reading))
      .filter((item) => item !== undefined)
  }
  return condition
}

function readWhere(value: unknown, path: string, reading: Reading): AttributeCondition | undefined {
  const tell = teller(reading, path)
  if (!isObject(value)) return tell('', 'must be an object')
  if (!Object.hasOwn(value, 'attribute')) return tell('.attribute', 'must be given: event.<property>')
  refuseUnknown(value, kinds.get('attribute')!, tell)
  return readAttribute(value, path, 'where', reading)
}

/** Refuses unknown fields, unlike elsewhere: a misspelt `within` would widen the audience. */
function refuseUnknown(value: Fields, known: ReadonlySet<string>, tell: (path: string, message: string) => undefined) {
  for (const name of Object.keys(value).slice(0, 20))
    if (!known.has(name))
      tell('', `has an unknown field ${JSON.stringify(name.slice(0, 40))}; known are ${[...known].join(', ')}`)
}

const unknownOperator = (given: unknown, known: readonly string[]) =>
  `${typeof given === 'string' ? 'is unknown' : 'must be given'}; known are ${known.join(', ')}`

const teller =
  ({ problems }: Reading, path: string) =>
  (place: string, message: string): undefined => {
    problems.push({ path: `${path}${place}`, message })
  }
