import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { PlainHead } from './head.ts'

/** As much of an `IncomingMessage` as Fastify and our hooks use, for a request that has arrived whole. */
export class PlainRequest extends EventEmitter {
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly method: string
  url: string
  originalUrl: string
  readonly headers: Record<string, string>
  readonly socket: Socket
  readonly complete = true
  readonly closed = true
  aborted = false
  destroyed = false
  #body: Buffer | undefined

  constructor({ method, url, headers, bodyAt }: PlainHead, chunk: Buffer, socket: Socket) {
    super()
    this.method = method
    this.url = url
    this.originalUrl = url
    this.headers = headers
    this.socket = socket
    this.#body = chunk.subarray(bodyAt)
  }

  /** Gives the body to the listeners at once. */
  resume(): this {
    const body = this.#body
    this.#body = undefined
    if (!body) return this
    if (body.length > 0) this.emit('data', body)
    this.emit('end')
    return this
  }

  pause(): this {
    return this
  }

  destroy(): this {
    this.destroyed = true
    this.socket.destroy()
    return this
  }
}
