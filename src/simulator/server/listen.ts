import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as http2 from 'node:http2'
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { OperatorError } from '../../platform/errors.ts'
import { beginLimit, capStreams } from './stream-limits.ts'
import { createTap, keepTap } from './tap.ts'

/** Node's HTTP/1.1 and HTTP/2 offer the same face to a handler; the second one also has a stream. */
export type Request = (IncomingMessage & { stream?: undefined }) | http2.Http2ServerRequest
export type Response = ServerResponse | http2.Http2ServerResponse

export interface ListenOptions {
  host: string
  port: number
  cert: string
  /** What is served instead while the fault lasts. */
  expiredCert: string
  key: string
  /** APNs speaks HTTP/2 and nothing else. */
  http1: boolean
  maxStreams: number
  /** Whether a new connection is taken; it is cut otherwise. */
  admits: () => boolean
  /** Whether a new connection may have to misbehave. */
  needsTap: () => boolean
  onRequest: (request: Request, response: Response) => void
}

export interface Listener {
  port: number
  /** Cuts every connection. */
  cut(): void
  /** For old and new connections, where it is less than theirs; 0: theirs. */
  setMostStreams(most: number): void
  /** For new connections. */
  setExpired(expired: boolean): void
  close(): Promise<void>
}

const tlsHandshake = 0x16

/**
 * One port for everything the gateway speaks: the first bytes tell TLS, cleartext HTTP/2 (`PRI * HTTP/2.0`) and HTTP/1.1
 * apart, so that a sender needs one address whichever it uses.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { cert, key, http1, onRequest } = options
  const settings = { maxConcurrentStreams: options.maxStreams }
  const secure = http2.createSecureServer({ cert, key, allowHTTP1: http1, settings, ALPNProtocols: protocols(http1) })
  const clear = http2.createServer({ settings })
  const plain = createHttpServer()
  const sessions = new Set<http2.Http2Session>()
  let most = Number.POSITIVE_INFINITY
  let expired = false
  const servers = [secure, clear] as http2.Http2Server[]
  for (const server of servers) {
    server.on('request', onRequest)
    // A peer that resets or vanishes is what simulators are for, and no fault of ours.
    server.on('sessionError', () => {})
    server.on('session', (session) => {
      session.on('error', () => {})
      beginLimit(session, options.maxStreams, most)
      sessions.add(session)
      session.on('close', () => sessions.delete(session))
    })
  }
  // HTTP/2 over a tap is clear text to Node: TLS ends before it.
  const tapped = createTlsServer({ cert, key, ALPNProtocols: protocols(http1) }, (socket) => {
    socket.on('error', () => {})
    if (socket.alpnProtocol === 'h2') tapInto(socket)
    else if (http1) plain.emit('connection', socket)
    else socket.destroy()
  })
  function tapInto(socket: Socket) {
    const { stream, ...tap } = createTap(socket)
    clear.once('session', (session) => keepTap(session, tap))
    clear.emit('connection', stream)
  }
  plain.on('request', onRequest)
  for (const server of [secure, tapped]) server.on('tlsClientError', () => {})
  plain.on('clientError', (_, socket) => socket.destroy())

  const sockets = new Set<Socket>()
  const front = createNetServer((socket) => {
    socket.on('error', () => {})
    if (!options.admits()) return void socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.setNoDelay(true)
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null
      if (!first) return
      socket.unshift(first)
      const start = first.toString('latin1', 0, 3)
      const isTapped = options.needsTap()
      if (first[0] === tlsHandshake) (isTapped ? tapped : secure).emit('connection', socket)
      else if (start === 'PRI') isTapped ? tapInto(socket) : clear.emit('connection', socket)
      else if (http1) plain.emit('connection', socket)
      else socket.destroy()
    })
  })

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  front.listen(options.port, options.host)
  await once(front, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`The simulator cannot listen on ${options.host}:${options.port} (${error.code}).`, 1, {
      cause: error
    })
  })
  return {
    port: (front.address() as AddressInfo).port,
    cut,
    setMostStreams(wanted) {
      const next = wanted || Number.POSITIVE_INFINITY
      if (next === most) return
      most = next
      for (const server of servers) server.updateSettings({ maxConcurrentStreams: Math.min(options.maxStreams, most) })
      for (const session of sessions) capStreams(session, most)
    },
    setExpired(wanted) {
      if (wanted === expired) return
      expired = wanted
      const context = { cert: expired ? options.expiredCert : cert, key }
      for (const server of [secure, tapped]) server.setSecureContext(context)
    },
    async close() {
      const closed = once(front, 'close')
      front.close()
      cut()
      await closed
    }
  }
}

const protocols = (http1: boolean) => (http1 ? ['h2', 'http/1.1'] : ['h2'])
