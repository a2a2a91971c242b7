import * as http2 from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { Transport } from './faults.ts'
import type { Answer } from './gateway.ts'
import type { Request, Response } from './listen.ts'

/** What a gateway remembers of one connection: some rules count by it. */
export interface Connection {
  requests: number
  secure: boolean
  /** Absent with HTTP/1.1. */
  session?: http2.Http2Session
  /** The provider token that was shown first or last allowed, and when. */
  provider?: { text: string; team: string; keyId: string; sinceMs: number }
  streamLimit?: number
  settingsPending?: boolean
}

const connections = new WeakMap<object, Connection>()

export function connectionOf(request: Request): Connection {
  const session = request.stream?.session
  const socket = session?.socket ?? (request.socket as Socket)
  const key = session ?? socket
  let connection = connections.get(key)
  if (!connection) {
    connection = { requests: 0, secure: (socket as TLSSocket).encrypted === true, ...(session && { session }) }
    connections.set(key, connection)
  }
  return connection
}

/** Not kept alive by it: a simulator that is closed does not wait for its slowest answer. */
export const pause = (milliseconds: number) => delay(milliseconds, undefined, { ref: false })

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants

/** `hang` does nothing, which is the point of it. */
export function applyTransport(transport: Transport, request: Request): void {
  const stream = request.stream
  const session = stream?.session
  if (transport === 'goaway') {
    // The last stream is the newest that arrived: all those are answered, and what comes later never happened.
    if (session && !session.destroyed && !session.closed) {
      session.goaway(NGHTTP2_NO_ERROR, 0, Buffer.from('{"reason":"Shutdown"}'))
      session.close()
    }
  } else if (transport === 'drop') (session?.socket ?? request.socket).destroy()
  else if (transport !== 'hang') {
    if (stream) stream.close(transport === 'refused' ? NGHTTP2_REFUSED_STREAM : NGHTTP2_CANCEL)
    else request.socket.destroy()
  }
}

export function deliver(response: Response, answer: Answer): void {
  if (response.destroyed || response.headersSent) return
  const headers: Record<string, string> = { ...answer.headers }
  // A header holds no line ends and nothing outside Latin 1.
  if (answer.detail) headers['simulator-detail'] = answer.detail.replace(/[^\x20-\x7e]/g, '?').slice(0, 500)
  if (answer.body !== undefined) headers['content-type'] ??= 'application/json; charset=UTF-8'
  response.statusCode = answer.status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(answer.body ?? '')
}
