import { Unavailable } from '../errors.ts'
import { firstIdAt } from '../ids.ts'
import type { Pool, Transaction } from './db.ts'

/** The first moment of the month that is `offset` months away, in UTC. */
const monthStart = (at: Date, offset: number) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1))

/** A table with a partition for each month, and the form of the first moment of a month in its key. */
export interface Monthly {
  table: string
  bound(start: Date): string
  /** How full a page is written, in percent; the rest is room for rows that change soon after. */
  fillfactor?: number
  /** The months ahead that have a table; absent: two, so that workers may be stopped for weeks. */
  ahead?: number
}

/** A table whose key is a time. */
export const byTime = (table: string): Monthly => ({ table, bound: (start) => `'${start.toISOString()}'` })

/** A table whose key is a UUIDv7, which begins with its time. */
export const byId = (table: string, fillfactor = 100): Monthly => ({
  table,
  bound: (start) => `'${firstIdAt(start.getTime())}'`,
  fillfactor
})

const nameOf = ({ table }: Monthly, start: Date) => `${table}_${start.toISOString().slice(0, 7).replace('-', '_')}`

/** Any constant, the same for every node: the lock keeps two nodes from making the same table. */
const lockKey = 7_463_822_191
/**
 * A statement that waits for a lock on the whole history makes all writers wait behind it, so it gives up and is
 * repeated later.
 */
const lockTimeout = '3s'
const lockNotAvailable = '55P03'

/** Includes last month, because an event may be a week late and a job days. */
const monthsAround = (ahead: number) => Array.from({ length: ahead + 2 }, (_, index) => index - 1)

/** Runs work in a transaction that no other node runs at the same time. The text of its queries contains no value. */
async function inTurn<Result>(pool: Pool, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  try {
    return await pool.transaction(async (tx) => {
      await tx.adhoc(`set local lock_timeout = '${lockTimeout}'`, [])
      await tx.adhoc(`select pg_advisory_xact_lock(${lockKey})`, [])
      return await work(tx)
    })
  } catch (error) {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error
    throw new Unavailable('The tables of the months are in use.', { cause: error })
  }
}

async function existing(tx: Transaction, { table }: Monthly): Promise<string[]> {
  const rows = await tx.adhoc<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = '${table}'::regclass order by c.relname`,
    []
  )
  return rows.map(({ name }) => name)
}

/**
 * Makes the table of a month, in the transaction of the caller. The text contains no value of a caller: names and bounds
 * come from our own dates. Attaching an existing table does not block readers, as creating it in place would: a backup
 * reads for hours.
 */
async function makeMonth(query: (text: string) => Promise<unknown>, monthly: Monthly, from: Date): Promise<void> {
  const { table, bound, fillfactor = 100 } = monthly
  const name = nameOf(monthly, from)
  const to = monthStart(from, 1)
  await query(`create table ${name} (like ${table} including constraints) with (fillfactor = ${fillfactor})`)
  await query(`alter table ${table} attach partition ${name} for values from (${bound(from)}) to (${bound(to)})`)
}

/** Makes the table of a month by its name, `events_2026_11`. Returns whether the name is one of a month. */
export async function makeMonthNamed(
  query: (text: string) => Promise<unknown>,
  monthlies: readonly Monthly[],
  name: string
): Promise<boolean> {
  const [, table, year, month] = /^(\w+)_(\d{4})_(\d\d)$/.exec(name) ?? []
  const monthly = monthlies.find((one) => one.table === table)
  const from = new Date(Date.UTC(Number(year), Number(month) - 1, 1))
  if (!monthly || nameOf(monthly, from) !== name) return false
  await makeMonth(query, monthly, from)
  return true
}

/** Makes the missing tables of the months around a time. Safe on many nodes at once. */
export async function makePartitions(pool: Pool, monthly: Monthly, around: Date): Promise<void> {
  const there = await inTurn(pool, (tx) => existing(tx, monthly))
  for (const offset of monthsAround(monthly.ahead ?? 2)) {
    const from = monthStart(around, offset)
    const name = nameOf(monthly, from)
    if (there.includes(name)) continue
    await inTurn(pool, async (tx) => {
      // Another node may have made it meanwhile.
      if ((await existing(tx, monthly)).includes(name)) return
      await makeMonth((text) => tx.adhoc(text, []), monthly, from)
    })
  }
}

/** Drops the tables of months that ended before a time. */
export async function dropPartitions(pool: Pool, monthly: Monthly, before: Date): Promise<void> {
  const named = new RegExp(`^${monthly.table}_(\\d{4})_(\\d\\d)$`)
  for (const name of await inTurn(pool, (tx) => existing(tx, monthly))) {
    const [, year, month] = named.exec(name) ?? []
    if (year && new Date(Date.UTC(Number(year), Number(month), 1)) <= before)
      await inTurn(pool, (tx) => tx.adhoc(`drop table if exists ${name}`, []))
  }
}

/** Whether PostgreSQL refused a row because no table of a month accepts it. */
export const isWithoutPartition = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23514'
