import type { Ending } from '../transport.ts'
import type { Headers } from './hpack-decoder.ts'

/** Responses are short. A longer one is cut, so that no peer fills the memory. */
const longestRefusal = 64 * 1024
/** Enough for the ids of all channels of an app at Apple: 10,000 of about 28 bytes. */
const longestAnswer = 512 * 1024

/** One request, from its first byte to its ending. */
export class Stream {
  readonly id: number
  readonly deadlineAt: number
  readonly done: (ending: Ending) => void
  /** How many bytes of the body the peer accepts still. */
  window: number
  /** The part of the body that waits for the peer's windows. */
  unsent: Uint8Array | undefined
  status = 0
  #headers: Headers | undefined
  #chunks: Buffer[] | undefined
  #size = 0

  constructor(id: number, window: number, deadlineAt: number, done: (ending: Ending) => void) {
    this.id = id
    this.window = window
    this.deadlineAt = deadlineAt
    this.done = done
  }

  /** The header block of a response, or its trailers. A 1xx announces another one. False if it is no response. */
  head(headers: Headers): boolean {
    if (this.#headers) return true
    const { ':status': text = '' } = headers
    const status = /^[1-9]\d\d$/.test(text) ? Number(text) : 0
    if (status < 200) return status >= 100
    this.status = status
    this.#headers = headers
    return true
  }

  /** A part of the body, copied, because the buffer of the socket is much larger. False if there were no headers. */
  data(from: Buffer, start: number, end: number): boolean {
    if (!this.#headers) return false
    this.#size += end - start
    if (end === start || this.#size > (this.status === 200 ? longestAnswer : longestRefusal)) return true
    const chunk = Buffer.from(from.subarray(start, end))
    if (this.#chunks) this.#chunks.push(chunk)
    else this.#chunks = [chunk]
    return true
  }

  answer(): Ending {
    const chunks = this.#chunks
    const body = !chunks ? '' : chunks.length === 1 ? chunks[0]!.toString() : String(Buffer.concat(chunks))
    return { kind: 'answer', status: this.status, headers: this.#headers!, body }
  }
}
