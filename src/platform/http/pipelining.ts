import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Requests of one connection that may wait for the one before. A client that sends more ahead is cut off. */
const mostWaiting = 1_000

const line = Symbol('requests in line')
type Lined = Socket & { [line]?: (() => void)[] | undefined }

/**
 * Requests that a client sends ahead on one connection are done one after the other. Node hands them all out at once and
 * orders only the answers: a DELETE, which has no body to wait for, would overtake the POST before it.
 */
export const order = {
  /** Calls `go` when the request before on this connection has been answered. */
  enter(request: FastifyRequest, go: () => void): void {
    const socket = socketOf(request)
    const waiting = socket[line]
    if (!waiting) {
      socket[line] = []
      go()
    } else if (waiting.length < mostWaiting) waiting.push(go)
    else socket.destroy()
  },
  leave(request: FastifyRequest): void {
    const socket = socketOf(request)
    const next = socket[line]?.shift()
    if (next) next()
    else socket[line] = undefined
  }
}

const socketOf = (request: FastifyRequest) => request.raw.socket as Lined
