import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as http2 from 'node:http2'
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { OperatorError } from '../../platform/errors.ts'
import { http } from '../../platform/net/node-http.ts'
import { beginLimit, capStreams } from './stream-limits.ts'
import { createTap, keepTap } from './tap.ts'

/** Node's HTTP/1.1 and HTTP/2 requests have the same interface; HTTP/2 also has a stream. */
export type Request = (IncomingMessage & { stream?: undefined }) | http2.Http2ServerRequest
export type Response = ServerResponse | http2.Http2ServerResponse

export interface ListenOptions {
  host: string
  port: number
  cert: string
  /** The certificate while the fault `tls_expired` lasts. */
  expiredCert: string
  key: string
  /** False for APNs, which speaks HTTP/2 only. */
  http1: boolean
  maxStreams: number
  /** Whether a new connection is accepted; otherwise it is cut. */
  admits: () => boolean
  /** Whether a new connection may have to misbehave. */
  needsTap: () => boolean
  onRequest: (request: Request, response: Response) => void
}

export interface Listener {
  port: number
  /** Cuts every connection. */
  cut(): void
  /** Lowers the limit of open streams, for existing and new connections; 0 restores the configured limit. */
  setMostStreams(most: number): void
  /** Whether new connections get an expired certificate. */
  setExpired(expired: boolean): void
  close(): Promise<void>
}

const tlsHandshake = 0x16

/**
 * Serves every protocol of a gateway on one port: the first bytes distinguish TLS, cleartext HTTP/2 (`PRI * HTTP/2.0`)
 * and HTTP/1.1, so that a sender needs one address for all of them.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const port = new Port(options)
  await port.open()
  return port
}

class Port implements Listener {
  readonly #options: ListenOptions
  readonly #secure: http2.Http2SecureServer
  readonly #clear: http2.Http2Server
  readonly #plain = http.createServer()
  /** Ends TLS before a tap: HTTP/2 over a tap is clear text to Node. */
  readonly #tapped: TlsServer
  readonly #front = createNetServer((socket) => this.#admit(socket))
  readonly #sessions = new Set<http2.Http2Session>()
  readonly #sockets = new Set<Socket>()
  #most = Number.POSITIVE_INFINITY
  #expired = false

  constructor(options: ListenOptions) {
    const { cert, key, http1, onRequest } = options
    const settings = { maxConcurrentStreams: options.maxStreams }
    const tls = { cert, key, ALPNProtocols: http1 ? ['h2', 'http/1.1'] : ['h2'] }
    this.#options = options
    this.#secure = http2.createSecureServer({ ...tls, allowHTTP1: http1, settings })
    this.#clear = http2.createServer({ settings })
    this.#tapped = createTlsServer(tls, (socket) => this.#acceptTls(socket))
    for (const server of this.#http2Servers()) this.#serve(server)
    this.#plain.on('request', onRequest)
    for (const server of [this.#secure, this.#tapped]) server.on('tlsClientError', () => {})
    this.#plain.on('clientError', (_, socket) => socket.destroy())
  }

  get port(): number {
    return (this.#front.address() as AddressInfo).port
  }

  async open(): Promise<void> {
    const { host, port } = this.#options
    // Not shared with other processes of `tidings serve --processes`: each has simulators of its own.
    this.#front.listen({ port, host, exclusive: true })
    await once(this.#front, 'listening').catch((error: NodeJS.ErrnoException) => {
      throw new OperatorError(`The simulator cannot listen on ${host}:${port} (${error.code}).`, 1, { cause: error })
    })
  }

  #http2Servers(): http2.Http2Server[] {
    return [this.#secure, this.#clear] as http2.Http2Server[]
  }

  #serve(server: http2.Http2Server): void {
    server.on('request', this.#options.onRequest)
    // Peers that reset or vanish are expected: simulators exist to test them.
    server.on('sessionError', () => {})
    server.on('session', (session) => {
      session.on('error', () => {})
      beginLimit(session, this.#options.maxStreams, this.#most)
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
    })
  }

  #admit(socket: Socket): void {
    socket.on('error', () => {})
    if (!this.#options.admits()) return void socket.destroy()
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.setNoDelay(true)
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null
      if (!first) return
      socket.unshift(first)
      this.#route(socket, first)
    })
  }

  #route(socket: Socket, first: Buffer): void {
    const isTapped = this.#options.needsTap()
    if (first[0] === tlsHandshake) (isTapped ? this.#tapped : this.#secure).emit('connection', socket)
    else if (first.toString('latin1', 0, 3) === 'PRI')
      isTapped ? this.#tapInto(socket) : this.#clear.emit('connection', socket)
    else if (this.#options.http1) this.#plain.emit('connection', socket)
    else socket.destroy()
  }

  #acceptTls(socket: TLSSocket): void {
    socket.on('error', () => {})
    if (socket.alpnProtocol === 'h2') this.#tapInto(socket)
    else if (this.#options.http1) this.#plain.emit('connection', socket)
    else socket.destroy()
  }

  #tapInto(socket: Socket): void {
    const { stream, ...tap } = createTap(socket)
    this.#clear.once('session', (session) => keepTap(session, tap))
    this.#clear.emit('connection', stream)
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  setMostStreams(wanted: number): void {
    const next = wanted || Number.POSITIVE_INFINITY
    if (next === this.#most) return
    this.#most = next
    const maxConcurrentStreams = Math.min(this.#options.maxStreams, next)
    for (const server of this.#http2Servers()) server.updateSettings({ maxConcurrentStreams })
    for (const session of this.#sessions) capStreams(session, next)
  }

  setExpired(wanted: boolean): void {
    if (wanted === this.#expired) return
    this.#expired = wanted
    const { cert, expiredCert, key } = this.#options
    for (const server of [this.#secure, this.#tapped])
      server.setSecureContext({ cert: wanted ? expiredCert : cert, key })
  }

  async close(): Promise<void> {
    const closed = once(this.#front, 'close')
    this.#front.close()
    this.cut()
    await closed
  }
}
