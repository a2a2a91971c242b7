import { type Context, defaultOperators, type FilterImplOptions, type Liquid, type Operators, toValue } from 'liquidjs'

/**
 * The cost of filters and comparisons, in the units of `templateLimits.work`: about eight for each microsecond. The library
 * counts the results of most filters afterwards. This file counts the rest, and beforehand: a single filter or comparison
 * with a list or a text of a trigger could otherwise run for seconds.
 */

type Limiter = Context['memoryLimit']
interface Used {
  context: Context
}
type Charge = (budget: Budget, args: readonly unknown[]) => void

class Budget {
  private readonly limiter: Limiter

  constructor(context: Context) {
    this.limiter = context.memoryLimit
  }

  use(units: number): void {
    this.limiter.use(units)
  }

  /** Refuses more than is left, without counting it: the library counts it later. */
  need(units: number): void {
    const { base, limit } = this.limiter as unknown as { base: number; limit: number }
    if (base + units > limit) this.limiter.use(units)
  }

  get left(): number {
    const { base, limit } = this.limiter as unknown as { base: number; limit: number }
    return Math.max(limit - base, 0)
  }
}

/** Characters of a value as text, lists within lists included; counted no further than `most`. */
function textLength(value: unknown, most: number): number {
  const plain = toValue(value)
  if (typeof plain === 'string') return plain.length
  if (!Array.isArray(plain)) return plain === null || plain === undefined ? 0 : 20
  let length = plain.length
  for (const item of plain) {
    if (length > most) break
    length += textLength(item, most - length)
  }
  return length
}

/** Items of a list, and of the lists in it; 1 for anything else. */
function items(value: unknown, most: number): number {
  const plain = toValue(value)
  if (!Array.isArray(plain)) return 1
  let count = plain.length
  for (const item of plain) {
    if (count > most) break
    if (Array.isArray(item)) count += items(item, most - count)
  }
  return count
}

/** Characters of a value as JSON, with its names and the blanks before each line. */
function jsonLength(value: unknown, most: number, indent: number): number {
  const plain = toValue(value)
  if (typeof plain === 'string') return plain.length + 2 + indent
  if (typeof plain !== 'object' || plain === null) return 8 + indent
  let length = 4 + indent
  for (const name in plain) {
    if (length > most) break
    length += name.length + jsonLength((plain as Record<string, unknown>)[name], most - length, indent && indent + 10)
  }
  return length
}

const length = (value: unknown): number => {
  const plain = toValue(value)
  return Array.isArray(plain) ? plain.length : 1
}

const texts = (budget: Budget, args: readonly unknown[]) => {
  let sum = 0
  for (const arg of args) sum += textLength(arg, budget.left - sum)
  return sum
}

/** The arguments become text, which the library counts afterwards. */
const asText: Charge = (budget, args) => budget.need(texts(budget, args))
/** The arguments become text, which the library does not count. */
const uncounted: Charge = (budget, args) => budget.use(texts(budget, args))

/** Searching a text takes the product of both lengths in the worst case, in one uninterrupted call. */
const search = (within: number, wanted: number) => (wanted > 8 ? (within * wanted) / 512 : 0)
const searching: Charge = (budget, args) => {
  asText(budget, args)
  budget.use(search(textLength(args[0], budget.left), textLength(args[1], budget.left)))
}

/** Looks up a property of each item, which may be a long path, and may compare it with a list. */
const perItem =
  (units: number): Charge =>
  (budget, [list, property, expected]) => {
    asText(budget, [property])
    const path = Math.floor(textLength(property, budget.left) / 16)
    const compared = Array.isArray(toValue(expected)) ? 4 * items(expected, budget.left) : 0
    budget.use(length(list) * (units + path + compared))
  }

/** Adds up items, or the values at a path in them. Texts and lists are converted to numbers. */
const summing: Charge = (budget, args) => {
  perItem(2)(budget, args)
  const list = toValue(args[0])
  if (!Array.isArray(list)) return uncounted(budget, [list])
  for (const item of list)
    if (typeof item === 'string') budget.use(item.length / 16)
    else if (Array.isArray(item)) uncounted(budget, [item])
}

/** Each comparison of a sort reads two keys, and converts lists to text. */
const sorting: Charge = (budget, args) => {
  perItem(1)(budget, args)
  const list = toValue(args[0])
  if (!Array.isArray(list)) return
  const path = args[1] === undefined ? [] : String(toValue(args[1])).split('.')
  const rounds = Math.log2(list.length + 1)
  let keys = 0
  for (const item of list) {
    let key: unknown = item
    for (const name of path) key = Object(key)[name]
    if (typeof key === 'string') keys += key.length / 8
    else if (Array.isArray(key)) keys += textLength(key, budget.left)
    if (keys > budget.left) break
  }
  budget.use(rounds * (list.length / 2 + keys))
}

/** A list in a list costs all its items: appended to itself again and again, it would double each time. */
const nesting: Charge = (budget, args) => {
  for (const arg of args) {
    const plain = toValue(arg)
    if (Array.isArray(plain)) budget.use(items(plain, budget.left) - plain.length)
  }
}

const longestFormat = 1_000
/** Conversions that use the tables of a locale. */
const worded = new Set('aAbBchxXpZ')

const dating: Charge = (budget, [value, format, zone]) => {
  asText(budget, [format, zone])
  uncounted(budget, [value])
  if (typeof zone === 'string') budget.use(800)
  const text = toValue(format)
  if (typeof text !== 'string') return
  if (text.length > longestFormat) throw new Error(`a format of a date may have at most ${longestFormat} characters`)
  for (const [, conversion] of text.matchAll(/%[-_0^#:]*\d*[EO]?(.)/g)) budget.use(worded.has(conversion!) ? 400 : 20)
}

const named = (names: string, charge: Charge) => names.split(' ').map((name) => [name, charge] as const)

const charges = new Map<string, Charge>([
  ...named('abs at_least at_most ceil divided_by floor minus modulo plus round times to_integer', uncounted),
  ...named('append capitalize downcase escape escape_once lstrip prepend rstrip strip strip_newlines squish', asText),
  ...named('truncate truncatewords upcase number_of_words base64_encode base64_decode', asText),
  ...named('join array_to_sentence_string', asText),
  ...named('url_decode url_encode cgi_escape uri_escape', uncounted),
  ...named('number_with_delimiter', (budget, [value, mark]) => {
    uncounted(budget, [mark])
    budget.use(jsonLength(value, budget.left, 0))
  }),
  // Characters are counted from the start of a text, and once more for a position from its end.
  ...named('slice', (budget, [value]) => budget.use(Array.isArray(toValue(value)) ? 0 : texts(budget, [value]) / 8)),
  ...named('remove remove_first remove_last replace replace_first replace_last split', searching),
  ...named('map', perItem(1)),
  ...named('sum', summing),
  ...named('where reject', perItem(12)),
  ...named('find has', perItem(13)),
  ...named('sort sort_natural', sorting),
  ...named('concat push unshift', nesting),
  ...named('date date_to_xmlschema date_to_string date_to_long_string', dating),
  ...named('json', (budget, [value, space]) => budget.need(jsonLength(value, budget.left, space ? 10 : 0))),
  ...named('compact default first last pop reverse shift size uniq', () => {})
])

/** Charges every filter. A filter without a price is a bug. */
export function chargeFilters(engine: Liquid): void {
  for (const [name, filter] of Object.entries(engine.filters)) {
    const charge = charges.get(name)
    if (!charge || typeof filter !== 'function') throw new Error(`the filter ${name} has no price`)
    const charged = function (this: Used, ...args: unknown[]) {
      charge(new Budget(this.context), args)
      return (filter as (...args: unknown[]) => unknown).apply(this, args)
    }
    engine.registerFilter(name, charged as FilterImplOptions)
  }
}

type Operator = (left: unknown, right: unknown, context: Context) => boolean

const charged =
  (operator: string, charge: (budget: Budget, left: unknown, right: unknown) => void): Operator =>
  (left, right, context) => {
    charge(new Budget(context), toValue(left), toValue(right))
    return (defaultOperators[operator] as Operator)(left, right, context)
  }

const equality = (budget: Budget, left: unknown, right: unknown) => {
  if (Array.isArray(left) && Array.isArray(right))
    budget.use(4 * Math.min(items(left, budget.left), items(right, budget.left)))
  else if (typeof left === 'string' && typeof right === 'string') budget.use(Math.min(left.length, right.length) / 1024)
}

const order = (budget: Budget, left: unknown, right: unknown) => {
  if (typeof left === 'object' || typeof right === 'object') uncounted(budget, [left, right])
  else equality(budget, left, right)
}

const containment = (budget: Budget, left: unknown, right: unknown) => {
  if (Array.isArray(left)) return budget.use(4 * (Array.isArray(right) ? items(left, budget.left) : left.length))
  if (typeof left !== 'string') return
  const wanted = textLength(right, budget.left)
  budget.need(wanted)
  budget.use(left.length / 64 + search(left.length, wanted))
}

/** The operators of the library, charged by the size of their operands. */
export const chargedOperators: Operators = {
  ...defaultOperators,
  ...Object.fromEntries(['==', '!='].map((operator) => [operator, charged(operator, equality)])),
  ...Object.fromEntries(['<', '>', '<=', '>='].map((operator) => [operator, charged(operator, order)])),
  contains: charged('contains', containment)
}

/** Text of a value: empty for a missing one, the items of a list one after the other, an object as JSON. */
export function textOf(value: unknown, most = Number.POSITIVE_INFINITY): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) {
    let text = ''
    for (const item of value) {
      text += textOf(item, most - text.length)
      if (text.length > most) break
    }
    return text
  }
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return String(value)
  // A longer text is over the limit and is refused.
  if (jsonLength(value, most * 8, 0) > most * 8) return ' '.repeat(most + 1)
  return JSON.stringify(value)
}
