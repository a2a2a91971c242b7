import type { Request } from '../transport.ts'
import { staticTable } from './tables.ts'

/** The most that our table takes, if the peer allows more: enough for what all requests of a connection share. */
const mostBytes = 4_096
const entryBytes = 32

/** The static entries by name alone, and by name and value. */
const byName = new Map<string, number>()
const byField = new Map<string, Map<string, number>>()
for (const [index, { name, value }] of staticTable.entries()) {
  if (!byName.has(name)) byName.set(name, index + 1)
  if (value === '') continue
  const values = byField.get(name) ?? new Map()
  byField.set(name, values.set(value, index + 1))
}

const https = byField.get(':scheme')!.get('https')!

/** What the encoder knows of one name. */
interface Known {
  name: string
  /** The index in the static table, or 0. */
  fixed: number
  /** The values that the name has in the static table, with their indexes. */
  values: Map<string, number> | undefined
  /** The last value, if it could be sent. */
  value: string
  /** The static entry of the name with this value, or 0. */
  whole: number
  /** The number of the table's entry with this name and value, counted from the first that was ever added; 0: none. */
  added: number
  /** The number of the newest entry with this name and any value. */
  named: number
  /** The bytes of the name, as they follow a literal. */
  bytes: Buffer
}

const validName = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/

/** 1 for each letter that a value may contain. A loop over a table takes a tenth of the time of a regular expression. */
const sendable = new Uint8Array(256).map((_, code) => (code === 9 || (code >= 32 && code !== 127) ? 1 : 0))

function isSendable(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) if (sendable[value.charCodeAt(at)] !== 1) return false
  return true
}

/**
 * Writes header blocks for one connection. A value that two requests in a row have is put into the table and takes one
 * byte from then on; other values are written as they are. So a connection to a gateway sends its token, topic and
 * priority once, and then only path, id and expiry. Texts are not Huffman-coded, which would cost more than it saves.
 */
export class HeaderEncoder {
  readonly #known = new Map<string, Known>()
  /** By list of names; the last list is beside it, because most connections use one only. */
  readonly #lists = new WeakMap<readonly string[], Known[]>()
  #names: readonly string[] = []
  #list: Known[] = []
  /** The sizes of the entries, oldest first; the oldest has the number `#gone + 1`. */
  readonly #sizes: number[] = []
  #gone = 0
  #size = 0
  #capacity = mostBytes
  /** Set when the peer must be informed of another size before the next header. */
  #announce = false
  readonly #authority: string
  readonly #ofAuthority: Known
  #into: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(authority: string) {
    this.#authority = authority
    this.#ofAuthority = this.#learn(':authority')
  }

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  limit(bytes: number): void {
    const capacity = Math.min(bytes, mostBytes)
    if (capacity === this.#capacity) return
    // The table starts anew. Shrinking to 0 first tells the peer so.
    while (this.#sizes.length > 0) this.#evictOldest()
    this.#capacity = capacity
    this.#announce = true
  }

  /** The most bytes that the block can take: these headers, scheme and authority. Throws for headers that cannot be sent. */
  measure({ names, values }: Request): number {
    if (names !== this.#names) this.#choose(names)
    const list = this.#list
    let most = 32 + this.#authority.length
    for (let at = 0; at < list.length; at += 1) {
      const value = values[at]
      if (value === undefined) continue
      const known = list[at]!
      if (known.value !== value && (typeof value !== 'string' || !isSendable(value)))
        throw new TypeError(`the header ${known.name} cannot be sent`)
      most += known.name.length + value.length + 12
    }
    return most
  }

  /** Writes the block of measured headers, and returns where it ends. */
  encode({ names, values }: Request, into: Buffer, at: number): number {
    if (names !== this.#names) this.#choose(names)
    this.#into = into
    this.#at = at
    if (this.#announce) this.#announceSize()
    into[this.#at++] = 0x80 | https
    this.#field(this.#ofAuthority, this.#authority)
    const list = this.#list
    for (let index = 0; index < list.length; index += 1) {
      const value = values[index]
      if (value !== undefined) this.#field(list[index]!, value)
    }
    return this.#at
  }

  #announceSize(): void {
    this.#integer(0x20, 0x1f, 0)
    if (this.#capacity > 0) this.#integer(0x20, 0x1f, this.#capacity)
    this.#announce = false
  }

  #choose(names: readonly string[]): void {
    let list = this.#lists.get(names)
    if (!list) {
      list = names.map((name) => this.#known.get(name) ?? this.#learn(name))
      this.#lists.set(names, list)
    }
    this.#names = names
    this.#list = list
  }

  #learn(name: string): Known {
    if (!validName.test(name)) throw new TypeError(`${name} is not the name of a header`)
    const bytes = Buffer.from(name, 'latin1')
    const values = byField.get(name)
    const known = { name, fixed: byName.get(name) ?? 0, values, value: '\n', whole: 0, added: 0, named: 0, bytes }
    this.#known.set(name, known)
    return known
  }

  #field(known: Known, value: string): void {
    if (known.value !== value) {
      known.value = value
      known.whole = known.values?.get(value) ?? 0
      known.added = 0
      if (known.whole) this.#integer(0x80, 0x7f, known.whole)
      else this.#literal(known, value, 0x00, 0x0f)
    } else if (known.whole) this.#integer(0x80, 0x7f, known.whole)
    else if (known.added > this.#gone) this.#integer(0x80, 0x7f, this.#indexOf(known.added))
    else this.#repeat(known, value)
  }

  /** The second request with this value: it is likely to come again. */
  #repeat(known: Known, value: string) {
    const bytes = known.name.length + value.length + entryBytes
    if (bytes > this.#capacity) return this.#literal(known, value, 0x00, 0x0f)
    this.#literal(known, value, 0x40, 0x3f)
    while (this.#size + bytes > this.#capacity) this.#evictOldest()
    this.#sizes.push(bytes)
    this.#size += bytes
    known.added = this.#gone + this.#sizes.length
    known.named = known.added
  }

  #literal(known: Known, value: string, kind: number, mask: number): void {
    const named = known.fixed || (known.named > this.#gone ? this.#indexOf(known.named) : 0)
    this.#integer(kind, mask, named)
    if (!named) {
      this.#integer(0, 0x7f, known.bytes.length)
      this.#into.set(known.bytes, this.#at)
      this.#at += known.bytes.length
    }
    this.#integer(0, 0x7f, value.length)
    this.#at += this.#into.write(value, this.#at, 'latin1')
  }

  #indexOf(number: number): number {
    return staticTable.length + 1 + this.#gone + this.#sizes.length - number
  }

  #evictOldest(): void {
    this.#size -= this.#sizes.shift()!
    this.#gone += 1
  }

  #integer(kind: number, mask: number, value: number): void {
    if (value < mask) {
      this.#into[this.#at++] = kind | value
      return
    }
    this.#into[this.#at++] = kind | mask
    let left = value - mask
    for (; left >= 0x80; left >>>= 7) this.#into[this.#at++] = (left & 0x7f) | 0x80
    this.#into[this.#at++] = left
  }
}
