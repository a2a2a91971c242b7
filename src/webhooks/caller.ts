import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Allowed } from '../platform/net/addresses.ts'
import { guardedLookup, type Resolve, refuseUrl, resolveFor } from '../platform/net/guard.ts'
import { http } from '../platform/net/node-http.ts'
import { retryAfterMs } from '../platform/net/retry-after.ts'
import { steadyMs } from '../platform/time.ts'
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
  /** The beginning of the body of the response; absent for an empty one. */
  body?: string
}

/** An answer with what people read about it. */
export interface Attempted extends Answer {
  /** As they were sent, with the subscriber's values masked. */
  headers: Record<string, string>
  at: Date
  durationMs: number
}

/** The most of a response that is kept. */
const bodyBytes = 2_048
/** How long a call waits for the body behind the status. Receivers usually send both at once. */
const bodyMs = 250
const longestError = 500
/** Headers that only Tidings sets: they frame the request or carry the signature. */
const ownHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|webhook-.*)$/i

export type Caller = ReturnType<typeof createCaller>

/**
 * Calls addresses that strangers chose. It checks the address at every call and every connection, and follows no
 * redirects.
 */
export function createCaller(options: CallerOptions) {
  const { allowPrivate, ca, timeoutMs = 10_000 } = options
  const { resolve = resolveFor(allowPrivate) } = options
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
      let responded = false
      request.on('error', (error) => fail(Object.assign(error, { again: request.reusedSocket && isReset(error) })))
      // Status 101: without a listener Node destroys the connection, emits no error, and ignores the signal from then on.
      request.on('upgrade', (response, socket) => {
        socket.destroy()
        done(answerOf(response))
      })
      request.on('close', () => {
        if (!responded) fail(new Error('the receiver closed the connection'))
      })
      request.on('response', (response) => {
        responded = true
        // Only the status of a response matters; the beginning of its body is for people. A longer or slower body costs
        // the connection.
        void beginningOf(response).then((text) => done({ ...answerOf(response), ...(text && { body: text }) }))
      })
      request.end(body)
    })
  }

  return {
    /** Never throws. An aborted call is reported as a failure: check the signal. */
    async call({ url, headers, signature, body, signal, mayBeLocal = false }: OutgoingRequest): Promise<Attempted> {
      const pool = mayBeLocal ? local : usual
      const passed = passedOn(headers)
      const sent = {
        'content-type': 'application/json',
        'user-agent': `Tidings/${version}`,
        ...passed,
        ...signature,
        'content-length': String(Buffer.byteLength(body))
      }
      const at = new Date()
      const startMs = steadyMs()
      const shown = (answer: Answer): Attempted => ({
        ...answer,
        at,
        durationMs: Math.round(steadyMs() - startMs),
        headers: masked(sent, passed)
      })
      const reason = refuseUrl(url, pool.allowed)
      if (reason !== null) return shown({ error: `the url ${reason}` })
      const limit = AbortSignal.timeout(timeoutMs)
      const attempt = () => once(pool, new URL(url), sent, body, signal ? AbortSignal.any([signal, limit]) : limit)
      try {
        // The receiver may close an idle connection at the moment of its reuse. This is no failure, so the call is
        // repeated once.
        return shown(await attempt().catch((error) => (error.again ? attempt() : Promise.reject(error))))
      } catch (error) {
        const told = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : (error as Error).message || 'failed'
        return shown({ error: told.replaceAll('\0', '').slice(0, longestError) })
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

/** The subscriber's values may hold its credentials. */
const masked = (sent: Record<string, string>, passed: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, name in passed && name !== 'content-type' ? mask : value])
  )

const mask = '••••••'

/** The first bytes of a body as text, as far as they arrive soon. */
function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((done) => {
    const parts: Buffer[] = []
    let read = 0
    const timer = setTimeout(() => response.destroy(), bodyMs)
    response.on('data', (bytes: Buffer) => {
      parts.push(bytes)
      read += bytes.length
      if (read > bodyBytes) response.destroy()
    })
    response.on('error', () => {})
    response.on('close', () => {
      clearTimeout(timer)
      done(textOf(Buffer.concat(parts).subarray(0, bodyBytes)))
    })
  })
}

/** A character that was cut at the end is left out, and PostgreSQL stores no NUL. */
const textOf = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replace(/\ufffd$/, '')
    .replaceAll('\0', '')

function answerOf({ statusCode = 0, headers }: IncomingMessage): Answer {
  if (statusCode >= 200 && statusCode < 300) return { status: statusCode }
  const error =
    statusCode >= 300 && statusCode < 400
      ? `answered ${statusCode}; redirects are not followed`
      : `answered ${statusCode}`
  const waitMs = retryAfterMs(headers)
  return { status: statusCode, error, ...(waitMs !== undefined && { retryAfterMs: waitMs }) }
}
