import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** From so many waiting requests on nothing more is read from a connection, until half of them are done. */
const mostWaiting = 100

const line = Symbol('requests in line')
type Lined = Socket & { [line]?: (() => void)[] | undefined }

/**
 * Requests that a client sends ahead on one connection are done one after the other. Node hands them all out at once and
 * orders only the answers: a DELETE, which has no body to wait for, would overtake the POST before it.
 */
export const order = {
  /** Calls `go` when the request before on this connection has been answered. */
  enter(request: FastifyRequest, go: () => void): void {
    const socket = request.raw.socket as Lined
    const waiting = socket[line]
    if (waiting) {
      waiting.push(go)
      if (waiting.length >= mostWaiting) socket.pause()
    } else {
      socket[line] = []
      go()
    }
  },
  leave(request: FastifyRequest): void {
    const socket = request.raw.socket as Lined
    const waiting = socket[line]
    const next = waiting?.shift()
    if (waiting && waiting.length <= mostWaiting / 2 && socket.isPaused()) socket.resume()
    if (next) next()
    else socket[line] = undefined
  }
}
