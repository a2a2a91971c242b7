import { type Context, type FilterImplOptions, Liquid, toValue } from 'liquidjs'
import { chargedOperators, chargeFilters, textOf } from './budget.ts'
import { refuseBareDots } from './dots.ts'
import { watchOutputs } from './missing.ts'

export const templateLimits = {
  /** Characters of a template. */
  source: 16_384,
  /** Characters of the result: a push carries 4 KiB. */
  output: 16_384,
  /**
   * Work of one rendering: characters and list items created or searched, characters written, and eighty for each step,
   * which takes about 10 µs (`budget.ts` has the price of each filter). It does not depend on the load of the machine, so
   * a template that renders here renders everywhere.
   */
  work: 200_000,
  /** A second limit, in case something slow is charged too little. */
  milliseconds: 1_000,
  /** Levels of nested tags, because rendering them takes stack. */
  depth: 50
} as const

const perStep = 80

/** Tags that read no files and create no markup. */
const tags = new Set([
  ...['assign', 'capture', 'case', 'comment', 'cycle', 'echo', 'for', 'if', 'unless'],
  ...['break', 'continue', 'increment', 'decrement', 'raw', '#']
])

/**
 * Excluded are filters that parse an expression while rendering (`where_exp`: the data it needs is unknown before), that
 * are random (`sample`: two attempts of one message would differ), and that take quadratic time (`strip_html`).
 */
const filters = new Set([
  ...['abs', 'at_least', 'at_most', 'ceil', 'divided_by', 'floor', 'minus', 'modulo', 'plus', 'round', 'times'],
  ...['append', 'capitalize', 'downcase', 'lstrip', 'prepend', 'remove', 'remove_first', 'remove_last', 'replace'],
  ...['replace_first', 'replace_last', 'rstrip', 'slice', 'split', 'squish', 'strip', 'strip_newlines', 'truncate'],
  ...['truncatewords', 'upcase', 'number_of_words', 'escape', 'escape_once', 'url_decode', 'url_encode', 'cgi_escape'],
  ...['uri_escape', 'base64_encode', 'base64_decode', 'compact', 'concat', 'first', 'join', 'last', 'map', 'pop'],
  ...['push', 'reverse', 'shift', 'size', 'sort', 'sort_natural', 'sum', 'uniq', 'unshift', 'where', 'reject', 'find'],
  ...['has', 'array_to_sentence_string', 'date', 'date_to_xmlschema', 'date_to_string', 'date_to_long_string'],
  ...['default', 'json', 'to_integer']
])

export function createEngine(): Liquid {
  const engine = new Liquid({
    // A map of templates keeps the library from the file system.
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: false,
    // A fixed setting, so that every machine renders the same text.
    timezoneOffset: 0,
    locale: 'en-US',
    operators: chargedOperators,
    parseLimit: templateLimits.source,
    memoryLimit: templateLimits.work,
    renderLimit: templateLimits.milliseconds
  })
  for (const name of Object.keys(engine.tags)) if (!tags.has(name)) delete engine.tags[name]
  for (const name of Object.keys(engine.filters)) if (!filters.has(name)) engine.unregisterFilter(name)
  engine.registerFilter('number_with_delimiter', withDelimiter)
  engine.registerFilter('date', inAnyZone(engine.filters.date as Filter))
  for (const name of ['divided_by', 'modulo']) engine.registerFilter(name, byNumber(engine.filters[name] as Filter))
  chargeFilters(engine)
  countSteps(engine)
  watchOutputs(engine)
  refuseBareDots()
  return engine
}

/** 1234567.8 → 1,234,567.8. Liquid has no such filter, but points and prices are written so. No number exceeds 40 characters. */
function withDelimiter(value: unknown, mark: unknown = ','): string {
  const text = textOf(value)
  const whole = text.length <= 40 ? /^-?\d+(?=\.\d+$|$)/.exec(text)?.[0] : undefined
  return whole === undefined ? text : whole.replace(/\B(?=(?:\d{3})+$)/g, textOf(mark)) + text.slice(whole.length)
}

type Filter = (...args: unknown[]) => unknown

/** Fails where Ruby's Liquid does, and not with the text Infinity or NaN. A divisor that is missing or no number is 0 there too. */
const byNumber = (filter: Filter): FilterImplOptions =>
  function (this: unknown, value: unknown, by: unknown, ...more: unknown[]) {
    const divisor = Number(toValue(by)) || 0
    if (divisor === 0) throw new Error('divided by 0')
    return filter.call(this, value, divisor, ...more)
  }

/**
 * Writes dates of a zone that is none in UTC, as those without a zone: devices and users name zones in any way, and one that
 * is wrong must not cost the message.
 */
const inAnyZone = (date: Filter): FilterImplOptions =>
  function (this: unknown, value: unknown, format: unknown, zone: unknown) {
    try {
      return date.call(this, value, format, zone)
    } catch (error) {
      if (error instanceof RangeError && /time zone/i.test(error.message)) return date.call(this, value, format)
      throw error
    }
  }

/** Counts loops and written text, which the library does not count. Every block passes here. */
function countSteps({ renderer }: Liquid): void {
  const renderTemplates = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = function* (templates, context, emitter) {
    context.memoryLimit.use(perStep * (templates.length + 1))
    return yield* renderTemplates(templates, context, emitter ?? new BoundedText(context))
  }
}

class BoundedText {
  buffer = ''
  private readonly context: Context

  constructor(context: Context) {
    this.context = context
  }

  write(value: unknown): void {
    const text = textOf(value, templateLimits.output)
    this.context.memoryLimit.use(text.length)
    if (this.buffer.length + text.length > templateLimits.output)
      throw new Error(`it renders to more than ${templateLimits.output} characters`)
    this.buffer += text
  }
}
