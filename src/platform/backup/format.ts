import { createHash, type Hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { OperatorError } from '../errors.ts'

/**
 * A backup is a line of text, then frames, compressed with zstd. A frame is a letter, a length and its content:
 * H the header, then for each table T its name and columns, D rows as COPY writes them, E their number and hash, and at
 * last Z the hash of everything before.
 */
export const magic = 'tidings-backup 1\n'

export interface Header {
  /** When the snapshot was taken. */
  made_at: string
  /** The version of Tidings and of the server that it was made with. */
  version: string
  server: string
  /** The migrations of the schema, by name. */
  migrations: string[]
  /** A text that only the right master key opens. */
  master_key_check: string | null
  /** Tables of months: `events_2026_11`. */
  months: string[]
  projects: number
  /** About as many rows as the tables have. */
  about_rows: number
}

export interface TableStart {
  table: string
  columns: string[]
}

export interface TableEnd {
  rows: number
  sha256: string
}

export interface Trailer {
  tables: number
  rows: number
  sha256: string
}

export type Frame =
  | { kind: 'H'; value: Header }
  | { kind: 'T'; value: TableStart }
  | { kind: 'D'; bytes: Buffer }
  | { kind: 'E'; value: TableEnd }
  | { kind: 'Z'; value: Trailer }

const headBytes = 5
/** Longer frames are not written, so a longer one is damage. */
const mostBytes = 16_777_216

export const sha256 = (): Hash => createHash('sha256')

/** Makes frames, and keeps the hash of all of them. */
export function createFrames() {
  const all = sha256()
  function frame(kind: Frame['kind'], content: Buffer): Buffer {
    const bytes = Buffer.allocUnsafe(headBytes + content.length)
    bytes.write(kind, 0, 'latin1')
    bytes.writeUInt32BE(content.length, 1)
    content.copy(bytes, headBytes)
    all.update(bytes)
    return bytes
  }
  const json = (kind: Frame['kind'], value: unknown) => frame(kind, Buffer.from(JSON.stringify(value)))
  return {
    header: (value: Header) => json('H', value),
    table: (value: TableStart) => json('T', value),
    rows: (bytes: Buffer) => frame('D', bytes),
    tableEnd: (value: TableEnd) => json('E', value),
    trailer: (tables: number, rows: number) =>
      json('Z', { tables, rows, sha256: all.copy().digest('hex') } satisfies Trailer)
  }
}

export const compressed = () => createZstdCompress()

const damaged = (why: string) =>
  new OperatorError(`The backup is damaged or was cut off: ${why}. Take another backup file.`)

/** Reads frames and checks them; a caller that got the trailer has read a whole backup. */
export async function* readFrames(source: Readable): AsyncGenerator<Frame, void> {
  const all = sha256()
  let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  for await (const chunk of decompressed(source)) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (rest.length - at >= headBytes) {
      const length = rest.readUInt32BE(at + 1)
      if (length > mostBytes) throw damaged('a part of it is longer than any that is written')
      const end = at + headBytes + length
      if (rest.length < end) break
      const frame = parse(rest.toString('latin1', at, at + 1), rest.subarray(at + headBytes, end))
      if (frame.kind === 'Z') {
        if (frame.value.sha256 !== all.digest('hex')) throw damaged('its contents differ from what was written')
        if (rest.length > end) throw damaged('something follows its end')
        yield frame
        return
      }
      all.update(rest.subarray(at, end))
      yield frame
      at = end
    }
    rest = rest.subarray(at)
  }
  throw damaged('its end is missing')
}

function parse(kind: string, content: Buffer): Frame {
  if (kind === 'D') return { kind, bytes: content }
  if (!/^[HTEZ]$/.test(kind)) throw damaged('it has a part of an unknown kind')
  try {
    return { kind, value: JSON.parse(content.toString('utf8')) } as Frame
  } catch {
    throw damaged('a part of it cannot be read')
  }
}

async function* decompressed(source: Readable): AsyncGenerator<Buffer> {
  const opened = createZstdDecompress()
  // Errors of reading and of decompressing both end the loop below.
  source.on('error', (error) => opened.destroy(error))
  const pieces = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const first = await readMagic(pieces).catch((error) => {
    source.destroy()
    throw error
  })
  const feed = async () => {
    opened.write(first)
    for (;;) {
      const { value, done } = await pieces.next()
      if (done || opened.destroyed) break
      if (opened.write(value)) continue
      const { promise, resolve } = Promise.withResolvers<void>()
      opened.on('drain', resolve).on('close', resolve)
      await promise
      opened.off('drain', resolve).off('close', resolve)
    }
    opened.end()
  }
  feed().catch((error) => opened.destroy(error))
  try {
    yield* opened as AsyncIterable<Buffer>
  } catch (error) {
    if (/^(Z_|ZSTD_|ERR_ZSTD|ERR_ZLIB)/.test(String((error as NodeJS.ErrnoException).code)))
      throw damaged((error as Error).message)
    throw error
  } finally {
    opened.destroy()
    source.destroy()
  }
}

async function readMagic(pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  let read: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  while (read.length < magic.length) {
    const { value, done } = await pieces.next()
    if (done) break
    read = Buffer.concat([read, value])
  }
  const line = read.toString('latin1', 0, magic.length)
  if (line === magic) return read.subarray(magic.length)
  if (/^tidings-backup \d/.test(line))
    throw new OperatorError('The backup has a format that this version does not know. Restore it with a newer Tidings.')
  throw new OperatorError(
    'This is not a backup of Tidings, or its beginning is missing. `tidings backup` writes such files.'
  )
}
