import { bytesOfBody } from '../bytes.ts'
import type { Request } from '../transport.ts'
import { codes, defaultWindow, largestWindow, ProtocolFault, smallestFrame } from './frames.ts'
import type { Stream } from './streams.ts'
import type { FrameWriter } from './writer.ts'

/** Sends requests, no more of their bodies than the windows of the peer allow (RFC 9113, 5.2). */
export class Outgoing {
  readonly #writer: FrameWriter
  /** Streams whose body waits for the window of the stream or of the connection, in order. */
  readonly #blocked = new Set<Stream>()
  readonly #later: () => void
  #frameSize = smallestFrame
  #window = defaultWindow
  /** The window that a stream begins with. */
  #streamWindow = defaultWindow
  /** Whether blocked streams may have room again. */
  #hasGrown = false

  constructor(writer: FrameWriter) {
    this.#writer = writer
    this.#later = () => this.#unblock()
  }

  set frameSize(bytes: number) {
    if (bytes < smallestFrame || bytes > 0xffffff) throw new ProtocolFault(codes.protocol, 'a wrong frame size')
    this.#frameSize = Math.min(bytes, smallestFrame)
  }

  start(stream: Stream, request: Request, most: number): void {
    const { body } = request
    const { length } = body
    // Streams that have waited come first.
    this.#unblock()
    const whole = length <= this.#frameSize && length <= this.#streamWindow && length <= this.#window
    this.#writer.request(stream.id, request, most, this.#frameSize, whole)
    if (whole) {
      stream.granted -= length
      this.#window -= length
    } else {
      stream.unsent = bytesOfBody(body)
      this.#sendBody(stream)
    }
  }

  /** The peer changes the window of all streams, also of open ones. */
  resize(window: number): void {
    if (window > largestWindow) throw new ProtocolFault(codes.flowControl, 'a window is too large')
    if (window > this.#streamWindow) this.#unblockSoon()
    this.#streamWindow = window
  }

  grow(by: number): void {
    this.#window += by
    if (this.#window > largestWindow || by === 0) throw new ProtocolFault(codes.flowControl, 'a wrong window')
    this.#unblockSoon()
  }

  /** False if the window would be larger than one may be. */
  growStream(stream: Stream, by: number): boolean {
    stream.granted += by
    if (this.#windowOf(stream) > largestWindow || by === 0) return false
    if (stream.unsent) this.#sendBody(stream)
    return true
  }

  forget(stream: Stream): void {
    if (stream.unsent) this.#blocked.delete(stream)
  }

  /** Sends as much of the body as the windows allow. */
  #sendBody(stream: Stream): void {
    let body = stream.unsent!
    while (body.length > 0) {
      const length = Math.min(body.length, this.#frameSize, this.#windowOf(stream), this.#window)
      if (length <= 0) break
      const part = body.length === length ? body : body.subarray(0, length)
      body = body.subarray(length)
      stream.granted -= length
      this.#window -= length
      this.#writer.data(stream.id, part, body.length === 0)
    }
    stream.unsent = body.length > 0 ? body : undefined
    if (stream.unsent) this.#blocked.add(stream)
    else this.#blocked.delete(stream)
  }

  #windowOf({ granted }: Stream): number {
    return this.#streamWindow + granted
  }

  /** Once in a turn of the event loop: a peer can change its windows a thousand times in 16 KB. */
  #unblockSoon(): void {
    if (this.#hasGrown || this.#blocked.size === 0) return
    this.#hasGrown = true
    setImmediate(this.#later)
  }

  #unblock(): void {
    if (!this.#hasGrown) return
    this.#hasGrown = false
    for (const stream of this.#blocked) {
      if (this.#window <= 0) return
      this.#sendBody(stream)
    }
  }
}
