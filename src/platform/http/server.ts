import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { backlogOf } from '../coalesce.ts'
import { Refusal } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { cannotListen } from '../net/listening.ts'
import { http } from '../net/node-http.ts'
import { answerError } from './answers.ts'
import { freeRoom } from './bodies/encodings.ts'
import { forgetBody, installBodyParser } from './body.ts'
import { createDirect, type Direct } from './direct/direct.ts'
import { createMethodTable, maxParamLength, rewriteUrl } from './paths/paths.ts'
import { takeTurns } from './pipelining.ts'
import { requestId } from './request-id.ts'
import { type DocumentedRoute, largestBody } from './route.ts'
import { Shares } from './shares.ts'
import { createTimeLimit, type TimeLimit } from './time-limit.ts'
import { type TrustProxy, trusts } from './trust-proxy.ts'

export interface Http {
  app: FastifyInstance
  documented: DocumentedRoute[]
  timeLimit: TimeLimit
  shares: Shares
  direct: Direct
  /** Returns a function that a route calls after each response, to count and log it. */
  answered(method: string, route: string): (request: FastifyRequest, reply: FastifyReply) => void
  /** Returns the port, which the system chooses for 0. `shared`: other processes of this user may listen there too. */
  listen(host: string, port: number, shared?: boolean): Promise<number>
  /** Serves for this long, but asks clients to open a new connection for their next request, which a load balancer places. */
  drain(forMs: number): Promise<void>
  /** Accepts no new connections, lets requests finish until the deadline, then closes the rest. */
  close(deadlineMs: number): Promise<void>
}

interface HttpOptions {
  log: Log
  metrics: Metrics
  trustProxy: TrustProxy
  /** What reads requests of the usual form. */
  parser: 'own' | 'node'
}

export function createHttp({ log, metrics, trustProxy, parser }: HttpOptions): Http {
  const methods = createMethodTable()
  const app = Fastify({
    logger: false,
    bodyLimit: largestBody,
    // A function, also for a number of hops: with a number, Fastify would trust no proxy.
    trustProxy: trusts(trustProxy),
    genReqId: requestId,
    rewriteUrl: rewriteUrl(methods),
    routerOptions: { maxParamLength },
    // The handler limits the time of a request: Node's own limit would also end a long upload.
    requestTimeout: 0,
    // A silent connection is closed, so a stream must send something from time to time.
    connectionTimeout: 120_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Node's own refusal of a request without a Host has no request id; ours, below, has one.
    http: { requireHostHeader: false },
    clientErrorHandler
  })
  const timeLimit = createTimeLimit()
  const shares = new Shares({ backlogOf })
  countShares(metrics, shares)
  const answered = createAnswered(log, metrics, timeLimit)
  const direct = createDirect(log, trusts(trustProxy))
  const plain = takeTurns(app.server, parser === 'own', () => shares.isShared(), direct)
  metrics.counter(
    'tidings_http_plain_requests_total',
    'Requests of the usual form, which were read without the parser of Node (HTTP_PARSER).',
    () => [{ labels: {}, value: plain.taken() }]
  )
  app.addHook('preClose', (done) => {
    // From here on, Fastify tells clients that their connection ends.
    direct.leave()
    plain.closeIdle()
    done()
  })
  installBodyParser(app)
  let draining = false
  app.addHook('onRequest', (_, reply, done) => {
    if (draining) reply.header('connection', 'close')
    done()
  })
  installHooks(app, methods, answered('any', 'unknown'))
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, log, draining))
  return {
    app,
    documented: [],
    timeLimit,
    shares,
    direct,
    answered,
    async listen(host, port, shared = false) {
      await app.listen({ host, port, ...(shared && { reusePort: true }) }).catch((error) => {
        throw cannotListen(error, host, port)
      })
      const address = app.server.address()
      return typeof address === 'object' && address ? address.port : port
    },
    async drain(forMs) {
      draining = forMs > 0
      if (draining) direct.leave()
      if (draining) await sleep(forMs)
    },
    async close(deadlineMs) {
      const cut = setTimeout(() => {
        app.server.closeAllConnections()
        plain.closeAll()
      }, deadlineMs)
      // The response to a request that began before may say that the connection stays.
      const idle = setInterval(() => app.server.closeIdleConnections(), 100)
      await app.close()
      clearInterval(idle)
      clearTimeout(cut)
      timeLimit.close()
    }
  }
}

function countShares(metrics: Metrics, shares: Shares): void {
  metrics.counter(
    'tidings_http_requests_shed_total',
    'Requests refused with 503 because their project had its share.',
    () => [{ labels: {}, value: shares.shed() }]
  )
  metrics.gauge('tidings_http_requests_waiting', 'Requests that wait for the turn of their project.', () => ({
    waiting: shares.waiting()
  }))
}

function createAnswered(log: Log, metrics: Metrics, timeLimit: TimeLimit): Http['answered'] {
  return (method, route) => {
    const count = metrics.route(method, route)
    const logged = log.isLevelEnabled('debug')
    return (request, reply) => {
      timeLimit.over(reply)
      freeRoom(request)
      const { statusCode: status, elapsedTime: ms } = reply
      count(status, ms)
      // Logs the route, never the path, which contains ids of users.
      if (logged) log.debug({ request_id: request.id, method, route, status, ms: Math.round(ms) }, 'answered')
    }
  }
}

type MethodTable = ReturnType<typeof createMethodTable>

const methodText = (allowed: string[]) => `Method Not Allowed: this path takes ${allowed.join(', ')}.`

/** Hooks of every request: an id, a Host, and 404 or 405 if no route fits, for any HTTP method. */
function installHooks(app: FastifyInstance, methods: MethodTable, unknown: ReturnType<Http['answered']>): void {
  const notFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { url = '/' } = request.raw
    const hint = methods.hint(url)
    if (hint) reply.header('x-service-error-detail', hint)
    const allowed = methods.allowed(url)
    if (!allowed) return reply.code(404).send({ error: 'Not Found' })
    return reply
      .code(405)
      .header('allow', allowed.join(', '))
      .send({ error: [methodText(allowed), hint].filter(Boolean).join(' '), code: 'method_not_allowed' })
  }
  app.decorateRequest('caller', null)
  for (const method of http.METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  app.addHook('onRoute', ({ url, method }) => {
    for (const name of [method].flat()) methods.add(url, name)
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    // No route reads this body, so it is not parsed: a broken one must not turn a 404 into a 400.
    if (request.is404) forgetBody(request)
    const { httpVersion, headers } = request.raw
    const hostless = httpVersion === '1.1' && headers.host === undefined
    const { method, url = '/' } = request.raw
    if (!request.is404 && !hostless && methods.isVerbOfOthers(method ?? '', url)) {
      forgetBody(request)
      return void notFound(request, reply)
    }
    done(hostless ? noHost() : undefined)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) unknown(request, reply)
    done()
  })
  // RFC 9110 lets a server ignore an unknown expectation, and Node's 417 has no id.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setNotFoundHandler(notFound)
}

const noHost = () => new Refusal('malformed_request', 'The header Host must be given.')

/** Node keeps the response in progress there. */
type Answering = Socket & { _httpMessage?: ServerResponse | null }

/** Bytes that are not HTTP, or headers that are too large, never become a request; the response still has an id. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Answering): void {
  // In the middle of a response, a refusal would look like a part of its body.
  const isInside = socket._httpMessage?.headersSent && !socket._httpMessage.writableEnded
  if (error.code === 'ECONNRESET' || !socket.writable || isInside) return void socket.destroy()
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout']
        : [400, 'Bad Request']
  const body = JSON.stringify({ error: reason, code: 'malformed_request' })
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nX-Request-ID: ${newId()}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  )
}
