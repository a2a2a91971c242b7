import { detailsIn } from './details.ts'
import { type ErrorCode, type ErrorFacts, kindOf, TidingsError } from './errors.ts'
import { type Operations, operations } from './operations.ts'
import type { Problem } from './schemas.ts'

export interface Settings {
  /** The address of the service, such as https://tidings.example.com. */
  url: string
  /** How often a failed request is repeated. Default: 4. */
  retries?: number
  /** How long one attempt may take. Default: 30,000. */
  timeoutMs?: number
  /** The longest wait before an attempt. A service that asks for a longer one gets no repeat. Default: 20,000. */
  maxWaitMs?: number
  /** Sends the requests. Default: the global fetch. */
  fetch?: typeof fetch
}

export interface CallOptions {
  /**
   * Makes a repeat harmless: the same key and body get the first response again, for a day. Default: a new key for each
   * call, which covers its own repeats. Pass one of yours, such as the id of an order, if your program may repeat a call.
   */
  idempotencyKey?: string | undefined
  /** Ends the call. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  retries?: number | undefined
}

export type Name = keyof Operations
export type Input<Operation extends Name> = Omit<Operations[Operation], 'result'>
export type Result<Operation extends Name> = Operations[Operation]['result']

interface Sent {
  path?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

/** Whether a request may be sent again although the first one may have arrived. */
type Repeats = 'always' | 'never'

export interface Transport {
  /** Calls an operation by its name in /openapi.json, and repeats it where that is safe. */
  call<Operation extends Name>(
    operation: Operation,
    input: Input<Operation>,
    options?: CallOptions & { repeats?: Repeats }
  ): Promise<Result<Operation>>
  /** One attempt, for streams. */
  open(operation: Name, input: Sent, signal: AbortSignal): Promise<Response>
  readonly retries: number
  wait(attempt: number, askedMs: number | undefined, signal: AbortSignal | undefined): Promise<void>
}

export interface Access {
  headers: Record<string, string>
  /** What stands in place of /api/v1 in paths, for callers with a token. */
  prefix?: string
}

const firstWaitMs = 250

/** Sends requests: at most `retries` repeats each, with growing random waits between them. */
export function createTransport(settings: Settings, access: Access): Transport {
  const { retries: usualRetries = 4, timeoutMs: usualTimeoutMs = 30_000, maxWaitMs = 20_000 } = settings
  const send = settings.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const base = settings.url.replace(/\/+$/, '')

  function requestOf(operation: Name, { path = {}, query = {}, body }: Sent, key?: string) {
    const [method, template] = routeOf(operation)
    const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(operation, name, path[name]))
    const place = access.prefix === undefined ? filled : filled.replace(/^\/api\/v1/, access.prefix)
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
    const search = new URLSearchParams(
      given.map(([name, value]) => [name, String(value)] as [string, string])
    ).toString()
    const isText = typeof body === 'string'
    const headers: Record<string, string> = { ...access.headers }
    if (body !== undefined) headers['content-type'] = isText ? 'application/x-ndjson' : 'application/json'
    if (key !== undefined) headers['idempotency-key'] = key
    const text = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }
    return { url: `${base}${place}${search && `?${search}`}`, init: { method, headers, ...text } satisfies RequestInit }
  }

  async function attempt(url: string, init: RequestInit, timeoutMs: number, signal: AbortSignal | undefined) {
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(timedOut), timeoutMs)
    const end = () => ending.abort(signal?.reason)
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end, { once: true })
    try {
      const response = await send(url, { ...init, signal: ending.signal })
      return { response, text: await response.text() }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      throw ending.signal.aborted ? timedOut : error
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    }
  }

  async function wait(number: number, askedMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    // A random half, so that many callers do not come back at the same moment.
    const growing = Math.min(maxWaitMs, firstWaitMs * 2 ** number) * (0.5 + Math.random() / 2)
    await pause(Math.max(askedMs ?? 0, growing), signal)
  }

  return {
    retries: usualRetries,
    wait,
    async call(operation, input, options = {}) {
      const { signal, retries = usualRetries, timeoutMs = usualTimeoutMs, repeats } = options
      const [method, , keyed] = routeOf(operation)
      const key = keyed ? (options.idempotencyKey ?? newId()) : undefined
      // A POST without a key may have had its effect when its response is lost.
      const isHarmless = keyed !== undefined || method !== 'POST' || repeats === 'always'
      const { url, init } = requestOf(operation, input as Sent, key)
      let mayHaveArrived = false
      for (let number = 0; ; number += 1) {
        const failure = await attempt(url, init, timeoutMs, signal)
          .then(({ response, text }) =>
            response.ok ? { result: parsed(response, text) } : refusal(operation, number + 1, response, text)
          )
          .catch((error) => unanswered(operation, number + 1, error, signal))
        if (!(failure instanceof TidingsError)) return failure.result as never
        if (mayHaveArrived && isGone(operation, failure)) return {} as never
        // A request that the service put off had no effect.
        mayHaveArrived ||= failure.kind !== 'rate_limited' && failure.code !== 'overloaded'
        const mayHelp = failure.kind === 'rate_limited' || (isHarmless && isPassing(failure))
        if (!mayHelp || number >= retries || (failure.retryAfterMs ?? 0) > maxWaitMs) throw failure
        await wait(number, failure.retryAfterMs, signal).catch((reason) => {
          throw unanswered(operation, number + 1, reason, signal)
        })
      }
    },
    async open(operation, input, signal) {
      const { url, init } = requestOf(operation, input)
      const headers = { ...init.headers, accept: 'text/event-stream' }
      const response = await send(url, { ...init, headers, signal }).catch((error) => {
        throw unanswered(operation, 1, error, signal)
      })
      if (!response.ok) throw refusal(operation, 1, response, await response.text().catch(() => ''))
      return response
    }
  }
}

/** Callers without types may pass a name that no operation has. */
function routeOf(operation: Name): (typeof operations)[Name] {
  if (Object.hasOwn(operations, operation)) return operations[operation]
  const sentence = `${JSON.stringify(operation)} is not an operation. /openapi.json lists the names`
  throw new TidingsError(sentence, { kind: 'request', operation: String(operation), attempts: 0 })
}

/** An id as a part of a path. Addresses drop . and .. wherever they stand, so that another thing would be addressed. */
function segmentOf(operation: Name, name: string, id: string | undefined): string {
  if (id && id !== '.' && id !== '..' && !loneSurrogate.test(id)) return encodeURIComponent(id)
  throw new TidingsError(`${name}: ${JSON.stringify(id)} is not an id`, { kind: 'request', operation, attempts: 0 })
}
const loneSurrogate = /\p{Surrogate}/u

const timedOut = new Error('No response arrived in time')

/** Failures that may pass by themselves. */
export const isPassing = ({ kind, code }: TidingsError): boolean =>
  ['connection', 'timeout', 'rate_limited', 'unavailable'].includes(kind) || code === 'idempotency_key_in_use'

/** What a repeated deletion does not find was deleted by the attempt whose response was lost. Deletions return nothing. */
const isGone = (operation: string, { code }: TidingsError): boolean =>
  /^(delete|unindex)/.test(operation) && code === 'not_found'

function parsed(response: Response, text: string): unknown {
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return text === '' ? undefined : text
  return JSON.parse(text)
}

/** The contract fixes some bodies as plain text; headers then have the code and the detail. */
function refusal(operation: string, attempts: number, { status, headers }: Response, text: string): TidingsError {
  const problem = problemIn(text)
  const asked = headers.get('retry-after')
  const detail = headers.get('x-service-error-detail')
  const facts: ErrorFacts = {
    kind: kindOf(status),
    operation,
    status,
    code: (problem?.code ?? headers.get('x-service-error-code') ?? undefined) as ErrorCode | undefined,
    details: problem?.details ?? detailsIn(detail ?? ''),
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: asked !== null && /^\d+$/.test(asked) ? Number(asked) * 1000 : undefined,
    attempts
  }
  const said = problem?.error ?? (text.length < 200 && !text.includes('<') ? text : '')
  // Some fixed texts say all there is to say, and the detail repeats them.
  const sentences = new Set([said || `HTTP ${status}`, detail].filter((one) => one !== null && one !== ''))
  return new TidingsError([...sentences].join(': '), facts)
}

function problemIn(text: string): Problem | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const found = JSON.parse(text) as Problem
    return typeof found.error === 'string' ? found : undefined
  } catch {
    return undefined
  }
}

export function unanswered(
  operation: string,
  attempts: number,
  error: unknown,
  signal: AbortSignal | undefined
): TidingsError {
  const kind = signal?.aborted ? 'aborted' : error === timedOut ? 'timeout' : 'connection'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const words = kind === 'aborted' ? 'The call was ended by its signal' : wordsOf(cause)
  return new TidingsError(words, { kind, operation, attempts }, { cause: error })
}

const wordsOf = (error: unknown): string =>
  (error instanceof Error && (error.message || (error as { code?: string }).code)) || String(error)

/** Rejects with the reason of the signal. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Random enough for a key; crypto.randomUUID is missing on pages without https. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
