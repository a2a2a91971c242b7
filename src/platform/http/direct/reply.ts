import type { OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { finished, type Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { headOf, PlainResponse } from '../plain/response.ts'
import type { DirectRequest } from './request.ts'

/** The connection of a request. */
export interface Connection {
  socket: Socket
  /** The fields about the connection, if no other are set. */
  keepAlive: string
  /** The connection is free for its next request. */
  over(): void
}

/** What the route of a request does with its response. */
export interface Ending {
  /** Turns an error into a response. */
  refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void
  /** The response was sent: counts and logs it. */
  ended(request: FastifyRequest, reply: FastifyReply): void
}

type Value = string | number

/** As much of Fastify's reply as direct routes use. Head and body are sent in one write. */
export class DirectReply {
  statusCode = 200
  sent = false
  destroyed = false
  /** Whether the connection is closed after this response. */
  last = false
  readonly #request: DirectRequest
  readonly #at: Connection
  readonly #ending: Ending
  readonly #beganMs = performance.now()
  readonly #headers: Record<string, Value> = {}
  #connection: string
  #streamed: PlainResponse | undefined

  constructor(request: DirectRequest, at: Connection, ending: Ending) {
    this.#request = request
    this.#at = at
    this.#ending = ending
    this.#connection = at.keepAlive
    this.#headers['x-request-id'] = request.id
  }

  get raw(): this | PlainResponse {
    return this.#streamed ?? this
  }

  get elapsedTime(): number {
    return performance.now() - this.#beganMs
  }

  header(name: string, value: Value): this {
    this.#headers[name] = value
    return this
  }

  headers(all: Record<string, Value>): this {
    for (const name in all) this.#headers[name] = all[name]!
    return this
  }

  getHeader(name: string): Value | undefined {
    return this.#headers[name]
  }

  hasHeader(name: string): boolean {
    return this.#headers[name] !== undefined
  }

  removeHeader(name: string): this {
    delete this.#headers[name]
    // As in Node, a removed field is not written by default either.
    if (name === 'connection') this.#connection = ''
    return this
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  type(type: string): this {
    return this.header('content-type', type)
  }

  send(payload?: unknown): this {
    if (this.sent) return this
    if (payload instanceof Error) this.fail(payload)
    else if (isStream(payload)) this.#pipe(payload)
    else if (payload === undefined) this.#write('')
    else if (typeof payload === 'string') {
      this.#headers['content-type'] ??= 'text/plain; charset=utf-8'
      this.#write(payload)
    } else {
      const text = JSON.stringify(payload)
      this.#headers['content-type'] ??= 'application/json; charset=utf-8'
      this.#write(text)
    }
    return this
  }

  /** Sends what a handler returned, unless that is this reply, which it has sent. */
  readonly settle = (returned: unknown): void => {
    if (returned === this || this.sent) return
    try {
      this.send(returned)
    } catch (error) {
      this.fail(error)
    }
  }

  readonly fail = (error: unknown): void => {
    if (this.sent) return
    // Those of the response that failed.
    this.removeHeader('content-type').removeHeader('content-length')
    this.#ending.refuse(error, asRequest(this.#request), asReply(this))
  }

  /** The connection closed before the response was sent. */
  abandon(): void {
    if (this.#streamed) this.#streamed.abandon()
    this.destroyed = true
    this.#request.aborted = true
    this.#request.destroyed = true
  }

  #write(body: string): void {
    const bytes = Buffer.byteLength(body)
    this.#headers['content-length'] = bytes
    const head = this.#head()
    this.sent = true
    if (this.destroyed) return
    const { socket } = this.#at
    if (bytes === body.length) {
      socket.write(head + body, 'latin1', this.#finish)
      return
    }
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body, 'utf8', this.#finish)
    socket.uncork()
  }

  #head(): string {
    const { connection } = this.#headers
    this.last = connection === 'close'
    return headOf(this.statusCode, this.#headers, connection === undefined ? this.#connection : '')
  }

  readonly #finish = (error?: Error | null): void => {
    if (error || this.destroyed) return
    this.#ending.ended(asRequest(this.#request), asReply(this))
    this.destroyed = true
    this.#at.over()
  }

  /** As Fastify sends a stream: its headers with the first byte, so that an early failure still gets a response. */
  #pipe(stream: Readable): void {
    if (this.destroyed) {
      this.sent = true
      stream.destroy()
      return
    }
    const response = new PlainResponse(this.#request, this.#connection, () => {
      this.last = response.last
      this.#finish()
    })
    this.#streamed = response
    this.sent = true
    response.statusCode = this.statusCode
    let open = true
    finished(stream, { readable: true, writable: false }, (error) => {
      open = false
      if (!error) return
      if (response.headersSent || this.destroyed) response.destroy()
      else {
        this.#streamed = undefined
        this.sent = false
        this.fail(error)
      }
    })
    response.once('close', () => {
      if (open) stream.destroy()
    })
    for (const [name, value] of Object.entries(this.#headers as OutgoingHttpHeaders)) response.setHeader(name, value)
    stream.pipe(response as unknown as NodeJS.WritableStream)
  }
}

const isStream = (payload: unknown): payload is Readable =>
  typeof payload === 'object' && payload !== null && typeof (payload as Readable).pipe === 'function'

/** Handlers and hooks are written for Fastify's. */
export const asRequest = (request: DirectRequest): FastifyRequest => request as unknown as FastifyRequest
export const asReply = (reply: DirectReply): FastifyReply => reply as unknown as FastifyReply
