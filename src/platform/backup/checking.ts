import { OperatorError } from '../errors.ts'
import { type Frame, sha256 } from './format.ts'

/** Reads a backup to its end and compares each table with its number of rows and its hash. */
export async function checkTables(
  frames: AsyncGenerator<Frame, void>,
  progress: (rows: number) => void
): Promise<{ tables: number; rows: number }> {
  let [tables, rows, here] = [0, 0, 0]
  let table = ''
  let hash = sha256()
  for await (const frame of frames) {
    if (frame.kind === 'T') {
      table = frame.value.table
      hash = sha256()
      here = 0
    } else if (frame.kind === 'D') {
      hash.update(frame.bytes)
      for (let at = frame.bytes.indexOf(10); at >= 0; at = frame.bytes.indexOf(10, at + 1)) here += 1
      progress(rows + here)
    } else if (frame.kind === 'E') {
      if (frame.value.rows !== here || frame.value.sha256 !== hash.digest('hex'))
        throw new OperatorError(`The backup is damaged: the rows of ${table} differ from what was written.`)
      rows += here
      tables += 1
    }
  }
  return { tables, rows }
}
