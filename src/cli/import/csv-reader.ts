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
    let quote = source.indexOf('"')
    while (start < source.length) {
      const feed = source.indexOf('\n', start)
      if (feed < 0 && !isLast) break
      const lineEnd = feed < 0 ? source.length : feed
      this.separator ??= likely(source.slice(start, lineEnd))
      if (quote >= 0 && quote < start) quote = source.indexOf('"', start)
      if (quote < 0 || quote >= lineEnd) {
        const text = source.slice(start, lineEnd)
        this.take(text, withoutReturn(text).split(this.separator), records)
        start = lineEnd + 1
        continue
      }
      const found = quotedRecord(source, start, this.separator, isLast)
      if (!found && !isLast) break
      if (found) this.take(source.slice(start, found.end), found.cells, records)
      else this.lose('has a quote that is not closed', records)
      start = (found?.end ?? lineEnd) + 1
    }
    this.rest = source.slice(start)
    if (this.rest.length > longestRecord && !isLast) {
      this.lose('is longer than 1 MiB; a quote may not be closed', records)
      const end = this.rest.indexOf('\n')
      this.rest = end < 0 ? '' : this.rest.slice(end + 1)
    }
    return records
  }

  private take(text: string, value: string[], records: SourceRecord<string[]>[]): void {
    const { line } = this
    this.line += text.includes('\n') ? text.split('\n').length : 1
    if (value.length === 1 && value[0] === '') return
    records.push(text.includes('\ufffd') ? { line, value, fault: 'is not UTF-8' } : { line, value })
  }

  /** Only this line is lost: those after it are read. */
  private lose(fault: string, records: SourceRecord<string[]>[]): void {
    records.push({ line: this.line, value: [], fault })
    this.line += 1
  }
}

/**
 * The cells of the record that begins here, and the place of the line feed behind it; undefined if a quote is not closed. A quote
 * opens a cell only at its beginning: in 5" it is an inch.
 */
function quotedRecord(
  source: string,
  start: number,
  separator: string,
  isLast: boolean
): { cells: string[]; end: number } | undefined {
  const cells: string[] = []
  for (let at = start; ; ) {
    let cell = ''
    if (source[at] === '"') {
      let close = source.indexOf('"', at + 1)
      while (close >= 0 && source[close + 1] === '"') {
        cell += source.slice(at + 1, close + 1)
        at = close + 1
        close = source.indexOf('"', at + 1)
      }
      if (close < 0) return undefined
      cell += source.slice(at + 1, close)
      at = close + 1
    }
    const feed = source.indexOf('\n', at)
    if (feed < 0 && !isLast) return undefined
    const lineEnd = feed < 0 ? source.length : feed
    const next = source.slice(at, lineEnd).indexOf(separator)
    // Text behind the closing quote belongs to the cell, as most programs read it.
    const tail = next < 0 ? withoutReturn(source.slice(at, lineEnd)) : source.slice(at, at + next)
    cells.push(cell + tail)
    if (next < 0) return { cells, end: lineEnd }
    at += next + separator.length
  }
}

const withoutReturn = (text: string): string => (text.endsWith('\r') ? text.slice(0, -1) : text)

/** The separator that the header has most of. */
function likely(header: string): string {
  const bare = header.replace(/"[^"]*"/g, '')
  const counts = delimiters.map((one) => bare.split(one).length)
  return delimiters[counts.indexOf(Math.max(...counts))]!
}
