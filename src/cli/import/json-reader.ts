import { isObject } from '../../platform/fields.ts'
import { longestRecord, type SourceRecord } from './records.ts'

const [quote, backslash, open, close, opens, closes, newline] = [34, 92, 123, 125, 91, 93, 10]

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

  read(chunk: Buffer): SourceRecord[] {
    if (!this.headRead) {
      this.head = Buffer.concat([this.head, chunk])
      const list = headOf(this.head)
      if (list === undefined && this.head.length < 4_096) return []
      this.headRead = true
      for (const byte of this.head.subarray(0, list ?? 0)) if (byte === newline) this.line += 1
      return this.scan(this.head.subarray(list ?? 0))
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
      } else if (byte === quote) this.inText = this.depth > 0
      else if (byte === open || (byte === opens && this.depth > 0)) {
        if (this.depth === 0) {
          start = at
          this.begunAt = this.line
        }
        this.depth += 1
      } else if ((byte === close || byte === closes) && this.depth > 0) {
        this.depth -= 1
        if (this.depth === 0) records.push(this.taken(chunk.subarray(start, at + 1)))
      }
    }
    if (this.depth > 0) this.keep(chunk.subarray(start), records)
    return records
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
      const value: unknown = JSON.parse(bytes.toString('utf8'))
      return isObject(value) ? { line, value } : { line, value, fault: 'is not an object' }
    } catch {
      return { line, value: undefined, fault: 'is not JSON' }
    }
  }
}

/** Where the first object of a list begins; 0 for JSON lines, undefined if more must be read. */
function headOf(head: Buffer): number | undefined {
  const text = head.toString('latin1')
  const list = /^(?:\xef\xbb\xbf)?\s*(?:\{\s*"\w+"\s*:\s*)?\[/.exec(text)
  if (list) return list[0].length
  return /^(?:\xef\xbb\xbf)?\s*\{\s*(?:"\w*"?\s*:?\s*)?$/.test(text) ? undefined : 0
}
