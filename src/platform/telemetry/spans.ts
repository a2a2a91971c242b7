import { getRandomValues } from 'node:crypto'
import type { ActiveSpan, Attributes, CallSpan, SpanContext } from './context.ts'
import { attributeList, nanos } from './encoding.ts'
import type { Sampler } from './sampler.ts'

/** Kinds of spans in OTLP. */
const kinds = { internal: 1, server: 2, client: 3 } as const
const failed = 2

/** Gateway calls of one span that get spans of their own: a broadcast would fill every queue. */
const mostCalls = 100

export interface Tracer {
  sampler: Sampler
  add(span: object): void
}

/** A span that is under way. One that is not sampled is never sent, and only passes its decision on. */
export class Span implements ActiveSpan {
  readonly traceId: string
  readonly spanId = randomHex(8)
  readonly sampled: boolean
  readonly links: readonly SpanContext[]
  readonly #tracer: Tracer
  readonly #parent: string | undefined
  readonly #kind: number
  readonly #beganAt = Date.now()
  readonly #beganMs = performance.now()
  #calls = 0

  constructor(tracer: Tracer, kind: keyof typeof kinds, parent?: SpanContext, links: readonly SpanContext[] = []) {
    this.#tracer = tracer
    this.traceId = parent?.traceId ?? randomHex(16)
    this.sampled = tracer.sampler(this.traceId, parent?.sampled)
    this.#parent = parent?.spanId
    this.#kind = kinds[kind]
    this.links = links
  }

  call(name: string): CallSpan | undefined {
    if (!this.sampled) return undefined
    this.#calls += 1
    if (this.#calls > mostCalls) return undefined
    const span = new Span(this.#tracer, 'client', this)
    return { end: (attributes, failure) => span.end(name, attributes, failure) }
  }

  /** Ends it. `failure`: why it counts as an error. */
  end(name: string, attributes: Attributes, failure?: string): void {
    if (!this.sampled) return
    // The steady clock measures the duration, because the wall clock may jump.
    const endedAt = this.#beganAt + performance.now() - this.#beganMs
    this.#tracer.add({
      traceId: this.traceId,
      spanId: this.spanId,
      ...(this.#parent && { parentSpanId: this.#parent }),
      name,
      kind: this.#kind,
      startTimeUnixNano: nanos(this.#beganAt),
      endTimeUnixNano: nanos(endedAt),
      attributes: attributeList(this.#calls > 0 ? { ...attributes, 'tidings.gateway_calls': this.#calls } : attributes),
      ...(this.links.length > 0 && { links: this.links.map(({ traceId, spanId }) => ({ traceId, spanId })) }),
      ...(failure !== undefined && { status: { code: failed, message: failure } })
    })
  }
}

const randomHex = (bytes: number): string => Buffer.from(getRandomValues(new Uint8Array(bytes))).toString('hex')
