import { isIP, type OnReadOpts } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { mayConnect } from '../../../platform/net/addresses.ts'
import { guardedLookup, resolveByDns } from '../../../platform/net/guard.ts'
import type { ConnectionEvents, H2Connection, H2Transport, TlsOptions } from '../transport.ts'
import { FramedConnection } from './connection.ts'

/** Checks the addresses of a name when it connects: they may change between an earlier check and the use. */
const publicLookup = guardedLookup(false, resolveByDns)
/** Node reads no more of TLS at a time. */
const readBytes = 16_384

/** Transport with HTTP/2 frames of our own. docs/decisions/0065-own-frames.md has the figures. */
export const framed: H2Transport = {
  async open(origin, tls, events, timeoutMs) {
    const { hostname, host, port, protocol } = new URL(origin)
    if (protocol !== 'https:') throw new Error(`${origin} is not https`)
    // A literal address is never looked up, so the look-up cannot refuse it.
    const name = hostname.replace(/^\[|\]$/g, '')
    if (tls.publicOnly && isIP(name) !== 0 && !mayConnect(name, false))
      throw new Error(`${hostname} is not a public address`)
    return new Opening(name, Number(port || 443), tls).whenReady(host, events, timeoutMs)
  }
}

class Opening {
  readonly #socket: TLSSocket
  #connection: FramedConnection | undefined

  constructor(name: string, port: number, { ca, publicOnly }: TlsOptions) {
    // One buffer for everything that arrives, instead of a new one and the machinery of a stream for each record.
    const buffer = Buffer.allocUnsafeSlow(readBytes)
    const callback = (bytes: number) => {
      this.#connection?.read(buffer, bytes)
      return true
    }
    const options: ConnectionOptions & { onread: OnReadOpts } = {
      host: name,
      port,
      ALPNProtocols: ['h2'],
      onread: { buffer, callback },
      ...(isIP(name) === 0 && { servername: name }),
      ...(ca && { ca }),
      ...(publicOnly && { lookup: publicLookup })
    }
    this.#socket = connect(options)
  }

  /** Resolves when the peer has sent its settings. */
  whenReady(authority: string, events: ConnectionEvents, timeoutMs: number): Promise<H2Connection> {
    const socket = this.#socket
    return new Promise((resolve, reject) => {
      let failure = 'closed before it was ready'
      const fail = (reason: string) => {
        failure = reason
        socket.destroy()
      }
      const timer = setTimeout(fail, timeoutMs, `no answer within ${timeoutMs} ms`)
      const failed = () => {
        clearTimeout(timer)
        reject(new Error(this.#connection?.fault ?? failure))
      }
      socket.on('error', (error: NodeJS.ErrnoException) => {
        failure = error.message || error.code || failure
      })
      socket.once('close', failed)
      socket.once('secureConnect', () => {
        if (socket.alpnProtocol !== 'h2') return fail('the peer does not speak HTTP/2')
        socket.setNoDelay(true)
        const connection = new FramedConnection(socket, events, authority, () => {
          clearTimeout(timer)
          socket.off('close', failed)
          resolve(connection)
        })
        this.#connection = connection
      })
    })
  }
}
