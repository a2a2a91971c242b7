import type { TSchema } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RefusalCode } from '../errors.ts'
import type { Wording } from './answers.ts'
import type { BodyKind } from './body.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { Wanted } from './schema.ts'
import type { FieldCodes } from './validation.ts'

/** The limit for endpoints of the contract, which accept bodies of any sensible size. */
export const largestBody = 10 * 1024 * 1024
/** Enough for a form: a name and a few choices. */
export const smallForm = 4 * 1024

/** The declaration of a route. It validates requests, words refusals and is printed as OpenAPI. */
export interface RouteOptions<Access, Query extends TSchema = TSchema, Body extends TSchema = TSchema> {
  summary: string
  /** Who may call. Each surface defines the values. */
  access?: Access
  /** The meaning of each path parameter, for the docs. */
  params?: Record<string, string>
  query?: Query
  body?: Body
  bodyKind?: BodyKind
  /** The media type of the body in the docs, where it is neither JSON nor lines of JSON. */
  bodyType?: string
  /** The most bytes of a body, checked before it is read. Absent: enough for a form. */
  maxBody?: number
  /** The most values that a body may hold, checked before they are built. */
  maxValues?: number
  fieldCodes?: FieldCodes
  /** The handler checks the body itself; the schema is printed in the docs. */
  checksBody?: boolean
  /** The handler names unknown fields itself, or they belong to the caller. */
  warnsItself?: boolean
  /** The response of a success. */
  answer?: TSchema
  status?: 200 | 201 | 202 | 204
  answerType?: string
  wording?: Omit<Wording, 'plainUnauthorized'>
  /** An example body for the docs. */
  example?: unknown
  /** Codes of this route beyond those of every route of its kind. For the docs. */
  refusals?: readonly RefusalCode[]
  /**
   * Accepts an idempotency key, so that a repeat has no further effect. The handler implements it; this field is for
   * the docs.
   */
  idempotent?: boolean
  /** A stream has no time limit. */
  unlimited?: boolean
  /**
   * Called so often that its requests of the usual form pass Fastify by (direct/direct.ts). Only a path with at most one
   * parameter does, and no stream that must end with its caller, which needs the events of Node's response.
   */
  direct?: boolean
  /** The name of the operation in OpenAPI, if the one that its path gives reads badly. */
  operationId?: string
  /** Called by our own console and browser client only: not in the document from which people generate clients. */
  internal?: boolean
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

/** A prefix under which a surface mounts its routes, and how it admits callers there. */
export interface Mount<Caller, Access> {
  prefix: string
  security: 'key' | 'agent' | 'token' | 'none'
  plainUnauthorized?: boolean
  /** Identifies the caller, before anything is parsed. */
  admit(request: FastifyRequest, reply: FastifyReply, access: Access | undefined): Caller | Promise<Caller>
  /** The project whose share of the process a request takes. */
  shareOf?(caller: Caller): string
  /**
   * The pages of other sites that may call a route. Only for mounts whose callers send a key themselves and are not
   * identified by a cookie.
   */
  crossOrigin?(access: Access | undefined): CrossOrigin | undefined
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
    /** The most values that a body may hold. */
    mostValues?: number
    /** The part of a body that the route reads, if it ignores all other fields. */
    wanted?: Wanted
  }
  interface FastifyRequest {
    caller: unknown
  }
}
