import { type Context, type Liquid, Output, toValueSync, type Value } from 'liquidjs'

/**
 * Notes which values were missing while a template rendered: a `trigger.*`, `event.*` or `user.*` that is written into
 * the text, has no value and no `default`. Only outputs that were rendered count, so `{% if user.name %}` protects what
 * stands in it. Rendering is synchronous, so one list at a time is enough.
 */
let noted: Set<string> | undefined

/** Names that are kept for one message. */
const mostNoted = 20
const watchedRoots: ReadonlySet<string> = new Set(['trigger', 'event', 'user'])

/** Runs some work, and returns its result with the names that had no value. */
export function notingMissing<Result>(work: () => Result): [Result, string[]] {
  const outer = noted
  const own = new Set<string>()
  noted = own
  try {
    return [work(), [...own]]
  } finally {
    noted = outer
  }
}

export function noteMissing(name: string): void {
  if (noted && noted.size < mostNoted) noted.add(name)
}

/** A name such as user.name, if an output writes it without a default; undefined for anything else. */
const names = new WeakMap<Value, string | null>()

function nameIn(value: Value): string | null {
  const known = names.get(value)
  if (known !== undefined) return known
  const [token, ...more] = value.initial.postfix as { props?: { content?: unknown }[]; variable?: unknown }[]
  const path = token?.props?.map(({ content }) => content)
  const plain = path?.every((part) => typeof part === 'string' || typeof part === 'number') && !token?.variable
  const isWatched = more.length === 0 && plain && path!.length > 1 && watchedRoots.has(String(path![0]))
  const name = isWatched && !value.filters.some((filter) => filter.name === 'default') ? path!.join('.') : null
  names.set(value, name)
  return name
}

function note(value: Value | undefined, context: Context): void {
  const name = value ? nameIn(value) : null
  if (value === undefined || name === null) return
  const found = toValueSync(value.initial.evaluate(context, true))
  if (found === undefined || found === null || found === '') noteMissing(name)
}

/** Makes outputs note a missing value before they render. Costs a comparison while nothing is noted. */
export function watchOutputs(engine: Liquid): void {
  watch(Output.prototype)
  watch(engine.tags.echo!.prototype as unknown as Rendering)
}

interface Rendering {
  value?: Value
  render(context: Context, emitter: never): unknown
}

const watching = new WeakSet<object>()

function watch(prototype: object): void {
  if (watching.has(prototype)) return
  watching.add(prototype)
  const target = prototype as Rendering
  const { render } = target
  target.render = function (context, emitter) {
    if (noted) note(this.value, context)
    return render.call(this, context, emitter)
  }
}
