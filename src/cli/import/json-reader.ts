import { isObject } from '../../platform/fields.ts'
import { readJson } from '../../platform/json/names.ts'
import { longestRecord, type SourceRecord } from './records.ts'

const [quote, backslash, open, close, opens, closes, newline] = [34, 92, 123, 125, 91, 93, 10]
const [comma, space] = [44, 32]

/**
 * Reads JSON lines, a list of objects, or an object with such a list, as `{"users": [ … ]}`. Each object is parsed by
 * itself, so memory does not grow with the file.
 */
export async function* jsonRecords(input: AsyncIterable<Buffer>): AsyncGenerator<SourceRecord[]> {
  const reader = new ObjectReader()
  for await (const chunk of input) {
    const records = reader.read(chunk)
    if (records.length > 0) yield records
  }
  const left = reader.end()
  if (left) yield [left]
}

class ObjectReader {
  private depth = 0
  private inText = false
  private escaped = false
  private line = 1
  private begunAt = 1
  private pieces: Buffer[] = []
  private size = 0
  private head = Buffer.alloc(0)
  private headRead = false
  /** The file is an object around the list: its other fields are not read. */
  private isAround = false
  /** The last line with something that is not an object. */
  private strayLine = 0

  read(chunk: Buffer): SourceRecord[] {
    if (!this.headRead) {
      this.head = Buffer.concat([this.head, chunk])
      const found = headOf(this.head)
      if (found === undefined && this.head.length < 4_096) return []
      this.headRead = true
      const { end, isAround } = found ?? { end: 0, isAround: false }
      this.isAround = isAround
      for (const byte of this.head.subarray(0, end)) if (byte === newline) this.line += 1
      return this.scan(this.head.subarray(end))
    }
    return this.scan(chunk)
  }

  /** The object that the file breaks off in. */
  end(): SourceRecord | undefined {
    const late = this.headRead ? [] : this.scan(this.head)
    if (late[0]) return late[0]
    return this.depth > 0
      ? { line: this.begunAt, value: undefined, fault: 'is not complete: the file breaks off' }
      : undefined
  }

  private scan(chunk: Buffer): SourceRecord[] {
    const records: SourceRecord[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (byte === newline) this.line += 1
      if (this.inText) {
        if (this.escaped) this.escaped = false
        else if (byte === backslash) this.escaped = true
        else if (byte === quote) this.inText = false
      } else if (byte === quote && this.depth > 0) this.inText = true
      else if (byte === open || (byte === opens && this.depth > 0)) {
        if (this.depth === 0) {
          start = at
          this.begunAt = this.line
        }
        this.depth += 1
      } else if ((byte === close || byte === closes) && this.depth > 0) {
        this.depth -= 1
        if (this.depth === 0) records.push(this.taken(chunk.subarray(start, at + 1)))
      } else if (this.depth === 0 && byte! > space && byte !== comma && byte !== closes) this.stray(records)
    }
    if (this.depth > 0) this.keep(chunk.subarray(start), records)
    return records
  }

  /** Named once for each line. */
  private stray(records: SourceRecord[]): void {
    if (this.isAround || this.strayLine === this.line) return
    this.strayLine = this.line
    records.push({ line: this.line, value: undefined, fault: 'is not a JSON object' })
  }

  private keep(piece: Buffer, records: SourceRecord[]): void {
    this.size += piece.length
    if (this.size <= longestRecord) this.pieces.push(Buffer.from(piece))
    else if (this.pieces.length > 0) {
      this.pieces = []
      records.push({ line: this.begunAt, value: undefined, fault: 'is longer than 1 MiB' })
    }
  }

  private taken(last: Buffer): SourceRecord {
    const bytes = this.pieces.length > 0 ? Buffer.concat([...this.pieces, last]) : last
    this.pieces = []
    this.size = 0
    const line = this.begunAt
    try {
      const value: unknown = readJson(bytes.toString('utf8'))
      return isObject(value) ? { line, value } : { line, value, fault: 'is not an object' }
    } catch {
      return { line, value: undefined, fault: 'is not JSON' }
    }
  }
}

/** Where the first object begins, in a list or in JSON lines; undefined if more must be read. */
function headOf(head: Buffer): { end: number; isAround: boolean } | undefined {
  const text = head.toString('latin1')
  const [mark] = /^(?:\xef\xbb\xbf)?/.exec(text)!
  const [list, around] = /^\s*(\{\s*"\w+"\s*:\s*)?\[/.exec(text.slice(mark.length)) ?? []
  if (list) return { end: mark.length + list.length, isAround: around !== undefined }
  const isOpen = /^(?:\xef\xbb?|\s*\{\s*(?:"\w*"?\s*:?\s*)?)$/.test(text.slice(mark.length))
  return isOpen ? undefined : { end: mark.length, isAround: false }
}
