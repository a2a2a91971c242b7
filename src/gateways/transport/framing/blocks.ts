import { codes, flags, headBytes, ProtocolFault } from './frames.ts'
import { HeaderDecoder, type Headers, status200 } from './hpack-decoder.ts'

const longest = 64 * 1024

export interface HeaderEvents {
  onHeaders(id: number, headers: Headers, isLast: boolean): void
}

/** Puts header blocks together and decodes them, also those of streams that have ended: they change the table. */
export class HeaderBlocks {
  readonly #decoder = new HeaderDecoder(longest)
  readonly #events: HeaderEvents
  /** A block that continues in further frames. */
  #open: { id: number; isLast: boolean; parts: Buffer[]; bytes: number } | undefined

  constructor(events: HeaderEvents) {
    this.#events = events
  }

  /** The stream whose block is not complete: no other frame may come before its end. */
  get openFor(): number | undefined {
    return this.#open?.id
  }

  /** `isBare`: of a response with status 200, only the status is needed. */
  begin(flag: number, id: number, from: Buffer, start: number, end: number, isBare: boolean) {
    let first = start
    let last = end
    if (flag & (flags.padded | flags.priority)) {
      first += (flag & flags.padded ? 1 : 0) + (flag & flags.priority ? 5 : 0)
      last -= flag & flags.padded ? from[start]! : 0
      if (first > end || first > last) throw new ProtocolFault(codes.protocol, 'too much padding')
    }
    const isLast = (flag & flags.endStream) !== 0
    if (!(flag & flags.endHeaders))
      this.#open = { id, isLast, parts: [Buffer.from(from.subarray(first, last))], bytes: last - first }
    else if (isBare && this.#decoder.skim(from, first, last)) this.#events.onHeaders(id, status200, isLast)
    else this.#events.onHeaders(id, this.#decoder.decode(from, first, last), isLast)
  }

  continue(flag: number, from: Buffer, start: number, end: number): void {
    const open = this.#open
    if (!open) throw new ProtocolFault(codes.protocol, 'a continuation of nothing')
    // Empty parts count too: a peer could send them for ever.
    open.bytes += end - start + headBytes
    if (open.bytes > longest) throw new ProtocolFault(codes.calm, 'a header block is too long')
    open.parts.push(Buffer.from(from.subarray(start, end)))
    if (!(flag & flags.endHeaders)) return
    this.#open = undefined
    const whole = Buffer.concat(open.parts)
    this.#events.onHeaders(open.id, this.#decoder.decode(whole, 0, whole.length), open.isLast)
  }
}
