import { StringDecoder } from 'node:string_decoder'
import { longestRecord, type SourceRecord } from './records.ts'

export const delimiters = [',', ';', '\t', '|']

/**
 * Reads CSV as RFC 4180 describes it, with any of the usual separators. Lines without quotes, which are most, are only
 * split: 2,000,000 lines take 4 s instead of 20 s by characters.
 */
export async function* csvRecords(
  input: AsyncIterable<Buffer>,
  separator?: string
): AsyncGenerator<SourceRecord<string[]>[]> {
  const decoder = new StringDecoder('utf8')
  const reader = new CsvReader(separator)
  for await (const chunk of input) {
    const records = reader.read(decoder.write(chunk))
    if (records.length > 0) yield records
  }
  const records = reader.read(decoder.end(), true)
  if (records.length > 0) yield records
}

class CsvReader {
  private rest = ''
  private line = 1
  private separator: string | undefined
  private begun = false

  constructor(separator: string | undefined) {
    this.separator = separator
  }

  /** The records that are complete. What begins after them waits for the next text. */
  read(text: string, isLast = false): SourceRecord<string[]>[] {
    let source = this.rest + text
    if (!this.begun && source.length > 0) {
      this.begun = true
      source = source.replace(/^\ufeff/, '')
    }
    const records: SourceRecord<string[]>[] = []
    let start = 0
    while (start < source.length) {
      const end = this.endOf(source, start, isLast)
      if (end === undefined) break
      this.take(source.slice(start, end), records)
      start = end + 1
    }
    this.rest = source.slice(start)
    if (this.rest.length > longestRecord && !isLast) {
      records.push({ line: this.line, value: [], fault: 'is longer than 1 MiB; a quote may not be closed' })
      this.skip()
    }
    return records
  }

  /** Drops the line with a quote that is never closed, so that the lines after it are read. */
  private skip(): void {
    const end = this.rest.indexOf('\n')
    this.rest = end < 0 ? '' : this.rest.slice(end + 1)
    this.line += 1
  }

  /** The place of the line feed that ends the record; a quoted one does not. */
  private endOf(source: string, start: number, isLast: boolean): number | undefined {
    for (let from = start; ; ) {
      const end = source.indexOf('\n', from)
      if (end < 0) return isLast ? source.length : undefined
      if (quotesIn(source, start, end) % 2 === 0) return end
      from = end + 1
    }
  }

  private take(text: string, records: SourceRecord<string[]>[]): void {
    const { line } = this
    const quoted = text.includes('"')
    this.line += 1 + (quoted ? text.split('\n').length - 1 : 0)
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text
    if (whole === '') return
    this.separator ??= likely(whole)
    const value = quoted ? cellsOf(whole, this.separator) : whole.split(this.separator)
    records.push(whole.includes('\ufffd') ? { line, value, fault: 'is not UTF-8' } : { line, value })
  }
}

function quotesIn(source: string, start: number, end: number): number {
  let count = 0
  for (let at = source.indexOf('"', start); at >= 0 && at < end; at = source.indexOf('"', at + 1)) count += 1
  return count
}

/** The separator that the header has most of. */
function likely(header: string): string {
  const bare = header.replace(/"[^"]*"/g, '')
  const counts = delimiters.map((one) => bare.split(one).length)
  return delimiters[counts.indexOf(Math.max(...counts))]!
}

function cellsOf(text: string, separator: string): string[] {
  const cells: string[] = []
  let at = 0
  for (;;) {
    if (text[at] === '"') {
      let cell = ''
      let end = text.indexOf('"', at + 1)
      while (text[end + 1] === '"') {
        cell += `${text.slice(at + 1, end)}"`
        at = end + 1
        end = text.indexOf('"', at + 1)
      }
      const close = end < 0 ? text.length : end
      const next = text.indexOf(separator, close)
      // Text behind the closing quote belongs to the cell, as most programs read it.
      cells.push(cell + text.slice(at + 1, close) + text.slice(close + 1, next < 0 ? text.length : next))
      if (next < 0) return cells
      at = next + separator.length
    } else {
      const next = text.indexOf(separator, at)
      cells.push(text.slice(at, next < 0 ? text.length : next))
      if (next < 0) return cells
      at = next + separator.length
    }
  }
}
