import type pg from 'pg'
import { OperatorError } from '../errors.ts'
import { checkName } from '../secrets/secrets.ts'
import { version } from '../version.ts'
import { isDistributed, listMigrations, listMonths, listTables, readFacts, type Table } from './catalog-store.ts'
import { copyOut } from './copy-stream.ts'
import { createFrames, type Header, sha256, type Trailer } from './format.ts'

export interface Snapshot {
  client: pg.Client
  /** Rows written so far. */
  progress?: (rows: number, about: number) => void
  /** Called with the header before any row, and with the sums at the end. */
  onHeader?: (header: Header) => void
  onEnd?: (sums: Omit<Trailer, 'sha256'>) => void
}

/** Texts of values that every server reads alike, and no limit of time: a large installation takes hours. */
export const sessionSettings = [
  'set local statement_timeout = 0',
  'set local lock_timeout = 0',
  'set local idle_in_transaction_session_timeout = 0',
  `set local datestyle = 'ISO, YMD'`,
  `set local intervalstyle = 'postgres'`,
  `set local timezone = 'UTC'`,
  `set local client_encoding = 'UTF8'`,
  'set local extra_float_digits = 1',
  `set local bytea_output = 'hex'`
]

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
export const columnList = (columns: readonly string[]) => columns.map(quoted).join(', ')

/** Yields the frames of a backup: everything that is committed at one moment, while the service goes on. */
export async function* snapshotFrames(snapshot: Snapshot): AsyncGenerator<Buffer> {
  const { client, progress = () => {} } = snapshot
  const tables = await begin(client)
  const frames = createFrames()
  const header = await headerOf(client, tables)
  snapshot.onHeader?.(header)
  yield frames.header(header)
  let all = 0
  for (const { table, columns } of tables) {
    yield frames.table({ table, columns })
    const hash = sha256()
    const rows = copyOut(client, `copy (select ${columnList(columns)} from ${quoted(table)}) to stdout`)
    let shown = 0
    for (;;) {
      const { value, done } = await rows.next()
      if (done) {
        all += value
        yield frames.tableEnd({ rows: value, sha256: hash.digest('hex') })
        break
      }
      hash.update(value)
      yield frames.rows(value)
      for (let at = value.indexOf(10); at >= 0; at = value.indexOf(10, at + 1)) shown += 1
      progress(all + shown, header.about_rows)
    }
  }
  yield frames.trailer(tables.length, all)
  await client.query('commit')
  snapshot.onEnd?.({ tables: tables.length, rows: all })
}

/**
 * Locks all tables against removal before the moment of the snapshot: a month that is dropped later waits. A table that
 * a migration made in between means another try.
 */
async function begin(client: pg.Client): Promise<Table[]> {
  for (let attempt = 0; ; attempt++) {
    if (await isDistributed(client)) throw distributed()
    const expected = await listTables(client)
    await client.query('begin isolation level repeatable read read only')
    for (const text of sessionSettings) await client.query(text)
    const names = [...expected.map(({ table }) => quoted(table)), 'migrations']
    await client.query(`lock table ${names.join(', ')} in access share mode`)
    const found = await listTables(client)
    const shape = (all: Table[]) => JSON.stringify(all.map(({ table, columns }) => [table, columns]))
    if (shape(found) === shape(expected)) return found
    await client.query('rollback')
    if (attempt === 5) throw new OperatorError('The tables change all the time. Try again after the migration.')
  }
}

async function headerOf(client: pg.Client, tables: Table[]): Promise<Header> {
  const { made_at, ...facts } = await readFacts(client, checkName)
  return {
    made_at: made_at.toISOString(),
    version,
    migrations: await listMigrations(client),
    months: await listMonths(client),
    about_rows: Math.round(tables.reduce((sum, { about }) => sum + about, 0)),
    ...facts
  }
}

const distributed = () =>
  new OperatorError(
    'This database is distributed by Citus, whose servers share no snapshot. Back up all of them at a restore point: ' +
      'see "Backups" in docs/guides/backups.md.'
  )
