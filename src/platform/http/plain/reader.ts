import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Direct } from '../direct/direct.ts'
import type { DirectReply } from '../direct/reply.ts'
import { readPlain } from './head.ts'
import { PlainRequest } from './request.ts'
import { PlainResponse } from './response.ts'

export type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** A connection whose requests we read ourselves. */
export interface PlainConnection {
  /** Whether a request is in progress, so that nothing more is read. */
  isBusy(): boolean
  /** Starts the request that a chunk is. Returns false if the chunk is anything else. */
  take(chunk: Buffer): boolean
  /** Node continues with the connection. */
  leave(): void
}

export interface PlainReader {
  open(socket: Socket): PlainConnection
  /** Requests that were read here since the start. */
  taken(): number
  /** Closes connections without a request, and the others after their response. */
  closeIdle(): void
  closeAll(): void
}

interface Held {
  current: Pick<PlainResponse, 'last' | 'abandon'> | undefined
  /** When the last request ended, or the connection was opened. */
  idleSinceMs: number
  used: boolean
}

/**
 * Reads requests of the usual form, and gives them to the same handler as Node does (decision 0080). Node's parser and
 * streams take half of the time of a small request. A connection that sends anything else is Node's from then on.
 */
export function createPlainReader(server: Server, handle: Handle, lookEveryMs = 5_000, direct?: Direct): PlainReader {
  const connections = new Map<Socket, Held>()
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1_000)}\r\n`
  /** Longer than the header Keep-Alive says, as with Node: a request that a client sends in time arrives later. */
  const keptMs = server.keepAliveTimeout + (server.keepAliveTimeoutBuffer ?? 1_000)
  let closing = false
  let taken = 0
  const timer = setInterval(look, lookEveryMs)
  timer.unref()

  /** Keeps the limits that Node keeps for its own connections. */
  function look(): void {
    for (const [socket, { current, idleSinceMs, used }] of connections) {
      const idleMs = performance.now() - idleSinceMs
      if (current) continue
      if (used && idleMs > keptMs) socket.destroy()
      else if (!used && idleMs > server.headersTimeout) server.emit('clientError', late(), socket)
    }
  }

  function over(socket: Socket, held: Held): void {
    const last = held.current?.last === true
    held.current = undefined
    held.idleSinceMs = performance.now()
    if (last || closing) socket.destroySoon()
    // Data that arrived meanwhile was put back.
    else if (socket.isPaused()) socket.resume()
  }

  function open(socket: Socket): PlainConnection {
    const held: Held = { current: undefined, idleSinceMs: performance.now(), used: false }
    connections.set(socket, held)
    // Accepted in the moment between the closing of idle connections and the end of listening.
    if (closing) socket.destroy()
    socket.setTimeout(server.timeout, () => socket.destroy())
    const ended = () => over(socket, held)
    const hold = (reply: DirectReply) => {
      held.current = reply
    }
    const connection = { socket, keepAlive, hold, over: ended }
    const onClose = () => {
      connections.delete(socket)
      held.current?.abandon()
    }
    // As in Node, a client that ends its side is gone: otherwise a stream to it would never end.
    const onEnd = () => socket.end()
    const onError = () => {}
    socket.on('close', onClose).on('end', onEnd).on('error', onError)
    return {
      isBusy: () => held.current !== undefined,
      take(chunk) {
        const head = readPlain(chunk)
        if (!head) return false
        taken += 1
        held.used = true
        if (direct?.take(head, chunk, connection)) return true
        const request = new PlainRequest(head, chunk, socket)
        const response = new PlainResponse(request, keepAlive, ended)
        held.current = response
        handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
        return true
      },
      leave() {
        connections.delete(socket)
        socket.setTimeout(0)
        socket.removeAllListeners('timeout')
        socket.off('close', onClose).off('end', onEnd).off('error', onError)
      }
    }
  }

  return {
    open,
    taken: () => taken,
    closeIdle() {
      closing = true
      clearInterval(timer)
      for (const [socket, { current }] of connections) if (!current) socket.destroy()
    },
    closeAll() {
      for (const socket of connections.keys()) socket.destroy()
    }
  }
}

const late = () => Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
