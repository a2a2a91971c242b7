import { parseDuration } from './duration.ts'
import { instantSql, instantText } from './instant.ts'
import type { Attribute, FixedName, Operator } from './segment-language.ts'
import type { Place } from './segment-sql.ts'
import { versionKey, versionKeySql } from './version.ts'

export interface Comparison {
  operator: Operator
  /** With its references replaced: any JSON, since a trigger may carry any. */
  wanted: unknown
  now: Date
  place: Place
}

/**
 * How one kind of attribute is compared. Each expression is null where the attribute has nothing to compare, and none
 * can fail, whatever is stored.
 */
interface Operand {
  /** Null when there is no value at all. */
  present: string
  /** True when there is no value, or null. */
  empty: string
  /** Whether the stored value is of a type that one of these has. 'true' for attributes of one type. */
  agrees(wanted: readonly unknown[]): string
  /** The wanted values that a value of this kind can be equal to, as one array to compare with; null when there are none. */
  equalsAny(wanted: readonly unknown[], place: Place): string | null
  /** The two sides of greater and less; null when the wanted value has no order here. */
  order(wanted: unknown, place: Place): [stored: string, wanted: string] | null
  /** The stored text, for operators that look into text; null for times. */
  text: string | null
  /** The stored time; null for attributes that are never one. */
  time: string | null
}

const signs = new Map<Operator, string>([
  ['greater_than', '>'],
  ['greater_or_equal', '>='],
  ['less_than', '<'],
  ['less_or_equal', '<='],
  ['before', '<'],
  ['after', '>']
])

export function compare(attribute: Attribute, comparison: Comparison): string {
  const { operator, wanted, now, place } = comparison
  const operand = operandOf(attribute, place)
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
    case 'less_or_equal': {
      const sides = operand.order(wanted, place)
      return holds(sides && `${sides[0]} ${signs.get(operator)} ${sides[1]}`)
    }
    case 'before':
    case 'after': {
      const at = instantText(wanted)
      return holds(at && operand.time ? `${operand.time} ${signs.get(operator)} ${place(at, 'timestamptz')}` : null)
    }
    case 'within_last': {
      const ms = parseDuration(wanted)
      if (ms === undefined || !operand.time) return 'false'
      const from = place(new Date(now.getTime() - ms).toISOString(), 'timestamptz')
      return holds(`${operand.time} between ${from} and ${place(now.toISOString(), 'timestamptz')}`)
    }
    case 'not_contains':
      if (typeof wanted !== 'string' || !operand.text) return operand.empty
      return `(${operand.empty} or coalesce(strpos(${operand.text}, ${place(wanted, 'text')}) = 0, false))`
    default:
      return typeof wanted === 'string' && operand.text
        ? holds(looksInto(operator, operand.text, wanted, place))
        : 'false'
  }
}

/** Differs from all of these. No value and null differ from everything; a value of another type is not compared. */
function notIn(operand: Operand, wanted: readonly unknown[], place: Place): string {
  if (wanted.length === 0) return 'true'
  const equal = operand.equalsAny(wanted, place)
  // Null is comparable with every type.
  const agrees = wanted.includes(null) ? 'true' : operand.agrees(wanted)
  if (equal === null) return wanted.includes(null) ? 'true' : operand.empty
  return `coalesce((${operand.empty} or ${agrees}) and not (${equal}), true)`
}

function looksInto(operator: Operator, text: string, wanted: string, place: Place): string {
  const value = place(wanted, 'text')
  if (operator === 'contains') return `strpos(${text}, ${value}) > 0`
  if (operator === 'starts_with') return `starts_with(${text}, ${value})`
  if (operator === 'ends_with') return `right(${text}, length(${value})) = ${value}`
  return `${text} ~ ${value}`
}

function operandOf(attribute: Attribute, place: Place): Operand {
  if (attribute.kind === 'json')
    return jsonOperand(attribute.of === 'user' ? 'u.properties' : 'e.properties', place(attribute.name, 'text'))
  const column = columns[attribute.name]
  if (attribute.kind === 'time') return timeOperand(column)
  return attribute.kind === 'version' ? versionOperand(column) : textOperand(column)
}

const fact = (name: string) => `((d.facts ->> '${name}') collate "C")`

/** Where the attributes of one type are kept. */
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

/** A property: jsonb, whose equality and order need no cast and so cannot fail. Its types are those of JSON. */
function jsonOperand(owner: string, name: string): Operand {
  const value = `(${owner} -> ${name})`
  // By code point, like all text; null unless it is a text.
  const text = `((case when jsonb_typeof${value} = 'string' then ${owner} ->> ${name} end) collate "C")`
  return {
    present: value,
    empty: `coalesce(${value} = 'null', true)`,
    agrees: (wanted) => {
      const types = new Set(wanted.filter(scalar).map(typeOf))
      return types.size === 0
        ? 'false'
        : `jsonb_typeof${value} in (${[...types].map((type) => `'${type}'`).join(', ')})`
    },
    equalsAny: (wanted, place) => {
      const known = wanted.filter(scalar).map((item) => JSON.stringify(item))
      if (known.length === 0) return null
      return known.length === 1
        ? `${value} = ${place(known[0], 'jsonb')}`
        : `${value} = any(${place(known, 'jsonb[]')})`
    },
    order: (wanted, place) => {
      if (typeof wanted === 'string') return [text, place(wanted, 'text')]
      if (typeof wanted !== 'number' || !Number.isFinite(wanted)) return null
      return [`(case when jsonb_typeof${value} = 'number' then ${value} end)`, place(JSON.stringify(wanted), 'jsonb')]
    },
    text,
    // Only a text can look like a time, so its type needs no look.
    time: once(`${owner} ->> ${name}`, instantSql)
  }
}

/** What is made of an expression that is evaluated once for each row: it is mentioned many times, and reading costs. */
const once = (expression: string, make: (text: string) => string) =>
  `(select (${make('once.text')}) from (select (${expression}) collate "C" as text offset 0) once)`

const texts = (values: readonly unknown[]) => values.filter((value) => typeof value === 'string')
const anyOf = (stored: string, wanted: readonly unknown[], type: string, place: Place) =>
  wanted.length === 0 ? null : `${stored} = any(${place(wanted, `${type}[]`)})`

function fixedOperand(stored: string) {
  return { present: stored, empty: `(${stored} is null)`, agrees: () => 'true' }
}

function textOperand(stored: string): Operand {
  return {
    ...fixedOperand(stored),
    equalsAny: (wanted, place) => anyOf(stored, texts(wanted), 'text', place),
    order: (wanted, place) => (typeof wanted === 'string' ? [stored, place(wanted, 'text')] : null),
    text: stored,
    time: null
  }
}

/** Equal are the same text and the same version: 1.10 and 1.10.0. Only versions have an order. */
function versionOperand(stored: string): Operand {
  const key = `(${once(stored, versionKeySql)} collate "C")`
  return {
    ...textOperand(stored),
    equalsAny: (wanted, place) => {
      const same = anyOf(stored, texts(wanted), 'text', place)
      const keys = wanted.map(versionKey).filter((one) => one !== undefined)
      const alike = anyOf(key, keys, 'text', place)
      return alike === null ? same : `(${same} or coalesce(${alike}, false))`
    },
    order: (wanted, place) => {
      const wantedKey = versionKey(wanted)
      return wantedKey === undefined ? null : [key, place(wantedKey, 'text')]
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
    order: (wanted, place) => {
      const at = instantText(wanted)
      return at === undefined ? null : [stored, place(at, 'timestamptz')]
    },
    text: null,
    time: stored
  }
}
