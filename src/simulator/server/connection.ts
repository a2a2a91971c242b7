import * as http2 from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { Fault, Transport } from '../faults/faults.ts'
import type { Request } from './listen.ts'
import { type Tap, tapOf } from './tap.ts'

/** State of one connection, for rules that count by connection. */
export interface Connection {
  requests: number
  /** Requests without a response. */
  open: number
  secure: boolean
  /** Absent with HTTP/1.1. */
  session?: http2.Http2Session
  tap?: Tap
  /** The newest stream that was processed. */
  lastTaken: number
  /** The last stream of a GOAWAY that was sent. */
  lastStream?: number
  /** The provider token of the connection, and since when. */
  provider?: { text: string; team: string; keyId: string; sinceMs: number }
}

const connections = new WeakMap<object, Connection>()

export function connectionOf(request: Request): Connection {
  const session = request.stream?.session
  const socket = session?.socket ?? (request.socket as Socket)
  const key = session ?? socket
  let connection = connections.get(key)
  if (!connection) {
    const tap = session && tapOf(session)
    connection = {
      requests: 0,
      open: 0,
      secure: tap?.secure ?? (socket as TLSSocket).encrypted === true,
      ...(session && { session }),
      ...(tap && { tap }),
      lastTaken: 0
    }
    connections.set(key, connection)
  }
  return connection
}

/** Does not keep the process alive: a closed simulator does not wait for its slowest response. */
export const pause = (milliseconds: number) => delay(milliseconds, undefined, { ref: false })

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_PROTOCOL_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants
const shutdown = '{"reason":"Shutdown"}'

export function applyTransport({ transport, lastStream }: Fault, request: Request, connection: Connection): void {
  const { stream } = request
  const { session, tap } = connection
  const cut = () => (session?.socket ?? request.socket).destroy()
  const reset = (code: number) => (stream ? stream.close(code) : cut())
  const acts: Record<Transport, () => void> = {
    // The request gets no response.
    hang() {},
    rst: () => reset(NGHTTP2_CANCEL),
    refused: () => reset(NGHTTP2_REFUSED_STREAM),
    drop: cut,
    goaway: () => sendGoaway(session, lastStream),
    beyond() {
      if (lastStream !== undefined) sendGoaway(session, lastStream)
    },
    // The code and the text of Firebase.
    crowded: () => session?.goaway(NGHTTP2_PROTOCOL_ERROR, lastStream, Buffer.from('exceeded_max_concurrent_streams')),
    reconnect() {
      reset(NGHTTP2_REFUSED_STREAM)
      sendGoaway(session)
    },
    halfopen: () => tap?.silence(),
    badhpack: () => (tap ? tap.sendBadHeaders(stream!.id!) : cut())
  }
  if (transport) acts[transport]()
}

/** By default the last stream is the newest that arrived: those get responses, and later ones are not processed. */
function sendGoaway(session: http2.Http2Session | undefined, lastStream = 0): void {
  if (!session || session.destroyed || session.closed) return
  session.goaway(NGHTTP2_NO_ERROR, lastStream, Buffer.from(shutdown))
  // close() sends another GOAWAY with the newest stream, which the protocol forbids after a lower one.
  if (lastStream === 0) session.close()
}
