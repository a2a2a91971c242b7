import { setTimeout as sleep } from 'node:timers/promises'
import { readJson } from '../platform/json/names.ts'
import { version } from '../platform/version.ts'
import type { Connection } from './connection.ts'
import { exit, Failure, usageFailure } from './exit.ts'
import { asFailure, brokeOff, unreachable } from './refusals.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Send {
  query?: Record<string, string | number | undefined>
  body?: unknown
  /** A body of JSON lines, sent unchanged. */
  lines?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** Whether the request may be repeated safely. All methods but POST are by default. */
  repeatable?: boolean
  /** Whether a repeat that finds nothing is a success: the attempt whose response was lost has deleted it. */
  deletes?: boolean
}

/** Longer than the service's own limit of 100 s, whose error says more than a time-out here. */
const responseMs = 110_000
const attempts = 5
/** The longest Retry-After that is waited for. */
const longestWaitMs = 30_000

/** A client of /manage/v1. Every wait has a limit, and the token is only ever sent in its header. */
export function createClient(
  { url, token }: Connection,
  interrupt?: AbortSignal,
  /** Called with the warning of a successful response. */
  warn: (warning: string) => void = () => {}
) {
  async function once(method: Method, path: string, send: Send, limitMs: number): Promise<Response> {
    const { query, body, lines, headers } = send
    const address = new URL(`${url}/manage/v1${path}`)
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) address.searchParams.set(name, String(value))
    }
    const type = lines ? 'application/x-ndjson' : body === undefined ? undefined : 'application/json'
    // Limits the time until the response begins: an export may take longer, and fetch ends one that stalls.
    const patience = new AbortController()
    const timer = setTimeout(() => patience.abort(new DOMException('no response', 'TimeoutError')), limitMs)
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
        // Following a redirect would send the token to another server.
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

  /**
   * Repeats after 429 and 503 as `Retry-After` says, a few times, and once when the connection broke off, as a kept one
   * does that the server closed at this moment. Returns a success and throws everything else.
   */
  async function send(method: Method, path: string, options: Send = {}, limitMs = responseMs): Promise<Response> {
    const { repeatable = method !== 'POST', deletes = false } = options
    let mayHaveArrived = false
    for (let attempt = 1; ; attempt += 1) {
      const response = await once(method, path, options, limitMs).catch((error: unknown) => {
        if (repeatable && attempt === 1 && brokeOff(error)) return
        throw error
      })
      if (!response) {
        mayHaveArrived = true
        continue
      }
      const warning = response.ok && response.headers.get('x-service-warning')
      if (warning) warn(warning)
      if (response.ok) return response
      // 429 comes before any work; 503 may come after a part of it.
      const again = response.status === 429 || (response.status === 503 && repeatable)
      const waitMs = retryAfterMs(response) * 2 ** (attempt - 1)
      const failure = await asFailure(url, response)
      if (deletes && mayHaveArrived && failure.code === 'not_found') return Response.json({})
      if (!again || attempt === attempts || waitMs > longestWaitMs) throw failure
      mayHaveArrived ||= response.status === 503 && failure.code !== 'overloaded'
      await sleep(waitMs, undefined, interrupt && { signal: interrupt }).catch(() => {
        throw interrupted()
      })
    }
  }

  return {
    url,
    send,
    /** Deletes one thing. */
    async remove(path: string, query: Send['query'] = {}): Promise<void> {
      await send('DELETE', path, { query, deletes: true })
    },
    async json<Body>(method: Method, path: string, options?: Send, limitMs?: number): Promise<Body> {
      const response = await send(method, path, options, limitMs)
      const text = await response.text().catch((error: unknown) => {
        throw unreachable(url, error)
      })
      try {
        return readJson(text) as Body
      } catch {
        throw new Failure(exit.failure, 'unexpected_answer', `The server at ${url} is not Tidings. Check the address.`)
      }
    }
  }
}

export type Client = ReturnType<typeof createClient>

export const interrupted = () => new Failure(exit.interrupted, 'interrupted', 'Interrupted.')

/** Encodes an id as one part of a path. */
export function segment(id: string): string {
  // URLs resolve these two, so they would address the folder above.
  if (id === '' || id === '.' || id === '..') throw usageFailure(`'${id}' cannot be used as an id here.`)
  if (!id.isWellFormed()) throw usageFailure('The id is not valid UTF-8.')
  return encodeURIComponent(id)
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 1)
  return Number.isFinite(seconds) ? Math.max(0.1, seconds) * 1000 : 1000
}
