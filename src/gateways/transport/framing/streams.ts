import type { Ending, Requester } from '../transport.ts'
import { codes, defaultWindow } from './frames.ts'
import { type Headers, status200 } from './hpack-decoder.ts'

/** Responses are short. A longer one is cut, so that no peer fills the memory. */
const longestRefusal = 64 * 1024
/** Enough for the ids of all channels of an app at Apple: 10,000 of about 28 bytes. */
const longestAnswer = 512 * 1024

/** The ending of almost every push to Apple. */
const plainAnswer: Ending = Object.freeze({ kind: 'answer', status: 200, headers: status200, body: '' })

/** One request, from its first byte to its ending. */
export class Stream {
  readonly id: number
  readonly deadlineAt: number
  readonly requester: Requester
  readonly isBare: boolean
  /** The bytes that the peer has granted this stream beside the window that every stream has, less those that were sent. */
  granted = 0
  /** The part of the body that waits for the peer's windows. */
  unsent: Uint8Array | undefined = undefined
  status = 0
  #headers: Headers | undefined = undefined
  #body: string | Buffer[] = ''
  #size = 0
  #taken = 0

  constructor(id: number, deadlineAt: number, requester: Requester, isBare: boolean) {
    this.id = id
    this.deadlineAt = deadlineAt
    this.requester = requester
    this.isBare = isBare
  }

  /** The header block of a response, or its trailers. A 1xx announces another one. False if it is no response. */
  head(headers: Headers): boolean {
    if (this.#headers) return true
    const { ':status': text = '' } = headers
    const status = headers === status200 ? 200 : /^[1-9]\d\d$/.test(text) ? Number(text) : 0
    if (status < 200) return status >= 100
    this.status = status
    this.#headers = headers
    return true
  }

  /** A part of the body, copied, because the buffer is used again. False if there were no headers. */
  data(from: Buffer, start: number, end: number, isLast: boolean): boolean {
    if (!this.#headers) return false
    this.#size += end - start
    if (end === start || this.#size > (this.status === 200 ? longestAnswer : longestRefusal)) return true
    if (typeof this.#body !== 'string') this.#body.push(Buffer.from(from.subarray(start, end)))
    else if (isLast) this.#body = from.toString('utf8', start, end)
    else this.#body = [Buffer.from(from.subarray(start, end))]
    return true
  }

  /** Counts bytes that arrived, and returns those by which the peer's window must grow now: 0 while half of it is left. */
  grants(bytes: number): number {
    this.#taken += bytes
    if (this.#taken < defaultWindow / 2) return 0
    const taken = this.#taken
    this.#taken = 0
    return taken
  }

  answer(): Ending {
    if (this.#headers === status200 && this.#body === '') return plainAnswer
    const body = typeof this.#body === 'string' ? this.#body : String(Buffer.concat(this.#body))
    return { kind: 'answer', status: this.status, headers: this.#headers!, body }
  }

  /** A truncated refusal could be misread; a truncated success is still a success. */
  unfinished(code: number, why: string): Ending {
    const { status } = this
    if (status && (code === codes.noError || (status >= 200 && status < 300))) return this.answer()
    return code === codes.refusedStream ? { kind: 'refused' } : { kind: 'lost', message: why }
  }
}
