import { AsyncLocalStorage } from 'node:async_hooks'

/** A span as W3C Trace Context names it. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

export type Attributes = Record<string, string | number | boolean>

/** The span in which code runs. */
export interface ActiveSpan extends SpanContext {
  /** Spans of other callers whose work is done together with that of this one. */
  readonly links: readonly SpanContext[]
  /** Begins a span of a call to another service; undefined if it is not recorded. */
  call(name: string): CallSpan | undefined
}

export interface CallSpan {
  end(attributes: Attributes, failure?: string): void
}

/** A batch may do the work of hundreds of callers, and each link costs 55 bytes in the row of a job. */
const mostLinks = 8

// Code that never enters a span pays a few nanoseconds for each look.
const storage = new AsyncLocalStorage<ActiveSpan | undefined>()

export const activeSpan = (): ActiveSpan | undefined => storage.getStore()

export const inSpan = <Result>(span: ActiveSpan | undefined, work: () => Result): Result => storage.run(span, work)

/** Runs work that was gathered from several callers: in the span of the first, with links to those of the others. */
export function inSpansOf<Result>(spans: readonly (ActiveSpan | undefined)[], work: () => Result): Result {
  const [first, ...others] = new Set(spans.filter((span) => span?.sampled))
  // The loop that gathers was begun by one of the callers, and must not keep the span of that one.
  if (!first) return activeSpan() ? inSpan(undefined, work) : work()
  if (others.length === 0) return inSpan(first, work)
  const links = others.filter((span) => span !== undefined).slice(0, mostLinks)
  return inSpan({ ...plain(first), links, call: (name) => first.call(name) }, work)
}

const plain = ({ traceId, spanId, sampled }: SpanContext): SpanContext => ({ traceId, spanId, sampled })

/** The active span and its links as one text, for the row of a job that another process may run; null without a span. */
export function writtenTrace(): string | null {
  const span = activeSpan()
  return span ? [span, ...span.links].map(written).join(',') : null
}

export const written = ({ traceId, spanId, sampled }: SpanContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`

/** The spans that a text names: the parent first, then its links. */
export const readTrace = (text: string): SpanContext[] => text.split(',').flatMap((one) => readSpan(one) ?? [])

/** Reads a `traceparent` of W3C Trace Context: version, trace, parent span, flags. */
export function readSpan(text: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? []
  if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags!, 16) & 1) === 1 }
}
