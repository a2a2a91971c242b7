import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { mayConnect } from '../../../platform/net/addresses.ts'
import { guardedLookup, resolveByDns } from '../../../platform/net/guard.ts'
import type { ConnectionEvents, H2Connection, H2Transport } from '../transport.ts'
import { FramedConnection } from './connection.ts'

/** Checks the addresses of a name when it connects: they may change between an earlier check and the use. */
const publicLookup = guardedLookup(false, resolveByDns)

/** Transport with HTTP/2 frames of our own. docs/decisions/0065-own-frames.md has the figures. */
export const framed: H2Transport = {
  async open(origin, tls, events, timeoutMs) {
    const { hostname, host, port, protocol } = new URL(origin)
    if (protocol !== 'https:') throw new Error(`${origin} is not https`)
    // A literal address is never looked up, so the look-up cannot refuse it.
    const name = hostname.replace(/^\[|\]$/g, '')
    if (tls.publicOnly && isIP(name) !== 0 && !mayConnect(name, false))
      throw new Error(`${hostname} is not a public address`)
    const socket = connect({
      host: name,
      port: Number(port || 443),
      ALPNProtocols: ['h2'],
      ...(isIP(name) === 0 && { servername: name }),
      ...(tls.ca && { ca: tls.ca }),
      ...(tls.publicOnly && { lookup: publicLookup })
    })
    return whenReady(socket, host, events, timeoutMs)
  }
}

/** Resolves when the peer has sent its settings. */
function whenReady(
  socket: TLSSocket,
  authority: string,
  events: ConnectionEvents,
  timeoutMs: number
): Promise<H2Connection> {
  return new Promise((resolve, reject) => {
    let failure = 'closed before it was ready'
    let connection: FramedConnection | undefined
    const fail = (reason: string) => {
      failure = reason
      socket.destroy()
    }
    const timer = setTimeout(fail, timeoutMs, `no answer within ${timeoutMs} ms`)
    const failed = () => {
      clearTimeout(timer)
      reject(new Error(connection?.fault ?? failure))
    }
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.message || error.code || failure
    })
    socket.once('close', failed)
    socket.once('secureConnect', () => {
      if (socket.alpnProtocol !== 'h2') return fail('the peer does not speak HTTP/2')
      socket.setNoDelay(true)
      connection = new FramedConnection(socket, events, authority, () => {
        clearTimeout(timer)
        socket.off('close', failed)
        resolve(connection!)
      })
    })
  })
}
