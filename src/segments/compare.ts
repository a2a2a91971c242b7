import { parseDuration } from '../platform/duration.ts'
import { instantText } from '../platform/time.ts'
import { allUsual, cutInstant, instantMs, instantSql, isUsual, surelyBetween, textBounds, usualSql } from './instant.ts'
import type { Attribute, FixedName, Operator } from './language.ts'
import { perList } from './lists.ts'
import { versionKey, versionKeySql } from './version.ts'

/** Returns the placeholder of a value. Values and names of a segment or a trigger never become text of a query. */
export type Place = (value: unknown, type: string) => string

/**
 * Conditions on devices `d` and events `e` that limit them to the users of a batch. One read of the batch may cost less
 * than a look-up for each user or device.
 */
export interface Scope {
  /** The same on users `u`; absent if few of them match, so that checking these costs less than checking the batch. */
  checked?: string | undefined
  devices: string
  events: string
  /** Whether the caller does the checks that PostgreSQL is slow at (`CompiledSegment.postponed`). */
  postpones?: boolean
}

export interface Comparison {
  operator: Operator
  /** The value with its references replaced. Any JSON, because a trigger may carry any. */
  wanted: unknown
  now: Date
  place: Place
  scope?: Scope | undefined
  /** Leaves a check to the caller; absent if SQL must do it. */
  postpone?: ((check: PostponedCheck) => void) | undefined
}

/** A check of each row that the condition admits. */
export interface PostponedCheck {
  /** The text to check, in SQL. */
  text: string
  holds(text: string): boolean
}

/**
 * The SQL that compares one kind of attribute. Each expression is null if there is nothing to compare, and none can
 * fail on any stored value.
 */
interface Operand {
  /** Null when there is no value at all. */
  present: string
  /** True when there is no value, or null. */
  empty: string
  /** Whether the stored value is null or has the type of a wanted one. 'true' for attributes of one type. */
  agrees(wanted: readonly unknown[]): string
  /** Whether the stored value equals one of the wanted ones; null when none of them has the right type. */
  equalsAny(wanted: readonly unknown[], place: Place): string | null
  /** Whether the stored value is on that side of the wanted one; null when the wanted value has no order. */
  order(sign: string, wanted: unknown, place: Place): string | null
  /** The stored value as text, for operators that search text; null for times. */
  text: string | null
  /** Whether the stored value is a text and not a number. Checked last, because finding a property again costs time. */
  isText: string
  /** Whether the stored time is between the bounds; null for attributes that are never a time. */
  time: ((bounds: Bounds, place: Place) => string) | null
}

interface Bounds {
  /** The bounds with their signs: '>' or '>='. Times are texts of `instantText`. */
  from?: [sign: string, at: string]
  to?: [sign: string, at: string]
}

const signs = new Map<Operator, string>([
  ['greater_than', '>'],
  ['greater_or_equal', '>='],
  ['less_than', '<'],
  ['less_or_equal', '<=']
])

export function compare(attribute: Attribute, comparison: Comparison): string {
  const { operator, wanted, now, place } = comparison
  const operand = operandOf(attribute, comparison)
  const holds = (condition: string | null) => (condition === null ? 'false' : `coalesce(${condition}, false)`)
  switch (operator) {
    case 'exists':
      return `(${operand.present} is not null)`
    case 'not_exists':
      return `(${operand.present} is null)`
    case 'equals':
      return holds(operand.equalsAny([wanted], place))
    case 'in':
      return Array.isArray(wanted) ? holds(operand.equalsAny(wanted, place)) : 'false'
    case 'not_equals':
      return notIn(operand, [wanted], place)
    case 'not_in':
      return Array.isArray(wanted) ? notIn(operand, wanted, place) : operand.empty
    case 'greater_than':
    case 'greater_or_equal':
    case 'less_than':
    case 'less_or_equal':
      return holds(operand.order(signs.get(operator)!, wanted, place))
    case 'before':
    case 'after': {
      const at = instantText(wanted)
      if (at === undefined || !operand.time) return 'false'
      return holds(operand.time(operator === 'before' ? { to: ['<', at] } : { from: ['>', at] }, place))
    }
    case 'within_last': {
      const ms = parseDuration(wanted)
      if (ms === undefined || !operand.time) return 'false'
      const from = new Date(now.getTime() - ms).toISOString()
      return holds(operand.time({ from: ['>=', from], to: ['<=', now.toISOString()] }, place))
    }
    case 'not_contains':
      if (typeof wanted !== 'string' || !operand.text) return operand.empty
      return `coalesce(strpos(${operand.text}, ${place(wanted, 'text')}) = 0 and ${operand.isText}, true)`
    default:
      return typeof wanted === 'string' && operand.text
        ? holds(`${looksInto(operator, operand.text, wanted, place)} and ${operand.isText}`)
        : 'false'
  }
}

/** No value and null differ from every wanted value. A value of another type is not compared. */
function notIn(operand: Operand, wanted: readonly unknown[], place: Place): string {
  if (wanted.length === 0) return 'true'
  const equal = operand.equalsAny(wanted, place)
  // Null compares with every type.
  if (equal === null) return wanted.includes(null) ? 'true' : operand.empty
  return `coalesce(not (${equal}) and ${wanted.includes(null) ? 'true' : operand.agrees(wanted)}, true)`
}

function looksInto(operator: Operator, text: string, wanted: string, place: Place): string {
  const value = place(wanted, 'text')
  if (operator === 'contains') return `strpos(${text}, ${value}) > 0`
  if (operator === 'starts_with') return `starts_with(${text}, ${value})`
  if (operator === 'ends_with') return `right(${text}, length(${value})) = ${value}`
  return `${text} ~ ${value}`
}

function operandOf(attribute: Attribute, { place, scope, postpone }: Comparison): Operand {
  if (attribute.kind === 'json')
    return attribute.of === 'user'
      ? jsonOperand('u.properties', attribute.name, place, scope?.checked && `users u where ${scope.checked}`, postpone)
      : jsonOperand('e.properties', attribute.name, place)
  const column = columns[attribute.name]
  if (attribute.kind === 'time') return timeOperand(column)
  return attribute.kind === 'version' ? versionOperand(column, scope) : textOperand(column)
}

const fact = (name: string) => `((d.facts ->> '${name}') collate "C")`

/** The columns of attributes that have one type. */
const columns: Record<FixedName, string> = {
  id: 'u.project_user_id',
  created_at: 'u.created_at',
  last_seen_at: 'u.last_seen_at',
  platform: '(d.platform collate "C")',
  app_version: fact('app_version'),
  os_version: fact('os_version'),
  locale: fact('locale_region'),
  language: fact('locale_language'),
  timezone: fact('timezone')
}

const scalar = (value: unknown) =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
const typeOf = (value: unknown) => (value === null ? 'null' : typeof value)

/** A property is jsonb: its equality and order need no cast, so they cannot fail. `batch` has the rows of a batch. */
function jsonOperand(
  owner: string,
  name: string,
  place: Place,
  batch?: string,
  postpone?: Comparison['postpone']
): Operand {
  const key = place(name, 'text')
  const value = `(${owner} -> ${key})`
  // Ordered by code point, like all text. Null when there is no value, or null.
  const text = `((${owner} ->> ${key}) collate "C")`
  const ofType = (...types: string[]) => `jsonb_typeof${value} in (${types.map((type) => `'${type}'`).join(', ')})`
  const isText = ofType('string', 'null')
  return {
    present: value,
    empty: `coalesce(${value} = 'null', true)`,
    agrees: (wanted) => ofType('null', ...types(wanted)),
    equalsAny: (wanted, place) => {
      // One step finds the property and compares it, type included. The object is a value: made by SQL, it would be made for
      // each row.
      if (wanted.length === 1 && scalar(wanted[0]))
        return `${owner} @> ${place(JSON.stringify({ [name]: wanted[0] }), 'jsonb')}`
      const known = numbers(wanted)
      const parts = known.length === 0 ? [] : [`${value} = any(${place(known, 'jsonb[]')})`]
      // Compared as text, which costs half; only the few that are equal are checked for their type.
      const words = texts(wanted)
      if (words.length > 0) parts.push(`(${text} = any(${place(words, 'text[]')}) and ${isText})`)
      const truths = booleans(wanted)
      if (truths.length > 0) parts.push(`(${text} = any(${place(truths, 'text[]')}) and ${ofType('boolean', 'null')})`)
      return parts.length === 0 ? null : `(${parts.join(' or ')})`
    },
    order: (sign, wanted, place) => {
      if (typeof wanted === 'string') return `${text} ${sign} ${place(wanted, 'text')} and ${isText}`
      if (typeof wanted !== 'number' || !Number.isFinite(wanted)) return null
      return `${value} ${sign} ${place(JSON.stringify(wanted), 'jsonb')} and ${ofType('number')}`
    },
    text,
    isText,
    // Only a text can look like a time, so its type needs no check. The text bounds leave few values to parse.
    time: (bounds, place) => {
      const near = textBounds(bounds.from?.[1], bounds.to?.[1])
      const isNear = [
        ...(near.from ? [`${text} >= ${place(near.from, 'text')}`] : []),
        ...(near.to ? [`${text} < ${place(near.to, 'text')}`] : [])
      ]
      if (postpone && isNear.length > 0) {
        postpone({ text: cutInstant(text), holds: isWithin(bounds) })
        // The second bound is now, and later times are rare.
        return isNear[0]!
      }
      const read = (judge: typeof instantWithin) =>
        [...isNear, once(text, (value) => judge(value, bounds, place))].join(' and ')
      const sure = batch ? surely(bounds, place) : null
      if (!sure) return read(surelyOrReadWithin)
      const allAre = `(select ${allUsual('once.value')} from (select ${text} as value from ${batch} offset 0) once
         where ${sure('once.value')})`
      return `case when ${sure(text)} and ${allAre} then true else ${read(instantWithin)} end`
    }
  }
}

/** Whether a text of a usual form is an instant between the bounds for certain; null if the bounds have no such texts. */
function surely({ from, to }: Bounds, place: Place): ((text: string) => string) | null {
  const sure = surelyBetween(from?.[1], to?.[1])
  const signs = sure && [`> ${place(sure.above, 'text')}`, `< ${place(sure.below, 'text')}`]
  return signs && ((text) => signs.map((sign) => `${text} ${sign}`).join(' and '))
}

/** Whether a text is an instant between the bounds. */
const instantWithin = (text: string, bounds: Bounds, place: Place) =>
  once(instantSql(text), (at) => between(at, bounds, place), 'instant')

const dayOf = (text: string) => text.slice(0, 10)

/** The same in this process, which does it in a tenth of the time. */
function isWithin({ from, to }: Bounds): (text: string) => boolean {
  const sure = surelyBetween(from?.[1], to?.[1])
  const [lowDay, highDay] = sure ? [dayOf(sure.above), dayOf(sure.below)] : []
  const [low, high] = [instantMs(from?.[1]) ?? -Infinity, instantMs(to?.[1]) ?? Infinity]
  return (text) => {
    // Few are on the day of a bound. A text this short is a copy, which V8 compares in a third of the time of a part of another.
    const day = dayOf(text)
    if (lowDay && highDay && day > lowDay && day < highDay && isUsual(text)) return true
    const at = instantMs(text)
    if (at === undefined) return false
    return (from?.[0] === '>' ? at > low : at >= low) && (to?.[0] === '<' ? at < high : at <= high)
  }
}

/** The same; only texts near a bound, or of an unusual form, are read as times. */
function surelyOrReadWithin(text: string, bounds: Bounds, place: Place): string {
  const sure = surely(bounds, place)
  const read = instantWithin(text, bounds, place)
  return sure ? `case when ${sure(text)} and ${usualSql(text)} then true else ${read} end` : read
}

const between = (stored: string, { from, to }: Bounds, place: Place) =>
  `(${[from, to].flatMap((bound) => (bound ? [`${stored} ${bound[0]} ${place(bound[1], 'timestamptz')}`] : [])).join(' and ')})`

/** Evaluates an expression once for each row, although `make` mentions it many times. */
const once = (expression: string, make: (value: string) => string, name = 'once') =>
  `(select (${make(`${name}.value`)}) from (select ${expression} as value offset 0) ${name})`

const texts = perList((values) => values.filter((value) => typeof value === 'string'))
const booleans = perList((values) => values.filter((value) => typeof value === 'boolean').map(String))
/** Numbers and null, as JSON. */
const numbers = perList((values) =>
  values.filter((value) => value === null || Number.isFinite(value)).map((value) => JSON.stringify(value))
)
const types = perList((values) => new Set(values.filter(scalar).map(typeOf)))
const anyOf = (stored: string, wanted: readonly unknown[], type: string, place: Place) =>
  wanted.length === 0 ? null : `${stored} = any(${place(wanted, `${type}[]`)})`

function fixedOperand(stored: string) {
  return { present: stored, empty: `(${stored} is null)`, agrees: () => 'true' }
}

function textOperand(stored: string): Operand {
  return {
    ...fixedOperand(stored),
    equalsAny: (wanted, place) => anyOf(stored, texts(wanted), 'text', place),
    order: (sign, wanted, place) => (typeof wanted === 'string' ? `${stored} ${sign} ${place(wanted, 'text')}` : null),
    text: stored,
    isText: 'true',
    time: null
  }
}

/** The same text or the same version is equal: 1.10 and 1.10.0. Only versions have an order. */
function versionOperand(stored: string, scope: Scope | undefined): Operand {
  const keyed = (make: (key: string) => string) => {
    const judge = (text: string) => make(`(${versionKeySql(text)} collate "C")`)
    // Making a key costs as much as finding ten devices, but many devices share a few versions.
    return scope
      ? `${stored} in (select value from (select distinct ${stored} as value from devices d where ${scope.devices} offset 0)
          once where ${judge('once.value')})`
      : once(stored, judge)
  }
  return {
    ...textOperand(stored),
    equalsAny: (wanted, place) => {
      const same = anyOf(stored, texts(wanted), 'text', place)
      const keys = wanted.map(versionKey).filter((one) => one !== undefined)
      if (keys.length === 0) return same
      return `(${same} or coalesce(${keyed((key) => anyOf(key, keys, 'text', place)!)}, false))`
    },
    order: (sign, wanted, place) => {
      const wantedKey = versionKey(wanted)
      return wantedKey === undefined ? null : keyed((key) => `${key} ${sign} ${place(wantedKey, 'text')}`)
    }
  }
}

function timeOperand(stored: string): Operand {
  return {
    ...fixedOperand(stored),
    equalsAny: (wanted, place) =>
      anyOf(
        stored,
        wanted.map(instantText).filter((one) => one !== undefined),
        'timestamptz',
        place
      ),
    order: (sign, wanted, place) => {
      const at = instantText(wanted)
      return at === undefined ? null : `${stored} ${sign} ${place(at, 'timestamptz')}`
    },
    text: null,
    isText: 'false',
    time: (bounds, place) => between(stored, bounds, place)
  }
}
