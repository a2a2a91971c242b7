import type { Http2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/**
 * Sits between HTTP/2 and its socket. Node sends only valid frames and replies to every PING, so the tap makes the
 * faults of a broken peer. It costs time: only connections that may need a tap have one.
 */
export interface Tap {
  secure: boolean
  /** Keeps the connection open, discards all input and sends nothing more. */
  silence(): void
  /** Sends headers that cannot be decoded, which breaks the whole connection. */
  sendBadHeaders(streamId: number): void
}

const taps = new WeakMap<Http2Session, Tap>()

export const tapOf = (session: Http2Session): Tap | undefined => taps.get(session)
export const keepTap = (session: Http2Session, tap: Tap) => void taps.set(session, tap)

export function createTap(socket: Socket): Tap & { stream: Duplex } {
  let silent = false
  const stream = new Duplex({
    read() {},
    // Written at once even to a slow peer: our own frames must not land inside one of Node's.
    write(chunk: Buffer, _, done) {
      if (!silent) socket.write(chunk)
      done()
    },
    final(done) {
      if (!silent) socket.end()
      done()
    },
    destroy(error, done) {
      socket.destroy()
      done(error)
    }
  })
  stream.on('error', () => {})
  socket.on('data', (chunk) => {
    if (!silent) stream.push(chunk)
  })
  socket.on('close', () => stream.destroy())
  return {
    stream,
    secure: (socket as TLSSocket).encrypted === true,
    silence() {
      silent = true
    },
    sendBadHeaders(streamId) {
      const frame = Buffer.from(badHeaders)
      frame.writeUInt32BE(streamId, 5)
      socket.write(frame)
    }
  }
}

/** Length 1, HEADERS, END_STREAM and END_HEADERS, the stream, and the header field of index 0, which is invalid (RFC 7541, 6.1). */
const badHeaders = [0, 0, 1, 1, 5, 0, 0, 0, 0, 0x80]
