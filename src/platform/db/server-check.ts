import { randomInt } from 'node:crypto'
import pg from 'pg'
import { OperatorError } from '../errors.ts'
import { isConnectionLimit } from './connection-limit.ts'
import type { Connection } from './db.ts'
import { NoPrimary } from './hosts/servers.ts'

const oldest = 15
const limitMs = 5_000
/** The settings are wrong, as in `exit.configuration`: waiting does not help. */
export const configuration = 78

interface Facts {
  major: number
  encoding: string
  standby: boolean
  read_only: boolean
  citus: boolean
}
/** What a server that Tidings can run on is like. */
export interface Suitable {
  /** Whether it is the coordinator of a Citus cluster, which passes statements on to other servers. */
  distributed: boolean
}
const ask = `select current_setting('server_version_num')::int / 10000 as major,
    current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
    current_setting('default_transaction_read_only')::boolean as read_only,
    exists (select from pg_extension where extname = 'citus') as citus`

/** Checks whether Tidings can run on this server. Throws a sentence for the operator if it never will. */
export async function checkServer(
  { pooler, direct, replica: _, distributed: __, ...connection }: Connection,
  name: string,
  given = 'DATABASE_URL'
): Promise<Suitable> {
  if (pooler !== 'transaction') return checkSessions(connection, name, given)
  const suitable = await refusing(name, given, () =>
    withTwo(settingsOf(connection, true), async (first) => {
      const checked = await checkFacts(first, name, given)
      await first.query('begin')
      await first.query('rollback')
      return checked
    })
  )
  if (!direct) return suitable
  await checkSessions(direct, 'The server that DATABASE_LISTEN_URL names', 'DATABASE_LISTEN_URL')
  if (!(await isSameDatabase(settingsOf(connection, true), settingsOf(direct, false))))
    throw new OperatorError(
      `DATABASE_LISTEN_URL and DATABASE_URL lead to different databases. Set DATABASE_LISTEN_URL to the database behind ${name}.`,
      configuration
    )
  return suitable
}

/** Checks an address whose connections must keep what a session keeps. */
async function checkSessions(connection: pg.ClientConfig, name: string, given: string): Promise<Suitable> {
  const checked = refusing(name, given, () =>
    withTwo(settingsOf(connection, false), async (first, second) => {
      const checked = await checkFacts(first, name, given)
      if (await isShared(first, second)) throw new OperatorError(lends(name, given), configuration)
      return checked
    })
  )
  return checked.catch(async (error) => {
    if (!isParameterRefused(error)) throw error
    // Without the parameter, a connection shows whether the pooler lends its back ends.
    const shared = await withTwo(settingsOf(connection, true), isShared).catch(() => false)
    throw new OperatorError(shared ? lends(name, given) : refusesParameter(error, name, given), configuration)
  })
}

/** Only sessions of one database see each other's locks. */
const isSameDatabase = (pooled: pg.ClientConfig, direct: pg.ClientConfig): Promise<boolean> =>
  withTwo(direct, (holder) =>
    withTwo(pooled, async (through) => {
      const key = randomInt(2 ** 47)
      await holder.query('select pg_advisory_lock($1)', [key])
      const { rows } = await through.query('select pg_try_advisory_xact_lock($1) as taken', [key])
      return !rows[0].taken
    })
  )

/** Connects as the pool does, so that a pooler that refuses a start parameter is noticed here. */
const settingsOf = (connection: pg.ClientConfig, isLent: boolean): pg.ClientConfig => ({
  ...connection,
  ...(!isLent && { statement_timeout: limitMs }),
  connectionTimeoutMillis: limitMs,
  query_timeout: limitMs
})

async function withTwo<Result>(
  settings: pg.ClientConfig,
  work: (first: pg.Client, second: pg.Client) => Promise<Result>
): Promise<Result> {
  const [first, second] = [new pg.Client(settings), new pg.Client(settings)]
  for (const client of [first, second]) client.on('error', () => {})
  try {
    await first.connect()
    await second.connect()
    return await work(first, second)
  } finally {
    await Promise.all([first, second].map((client) => client.end().catch(() => {})))
  }
}

const refusesForGood = /does not exist|no such (database|user)|authentication failed|no pg_hba\.conf entry/i

/** Replaces the error texts of poolers by sentences for operators. */
async function refusing<Result>(name: string, given: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    // pgbouncer's own text, in the mode that lends a back end for each statement.
    if (code === '08P01' && /pooling mode/.test(message))
      throw new OperatorError(
        `${name} is a pooler that lends connections for a statement, which allows no transactions. Use its mode transaction (pgbouncer: pool_mode = transaction), or set ${given} to PostgreSQL itself.`,
        configuration
      )
    // A pooler passes a refusal of its server on as a fault of the protocol, which looks like a server that is away.
    if (code === '08P01' && refusesForGood.test(message))
      throw new OperatorError(`PostgreSQL behind ${name} refuses: ${message}. Check ${given}.`)
    // A prepared statement that exists on another back end.
    if (code === '26000') throw new OperatorError(lends(name, given), configuration)
    throw error
  }
}

async function checkFacts(client: pg.Client, name: string, given: string): Promise<Suitable> {
  const facts = (await client.query<Facts>(ask)).rows[0]!
  const fault = faultOf(facts, name, given)
  if (fault) throw new OperatorError(fault, configuration)
  return { distributed: facts.citus }
}

function faultOf({ major, encoding, standby, read_only }: Facts, name: string, given: string): string | undefined {
  if (major < oldest) return `PostgreSQL at ${name} is version ${major}; Tidings needs ${oldest} or newer.`
  if (encoding !== 'UTF8')
    return `The database ${name} is encoded in ${encoding}; Tidings needs one created with encoding 'UTF8'.`
  if (standby)
    return `PostgreSQL at ${name} is a standby, which takes no writes. Set ${given} to the primary, to a list of all servers (h1,h2), or to an address that moves with the primary.`
  if (read_only)
    return `PostgreSQL at ${name} takes no writes: default_transaction_read_only is on there. Set ${given} to a server that takes them.`
  return undefined
}

/** How often the back ends of two connections are compared; other clients of a busy pooler may hide an exchange once. */
const looks = 25

/**
 * Whether one back end serves two connections, or several serve one. A pooler that does so lends a back end for a
 * transaction: settings, prepared statements, listeners and locks of a connection would affect another client.
 */
async function isShared(first: pg.Client, second: pg.Client): Promise<boolean> {
  const pidOf = async (client: pg.Client) =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
  const pid = await pidOf(first)
  // A server reports its own number when a connection begins. A pooler reports one that it made up.
  const { processID } = first as pg.Client & { processID: number | null }
  for (let look = 0; look < (processID === pid ? 1 : looks); look += 1) {
    await second.query('begin')
    try {
      if ((await pidOf(second)) === pid || (await pidOf(first)) !== pid) return true
    } finally {
      await second.query('rollback')
    }
  }
  return false
}

const lends = (name: string, given: string) => {
  const lending = `${name} is a pooler that lends connections for a transaction`
  if (given === 'DATABASE_URL')
    return `${lending}. Set DATABASE_POOLER=transaction, or set DATABASE_URL to PostgreSQL itself or to a pooler in session mode.`
  return `${lending}, on which Tidings cannot listen or keep a lock. Set ${given} to PostgreSQL itself, or to a pooler in session mode.`
}

const isParameterRefused = ({ code, message }: Error & { code?: string }) =>
  code === '08P01' && /unsupported startup parameter/.test(message)

const refusesParameter = ({ message }: Error, name: string, given: string) =>
  `${name} is a pooler that refuses a parameter (${message}). Let it pass (pgbouncer: ignore_startup_parameters = statement_timeout), or set ${given} to PostgreSQL itself.`

/** The reason why there is no connection, and what to do about it. */
export function silence(error: unknown, name: string, waitedMs: number, given: string): string {
  const reason = (error as Error).message || String((error as NodeJS.ErrnoException).code)
  if (isConnectionLimit(error))
    return `PostgreSQL at ${name} has no connection left: ${reason}. Raise max_connections, or the limit of the role or the database; each process takes DATABASE_POOL_SIZE and three more, and one on each server of a list of hosts.`
  if (error instanceof NoPrimary)
    return `Tidings found no primary at ${name}${waitedMs > 0 ? ` within ${waitedMs / 1000} s` : ''}: ${reason}. Check that the servers run and that ${given} names them.`
  const silent = waitedMs > 0 ? `did not answer within ${waitedMs / 1000} s` : 'does not answer'
  return `PostgreSQL at ${name} ${silent}: ${reason}. Check that it runs and that ${given} is right.`
}
