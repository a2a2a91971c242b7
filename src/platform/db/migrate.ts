import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { OperatorError } from '../errors.ts'
import type { Pool } from './db.ts'

export interface Migration {
  id: number
  name: string
  statements: string[]
}

/** Any constant, as long as every node of every version uses the same one. */
export const lockKey = 7_463_822_190
/** How long a node waits for another node's migration. */
const lockTimeout = '10min'

const folder = join(import.meta.dirname, '../../../migrations')

/**
 * The files in order. A statement ends with a semicolon at the end of a line, and each is sent separately: distributed
 * PostgreSQL refuses several in one query string.
 */
export function readMigrations(from: string = folder): Migration[] {
  const files = readdirSync(from).filter((file) => /^\d{4}-.+\.sql$/.test(file))
  return files.sort().map((file) => ({
    id: Number(file.slice(0, 4)),
    name: file.slice(0, -4),
    statements: readFileSync(join(from, file), 'utf8')
      .replace(/^\s*--.*$/gm, '')
      .split(/;\s*$/m)
      .map((text) => text.trim())
      .filter((text) => text !== '')
  }))
}

/**
 * Migrates the database to the schema of this code and runs `afterwards` under the same lock, with the names of the
 * applied migrations: ten nodes may start at once, and they bootstrap one after the other. A database newer than the
 * code is refused.
 */
export async function migrate<Result = string[]>(
  pool: Pool,
  afterwards: (applied: string[]) => Promise<Result> = async (applied) => applied as Result,
  migrations: Migration[] = readMigrations()
): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = 0`)
    await client.query(`set lock_timeout = '${lockTimeout}'`)
    await client.query('select pg_advisory_lock($1)', [lockKey])
    await client.query(`set lock_timeout = 0`)
    return await afterwards(await apply(client, migrations))
  } finally {
    // Ending the session releases the lock, also when the server has stopped.
    await client.end().catch(() => {})
  }
}

async function apply(client: pg.Client, migrations: Migration[]): Promise<string[]> {
  await client.query(
    'create table if not exists migrations (id int primary key, name text not null, applied_at timestamptz not null)'
  )
  const { rows } = await client.query<{ id: number; name: string }>('select id, name from migrations order by id')
  const known = new Set(migrations.map(({ id }) => id))
  const newer = rows.filter(({ id }) => !known.has(id))
  if (newer.length > 0) {
    throw new OperatorError(
      `The database was migrated by a newer version of Tidings (it has ${newer.map(({ name }) => name).join(', ')}, which ` +
        `this version does not know). Start the newer version, or restore a backup made before the upgrade.`
    )
  }
  const done = new Set(rows.map(({ id }) => id))
  const pending = migrations.filter(({ id }) => !done.has(id))
  for (const migration of pending) {
    await client.query('begin')
    for (const text of migration.statements) await client.query(text)
    await client.query('insert into migrations (id, name, applied_at) values ($1, $2, $3)', [
      migration.id,
      migration.name,
      new Date()
    ])
    await client.query('commit')
  }
  return pending.map(({ name }) => name)
}
