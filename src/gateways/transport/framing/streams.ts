import { longestAnswer, longestList } from '../bytes.ts'
import type { Ending, Request, Requester } from '../transport.ts'
import { codes, defaultWindow } from './frames.ts'
import { bytesOfHeaders, type Headers, status200 } from './hpack-decoder.ts'

/** The ending of almost every push to Apple. */
const plainAnswer: Ending = Object.freeze({ kind: 'answer', status: 200, headers: status200, body: '' })

/** One request, from its first byte to its ending. */
export class Stream {
  readonly id: number
  readonly deadlineAt: number
  readonly requester: Requester
  readonly isBare: boolean
  readonly #wantsList: boolean
  /** The bytes that the peer has granted this stream beside the window that every stream has, less those that were sent. */
  granted = 0
  /** The part of the body that waits for the peer's windows. */
  unsent: Uint8Array | undefined = undefined
  status = 0
  /** The bytes that the response takes while it is incomplete. */
  kept = 0
  #headers: Headers | undefined = undefined
  #body: string | Buffer = ''
  #size = 0
  #taken = 0

  constructor(id: number, deadlineAt: number, requester: Requester, { isBare, wantsList }: Request) {
    this.id = id
    this.deadlineAt = deadlineAt
    this.requester = requester
    this.isBare = isBare === true
    this.#wantsList = wantsList === true
  }

  /** The header block of a response, or its trailers. A 1xx announces another one. False if it is no response. */
  head(headers: Headers, isLast: boolean): boolean {
    if (this.#headers) return true
    const { ':status': text = '' } = headers
    const status = headers === status200 ? 200 : /^[1-9]\d\d$/.test(text) ? Number(text) : 0
    if (status < 200) return status >= 100
    this.status = status
    this.#headers = headers
    if (!isLast && headers !== status200) this.kept += bytesOfHeaders(headers)
    return true
  }

  /** A part of the body, copied, because the buffer is used again. False if there were no headers. */
  data(from: Buffer, start: number, end: number, isLast: boolean): boolean {
    if (!this.#headers) return false
    const longest = this.#wantsList && this.status === 200 ? longestList : longestAnswer
    const last = Math.min(end, start + longest - this.#size)
    if (last <= start) return true
    if (isLast && this.#size === 0) this.#body = from.toString('utf8', start, last)
    else this.#append(from, start, last)
    return true
  }

  /** One buffer that doubles, not one for each part: a peer may send every byte in a frame of its own. */
  #append(from: Buffer, start: number, end: number): void {
    const before = typeof this.#body === 'string' ? undefined : this.#body
    const size = this.#size + end - start
    let body = before
    if (!body || body.length < size) {
      body = Buffer.allocUnsafe(Math.max(size, 2 * this.#size))
      this.kept += body.length - (before?.length ?? 0)
      before?.copy(body, 0, 0, this.#size)
      this.#body = body
    }
    from.copy(body, this.#size, start, end)
    this.#size = size
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
    const body = typeof this.#body === 'string' ? this.#body : this.#body.toString('utf8', 0, this.#size)
    return { kind: 'answer', status: this.status, headers: this.#headers!, body }
  }

  /** A truncated refusal could be misread; a truncated success is still a success. */
  unfinished(code: number, why: string): Ending {
    const { status } = this
    if (status && (code === codes.noError || (status >= 200 && status < 300))) return this.answer()
    return code === codes.refusedStream ? { kind: 'refused' } : { kind: 'lost', message: why }
  }
}
