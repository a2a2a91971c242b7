import { setTimeout as sleep } from 'node:timers/promises'
import { version } from '../platform/version.ts'
import type { Connection } from './connection.ts'
import { exit, Failure, usageFailure } from './exit.ts'
import { asFailure, unreachable } from './refusals.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Send {
  query?: Record<string, string | number | undefined>
  body?: unknown
  /** One JSON value a line, sent as it is. */
  lines?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** Whether doing it twice does no harm. A POST says so itself; the other methods are. */
  repeatable?: boolean
}

/** Longer than the service's own limit of 100 s: its answer says more than our giving up. */
const answerMs = 110_000
const attempts = 5
/** A server that wants us to wait longer hears from us another day. */
const longestWaitMs = 30_000

/** Talks to /manage/v1. Every wait has a limit, and the token goes nowhere but into its header. */
export function createClient(
  { url, token }: Connection,
  interrupt?: AbortSignal,
  /** Called with the warning of a response that is a success all the same. */
  warn: (warning: string) => void = () => {}
) {
  async function once(method: Method, path: string, send: Send, limitMs: number): Promise<Response> {
    const { query, body, lines, headers } = send
    const address = new URL(`${url}/manage/v1${path}`)
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) address.searchParams.set(name, String(value))
    }
    const type = lines ? 'application/x-ndjson' : body === undefined ? undefined : 'application/json'
    // Counts until the answer begins: an export may take its time, and fetch itself ends one that falls silent.
    const patience = new AbortController()
    const timer = setTimeout(() => patience.abort(new DOMException('no answer', 'TimeoutError')), limitMs)
    try {
      return await fetch(address, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'user-agent': `tidings-cli/${version}`,
          ...(type && { 'content-type': type }),
          ...headers
        },
        body: lines ?? (body === undefined ? null : JSON.stringify(body)),
        // A redirect would carry the token to a place nobody named.
        redirect: 'manual',
        signal: interrupt ? AbortSignal.any([patience.signal, interrupt]) : patience.signal
      })
    } catch (error) {
      if (interrupt?.aborted) throw interrupted()
      throw unreachable(url, error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Waits out 429 and 503 as the service asks, a few times. Answers a success; anything else is thrown. */
  async function send(method: Method, path: string, options: Send = {}, limitMs = answerMs): Promise<Response> {
    const { repeatable = method !== 'POST' } = options
    for (let attempt = 1; ; attempt += 1) {
      const response = await once(method, path, options, limitMs)
      const warning = response.ok && response.headers.get('x-service-warning')
      if (warning) warn(warning)
      if (response.ok) return response
      // 429 is said before anything is done; a 503 may follow work that was half done.
      const again = response.status === 429 || (response.status === 503 && repeatable)
      const waitMs = retryAfterMs(response) * 2 ** (attempt - 1)
      if (!again || attempt === attempts || waitMs > longestWaitMs) throw await asFailure(url, response)
      await response.body?.cancel()
      await sleep(waitMs, undefined, interrupt && { signal: interrupt }).catch(() => {
        throw interrupted()
      })
    }
  }

  return {
    url,
    send,
    async json<Answer>(method: Method, path: string, options?: Send, limitMs?: number): Promise<Answer> {
      const response = await send(method, path, options, limitMs)
      return response.json().catch((error: unknown) => {
        throw error instanceof SyntaxError
          ? new Failure(exit.failure, 'unexpected_answer', `What answers at ${url} is not Tidings. Check the address.`)
          : unreachable(url, error)
      }) as Promise<Answer>
    }
  }
}

export type Client = ReturnType<typeof createClient>

export const interrupted = () => new Failure(exit.interrupted, 'interrupted', 'Interrupted.')

/** An id as one part of a path. */
export function segment(id: string): string {
  // A URL has no way to say these two: they would address what lies above.
  if (id === '' || id === '.' || id === '..') throw usageFailure(`'${id}' cannot be used as an id here.`)
  if (!id.isWellFormed()) throw usageFailure('The id is not valid UTF-8.')
  return encodeURIComponent(id)
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 1)
  return Number.isFinite(seconds) ? Math.max(0.1, seconds) * 1000 : 1000
}
