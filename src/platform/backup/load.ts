import type pg from 'pg'
import { type Db, isDataFault, onClient, type Pool } from '../db/db.ts'
import { applyOne, makeMigrationTable, underMigrationLock } from '../db/migrate.ts'
import { type Migration, readMigrations } from '../db/migrations.ts'
import { type Monthly, makeMonthNamed } from '../db/partitions.ts'
import { OperatorError } from '../errors.ts'
import { left, listRebuilt, listTables, stateOf } from './catalog-store.ts'
import { copyIn } from './copy-stream.ts'
import { type Frame, type Header, sha256, type TableEnd, type TableStart } from './format.ts'
import { columnList, sessionSettings } from './snapshot.ts'

export interface Loading {
  pool: Pool
  header: Header
  /** The frames after the header. */
  frames: AsyncGenerator<Frame, void>
  monthlies: readonly Monthly[]
  /** Whether an installation that is there goes. Called under the lock, before anything changes. */
  replace: false | (() => Promise<void>)
  /** Runs in the transaction of the restore, on the newest schema. */
  settle: (tx: Db) => Promise<void>
  progress?: (rows: number, about: number) => void
  signal?: AbortSignal
}

export interface Loaded {
  tables: number
  rows: number
  /** Migrations that the backup did not have yet. */
  migrated: string[]
}

/** The migrations of a backup, which this version must know. */
export function migrationsOf({ migrations, version }: Header): { had: Migration[]; more: Migration[] } {
  const known = readMigrations()
  const newer = migrations.filter((name) => !known.some((migration) => migration.name === name))
  if (newer.length > 0)
    throw new OperatorError(
      `The backup was made by a newer Tidings (${version}; it has ${newer.join(', ')}). Restore it with that version.`
    )
  const [had, more] = [true, false].map((wanted) => known.filter(({ name }) => migrations.includes(name) === wanted))
  return { had: had!, more: more! }
}

/** Loads a backup in one transaction: all of it or nothing. */
export function loadBackup(loading: Loading): Promise<Loaded> {
  const { pool, header, replace, settle } = loading
  const { had, more } = migrationsOf(header)
  return underMigrationLock(pool, async (client) => {
    const state = await stateOf(client)
    if (state === 'in use') {
      if (!replace)
        throw new OperatorError(
          'The database is in use already: it has projects or settings. Nothing was changed. Restore into an empty ' +
            'database or another DATA_DIR, or give --replace to remove what is there.'
        )
      await replace()
    }
    await client.query('begin')
    for (const text of sessionSettings) await client.query(text)
    // Rows are on disk when the transaction commits; sorting for indexes is the slow part.
    await client.query(`set local maintenance_work_mem = '128MB'`)
    await dropTables(client, [...had, ...more])
    await makeMigrationTable(client)
    for (const migration of had) await applyOne(client, migration)
    await makeMonths(client, loading)
    const { keys, indexes } = await listRebuilt(client)
    for (const { drop } of [...keys, ...indexes]) await client.query(drop)
    const { tables, rows } = await loadTables(client, loading).catch(refuseData)
    for (const { make } of [...indexes, ...keys]) {
      loading.signal?.throwIfAborted()
      await client.query(make).catch(refuseData)
    }
    for (const migration of more) await applyOne(client, migration)
    await settle(onClient(client))
    await client.query('commit')
    await client.query('analyze')
    return { tables, rows, migrated: more.map(({ name }) => name) }
  })
}

/** Empty tables of a former `tidings migrate` go too: the backup may be of an older schema. */
async function dropTables(client: pg.Client, migrations: Migration[]): Promise<void> {
  const made = migrations.flatMap(({ statements }) =>
    statements.flatMap((text) => /^create table (?:if not exists )?(\w+)/.exec(text)?.[1] ?? [])
  )
  await client.query(`drop table if exists ${[...new Set([...made, ...left])].join(', ')} cascade`)
}

async function makeMonths(client: pg.Client, { header, monthlies }: Loading): Promise<void> {
  for (const name of header.months) {
    if (await makeMonthNamed((text) => client.query(text), monthlies, name)) continue
    throw new OperatorError(`The backup has a table ${name}, which is not one of a month. Nothing was restored.`)
  }
}

async function loadTables(client: pg.Client, loading: Loading): Promise<{ tables: number; rows: number }> {
  const { frames, header, signal, progress = () => {} } = loading
  const known = new Map((await listTables(client)).map(({ table, columns }) => [table, columns]))
  let rows = 0
  for (;;) {
    signal?.throwIfAborted()
    const { value: frame } = await frames.next()
    if (frame?.kind === 'Z') {
      if (frame.value.rows !== rows || known.size > 0) throw incomplete([...known.keys()].join(', '))
      return { tables: frame.value.tables, rows }
    }
    if (frame?.kind !== 'T') throw incomplete('parts in a wrong order')
    const { table, columns } = frame.value
    // Names come from a file: only those of the schema reach a statement.
    const there = known.get(table)
    if (!there || columns.some((column) => !there.includes(column)))
      throw new OperatorError(
        `The backup has a table ${table} that its own schema does not have. Nothing was restored.`
      )
    known.delete(table)
    rows += await loadTable(client, frame.value, frames, (more) => progress(rows + more, header.about_rows))
  }
}

const incomplete = (what: string) => new OperatorError(`The backup is not whole (${what}). Nothing was restored.`)

/** The server refuses a row: it is not one that a database had. */
function refuseData(error: unknown): never {
  throw isDataFault(error) ? incomplete((error as Error).message) : error
}

async function loadTable(
  client: pg.Client,
  { table, columns }: TableStart,
  frames: AsyncGenerator<Frame, void>,
  progress: (rows: number) => void
): Promise<number> {
  const hash = sha256()
  let end: TableEnd | undefined
  let seen = 0
  async function* rowsOf(): AsyncGenerator<Buffer> {
    for (;;) {
      const { value: frame } = await frames.next()
      if (frame?.kind === 'E') {
        end = frame.value
        return
      }
      if (frame?.kind !== 'D') throw incomplete(`the rows of ${table} do not end`)
      hash.update(frame.bytes)
      yield frame.bytes
      for (let at = frame.bytes.indexOf(10); at >= 0; at = frame.bytes.indexOf(10, at + 1)) seen += 1
      progress(seen)
    }
  }
  const rows = await copyIn(client, `copy ${table} (${columnList(columns)}) from stdin`, rowsOf())
  if (rows !== end?.rows || hash.digest('hex') !== end.sha256) throw incomplete(`the rows of ${table} differ`)
  return rows
}
