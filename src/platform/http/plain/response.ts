import { EventEmitter } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { http } from '../../net/node-http.ts'
import type { PlainRequest } from './request.ts'

type Asked = Pick<PlainRequest, 'socket' | 'aborted' | 'destroyed'>

type Values = OutgoingHttpHeaders[string]
const impossible = /[^\t\x20-\x7e\x80-\xff]/

let second = 0
let date = ''

/** The time as HTTP writes it, which changes once a second. */
function dateNow(): string {
  const now = Math.floor(Date.now() / 1_000)
  if (now !== second) {
    second = now
    date = new Date(now * 1_000).toUTCString()
  }
  return date
}

/**
 * As much of a `ServerResponse` as Fastify and our hooks use. It sends the same bytes as Node's, a head and a body that
 * are known together in one write.
 */
export class PlainResponse extends EventEmitter {
  statusCode = 200
  headersSent = false
  writableEnded = false
  writableFinished = false
  destroyed = false
  /** Whether the connection is closed after this response. */
  last = false
  readonly req: Asked
  readonly socket: Socket
  /** The fields about the connection, if no other are set. */
  #connection: string
  readonly #over: () => void
  #headers: OutgoingHttpHeaders | undefined
  /** The head until it is sent. */
  #head = ''
  #chunked = false
  /** A body would be read as the next response. */
  #bodiless = false

  constructor(req: Asked, keepAlive: string, over: () => void) {
    super()
    this.req = req
    this.socket = req.socket
    this.#connection = keepAlive
    this.#over = over
  }

  get writable(): boolean {
    return !this.writableEnded && !this.destroyed
  }

  /** Streams that begin after their client has gone learn it from here, because the event is over. */
  get closed(): boolean {
    return this.destroyed
  }

  get writableNeedDrain(): boolean {
    return this.socket.writableNeedDrain
  }

  setHeader(name: string, value: Values): this {
    // Refused here, where Fastify can still answer with an error, and not at the first byte of a stream.
    fieldOf(name, value)
    this.#headers ??= {}
    this.#headers[name.toLowerCase()] = value
    return this
  }

  getHeader(name: string): Values {
    return this.#headers?.[name.toLowerCase()]
  }

  getHeaders(): OutgoingHttpHeaders {
    return { ...this.#headers }
  }

  hasHeader(name: string): boolean {
    return this.getHeader(name) !== undefined
  }

  removeHeader(name: string): void {
    delete this.#headers?.[name.toLowerCase()]
    // As in Node, a removed field is not written by default either.
    if (name.toLowerCase() === 'connection') this.#connection = ''
  }

  writeHead(status: number, headers?: OutgoingHttpHeaders): this {
    if (this.headersSent) throw Object.assign(new Error('The head was sent.'), { code: 'ERR_HTTP_HEADERS_SENT' })
    this.statusCode = status
    const all = this.#headers ? { ...this.#headers, ...headers } : (headers ?? {})
    this.last = all.connection === 'close'
    this.#bodiless = status === 204 || status === 304
    this.#chunked = !this.#bodiless && all['content-length'] === undefined
    const connection = all.connection === undefined ? this.#connection : ''
    this.#head = headOf(status, all, this.#chunked ? `${connection}Transfer-Encoding: chunked\r\n` : connection)
    this.headersSent = true
    return this
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode)
    if (this.#head && !this.destroyed) this.socket.write(this.#takeHead(), 'latin1')
  }

  write(chunk: string | Uint8Array): boolean {
    if (!this.writable) return false
    this.socket.cork()
    this.flushHeaders()
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    // A chunk of no bytes would end the body.
    if (bytes.length > 0) this.#writeChunk(bytes)
    const ready = !this.socket.writableNeedDrain
    this.socket.uncork()
    if (!ready) this.socket.once('drain', () => this.emit('drain'))
    return ready
  }

  end(body?: string | Uint8Array | null): this {
    if (!this.writable) return this
    if (!this.headersSent) this.writeHead(this.statusCode, { 'content-length': body ? Buffer.byteLength(body) : 0 })
    this.writableEnded = true
    const head = this.#takeHead()
    if (typeof body === 'string' && !this.#chunked && !this.#bodiless && Buffer.byteLength(body) === body.length) {
      this.socket.write(head + body, 'latin1', this.#finish)
      return this
    }
    this.socket.cork()
    if (head) this.socket.write(head, 'latin1')
    if (body?.length) this.#writeChunk(typeof body === 'string' ? Buffer.from(body) : body)
    this.socket.write(this.#chunked ? '0\r\n\r\n' : '', 'latin1', this.#finish)
    this.socket.uncork()
    return this
  }

  /** After the response, the connection belongs to the next one. */
  destroy(): this {
    if (!this.destroyed) this.socket.destroy()
    return this
  }

  /** The connection closed before the response was sent. */
  abandon(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.req.aborted = true
    this.req.destroyed = true
    this.emit('close')
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head
  }

  #writeChunk(bytes: Uint8Array): void {
    if (this.#bodiless) return
    if (this.#chunked) this.socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
    this.socket.write(bytes)
    if (this.#chunked) this.socket.write('\r\n', 'latin1')
  }

  readonly #finish = (error?: Error | null): void => {
    if (error || this.destroyed) return
    this.writableFinished = true
    this.emit('finish')
    this.destroyed = true
    this.#over()
    this.emit('close')
  }
}

/** The head of a response. `more` are fields that come last. */
export function headOf(status: number, fields: OutgoingHttpHeaders, more: string): string {
  let head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'unknown'}\r\n`
  for (const name in fields) head += fieldOf(name, fields[name])
  return `${head}Date: ${dateNow()}\r\n${more}\r\n`
}

/** A line break in a value would begin another field, so it is refused as Node refuses it. */
function fieldOf(name: string, value: Values): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.map((one) => fieldOf(name, one)).join('')
  const text = String(value)
  if (impossible.test(text)) {
    const error = new TypeError(`Invalid character in header content ["${name}"]`)
    throw Object.assign(error, { code: 'ERR_INVALID_CHAR' })
  }
  return `${name}: ${text}\r\n`
}
