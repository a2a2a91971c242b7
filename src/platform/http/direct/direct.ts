// Requests that arrive most often pass Fastify by: its router, hooks, parser of bodies, request and reply took an eighth of
// the CPU of a user write and a fifth of that of an agent's call. The steps are those that routes.ts gives to Fastify, so
// that no check exists twice (decision 0083).
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../log.ts'
import { answerError } from '../answers.ts'
import { jsonType, readBody } from '../body.ts'
import type { PlainHead } from '../plain/head.ts'
import type { Trusts } from '../trust-proxy.ts'
import { pathTable } from './path-table.ts'
import { asReply, asRequest, type Connection, DirectReply } from './reply.ts'
import { DirectRequest, type RouteFacts } from './request.ts'

/** A route as Fastify has it. */
export interface DirectRoute {
  facts: RouteFacts
  admit(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
  handle(request: FastifyRequest, reply: FastifyReply): unknown
  ended(request: FastifyRequest, reply: FastifyReply): void
}

/** A connection that knows the response in progress. */
export interface Holding extends Connection {
  hold(reply: DirectReply): void
}

export interface Direct {
  add(route: DirectRoute): void
  /** Leaves every request to Fastify from now on. */
  leave(): void
  /** Starts the request that a chunk is. Returns false if its route is not direct, or its body unusual. */
  take(head: PlainHead, chunk: Buffer, connection: Holding): boolean
}

export function createDirect(log: Log, trust: Trusts): Direct {
  const routes = pathTable<DirectRoute & { refuse: typeof refuse }>()
  let left = false

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    try {
      answerError(error, request, reply, log)
    } catch (fault) {
      log.error({ error: fault, request_id: request.id, route: request.routeOptions.url }, 'a request failed')
      request.raw.socket.destroy()
    }
  }

  return {
    add(route) {
      routes.add(route.facts.method, route.facts.url, { ...route, refuse })
    },
    leave() {
      left = true
    },
    take(head, chunk, connection) {
      const found = left ? undefined : routes.find(head.method, head.url)
      if (!found || !isUsual(head, chunk, found.route)) return false
      const { route, params } = found
      const request = new DirectRequest(head, connection.socket, { facts: route.facts, params, trust })
      const reply = new DirectReply(request, connection, route)
      connection.hold(reply)
      run(route, request, reply, chunk.subarray(head.bodyAt))
      return true
    }
  }
}

/** Everything else about bodies is Fastify's: an empty one, another type, one that is too large. */
function isUsual({ headers, bodyAt }: PlainHead, chunk: Buffer, { facts }: DirectRoute): boolean {
  const type = headers['content-type']
  const size = chunk.length - bodyAt
  return size > 0 && size <= facts.bodyLimit && type !== undefined && jsonType.test(type)
}

function run(route: DirectRoute, request: DirectRequest, reply: DirectReply, bytes: Buffer): void {
  const [asked, answer] = [asRequest(request), asReply(reply)]
  const handle = (error: Error | null, body?: unknown): void => {
    if (reply.sent) return
    if (error) {
      reply.fail(error)
      return
    }
    request.body = body
    try {
      const returned = route.handle(asked, answer)
      if (returned instanceof Promise) returned.then(reply.settle, reply.fail)
      else reply.settle(returned)
    } catch (thrown) {
      reply.fail(thrown)
    }
  }
  route.admit(asked, answer, (error) => {
    // The time limit may have answered meanwhile.
    if (reply.sent) return
    if (error) reply.fail(error)
    else readBody(asked, bytes, handle)
  })
}
