import type { Readable } from 'node:stream'
import { exit, Failure } from '../exit.ts'

/** Whole lines, as many as make up a part. */
export interface Part {
  bytes: Uint8Array<ArrayBuffer>
  /** The number of its first line in the whole. */
  firstLine: number
  lines: number
}

/** The service takes no longer one. */
const longestLine = 1024 * 1024
const newline = 10

/** Cuts a stream at line ends into parts of about this size, so that memory does not grow with the file. */
export async function* partsOf(input: Readable, partBytes: number): AsyncGenerator<Part> {
  let waiting: Buffer[] = []
  let size = 0
  let firstLine = 1
  /** Bytes since the last line end. */
  let open = 0

  function take(end: Buffer): Part {
    const bytes = Buffer.concat([...waiting, end])
    waiting = []
    size = 0
    const lines = countLines(bytes) + (bytes.at(-1) === newline ? 0 : 1)
    const part = { bytes, firstLine, lines }
    firstLine += lines
    return part
  }

  for await (const chunk of input as AsyncIterable<Buffer>) {
    const first = chunk.indexOf(newline)
    if (open + (first < 0 ? chunk.length : first) > longestLine)
      throw tooLong(firstLine + waiting.reduce((sum, piece) => sum + countLines(piece), 0))
    const end = chunk.lastIndexOf(newline) + 1
    open = end === 0 ? open + chunk.length : chunk.length - end
    if (end === 0 || size + end < partBytes) {
      waiting.push(chunk)
      size += chunk.length
    } else {
      yield take(chunk.subarray(0, end))
      if (open > 0) waiting.push(chunk.subarray(end))
      size = open
    }
  }
  if (size > 0) yield take(Buffer.alloc(0))
}

const tooLong = (line: number) =>
  new Failure(exit.failure, 'line_too_long', `Line ${line} is longer than 1 MiB. Is this a file of JSON lines?`)

export function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count += 1
  return count
}
