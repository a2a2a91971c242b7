import * as http2 from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { Fault, Transport } from '../faults/faults.ts'
import type { Request } from './listen.ts'
import { type Tap, tapOf } from './tap.ts'

/** What a gateway remembers of one connection: some rules count by it. */
export interface Connection {
  requests: number
  /** Requests without an end. */
  open: number
  secure: boolean
  /** Absent with HTTP/1.1. */
  session?: http2.Http2Session
  tap?: Tap
  /** The newest stream that was not refused unseen. */
  lastTaken: number
  /** Where a GOAWAY has said which stream is the last. */
  lastStream?: number
  /** The provider token that was shown first or last allowed, and when. */
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

/** Not kept alive by it: a simulator that is closed does not wait for its slowest answer. */
export const pause = (milliseconds: number) => delay(milliseconds, undefined, { ref: false })

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_PROTOCOL_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants
const shutdown = '{"reason":"Shutdown"}'

export function applyTransport({ transport, lastStream }: Fault, request: Request, connection: Connection): void {
  const { stream } = request
  const { session, tap } = connection
  const cut = () => (session?.socket ?? request.socket).destroy()
  const reset = (code: number) => (stream ? stream.close(code) : cut())
  const acts: Record<Transport, () => void> = {
    // Nothing happens, which is the point of it.
    hang() {},
    rst: () => reset(NGHTTP2_CANCEL),
    refused: () => reset(NGHTTP2_REFUSED_STREAM),
    drop: cut,
    goaway: () => leave(session, lastStream),
    beyond() {
      if (lastStream !== undefined) leave(session, lastStream)
    },
    // The code and the words of Firebase.
    crowded: () => session?.goaway(NGHTTP2_PROTOCOL_ERROR, lastStream, Buffer.from('exceeded_max_concurrent_streams')),
    reconnect() {
      reset(NGHTTP2_REFUSED_STREAM)
      leave(session)
    },
    halfopen: () => tap?.silence(),
    badhpack: () => (tap ? tap.sendBadHeaders(stream!.id!) : cut())
  }
  if (transport) acts[transport]()
}

/** Unless given, the last stream is the newest that arrived: all those are answered, and what comes later never happened. */
function leave(session: http2.Http2Session | undefined, lastStream = 0): void {
  if (!session || session.destroyed || session.closed) return
  session.goaway(NGHTTP2_NO_ERROR, lastStream, Buffer.from(shutdown))
  // Closing says GOAWAY once more, with the newest stream: after a lower one that breaks the protocol.
  if (lastStream === 0) session.close()
}
