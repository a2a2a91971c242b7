import type { Socket } from 'node:net'
import type { FastifyContextConfig } from 'fastify'
import type { PlainHead } from '../plain/head.ts'
import { requestId } from '../request-id.ts'
import { addressOf, type Trusts } from '../trust-proxy.ts'

/** The facts of a route that a request carries with it. */
export interface RouteFacts {
  method: string
  url: string
  bodyLimit: number
  config: FastifyContextConfig
}

const none = Object.freeze({})

/** What the server knows of a request beside its head. */
export interface Asked {
  facts: RouteFacts
  params: Readonly<Record<string, string>>
  trust: Trusts
}

/** As much of Fastify's request, and of the one of Node below it, as direct routes use. */
export class DirectRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly socket: Socket
  readonly routeOptions: RouteFacts
  readonly params: Readonly<Record<string, string>>
  readonly query = none
  readonly is404 = false
  /** The body has arrived. */
  readonly closed = true
  aborted = false
  destroyed = false
  caller: unknown = null
  body: unknown = undefined
  readonly #trust: Trusts

  constructor(head: PlainHead, socket: Socket, { facts, params, trust }: Asked) {
    this.method = head.method
    this.url = head.url
    this.headers = head.headers
    this.socket = socket
    this.routeOptions = facts
    this.params = params
    this.#trust = trust
    this.id = requestId(head)
  }

  get raw(): this {
    return this
  }

  get ip(): string | undefined {
    return addressOf(this.#trust, this.socket.remoteAddress, this.headers['x-forwarded-for'])
  }

  get host(): string {
    return this.#forwarded('x-forwarded-host') ?? this.headers.host ?? ''
  }

  get protocol(): string {
    return this.#forwarded('x-forwarded-proto') ?? 'http'
  }

  /** What the nearest proxy says, if it is trusted. */
  #forwarded(name: string): string | undefined {
    const value = this.headers[name]
    const isTrusted = this.#trust === false ? false : this.#trust(this.socket.remoteAddress, 0)
    return value && isTrusted ? value.slice(value.lastIndexOf(',') + 1).trim() : undefined
  }
}
