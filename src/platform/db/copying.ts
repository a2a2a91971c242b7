import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { OperatorError } from '../errors.ts'
import type { Pool } from './db.ts'

const rowsAtOnce = 500

/** Tables about the processes and the history of a database, which are not copied. */
const left = ['migrations', 'nodes']

export interface Copying {
  from: Pool
  to: Pool
  /** Rows copied so far, of the total. */
  progress?: (done: number, total: number) => void
  signal?: AbortSignal
}

/**
 * Copies everything to an empty, migrated database, all of it or nothing. Call it under the migration locks of both
 * databases, so that no node starts on either. Returns the number of rows of each table.
 */
export async function copyDatabase(copying: Copying): Promise<Record<string, number>> {
  const [source, target] = [await copying.from.connect(), await copying.to.connect()]
  try {
    await source.query('begin isolation level repeatable read read only')
    await target.query('begin')
    for (const client of [source, target]) {
      await client.query('set local statement_timeout = 0')
      await client.query(`set local datestyle = 'ISO, YMD'`)
    }
    await refuseUnlessEmpty(target)
    await makeSamePartitions(source, target)
    const copied = await copyRows(source, target, copying)
    await target.query('commit')
    await target.query('begin')
    await target.query('set local statement_timeout = 0')
    await target.query('analyze')
    await target.query('commit')
    return copied
  } finally {
    // An open transaction ends with its session.
    await Promise.all([source, target].map((client) => client.end().catch(() => {})))
  }
}

async function copyRows(
  source: pg.Client,
  target: pg.Client,
  { progress = () => {}, signal }: Copying
): Promise<Record<string, number>> {
  const tables = await tablesInOrder(source)
  const wanted = await countRows(source, tables)
  const all = sum(wanted)
  const copied: Record<string, number> = {}
  for (const table of tables) {
    let rowsHere = 0
    for await (const rows of pagesOf(source, table)) {
      signal?.throwIfAborted()
      rowsHere += await insert(target, table, rows)
      progress(sum(copied) + rowsHere, all)
    }
    if (rowsHere !== wanted[table]) throw new Error(`${rowsHere} of ${wanted[table]} rows of ${table} arrived`)
    copied[table] = rowsHere
  }
  return copied
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0)

async function refuseUnlessEmpty(target: pg.Client): Promise<void> {
  const { rows } = await target.query('select from projects union all select from settings limit 1')
  if (rows.length > 0)
    throw new OperatorError('The other database is in use already: it has projects or settings. Nothing was copied.')
}

/** The old database has tables for months that are long over; the new one does not. */
async function makeSamePartitions(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ text: string }>(
    `select format('create table if not exists %I partition of %s %s%s', c.relname, i.inhparent::regclass,
                   pg_get_expr(c.relpartbound, c.oid), ' with (' || array_to_string(c.reloptions, ', ') || ')') as text
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`
  )
  for (const { text } of rows) await target.query(text)
}

/** Tables that others refer to come first. A partition comes with its table. */
async function tablesInOrder(source: pg.Client): Promise<string[]> {
  const { rows } = await source.query<{ name: string; needs: string[] }>(
    `select c.relname as name, array(
              select confrelid::regclass::text from pg_constraint
               where contype = 'f' and conrelid = c.oid and confrelid <> c.oid) as needs
       from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      order by c.relname`
  )
  const ordered: string[] = []
  let waiting = rows.filter(({ name }) => !left.includes(name))
  while (waiting.length > 0) {
    const ready = waiting.filter(({ needs }) => needs.every((name) => ordered.includes(name)))
    if (ready.length === 0) throw new Error(`tables refer to each other: ${waiting.map(({ name }) => name).join(', ')}`)
    ordered.push(...ready.map(({ name }) => name))
    waiting = waiting.filter((table) => !ready.includes(table))
  }
  return ordered
}

async function countRows(source: pg.Client, tables: string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const { rows } = await source.query<{ count: string }>(`select count(*) from ${table}`)
    counts[table] = Number(rows[0]!.count)
  }
  return counts
}

/**
 * Copies whole rows as text, which PostgreSQL writes and reads for every type; JSON would confuse its null with SQL's.
 */
async function* pagesOf(source: pg.Client, table: string): AsyncGenerator<string[]> {
  await source.query(`declare page cursor for select t::text as row from ${table} t`)
  for (;;) {
    const { rows } = await source.query<{ row: string }>(`fetch ${rowsAtOnce} from page`)
    if (rows.length === 0) break
    yield rows.map(({ row }) => row)
  }
  await source.query('close page')
}

async function insert(target: pg.Client, table: string, rows: string[]): Promise<number> {
  const text = `insert into ${table} select * from unnest($1::${table}[])`
  return (await target.query(text, [rows])).rowCount ?? 0
}

/** Whether two addresses lead to one database: only its sessions see each other's locks. */
export async function isOneDatabase(first: Pool, second: Pool): Promise<boolean> {
  const key = randomInt(2 ** 47)
  const [holder, other] = [await first.connect(), await second.connect()]
  try {
    await holder.query('begin')
    await holder.query('select pg_advisory_xact_lock($1)', [key])
    return !(await other.query('select pg_try_advisory_xact_lock($1) as taken', [key])).rows[0].taken
  } finally {
    await Promise.all([holder, other].map((client) => client.end().catch(() => {})))
  }
}
