import type { TLSSocket } from 'node:tls'

/** A TLS record holds this much. Larger writes are cut into records anyway. */
const chunkBytes = 16_384
const mostSpare = 8

/**
 * The bytes that are about to be written. Everything that one turn of the event loop adds leaves in a few large writes:
 * a hundred pushes cost one call of the socket instead of two hundred.
 */
export class Outbox {
  readonly #socket: TLSSocket
  readonly #flush: () => void
  readonly #spare: Buffer[] = []
  #full: { chunk: Buffer; length: number }[] = []
  chunk: Buffer = Buffer.allocUnsafeSlow(chunkBytes)
  #at = 0
  #scheduled = false

  constructor(socket: TLSSocket) {
    this.#socket = socket
    this.#flush = () => this.flush()
  }

  /** The bytes that the peer has not taken yet. */
  get waiting(): number {
    return this.#socket.writableLength
  }

  /** Makes room for so many bytes in `chunk`, and returns where they begin. */
  reserve(most: number): number {
    if (this.#at + most > this.chunk.length) this.#next(most)
    return this.#at
  }

  /** What was reserved ends here. */
  commit(end: number): void {
    this.#at = end
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#flush)
  }

  flush(): void {
    this.#scheduled = false
    if (this.#at > 0) this.#next(0)
    const full = this.#full
    this.#full = []
    if (this.#socket.destroyed) return
    for (const { chunk, length } of full)
      this.#socket.write(chunk.subarray(0, length), () => {
        if (chunk.length === chunkBytes && this.#spare.length < mostSpare) this.#spare.push(chunk)
      })
  }

  #next(most: number): void {
    if (this.#at > 0) this.#full.push({ chunk: this.chunk, length: this.#at })
    this.chunk =
      most > chunkBytes ? Buffer.allocUnsafeSlow(most) : (this.#spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes))
    this.#at = 0
  }
}
