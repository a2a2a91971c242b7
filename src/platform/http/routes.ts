import type { Readable } from 'node:stream'
import type { Static, TSchema } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { Refusal } from '../errors.ts'
import { type Named, unknownNames } from '../unknown-names.ts'
import { type BodyKind, forgetBody, nameWrongType, usualValues } from './body.ts'
import { type CrossOrigin, crossOrigin, letPageRead } from './cross-origin.ts'
import { admitted, refuseInPace } from './pacing.ts'
import { hasBrokenEscape } from './paths/paths.ts'
import { readInTurnOf } from './pipelining.ts'
import type { Call, Mount, RouteOptions } from './route.ts'
import type { Wanted } from './schema.ts'
import type { Http } from './server.ts'
import { queryParser, validator } from './validation.ts'
import { warnOfFields } from './warnings.ts'

export { type Call, largestBody, smallForm } from './route.ts'

const formBytes = 64 * 1024
/**
 * More values than 1 MiB of trigger properties and 20,000 targets can hold (contract 4.4): 524,288 and 60,000. Unknown
 * fields and the targets of a broadcast do not count, because they are never built.
 */
const mostContractValues = 600_000

type Server = Pick<Http, 'app' | 'documented' | 'timeLimit' | 'shares' | 'direct' | 'answered'>

export type Routes<Caller, Access> = ReturnType<typeof routesOn<Caller, Access>>

/** Adds routes, each under every mount. */
export function routesOn<Caller, Access>(server: Server, mounts: Mount<Caller, Access>[]) {
  const allowPages = crossOrigin(server.app, server.answered)
  const add =
    (method: HTTPMethods) =>
    <Query extends TSchema, Body extends TSchema>(
      path: string,
      options: RouteOptions<Access, Query, Body>,
      handle: (call: Call<Caller, Static<Query>, Static<Body>>) => unknown
    ): void => {
      const bodyKind = options.bodyKind ?? (options.body ? 'json' : 'ignored')
      const handler = handlerOf(options, bodyKind, handle)
      for (const mount of mounts) {
        const url = mount.prefix + path
        document(server, mount, { method, path: url, options, bodyKind })
        const pages = mount.crossOrigin?.(options.access)
        if (pages) allowPages(method, url, pages)
        const ended = server.answered(method, url)
        const facts = {
          method,
          url,
          bodyLimit: options.maxBody ?? formBytes,
          config: configOf(options, bodyKind, mount)
        }
        const admit = admissionOf(server, mount, { options, bodyKind, pages })
        if (options.direct && !mount.prefix.includes(':')) server.direct.add({ facts, admit, handle: handler, ended })
        server.app.route({
          ...facts,
          onRequest: admit,
          onResponse: (request, reply, done) => {
            ended(request, reply)
            done()
          },
          handler
        })
      }
    }
  return { get: add('GET'), post: add('POST'), put: add('PUT'), patch: add('PATCH'), delete: add('DELETE') }
}

function document<Caller, Access, Query extends TSchema, Body extends TSchema>(
  { documented }: Server,
  { twin, security, plainUnauthorized = false }: Mount<Caller, Access>,
  {
    method,
    path,
    options,
    bodyKind
  }: { method: string; path: string; options: RouteOptions<Access, Query, Body>; bodyKind: BodyKind }
): void {
  if (twin || options.hidden) return
  documented.push({ ...(options as RouteOptions<unknown>), bodyKind, method, path, security, plainUnauthorized })
}

/** The facts of a route that the parser of bodies and the writer of refusals use. */
function configOf<Caller, Access, Query extends TSchema, Body extends TSchema>(
  { wording, body, maxValues }: RouteOptions<Access, Query, Body>,
  bodyKind: BodyKind,
  { plainUnauthorized = false }: Mount<Caller, Access>
): FastifyContextConfig {
  // Contract 4.1 to 4.6: the text of a refusal is fixed, and unknown fields are ignored.
  const contract = wording?.invalid !== undefined
  return {
    wording: { ...wording, plainUnauthorized },
    bytes: bodyKind === 'bytes',
    stream: bodyKind === 'stream',
    mostValues: maxValues ?? (contract ? mostContractValues : usualValues),
    ...(contract && body && { wanted: body as Wanted })
  }
}

interface Declared<Access, Query extends TSchema, Body extends TSchema> {
  options: RouteOptions<Access, Query, Body>
  bodyKind: BodyKind
  pages: CrossOrigin | undefined
}

/** Identifies the caller and waits for the turn of its project, before the body is read. */
function admissionOf<Caller, Access, Query extends TSchema, Body extends TSchema>(
  { timeLimit, shares }: Server,
  mount: Mount<Caller, Access>,
  { options, bodyKind, pages }: Declared<Access, Query, Body>
) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    // These headers come first, so that a page can read a refusal too.
    if (pages) letPageRead(pages, request, reply)
    if (!options.unlimited) timeLimit.watch(reply)
    const { socket } = request.raw
    const begin = () => {
      if (options.unlimited && (mount.security === 'token' || mount.security === 'key'))
        endWithCaller(reply, () => mount.admit(request, noReply, options.access))
      if (bodyKind === 'ignored') forgetBody(request)
      if (bodyKind === 'bytes') nameWrongType(request)
      admitted(socket)
      done()
    }
    const refuse = (error: Error) => {
      if (isLimit(error)) refuseInPace(socket, () => done(error))
      else done(error)
    }
    const admit = (caller: Caller) => {
      request.caller = caller
      if (!mount.shareOf) return begin()
      const share = mount.shareOf(caller)
      readInTurnOf(socket, share)
      shares.enter(share, begin, () => refuse(overloaded()))
    }
    let caller: Caller | Promise<Caller>
    try {
      caller = mount.admit(request, reply, options.access)
    } catch (error) {
      refuse(error as Error)
      return
    }
    // A known caller is admitted at once, without waiting for a promise.
    if (caller instanceof Promise) caller.then(admit, refuse)
    else admit(caller)
  }
}

/** How soon a stream notices that its session, token or role has ended. */
const recheckMs = 5_000
/** The headers of a stream are sent before it is checked again. */
const noReply = { header: () => noReply } as unknown as FastifyReply

/** A stream may last for hours, and must not outlast the right of its caller to read it. */
function endWithCaller(reply: FastifyReply, admitAgain: () => unknown): void {
  if (reply.raw.destroyed) return
  const timer = setInterval(async () => {
    try {
      await admitAgain()
    } catch (error) {
      // While the database cannot be reached, callers cannot be checked.
      if (error instanceof Refusal && !isLimit(error)) reply.raw.destroy()
    }
  }, recheckMs)
  timer.unref()
  reply.raw.once('close', () => clearInterval(timer))
}

const isLimit = (error: Error): boolean =>
  error instanceof Refusal && (error.code === 'rate_limited' || error.code === 'overloaded')

const overloaded = () => new Refusal('overloaded', 'More requests of this project wait than its share.')

const none = Object.freeze({})

/** Checks path, body and query, in this order, and calls the handler of the route. */
function handlerOf<Caller, Access, Query extends TSchema, Body extends TSchema>(
  options: RouteOptions<Access, Query, Body>,
  bodyKind: BodyKind,
  handle: (call: Call<Caller, Static<Query>, Static<Body>>) => unknown
) {
  const { status = 200, body, query, checksBody, fieldCodes, warnsItself } = options
  const parseQuery = query && queryParser(query)
  const checked = bodyKind !== 'stream' && bodyKind !== 'bytes' && !checksBody
  const namesFields = body && !warnsItself && (bodyKind === 'json' || bodyKind === 'optional')
  const checkBody = body && checked && validator(body, 'malformed_body', fieldCodes)
  return (request: FastifyRequest, reply: FastifyReply) => {
    if (hasBrokenEscape(request.raw)) throw new Refusal('malformed_request', 'the path holds a broken percent escape')
    const sent = bodyKind === 'optional' && request.body === undefined ? {} : request.body
    if (bodyKind === 'json' && sent === undefined) throw new Refusal('malformed_body', 'the body is empty')
    if (checkBody) checkBody(sent)
    if (namesFields) warnOfFields(reply, unknownNames(body as Named, sent))
    if (query) warnOfFields(reply, unknownNames(query as Named, request.query), 'parameter')
    if (status !== 200) reply.code(status)
    return handle({
      caller: request.caller as Caller,
      params: request.params as Record<string, string>,
      query: (parseQuery ? parseQuery(request.query) : none) as Static<Query>,
      body: sent as Static<Body>,
      request,
      reply
    })
  }
}

/** The body of a `stream` route: NDJSON and nothing else. */
export function streamBody(request: FastifyRequest): Readable {
  const body = request.body
  if (body === undefined || typeof (body as Readable).pipe !== 'function') {
    throw new Refusal('unsupported_media_type', 'The content type must be application/x-ndjson.')
  }
  return body as Readable
}
