import type { Readable } from 'node:stream'
import { exit, Failure } from '../exit.ts'

/** A number of complete lines. */
export interface Batch {
  bytes: Uint8Array<ArrayBuffer>
  /** The number of its first line in the file. */
  firstLine: number
  lines: number
}

/** The limit of the service. */
const longestLine = 1024 * 1024
const newline = 10

/** Splits a stream at line ends into batches of about this size, so that memory does not grow with the file. */
export async function* batchesOf(input: Readable, batchBytes: number): AsyncGenerator<Batch> {
  let waiting: Buffer[] = []
  let size = 0
  let firstLine = 1
  /** Bytes since the last line end. */
  let open = 0

  function take(end: Buffer): Batch {
    const bytes = Buffer.concat([...waiting, end])
    waiting = []
    size = 0
    const lines = countLines(bytes) + (bytes.at(-1) === newline ? 0 : 1)
    const batch = { bytes, firstLine, lines }
    firstLine += lines
    return batch
  }

  for await (const chunk of input as AsyncIterable<Buffer>) {
    const first = chunk.indexOf(newline)
    if (open + (first < 0 ? chunk.length : first) > longestLine)
      throw tooLong(firstLine + waiting.reduce((sum, piece) => sum + countLines(piece), 0))
    const end = chunk.lastIndexOf(newline) + 1
    open = end === 0 ? open + chunk.length : chunk.length - end
    if (end === 0 || size + end < batchBytes) {
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
  new Failure(
    exit.failure,
    'line_too_long',
    `Line ${line} is longer than 1 MiB. Check that this is a file of JSON lines.`
  )

export function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count += 1
  return count
}
