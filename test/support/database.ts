import { AsyncResource } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { type Connection, forbidSecondConnections, openPool, type Pool } from '../../src/platform/db/db.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { createOnCitus, dropOnCitus, migrateOnCitus, onCitus } from './citus-databases.ts'
import { silentLog } from './log.ts'
import { poolOf } from './pooled.ts'

forbidSecondConnections()
/** Runs work outside the transaction of a test, as another process would. */
export const elsewhere = AsyncResource.bind(<Result>(work: () => Result): Result => work())

/** The server that the suite runs on: the embedded one that test/run.ts started, or the operator's own. */
export function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL
  if (!url) throw new Error('TEST_DATABASE_URL is not set: run the tests with `npm test` or `node test/run.ts <file>`')
  return url
}

/** The address of another database on the same server. */
export function databaseUrl(name: string): string {
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  return url.href
}

export interface TestDatabase {
  name: string
  url: string
  connection: Connection
}

/** An empty database for one test. It is dropped when the test passes, and kept for inspection when it fails. */
export const emptyDatabase = (t: TestContext): Promise<TestDatabase> => databaseFor(t, 'empty')

/** A database with migrated, empty tables for one test. */
export const migratedDatabase = (t: TestContext): Promise<TestDatabase> => databaseFor(t, 'migrated')

async function databaseFor(t: TestContext, kind: Kind): Promise<TestDatabase> {
  const name = await createDatabase(kind)
  t.after(async () => {
    if ((t as TestContext & { passed: boolean }).passed) await dropDatabase(name)
    else t.diagnostic(`the database of this test is kept: ${name}`)
  })
  const url = databaseUrl(name)
  return { name, url, connection: { connectionString: url } }
}

type Kind = 'empty' | 'migrated' | 'bootstrapped'

/**
 * test/run.ts migrates one database, bootstraps another, and passes their names: a copy takes a tenth of the time of
 * either. Without these names the database is migrated here, and the service bootstraps itself.
 */
export async function createDatabase(kind: Kind): Promise<string> {
  const name = `tidings_test_${randomBytes(6).toString('hex')}`
  const { TEST_DATABASE_TEMPLATE: migrated, TEST_SERVICE_TEMPLATE: bootstrapped = migrated } = process.env
  const template = { empty: undefined, migrated, bootstrapped }[kind]
  if (onCitus) {
    await createOnCitus(serverUrl(), name, template)
    if (kind !== 'empty' && !template) await migrateOnCitus(databaseUrl(name))
    return name
  }
  // Copies files directly: writing them to the log again, as by default, costs twice as much.
  await asServer((client) =>
    client.query(`create database ${name} template ${template ?? "template0 encoding 'UTF8'"} strategy file_copy`)
  )
  if (kind !== 'empty' && !template) await migrateDatabase(databaseUrl(name))
  return name
}

export const dropDatabase = (name: string): Promise<unknown> =>
  onCitus
    ? dropOnCitus(serverUrl(), name)
    : asServer((client) => client.query(`drop database if exists ${name} with (force)`))

async function migrateDatabase(url: string): Promise<void> {
  const pool = openPool({ connectionString: url }, silentLog, 2)
  await migrate(pool).finally(() => pool.close())
}

/** A separate migrated database with a pool on it. */
export async function testPool(t: TestContext): Promise<Pool> {
  const { url } = await migratedDatabase(t)
  const pool = poolOf(url)
  t.after(() => pool.close())
  return pool
}

export const asServer = <Result>(work: (client: pg.Client) => Promise<Result>) => withClient(serverUrl(), work)

export async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** A database to which a role without superuser rights may have this many connections. */
export async function limitedRole(t: TestContext, most: number) {
  const { name, url } = await migratedDatabase(t)
  const [role, password] = [`limited_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')]
  await asServer(async (client) => {
    await client.query(`create role ${role} login connection limit ${most} password '${password}'`)
    await client.query(`grant all on database ${name} to ${role}`)
  })
  await withClient(url, async (client) => {
    await client.query(`grant all on schema public to ${role}`)
    await client.query(`grant all on all tables in schema public to ${role}`)
    await client.query(`grant all on all sequences in schema public to ${role}`)
  })
  t.after(async () => {
    await withClient(url, (client) => client.query(`drop owned by ${role}`)).catch(() => {})
    await asServer((client) => client.query(`drop role ${role}`)).catch(() => {})
  })
  const own = new URL(url)
  own.username = role
  own.password = password
  /** Opens one more of these connections. */
  async function another(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: own.href })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  return { url: own.href, another }
}
