import * as http2 from 'node:http2'
import { isIP } from 'node:net'
import { mayConnect } from '../../platform/net/addresses.ts'
import { guardedLookup, resolveByDns } from '../../platform/net/guard.ts'
import { steadyMs } from '../../platform/time.ts'
import type { ConnectionEvents, Ending, H2Connection, H2Transport } from './transport.ts'

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_REFUSED_STREAM } = http2.constants
/** Answers are short. What is longer is cut, so that no peer fills our memory. */
const longestAnswer = 64 * 1024
const sweepMs = 50

/** What a session throws that is closing, or has used up its numbers. */
const goneCodes = new Set(['ERR_HTTP2_GOAWAY_SESSION', 'ERR_HTTP2_INVALID_SESSION', 'ERR_HTTP2_OUT_OF_STREAMS'])

interface Waiting {
  stream: http2.ClientHttp2Stream
  deadlineAt: number
  settle(ending: Ending): void
}

/** Names are resolved as usual and lead to public addresses only: a name may change its mind between check and use. */
const publicLookup = guardedLookup(false, resolveByDns)

/** Transport over Node's own HTTP/2. */
export const nodeHttp2: H2Transport = {
  open: (origin, tls, events, timeoutMs) =>
    new Promise((resolve, reject) => {
      const { hostname, protocol } = new URL(origin)
      if (protocol !== 'https:') return reject(new Error(`${origin} is not https`))
      // A literal address is never looked up, so the look-up cannot refuse it.
      const literal = hostname.replace(/^\[|\]$/g, '')
      if (tls.publicOnly && isIP(literal) !== 0 && !mayConnect(literal, false))
        return reject(new Error(`${hostname} is not a public address`))
      const session = http2.connect(origin, {
        ...(tls.ca && { ca: tls.ca }),
        ...(tls.publicOnly && { lookup: publicLookup }),
        settings: { enablePush: false },
        maxSessionMemory: 64
      })
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
        resolve(connectionOn(session, limitOf(settings), events))
      })
    })
}

const limitOf = ({ maxConcurrentStreams }: http2.Settings) => maxConcurrentStreams ?? Number.MAX_SAFE_INTEGER

function connectionOn(session: http2.ClientHttp2Session, firstLimit: number, events: ConnectionEvents): H2Connection {
  const waiting = new Set<Waiting>()
  let limit = firstLimit
  let state: H2Connection['state'] = 'ready'
  let lastStreamId = Number.POSITIVE_INFINITY
  let why = 'the connection was closed'
  let sweeper: NodeJS.Timeout | undefined

  function startDraining(reason: string) {
    if (state !== 'ready') return
    state = 'draining'
    events.onDraining(reason)
  }

  session.on('remoteSettings', (settings) => {
    limit = limitOf(settings)
    events.onLimit()
  })
  // Node closes the session gently on GOAWAY, or destroys it if there was an error code; `destroyed` alone says nothing.
  session.on('goaway', (code, lastId, opaque) => {
    lastStreamId = Math.min(lastStreamId, lastId)
    why = `GOAWAY ${code}${opaque ? ` ${Buffer.from(opaque).toString('latin1', 0, 200)}` : ''}`
    startDraining(why)
  })
  session.on('error', (error) => {
    why = error.message
  })
  session.on('close', () => {
    startDraining(why)
    state = 'closed'
    // Streams tell their end before the session does. Should one not have, it must not wait for its deadline.
    for (const each of waiting) each.settle(unanswered(each.stream))
    events.onClosed()
  })

  /** Without an answer: did the peer act on it? */
  function unanswered(stream: http2.ClientHttp2Stream): Ending {
    const untouched = stream.id === undefined || stream.id > lastStreamId || stream.rstCode === NGHTTP2_REFUSED_STREAM
    return untouched ? { kind: 'refused' } : { kind: 'lost', message: why }
  }

  function sweep() {
    const now = steadyMs()
    for (const each of waiting)
      if (each.deadlineAt <= now) {
        // A request that has no stream yet was never sent, however long it has waited.
        each.settle(each.stream.id === undefined ? { kind: 'refused' } : { kind: 'timeout' })
        each.stream.close(NGHTTP2_CANCEL)
      }
  }

  return {
    get state() {
      return state
    },
    get open() {
      return waiting.size
    },
    get limit() {
      return limit
    },
    request(headers, body, deadlineAt, done) {
      let stream: http2.ClientHttp2Stream
      try {
        stream = session.request(headers)
      } catch (error) {
        if (!goneCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error
        startDraining(why)
        return void setImmediate(done, { kind: 'refused' })
      }
      let answer: (http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader) | undefined
      let chunks: Buffer[] | undefined
      let size = 0
      const each: Waiting = {
        stream,
        deadlineAt,
        settle(ending) {
          if (!waiting.delete(each)) return
          if (waiting.size === 0) clearInterval(sweeper)
          if (waiting.size === 0 && state === 'draining') session.close()
          done(ending)
        }
      }
      if (waiting.size === 0) sweeper = setInterval(sweep, sweepMs)
      waiting.add(each)
      stream.on('response', (got, flags) => {
        answer = got
        // Most answers have no body. Reading it only where there is one saves a tenth of the CPU.
        if (flags & NGHTTP2_FLAG_END_STREAM) stream.resume()
        else stream.on('data', keep)
      })
      const keep = (chunk: Buffer) => {
        size += chunk.length
        if (size > longestAnswer) return
        if (chunks) chunks.push(chunk)
        else chunks = [chunk]
      }
      // A cut connection ends streams without an error event, so `close` is what tells; the error says nothing more.
      stream.on('error', () => {})
      stream.on('close', () => {
        const status = answer?.[':status']
        // Half of a refusal could be misread; half of a success is a success.
        if (status !== undefined && (stream.rstCode === 0 || (status >= 200 && status < 300)))
          each.settle({ kind: 'answer', status, headers: answer!, body: chunks ? String(Buffer.concat(chunks)) : '' })
        else each.settle(unanswered(stream))
      })
      stream.end(body)
    },
    ping(done) {
      if (state === 'closed' || session.destroyed) return false
      try {
        return session.ping((error) => {
          if (!error) done()
        })
      } catch {
        return false
      }
    },
    drain() {
      startDraining('drained')
      // Closing tells the peer GOAWAY, and requests of this very moment would not be sent any more.
      if (waiting.size === 0) session.close()
    },
    close(reason) {
      why = reason
      startDraining(reason)
      session.destroy()
    }
  }
}
