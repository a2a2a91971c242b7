import pg from 'pg'
import { distribute } from '../../src/platform/db/citus/distribute.ts'
import { openPool } from '../../src/platform/db/db.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { silentLog } from './log.ts'

/**
 * The workers of the Citus cluster that the suite runs on, as host:port with commas; TEST_DATABASE_URL is its
 * coordinator. Each test database is then made on all of these servers, and is distributed once it is migrated.
 */
const workers = process.env.TEST_CITUS_WORKERS?.split(',') ?? []
export const onCitus = workers.length > 0
/** Few, because a database has as many tables of each kind. */
const shards = 4

const addresses = (coordinator: string, database: string) =>
  [new URL(coordinator).host, ...workers].map((host) => {
    const url = new URL(coordinator)
    url.host = host
    url.pathname = `/${database}`
    return url.href
  })

async function onEach(urls: string[], ...texts: string[]): Promise<void> {
  await Promise.all(
    urls.map(async (url) => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        for (const text of texts) await client.query(text)
      } finally {
        await client.end()
      }
    })
  )
}

/** Makes a database on each server: a copy of a template, or an empty one with Citus. */
export async function createOnCitus(coordinator: string, name: string, template?: string): Promise<void> {
  const servers = addresses(coordinator, 'postgres')
  if (template) {
    // Citus keeps a session open in each of its databases, which must not be there while it is copied.
    const leave = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`
    await onEach(servers, `alter database ${template} with allow_connections false`, leave)
    return onEach(servers, `create database ${name} template ${template} strategy file_copy`)
  }
  const databases = addresses(coordinator, name)
  await onEach(servers, `create database ${name} template template0 encoding 'UTF8'`)
  await onEach(databases, 'create extension citus')
  const { hostname, port } = new URL(coordinator)
  const added = workers.map((worker) => {
    const [host, at] = worker.split(':')
    return `select citus_add_node('${host}', ${at})`
  })
  await onEach(databases.slice(0, 1), `select citus_set_coordinator_host('${hostname}', ${port})`, ...added)
}

/** Migrates a database and spreads it over the workers. */
export async function migrateOnCitus(url: string): Promise<void> {
  const pool = openPool({ connectionString: url }, silentLog, 2)
  try {
    await migrate(pool, async () => {
      const client = await pool.connect()
      await client.query('set statement_timeout = 0')
      await distribute(client, { shards }).finally(() => client.end())
    })
  } finally {
    await pool.close()
  }
}

export const dropOnCitus = (coordinator: string, name: string) =>
  onEach(addresses(coordinator, 'postgres'), `drop database if exists ${name} with (force)`)
