import { decodeHuffman } from './huffman.ts'
import { type Field, staticTable } from './tables.ts'

/** Our SETTINGS_HEADER_TABLE_SIZE: the default of the protocol, so it need not be sent. */
const tableBytes = 4_096
/** What an entry costs beside its two texts (RFC 7541, 4.1). */
const entryBytes = 32

export type Headers = Record<string, string>

/** What headers take, counted as in the table. */
export function bytesOfHeaders(headers: Headers): number {
  let bytes = 0
  for (const name of Object.keys(headers)) bytes += name.length + headers[name]!.length + entryBytes
  return bytes
}

/** The headers of a response whose other fields were not read. */
export const status200: Headers = Object.freeze({ ':status': '200' })
const indexOf200 = 8
/** The last static entry of a field of HTTP/2 itself. */
const lastPseudo = 14

/** The peer's header block cannot be read, or is too long. The table is unknown from then on, so the connection ends. */
export class HeaderFault extends Error {}

const fault = (text: string) => new HeaderFault(text)

/** Reads the header blocks of one connection. Each of them must be decoded, in order, because they change the table. */
export class HeaderDecoder {
  readonly #longest: number
  /** The newest entry is the last one. */
  readonly #table: Field[] = []
  #size = 0
  #capacity = tableBytes
  #from: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0

  /** `longest`: the most bytes of one block's names and values. An indexed field of one byte may stand for 4,096. */
  constructor(longest: number) {
    this.#longest = longest
  }

  decode(from: Buffer, start: number, end: number): Headers {
    this.#from = from
    this.#at = start
    this.#end = end
    const headers: Headers = {}
    let bytes = 0
    let isFirst = true
    while (this.#at < end) {
      const first = from[this.#at]!
      if ((first & 0xe0) === 0x20) {
        if (!isFirst) throw fault('a table size after a header field')
        this.#resize(this.#integer(0x1f))
        continue
      }
      const { name, value } = first & 0x80 ? this.#indexed() : this.#literal(first)
      isFirst = false
      bytes += name.length + value.length + entryBytes
      if (bytes > this.#longest) throw fault('a header block is too long')
      // A field that is repeated is a list, except that a peer may not repeat those of HTTP/2 itself.
      if (!Object.hasOwn(headers, name)) headers[name] = value
      else if (name.startsWith(':')) throw fault(`${name} is repeated`)
      else headers[name] += `, ${value}`
    }
    return headers
  }

  /**
   * Whether a block is the status 200 and fields that change no table, so that it need not be decoded. Gateways accept
   * almost every push, and what they say beside the status is then of no use. False for a block in any doubt.
   */
  skim(from: Buffer, start: number, end: number): boolean {
    if (from[start] !== (0x80 | indexOf200)) return false
    let at = start + 1
    while (at < end) {
      const first = from[at++]!
      if (first & 0x80) {
        if (first === 0xff || !this.#isOrdinary(first & 0x7f)) return false
        continue
      }
      if (first & 0x60) return false
      let index = first & 0x0f
      if (index === 0x0f) {
        index += from[at]!
        if (from[at++]! & 0x80) return false
      }
      if (index === 0) {
        // The letter `:`, as it is and in the Huffman code.
        if (from[at + 1] === 0x3a || from[at + 1]! >> 1 === 0x5c || (from[at]! & 0x7f) === 0x7f) return false
        at += 1 + (from[at]! & 0x7f)
      } else if (!this.#isOrdinary(index)) return false
      if (at >= end || (from[at]! & 0x7f) === 0x7f) return false
      at += 1 + (from[at]! & 0x7f)
    }
    return at === end
  }

  /** Whether the tables have a field of this index, not one of HTTP/2 itself. */
  #isOrdinary(index: number): boolean {
    if (index <= staticTable.length) return index > lastPseudo
    const found = this.#table[this.#table.length - (index - staticTable.length)]
    return found !== undefined && !found.name.startsWith(':')
  }

  #indexed(): Field {
    return this.#entry(this.#integer(0x7f))
  }

  #literal(first: number): Field {
    const kept = (first & 0x40) !== 0
    const index = this.#integer(kept ? 0x3f : 0x0f)
    const name = index === 0 ? this.#text() : this.#entry(index).name
    const field = { name, value: this.#text() }
    if (kept) this.#keep(field)
    return field
  }

  #entry(index: number): Field {
    const found = index <= staticTable.length ? staticTable[index - 1] : this.#table.at(-(index - staticTable.length))
    if (!found || index === 0) throw fault(`there is no header field ${index}`)
    return found
  }

  #integer(mask: number): number {
    let value = this.#byte() & mask
    if (value < mask) return value
    for (let shift = 0; ; shift += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) << shift
      if (shift > 21 || value > 0xfffffff) throw fault('a number is too large')
      if (byte < 0x80) return value
    }
  }

  #text(): string {
    const isHuffman = (this.#from[this.#at]! & 0x80) !== 0
    const length = this.#integer(0x7f)
    const start = this.#at
    if (start + length > this.#end) throw fault('a text is longer than its block')
    this.#at += length
    if (!isHuffman) return this.#from.toString('latin1', start, this.#at)
    const text = decodeHuffman(this.#from, start, this.#at)
    if (text === undefined) throw fault('a text is not in the Huffman code')
    return text
  }

  #byte(): number {
    if (this.#at >= this.#end) throw fault('a header block ends within a field')
    return this.#from[this.#at++]!
  }

  #resize(capacity: number): void {
    if (capacity > tableBytes) throw fault('a table larger than agreed')
    this.#capacity = capacity
    this.#evict(0)
  }

  #keep(field: Field): void {
    const bytes = sizeOf(field)
    this.#evict(bytes)
    // A field that is larger than the table empties it.
    if (bytes > this.#capacity) return
    this.#table.push(field)
    this.#size += bytes
  }

  #evict(room: number): void {
    let gone = 0
    while (gone < this.#table.length && this.#size + room > this.#capacity) this.#size -= sizeOf(this.#table[gone++]!)
    if (gone > 0) this.#table.splice(0, gone)
  }
}

const sizeOf = ({ name, value }: Field) => name.length + value.length + entryBytes
