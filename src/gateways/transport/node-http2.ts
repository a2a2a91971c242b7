import * as http2 from 'node:http2'
import { isIP } from 'node:net'
import { mayConnect } from '../../platform/net/addresses.ts'
import { guardedLookup, resolveByDns } from '../../platform/net/guard.ts'
import { steadyMs } from '../../platform/time.ts'
import { bytesOfBody, longestAnswer, longestList } from './bytes.ts'
import type { ConnectionEvents, Ending, H2Connection, H2Transport, Request, Requester } from './transport.ts'

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_REFUSED_STREAM } = http2.constants
const sweepMs = 50

/** Errors of a session that is closing, or has used up its stream numbers. */
const goneCodes = new Set(['ERR_HTTP2_GOAWAY_SESSION', 'ERR_HTTP2_INVALID_SESSION', 'ERR_HTTP2_OUT_OF_STREAMS'])

interface Waiting {
  stream: http2.ClientHttp2Stream
  deadlineAt: number
  requester: Requester
}

/** Checks the addresses of a name when it connects: they may change between an earlier check and the use. */
const publicLookup = guardedLookup(false, resolveByDns)

/** Transport over Node's own HTTP/2. */
export const nodeHttp2: H2Transport = {
  async open(origin, tls, events, timeoutMs) {
    const { hostname, protocol } = new URL(origin)
    if (protocol !== 'https:') throw new Error(`${origin} is not https`)
    // A literal address is never looked up, so the look-up cannot refuse it.
    const literal = hostname.replace(/^\[|\]$/g, '')
    if (tls.publicOnly && isIP(literal) !== 0 && !mayConnect(literal, false))
      throw new Error(`${hostname} is not a public address`)
    const session = http2.connect(origin, {
      ...(tls.ca && { ca: tls.ca }),
      ...(tls.publicOnly && { lookup: publicLookup }),
      settings: { enablePush: false },
      maxSessionMemory: 64
    })
    return whenReady(session, events, timeoutMs)
  }
}

/** Resolves when the peer has sent its settings. */
function whenReady(
  session: http2.ClientHttp2Session,
  events: ConnectionEvents,
  timeoutMs: number
): Promise<H2Connection> {
  return new Promise((resolve, reject) => {
    let failure = 'closed before it was ready'
    const timer = setTimeout(() => {
      failure = `no answer within ${timeoutMs} ms`
      session.destroy()
    }, timeoutMs)
    session.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.message || error.code || failure
    })
    const failed = () => {
      clearTimeout(timer)
      reject(new Error(failure))
    }
    session.once('close', failed)
    session.once('remoteSettings', (settings) => {
      clearTimeout(timer)
      session.off('close', failed)
      resolve(new NodeConnection(session, limitOf(settings), events))
    })
  })
}

const limitOf = ({ maxConcurrentStreams }: http2.Settings) => maxConcurrentStreams ?? Number.MAX_SAFE_INTEGER

class NodeConnection implements H2Connection {
  readonly #session: http2.ClientHttp2Session
  readonly #events: ConnectionEvents
  readonly #waiting = new Set<Waiting>()
  #limit: number
  #state: H2Connection['state'] = 'ready'
  #lastStreamId = Number.POSITIVE_INFINITY
  #why = 'the connection was closed'
  #sweeper: NodeJS.Timeout | undefined

  constructor(session: http2.ClientHttp2Session, limit: number, events: ConnectionEvents) {
    this.#session = session
    this.#limit = limit
    this.#events = events
    session.on('remoteSettings', (settings) => {
      this.#limit = limitOf(settings)
      events.onLimit()
    })
    // Node closes the session gently on GOAWAY, or destroys it after an error code; `destroyed` alone does not show
    // which.
    session.on('goaway', (code, lastId, opaque) => {
      this.#lastStreamId = Math.min(this.#lastStreamId, lastId)
      this.#why = `GOAWAY ${code}${opaque ? ` ${Buffer.from(opaque).toString('latin1', 0, 200)}` : ''}`
      this.#startDraining(this.#why)
    })
    session.on('error', (error) => {
      this.#why = error.message
    })
    session.on('close', () => this.#closed())
  }

  get state(): H2Connection['state'] {
    return this.#state
  }

  get open(): number {
    return this.#waiting.size
  }

  get limit(): number {
    return this.#limit
  }

  request({ names, values, body, wantsList }: Request, deadlineAt: number, requester: Requester) {
    const headers: http2.OutgoingHttpHeaders = {}
    for (const [index, name] of names.entries()) headers[name] = values[index]
    let stream: http2.ClientHttp2Stream
    try {
      stream = this.#session.request(headers, { endStream: body.length === 0 })
    } catch (error) {
      if (!goneCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      this.#startDraining(this.#why)
      return void setImmediate(() => requester.ended({ kind: 'refused' }))
    }
    if (this.#waiting.size === 0) this.#sweeper = setInterval(() => this.#sweep(), sweepMs)
    const each: Waiting = { stream, deadlineAt, requester }
    this.#waiting.add(each)
    this.#readResponse(each, wantsList === true)
    if (body.length > 0) stream.end(bytesOfBody(body))
  }

  ping(done: () => void): boolean {
    if (this.#state === 'closed' || this.#session.destroyed) return false
    try {
      return this.#session.ping((error) => {
        if (!error) done()
      })
    } catch {
      return false
    }
  }

  drain(): void {
    this.#startDraining('drained')
    // Closing sends GOAWAY to the peer; requests made at this very moment would no longer be sent.
    if (this.#waiting.size === 0) this.#session.close()
  }

  close(reason: string): void {
    this.#why = reason
    this.#startDraining(reason)
    this.#session.destroy()
  }

  #readResponse(each: Waiting, wantsList: boolean): void {
    const { stream } = each
    let response: (http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader) | undefined
    let chunks: Buffer[] | undefined
    let room = longestAnswer
    const keep = (chunk: Buffer) => {
      if (room === 0) return
      const part = chunk.subarray(0, room)
      room -= part.length
      if (chunks) chunks.push(part)
      else chunks = [part]
    }
    stream.on('response', (got, flags) => {
      response = got
      if (wantsList && got[':status'] === 200) room = longestList
      // Most responses have no body. Reading a body only if there is one saves a tenth of the CPU.
      if (flags & NGHTTP2_FLAG_END_STREAM) stream.resume()
      else stream.on('data', keep)
    })
    // A cut connection ends streams without an error event, so the code relies on `close`; an error adds no
    // information.
    stream.on('error', () => {})
    stream.on('close', () => {
      const status = response?.[':status']
      // A truncated refusal could be misread; a truncated success is still a success.
      if (status !== undefined && (stream.rstCode === 0 || (status >= 200 && status < 300))) {
        const body = chunks ? String(Buffer.concat(chunks)) : ''
        this.#settle(each, { kind: 'answer', status, headers: response!, body })
      } else this.#settle(each, this.#unanswered(stream))
    })
  }

  #settle(each: Waiting, ending: Ending): void {
    if (!this.#waiting.delete(each)) return
    if (this.#waiting.size === 0) clearInterval(this.#sweeper)
    if (this.#waiting.size === 0 && this.#state === 'draining') this.#session.close()
    each.requester.ended(ending)
  }

  #startDraining(reason: string): void {
    if (this.#state !== 'ready') return
    this.#state = 'draining'
    this.#events.onDraining(reason)
  }

  #closed(): void {
    this.#startDraining(this.#why)
    this.#state = 'closed'
    // Streams end before their session. A stream that has not ended by now must not wait for its deadline.
    for (const each of this.#waiting) this.#settle(each, this.#unanswered(each.stream))
    this.#events.onClosed()
  }

  /** Decides whether the peer acted on a request without a response. */
  #unanswered({ id, rstCode }: http2.ClientHttp2Stream): Ending {
    const untouched = id === undefined || id > this.#lastStreamId || rstCode === NGHTTP2_REFUSED_STREAM
    return untouched ? { kind: 'refused' } : { kind: 'lost', message: this.#why }
  }

  #sweep(): void {
    const now = steadyMs()
    for (const each of this.#waiting)
      if (each.deadlineAt <= now) {
        // A request that has no stream yet was never sent, however long it has waited.
        this.#settle(each, each.stream.id === undefined ? { kind: 'refused' } : { kind: 'timeout' })
        each.stream.close(NGHTTP2_CANCEL)
      }
  }
}
