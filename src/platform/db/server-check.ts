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
  pid: number
}
const ask = `select current_setting('server_version_num')::int / 10000 as major,
    current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
    current_setting('default_transaction_read_only')::boolean as read_only, pg_backend_pid() as pid`

/** Checks whether Tidings can run on this server. Throws a sentence for the operator if it never will. */
export async function checkServer(connection: Connection, name: string, given = 'DATABASE_URL'): Promise<void> {
  // Connects as the pool does, so that a pooler that refuses a start parameter is noticed here.
  const settings = {
    ...connection,
    statement_timeout: limitMs,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs
  }
  const [first, second] = [new pg.Client(settings), new pg.Client(settings)]
  for (const client of [first, second]) client.on('error', () => {})
  try {
    await first.connect()
    const facts = (await first.query<Facts>(ask)).rows[0]!
    const fault = faultOf(facts, name, given)
    if (fault) throw new OperatorError(fault, configuration)
    await second.connect()
    if (await isShared(first, second, facts.pid)) throw new OperatorError(pooled(name, given), configuration)
  } catch (error) {
    const fault = poolersFault(error as Error & { code?: string }, name, given)
    throw fault === undefined ? error : new OperatorError(fault, configuration)
  } finally {
    await Promise.all([first, second].map((client) => client.end().catch(() => {})))
  }
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

/**
 * Whether one back end serves two connections, or two back ends serve one. A pooler that does so lends a back end for a
 * transaction: settings, prepared statements, listeners and locks of a connection would affect another client.
 */
async function isShared(first: pg.Client, second: pg.Client, pid: number): Promise<boolean> {
  const pidOf = async (client: pg.Client) =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
  await second.query('begin')
  try {
    return (await pidOf(second)) === pid || (await pidOf(first)) !== pid
  } finally {
    await second.query('rollback')
  }
}

const pooled = (name: string, given: string) =>
  `${name} is a pooler that lends connections for a transaction, on which Tidings cannot listen, lock or prepare. Set ${given} to PostgreSQL itself, or to a pooler in session mode.`

/** The error texts of a pooler that does not forward start parameters. */
function poolersFault({ code, message }: Error & { code?: string }, name: string, given: string): string | undefined {
  if (code === '08P01' && /unsupported startup parameter/.test(message))
    return `${name} is a pooler that refuses a parameter (${message}). Set ${given} to PostgreSQL itself, or to a pooler in session mode that lets it pass (pgbouncer: ignore_startup_parameters = statement_timeout).`
  // A prepared statement that exists on another back end, or a pooler that lends connections for a statement.
  const lent = code === '26000' || (code === '08P01' && /pooling mode/.test(message))
  return lent ? pooled(name, given) : undefined
}

/** The reason why there is no connection, and what to do about it. */
export function silence(error: unknown, name: string, waitedMs: number, given: string): string {
  const reason = (error as Error).message || String((error as NodeJS.ErrnoException).code)
  if (isConnectionLimit(error))
    return `PostgreSQL at ${name} has no connection left: ${reason}. Raise max_connections, or the limit of the role or the database; each Tidings takes DATABASE_POOL_SIZE and three more.`
  if (error instanceof NoPrimary)
    return `Tidings found no primary at ${name}${waitedMs > 0 ? ` within ${waitedMs / 1000} s` : ''}: ${reason}. Check that the servers run and that ${given} names them.`
  const silent = waitedMs > 0 ? `did not answer within ${waitedMs / 1000} s` : 'does not answer'
  return `PostgreSQL at ${name} ${silent}: ${reason}. Check that it runs and that ${given} is right.`
}
