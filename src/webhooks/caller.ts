import http from 'node:http'
import https from 'node:https'
import type { Allowed } from '../platform/net/addresses.ts'
import { guardedLookup, type Resolve, refuseUrl, resolveByDns } from '../platform/net/guard.ts'
import { version } from '../platform/version.ts'

export interface CallerOptions {
  allowPrivate: boolean
  /** Replaces the authorities of the system in tests. */
  ca?: string | undefined
  resolve?: Resolve | undefined
  timeoutMs?: number | undefined
}

export interface OutgoingRequest {
  url: string
  /** Headers of the subscriber, without those that Tidings sets itself. */
  headers: Readonly<Record<string, string>>
  signature: Readonly<Record<string, string>>
  body: string
  signal?: AbortSignal
  /** Whether the call may go to this machine, also by plain http. */
  mayBeLocal?: boolean
}

export interface Answer {
  /** Absent: no response arrived. */
  status?: number
  /** The reason why the call failed; absent for a success. */
  error?: string
  /** The wait that the receiver demands. */
  retryAfterMs?: number
}

const bodyBytes = 4_096
const longestError = 500
/** Headers that only Tidings sets: they frame the request or carry the signature. */
const ownHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|webhook-.*)$/i

export type Caller = ReturnType<typeof createCaller>

/**
 * Calls addresses that strangers chose. It checks the address at every call and every connection, and follows no
 * redirects.
 */
export function createCaller({ allowPrivate, ca, resolve = resolveByDns, timeoutMs = 10_000 }: CallerOptions) {
  /**
   * Connections that passed the same checks. An idle one is reused without a look-up, so calls with other checks must
   * not share them.
   */
  const poolOf = (allowed: Allowed) => {
    const pooled = {
      keepAlive: true,
      maxFreeSockets: 4,
      maxTotalSockets: 256,
      // Idle connections are closed before most servers would close them.
      timeout: 4_000
    }
    return {
      allowed,
      secure: new https.Agent({ ...pooled, ca, lookup: guardedLookup(allowed, resolve) }),
      plain: new http.Agent({ ...pooled, lookup: guardedLookup(allowed, resolve, true) })
    }
  }
  const usual = poolOf(allowPrivate)
  const local = allowPrivate ? usual : poolOf('loopback')

  function once(
    { secure, plain }: typeof usual,
    url: URL,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal
  ): Promise<Answer> {
    return new Promise((done, fail) => {
      const options = { method: 'POST', headers, signal, agent: url.protocol === 'https:' ? secure : plain }
      const request = (url.protocol === 'https:' ? https : http).request(url, options)
      request.on('error', (error) => fail(Object.assign(error, { again: request.reusedSocket && isReset(error) })))
      request.on('response', (response) => {
        // Only the status of a response matters. A little of the body is read so that the connection can be reused. A
        // longer or slower body costs the connection, and the call does not wait for it.
        let read = 0
        response.on('data', (bytes: Buffer) => {
          read += bytes.length
          if (read > bodyBytes) response.destroy()
        })
        response.on('error', () => {})
        done(answerOf(response))
      })
      request.end(body)
    })
  }

  return {
    /** Never throws. An aborted call is reported as a failure: check the signal. */
    async call({ url, headers, signature, body, signal, mayBeLocal = false }: OutgoingRequest): Promise<Answer> {
      const pool = mayBeLocal ? local : usual
      const reason = refuseUrl(url, pool.allowed)
      if (reason !== null) return { error: `the url ${reason}` }
      const limit = AbortSignal.timeout(timeoutMs)
      const sent = {
        'content-type': 'application/json',
        'user-agent': `Tidings/${version}`,
        ...passedOn(headers),
        ...signature,
        'content-length': String(Buffer.byteLength(body))
      }
      const attempt = () => once(pool, new URL(url), sent, body, signal ? AbortSignal.any([signal, limit]) : limit)
      try {
        // The receiver may close an idle connection at the moment of its reuse. This is no failure, so the call is
        // repeated once.
        return await attempt().catch((error) => (error.again ? attempt() : Promise.reject(error)))
      } catch (error) {
        const told = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : (error as Error).message || 'failed'
        return { error: told.replaceAll('\0', '').slice(0, longestError) }
      }
    },
    close(): void {
      for (const { secure, plain } of [usual, local]) {
        secure.destroy()
        plain.destroy()
      }
    }
  }
}

const isReset = (error: Error) => 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** Names in lower case, so that a name given in two spellings is sent once. */
function passedOn(headers: Readonly<Record<string, string>>): Record<string, string> {
  const passed = Object.entries(headers).filter(([name]) => !ownHeaders.test(name))
  return Object.fromEntries(passed.map(([name, value]) => [name.toLowerCase(), value]))
}

function answerOf({ statusCode = 0, headers }: http.IncomingMessage): Answer {
  if (statusCode >= 200 && statusCode < 300) return { status: statusCode }
  const error =
    statusCode >= 300 && statusCode < 400
      ? `answered ${statusCode}; redirects are not followed`
      : `answered ${statusCode}`
  const seconds = Number(headers['retry-after'])
  const asked = Number.isFinite(seconds) && seconds > 0 && headers['retry-after'] !== undefined
  return { status: statusCode, error, ...(asked && { retryAfterMs: Math.min(seconds, 3_600) * 1000 }) }
}
