import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { OperatorError } from '../errors.ts'
import { distributeNew, refuseWorker } from './citus/distribute.ts'
import type { Pool } from './db.ts'
import { builtConcurrently, type Migration, readMigrations } from './migrations.ts'

/** Any constant, as long as every node of every version uses the same one. */
export const lockKey = 7_463_822_190
/** How long a node waits for another node's migration. */
const patienceMs = 10 * 60_000
const retryMs = 100
/**
 * A change of a table waits for its lock no longer than this, because all statements on that table wait behind it. It
 * is tried again after a pause in which they run.
 */
const tableLock = '2s'
const pauseMs = 1_000
/** PostgreSQL ends one of two transactions that wait for each other, which may be this one: rolled back, it can run again. */
const deadlockDetected = '40P01'
const lockNotAvailable = '55P03'

export interface Migrating {
  migrations?: Migration[]
  /**
   * Whether code older than the database may do `afterwards`: a node may, if the newer migrations let it run beside
   * them. Code that touches every row may not, because it does not know the new columns.
   */
  newer?: 'refused' | 'beside'
}

/**
 * Migrates the database to the schema of this code and runs `afterwards` under the same lock, with the names of the
 * applied migrations: ten nodes may start at once, and they bootstrap one after the other.
 */
export function migrate<Result = string[]>(
  pool: Pool,
  afterwards: (applied: string[]) => Promise<Result> = async (applied) => applied as Result,
  { migrations = readMigrations(), newer = 'refused' }: Migrating = {}
): Promise<Result> {
  return underMigrationLock(pool, async (client) => {
    await refuseWorker(client)
    await makeMigrationTable(client)
    const done = await checkNewer(client, migrations, newer)
    const pending = migrations.filter(({ id }) => !done.has(id))
    for (const migration of pending) {
      if (migration.inTransaction) await applyWhole(client, migration)
      else await applySingly(client, migration)
    }
    if (pending.length > 0) await distributeNew(client)
    return afterwards(pending.map(({ name }) => name))
  })
}

/** Runs work on a session of its own that holds the lock of migrations: no node starts meanwhile. */
export async function underMigrationLock<Result>(
  pool: Pool,
  work: (client: pg.Client) => Promise<Result>
): Promise<Result> {
  const { session } = pool
  const client = await (session ?? pool.connect)()
  // A pooler may lend another session after each transaction, so one that stays open holds the lock.
  const holder = session ? client : await pool.connect()
  try {
    if (session) await client.query(`set statement_timeout = 0`)
    else await holder.query('begin; set local idle_in_transaction_session_timeout = 0')
    await takeLock(holder, session ? 'pg_try_advisory_lock' : 'pg_try_advisory_xact_lock')
    return await work(client)
  } finally {
    // Ending the session releases the lock, also when the server has stopped.
    for (const one of new Set([client, holder])) await one.end().catch(() => {})
  }
}

/**
 * Asks again and again instead of waiting in one statement. An index that is built concurrently waits for all older
 * statements, so a node that waited for the lock that way would wait for the index, and the index for the node.
 */
async function takeLock(
  client: pg.Client,
  tryLock: 'pg_try_advisory_lock' | 'pg_try_advisory_xact_lock'
): Promise<void> {
  for (const untilMs = Date.now() + patienceMs; ; await sleep(retryMs)) {
    const { rows } = await client.query<{ mine: boolean }>(`select ${tryLock}($1) as mine`, [lockKey])
    if (rows[0]!.mine) return
    if (Date.now() > untilMs)
      throw new OperatorError(
        'Another node has been migrating this database for ten minutes. Wait until it has finished, then start again.'
      )
  }
}

export async function makeMigrationTable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ attname: string }>(
    `select attname from pg_attribute where attrelid = to_regclass('migrations') and attnum > 0`
  )
  if (rows.length === 0)
    await client.query(
      'create table migrations (id int primary key, name text not null, applied_at timestamptz not null, beside boolean)'
    )
  // The first versions made the table without this column, and leave it out when they insert.
  else if (!rows.some(({ attname }) => attname === 'beside'))
    await client.query('alter table migrations add column beside boolean')
}

/** Refuses a database that is too new for this code, and returns the migrations that it has. */
async function checkNewer(
  client: pg.Client,
  migrations: Migration[],
  newer: 'refused' | 'beside'
): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ id: number; name: string; beside: boolean | null }>(
    'select id, name, beside from migrations order by id'
  )
  const unknown = rows.filter(({ id }) => !migrations.some((migration) => migration.id === id))
  const refused = newer === 'beside' ? unknown.filter(({ beside }) => !beside) : unknown
  if (refused.length > 0) {
    throw new OperatorError(
      `The database was migrated by a newer version of Tidings (it has ${refused.map(({ name }) => name).join(', ')}, which ` +
        `this version does not know). Start the newer version, or restore a backup made before the upgrade.`
    )
  }
  return new Set(rows.map(({ id }) => id))
}

async function applyWhole(client: pg.Client, migration: Migration): Promise<void> {
  for (const untilMs = Date.now() + patienceMs; ; await sleep(pauseMs)) {
    try {
      await client.query('begin')
      await client.query('set local statement_timeout = 0')
      await client.query(`set local lock_timeout = '${tableLock}'`)
      for (const text of migration.statements) await client.query(text)
      await record(client, migration)
      await client.query('commit')
      return
    } catch (error) {
      const { code } = error as pg.DatabaseError
      if ((code !== lockNotAvailable && code !== deadlockDetected) || Date.now() > untilMs) throw error
      await client.query('rollback')
    }
  }
}

/** Runs statements that can be repeated: a crash leaves some of them done, and perhaps an index that is not valid. */
async function applySingly(client: pg.Client, migration: Migration): Promise<void> {
  for (const text of migration.statements) {
    const index = builtConcurrently(text)
    const { rows } = await client.query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [
      index
    ])
    if (rows.length > 0) await client.query(`drop index concurrently ${index}`)
    await client.query(text)
  }
  await record(client, migration)
}

/** Applies a migration in the transaction of the caller, which alone sees the tables. */
export async function applyOne(client: pg.Client, migration: Migration): Promise<void> {
  for (const text of migration.statements)
    await client.query(migration.inTransaction ? text : text.replace(/\bindex\s+concurrently\b/i, 'index'))
  await record(client, migration)
}

const record = (client: pg.Client, { id, name, beside }: Migration) =>
  client.query('insert into migrations (id, name, applied_at, beside) values ($1, $2, $3, $4)', [
    id,
    name,
    new Date(),
    beside
  ])
