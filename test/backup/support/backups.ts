import { createReadStream } from 'node:fs'
import pg from 'pg'
import { copyOut } from '../../../src/platform/backup/copy-stream.ts'
import { type Header, readFrames } from '../../../src/platform/backup/format.ts'
import { columnList, sessionSettings } from '../../../src/platform/backup/snapshot.ts'

export interface Contents {
  header: Header
  /** The rows of each table as COPY writes them, sorted. */
  tables: Record<string, { columns: string[]; rows: string[] }>
}

/** Everything that a backup holds. */
export async function contentsOf(file: string): Promise<Contents> {
  const contents: Partial<Contents> & Pick<Contents, 'tables'> = { tables: {} }
  let pieces: Buffer[] = []
  let table = ''
  for await (const frame of readFrames(createReadStream(file))) {
    if (frame.kind === 'H') contents.header = frame.value
    else if (frame.kind === 'T') {
      table = frame.value.table
      contents.tables[table] = { columns: frame.value.columns, rows: [] }
      pieces = []
    } else if (frame.kind === 'D') pieces.push(Buffer.from(frame.bytes))
    else if (frame.kind === 'E') contents.tables[table]!.rows = linesOf(pieces)
  }
  return contents as Contents
}

const linesOf = (pieces: Buffer[]) => Buffer.concat(pieces).toString('utf8').split('\n').slice(0, -1).sort()

/** The rows that a database has in the columns of a backup. */
export async function rowsIn(url: string, { tables }: Contents): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: url, pipeline: true })
  await client.connect()
  try {
    await client.query('begin')
    for (const text of sessionSettings) await client.query(text)
    const found: Record<string, string[]> = {}
    for (const [table, { columns }] of Object.entries(tables)) {
      const pieces: Buffer[] = []
      for await (const piece of copyOut(client, `copy (select ${columnList(columns)} from ${table}) to stdout`))
        pieces.push(Buffer.from(piece))
      found[table] = linesOf(pieces)
    }
    return found
  } finally {
    await client.end()
  }
}

/** One column of the rows of a backup. */
export function column({ tables }: Contents, table: string, name: string): string[] {
  const { columns, rows } = tables[table]!
  const at = columns.indexOf(name)
  return rows.map((row) => row.split('\t')[at]!)
}

/** The rows without a column. */
export const without = (rows: string[], columns: string[], name: string): string[] =>
  rows.map((row) => row.split('\t').toSpliced(columns.indexOf(name), 1).join('\t')).sort()
