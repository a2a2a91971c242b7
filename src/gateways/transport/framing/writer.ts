import type { TLSSocket } from 'node:tls'
import type { Request } from '../transport.ts'
import { flags, headBytes, preface, settings, types, writeHead } from './frames.ts'
import { HeaderEncoder } from './hpack-encoder.ts'
import { Outbox } from './outbox.ts'

const ownSettings = Buffer.from([0, settings.enablePush, 0, 0, 0, 0])

/** Writes frames to one socket. */
export class FrameWriter {
  readonly #outbox: Outbox
  readonly #encoder: HeaderEncoder

  constructor(socket: TLSSocket, authority: string) {
    this.#outbox = new Outbox(socket)
    this.#encoder = new HeaderEncoder(authority)
  }

  /** The bytes that the peer has not taken yet. */
  get waiting(): number {
    return this.#outbox.waiting
  }

  /** The first bytes of a connection. Pushed responses are refused. */
  greet(): void {
    const at = this.#outbox.reserve(preface.length)
    this.#outbox.commit(at + preface.copy(this.#outbox.chunk, at))
    this.frame(types.settings, 0, ownSettings, 0, ownSettings.length)
  }

  /** The peer's table of headers may have so many bytes. */
  limitTable(bytes: number): void {
    this.#encoder.limit(bytes)
  }

  /** The most bytes that these headers can take. Throws for headers that cannot be sent. */
  measure(request: Request): number {
    return this.#encoder.measure(request)
  }

  /**
   * The head of a request and, if it is `whole`, its body: one frame each, written where they are sent from. A head that
   * is larger than a frame is cut, which moves its parts.
   */
  request(id: number, request: Request, most: number, frameSize: number, whole: boolean): void {
    const { body } = request
    const { length } = body
    const heads = headBytes * (3 + Math.floor(most / frameSize))
    const at = this.#outbox.reserve(most + heads + (whole ? length : 0))
    const { chunk } = this.#outbox
    const start = at + headBytes
    let end = this.#encoder.encode(request, chunk, start)
    const flag = length === 0 ? flags.endStream : 0
    if (end - start > frameSize) end = this.#parts(id, flag, Buffer.from(chunk.subarray(start, end)), at, frameSize)
    else writeHead(chunk, at, end - start, types.headers, flag | flags.endHeaders, id)
    if (whole && length > 0) {
      body.write(chunk, writeHead(chunk, end, length, types.data, flags.endStream, id))
      end += headBytes + length
    }
    this.#outbox.commit(end)
  }

  data(id: number, part: Uint8Array, isLast: boolean): void {
    const at = this.#outbox.reserve(headBytes + part.length)
    const { chunk } = this.#outbox
    const start = writeHead(chunk, at, part.length, types.data, isLast ? flags.endStream : 0, id)
    chunk.set(part, start)
    this.#outbox.commit(start + part.length)
  }

  /** A frame whose payload is one number: a window update or a reset. */
  number(type: number, id: number, number: number): void {
    const at = this.#outbox.reserve(headBytes + 4)
    const { chunk } = this.#outbox
    this.#outbox.commit(chunk.writeUInt32BE(number, writeHead(chunk, at, 4, type, 0, id)))
  }

  /** A frame of the connection with a copy of these bytes. */
  frame(type: number, flag: number, from: Buffer, start: number, end: number): void {
    const at = this.#outbox.reserve(headBytes + end - start)
    const first = writeHead(this.#outbox.chunk, at, end - start, type, flag, 0)
    this.#outbox.commit(first + from.copy(this.#outbox.chunk, first, start, end))
  }

  /** The last frame. It is written at once, because the socket is about to end. */
  goodbye(code: number): void {
    const farewell = Buffer.alloc(8)
    farewell.writeUInt32BE(code, 4)
    this.frame(types.goaway, 0, farewell, 0, 8)
    this.#outbox.flush()
  }

  /** Returns where the last part ends. */
  #parts(id: number, flag: number, block: Buffer, at: number, frameSize: number): number {
    const { chunk } = this.#outbox
    let to = at
    for (let from = 0; from < block.length; from += frameSize) {
      const part = block.subarray(from, from + frameSize)
      const ends = from + part.length === block.length ? flags.endHeaders : 0
      const type = from === 0 ? types.headers : types.continuation
      to = writeHead(chunk, to, part.length, type, (from === 0 ? flag : 0) | ends, id)
      to += part.copy(chunk, to)
    }
    return to
  }
}
