import type { Readable } from 'node:stream'
import type { Static, TSchema } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { Refusal, type RefusalCode } from '../errors.ts'
import type { Wording } from './answers.ts'
import { type BodyKind, forgetBody, nameWrongType, usualValues } from './body.ts'
import { crossOrigin, readable } from './cross-origin.ts'
import { admitted, refuseInPace } from './pacing.ts'
import { hasBrokenEscape } from './paths.ts'
import { readInTurnOf } from './pipelining.ts'
import type { Wanted } from './schema.ts'
import type { Http } from './server.ts'
import { type FieldCodes, queryParser, validator } from './validation.ts'

/** What a route declares about itself. The same declaration validates, answers errors and is printed as OpenAPI. */
export interface RouteOptions<Access, Query extends TSchema = TSchema, Body extends TSchema = TSchema> {
  summary: string
  /** Who may call; what the values mean is the surface's business. */
  access?: Access
  /** Meaning of each path parameter, for the docs. */
  params?: Record<string, string>
  query?: Query
  body?: Body
  bodyKind?: BodyKind
  /** Bytes that a body may have, checked before it is read. Absent: enough for a form. */
  maxBody?: number
  /** Values that a body may hold, checked before they are built. */
  maxValues?: number
  fieldCodes?: FieldCodes
  /** The handler checks the body itself, and the schema is for the docs. */
  checksBody?: boolean
  /** The answer of a success. */
  answer?: TSchema
  status?: 200 | 201 | 202 | 204
  answerType?: string
  wording?: Omit<Wording, 'plainUnauthorized'>
  /** An example body for the docs. */
  example?: unknown
  /** Codes this route answers beyond those that every route of its kind does. For the docs. */
  refusals?: readonly RefusalCode[]
  /** Takes an idempotency key: asking twice does it once. The handler does it; this is for the docs. */
  idempotent?: boolean
  /** A stream has no time limit. */
  unlimited?: boolean
  /** Kept out of the docs. */
  hidden?: boolean
}

export interface Call<Caller, Query, Body> {
  caller: Caller
  params: Record<string, string>
  query: Query
  body: Body
  request: FastifyRequest
  reply: FastifyReply
}

/** One place where a surface's routes live, with its way to know the caller. Runs before anything is parsed. */
export interface Mount<Caller, Access> {
  prefix: string
  security: 'key' | 'agent' | 'token' | 'none'
  plainUnauthorized?: boolean
  admit(request: FastifyRequest, reply: FastifyReply, access: Access | undefined): Caller | Promise<Caller>
  /** Whose share of the process a request takes: a project's. */
  shareOf?(caller: Caller): string
  /** Whether pages of any site may call it. Only where a key is sent by the page itself: nothing is known by cookies. */
  crossOrigin?(access: Access | undefined): boolean
  /** Left out of OpenAPI: the same routes under another prefix. */
  twin?: boolean
}

export interface DocumentedRoute extends RouteOptions<unknown> {
  method: string
  path: string
  security: Mount<unknown, unknown>['security']
  plainUnauthorized: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    wording?: Wording
    /** The handler gets the body as bytes. */
    bytes?: boolean
    /** The handler gets the body unread. */
    stream?: boolean
    /** Values that a body may hold. */
    mostValues?: number
    /** What the route reads of a body, where it ignores the rest whatever it is. */
    wanted?: Wanted
  }
  interface FastifyRequest {
    caller: unknown
  }
}

const none = Object.freeze({})

/** Where the contract wants bodies of any sensible size (settled: 10 MiB). */
export const largestBody = 10 * 1024 * 1024
/** A form: a name and a choice or two. */
export const smallForm = 4 * 1024
const formBytes = 64 * 1024
/**
 * More than 1 MiB of trigger properties and 20,000 targets can hold (contract 4.4): 524,288 and 60,000. Unknown fields
 * and what a broadcast ignores do not count, because they are never built.
 */
const mostContractValues = 600_000

const overloaded = () => new Refusal('overloaded', 'More requests of this project wait than its share.')

export type Routes<Caller, Access> = ReturnType<typeof routesOn<Caller, Access>>

export function routesOn<Caller, Access>(
  {
    app,
    documented,
    timeLimit,
    shares,
    answered
  }: Pick<Http, 'app' | 'documented' | 'timeLimit' | 'shares' | 'answered'>,
  mounts: Mount<Caller, Access>[]
) {
  const allowPages = crossOrigin(app, answered)
  const add =
    (method: HTTPMethods) =>
    <Query extends TSchema, Body extends TSchema>(
      path: string,
      options: RouteOptions<Access, Query, Body>,
      handle: (call: Call<Caller, Static<Query>, Static<Body>>) => unknown
    ): void => {
      const { wording, status = 200, body } = options
      // Contract 4.1 to 4.6: a fixed text refuses what is wrong, and unknown fields are ignored.
      const contract = wording?.invalid !== undefined
      const bodyKind = options.bodyKind ?? (body ? 'json' : 'ignored')
      const parseQuery = options.query && queryParser(options.query)
      const checked = bodyKind !== 'stream' && bodyKind !== 'bytes' && !options.checksBody
      const checkBody = body && checked && validator(body, 'malformed_body', options.fieldCodes)
      for (const mount of mounts) {
        const { plainUnauthorized = false, security } = mount
        const url = mount.prefix + path
        if (!mount.twin && !options.hidden) {
          documented.push({
            ...(options as RouteOptions<unknown>),
            bodyKind,
            method,
            path: url,
            security,
            plainUnauthorized
          })
        }
        const ended = answered(method, url)
        const forPages = mount.crossOrigin?.(options.access) === true
        if (forPages) allowPages(method, url)
        app.route({
          method,
          url,
          config: {
            wording: { ...wording, plainUnauthorized },
            bytes: bodyKind === 'bytes',
            stream: bodyKind === 'stream',
            mostValues: options.maxValues ?? (contract ? mostContractValues : usualValues),
            ...(contract && body && { wanted: body as Wanted })
          },
          bodyLimit: options.maxBody ?? formBytes,
          onRequest: (request, reply, done) => {
            // First of all, so that a page can read a refusal too.
            if (forPages) reply.headers(readable)
            if (!options.unlimited) timeLimit.watch(reply)
            const { socket } = request.raw
            const begin = () => {
              if (bodyKind === 'ignored') forgetBody(request)
              if (bodyKind === 'bytes') nameWrongType(request)
              admitted(socket)
              done()
            }
            const refuse = (error: Error) => {
              const limited = error instanceof Refusal && (error.code === 'rate_limited' || error.code === 'overloaded')
              if (limited) refuseInPace(socket, () => done(error))
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
              return refuse(error as Error)
            }
            // A caller who is known already is admitted at once, without a turn of the promise queue.
            if (caller instanceof Promise) caller.then(admit, refuse)
            else admit(caller)
          },
          onResponse: (request, reply, done) => {
            ended(request, reply)
            done()
          },
          handler: (request, reply) => {
            if (hasBrokenEscape(request.raw))
              throw new Refusal('malformed_request', 'the path holds a broken percent escape')
            const sent = bodyKind === 'optional' && request.body === undefined ? {} : request.body
            if (bodyKind === 'json' && sent === undefined) throw new Refusal('malformed_body', 'the body is empty')
            if (checkBody) checkBody(sent)
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
        })
      }
    }
  return { get: add('GET'), post: add('POST'), put: add('PUT'), patch: add('PATCH'), delete: add('DELETE') }
}

/** The body of a `stream` route: NDJSON and nothing else. */
export function streamBody(request: FastifyRequest): Readable {
  const body = request.body
  if (body === undefined || typeof (body as Readable).pipe !== 'function') {
    throw new Refusal('unsupported_media_type', 'The content type must be application/x-ndjson.')
  }
  return body as Readable
}
