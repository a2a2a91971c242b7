import pg from 'pg'
import { type InstallationPause, pausedSentence } from '../../platform/backup/paused.ts'
import { databaseName } from '../../platform/db/hosts/hosts.ts'
import { readMigrations } from '../../platform/db/migrations.ts'
import { connectionOf } from '../../platform/db/open.ts'
import { checkServer } from '../../platform/db/server-check.ts'
import { OperatorError } from '../../platform/errors.ts'
import { compareClocks, type Finding, fail, ok, warn } from './check.ts'
import { checkDistribution } from './citus.ts'
import { checkReplica } from './replica.ts'
import { checkServers } from './servers.ts'
import * as store from './store.ts'

const limitMs = 5_000

/** The findings, and what other checks need from the database. */
export interface CheckedDatabase {
  findings: Finding[]
  /** A sealed text that the right master key opens; absent before the first start. */
  sealedCheck?: string
}

/** Checks the operator's own PostgreSQL, read-only. */
export async function checkDatabase(config: Parameters<typeof connectionOf>[0]): Promise<CheckedDatabase> {
  const { primary, findings } = await checkServers(config.DATABASE_URL)
  if (!primary) return { findings }
  const checked = await checkPrimary(connectionOf({ ...config, DATABASE_URL: primary.url }))
  return { ...checked, findings: [...findings, ...checked.findings] }
}

async function checkPrimary(connection: ReturnType<typeof connectionOf>): Promise<CheckedDatabase> {
  const url = connection.connectionString
  const shown = databaseName(url)
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs
  })
  client.on('error', () => {})
  try {
    await checkServer(connection, shown)
    await client.connect()
    // A pooler would not let a setting pass with which a connection begins.
    await client.query('begin read only')
    const found = await look(client, shown)
    if (connection.replica) found.findings.push(await checkReplica(client, connection.replica))
    return found
  } catch (error) {
    if (error instanceof OperatorError) return { findings: [fail('PostgreSQL', error.message)] }
    const reason = (error as Error).message || String((error as NodeJS.ErrnoException).code)
    return {
      findings: [fail('PostgreSQL', `${shown} cannot be used: ${reason}. Check that it runs, and check DATABASE_URL.`)]
    }
  } finally {
    await client.end().catch(() => {})
  }
}

async function look(client: pg.Client, shown: string): Promise<CheckedDatabase> {
  const beforeMs = Date.now()
  const { version, encoding, now, set_up } = await store.readServer(client)
  const oursMs = (beforeMs + Date.now()) / 2
  const findings = [
    ok('PostgreSQL', `${shown}, version ${version}, ${encoding}`),
    compareClocks('the database', now.getTime(), oursMs, (Date.now() - beforeMs) / 2)
  ]
  findings.push(...(await checkDistribution(client, shown)))
  if (!set_up && findings.some(({ status }) => status === 'fail')) return { findings }
  if (!set_up) return { findings: [...findings, ok('Migrations', 'the database is empty; the first start sets it up')] }
  findings.push(await checkMigrations(client))
  const sealedCheck = await store.readSealedCheck(client)
  const pause = await store.readPause(client)
  if (pause) findings.push(warn('Installation', pausedSentence(JSON.parse(pause) as InstallationPause)))
  return { findings, ...(sealedCheck && { sealedCheck }) }
}

async function checkMigrations(client: pg.Client): Promise<Finding> {
  const name = 'Migrations'
  const applied = await store.readApplied(client)
  const known = readMigrations()
  const newer = applied.filter(({ id }) => !known.some((migration) => migration.id === id))
  if (newer.length > 0) {
    const names = newer.map((migration) => migration.name).join(', ')
    const newerText = `the database is newer than this version of Tidings (${names}).`
    return newer.every(({ beside }) => beside)
      ? warn(name, `${newerText} This version can run beside it until the upgrade is finished.`)
      : fail(name, `${newerText} Start the newer version.`)
  }
  const pending = known.filter(({ id }) => !applied.some((row) => row.id === id))
  if (pending.length === 0) return ok(name, `all ${applied.length} applied`)
  const [are, them] = pending.length === 1 ? ['is', 'it'] : ['are', 'them']
  return warn(name, `${pending.length} ${are} pending. The next start or \`tidings migrate\` applies ${them}.`)
}
