import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import type { Log } from '../log.ts'
import { atTheLimit } from './connection-limit.ts'
import { fail, isAborted } from './failures.ts'
import { createServers, type Servers } from './hosts/servers.ts'
import { isReadOnly, writerOf } from './hosts/writer.ts'
import { installReaders } from './readers.ts'
import { createReplica, type Replica } from './replica/replica.ts'
import { type Db, runner, type Send } from './runner.ts'

export { isDataFault, isPassing } from './failures.ts'
export { type Db, onClient } from './runner.ts'

export interface Transaction extends Db {
  /**
   * Commits behind statements that were sent before and not awaited: one round trip for all of them. If one of them
   * fails, nothing is committed, so await it too: `Promise.all([tx.query(…), tx.commit()])`.
   */
  commit(): Promise<void>
  /** As that of the pool. */
  readonly isDistributed: boolean
}

export interface Pool extends Db {
  /** Commits when `work` returns, unless `work` committed itself, and rolls back when it throws. */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
  /** A connection of its own, outside the pool. The caller ends it. See `isLent` for what it may keep. */
  connect(): Promise<pg.Client>
  /**
   * A connection that keeps listeners and locks between transactions. The caller ends it. Undefined if the database is
   * reachable only through a pooler that lends back ends.
   */
  readonly session: (() => Promise<pg.Client>) | undefined
  /**
   * Whether a pooler lends a back end to a connection for one transaction only: settings, locks and prepared statements
   * of a connection would stay in a back end that others use next.
   */
  readonly isLent: boolean
  /**
   * Whether the server passes statements on to other servers (Citus): each then costs several times as much as on one
   * server, however few rows it has, so that it is worth waiting a little for more of them.
   */
  readonly isDistributed: boolean
  /**
   * Runs reads of a page or an export on the replica, if there is one that has all that was committed until now, and here
   * otherwise. `work` may run twice.
   */
  reading<Result>(work: (db: Db) => Promise<Result>): Promise<Result>
  readonly replica: Pick<Replica, 'open' | 'stats'> | undefined
  readonly stats: () => { total: number; idle: number; waiting: number }
  /** From now on requests wait for connections, so a wait is short. */
  beginServing(): void
  /** The servers of the address, of which one takes writes. */
  readonly servers: Pick<Servers, 'inUse' | 'changes'>
  close(): Promise<void>
}

export interface Connection extends pg.ClientConfig {
  /** Set if the address is that of a pooler that lends a back end for each transaction. */
  pooler?: 'transaction' | undefined
  /** Then the address of the server itself, if it is known: for LISTEN and for locks that outlive a transaction. */
  direct?: pg.ClientConfig | undefined
  /** The address of a standby for reads of pages and exports. */
  replica?: string | undefined
  /** Set if the server is the coordinator of a Citus cluster. */
  distributed?: boolean | undefined
}

const inside = new AsyncLocalStorage<boolean>()
let strict = false
/**
 * For tests: from now on the pool refuses callers that are in a transaction. Such a caller would hold one connection
 * and wait for a second; if as many do so as there are connections, all wait for each other.
 */
export const forbidSecondConnections = (): void => {
  strict = true
}

function refuseInside(): void {
  if (strict && inside.getStore()) throw new Error('the pool is used inside a transaction: use the transaction')
}

/** How long a request may wait for a connection before it is refused with 503: short, so that an outage sheds load. */
const connectMs = 3_000
/** While a service starts, no request waits. The start itself may keep the process busy for seconds on a slow machine. */
const patientMs = 30_000
/** The time limit of any one statement; long work runs in batches and never in one long statement. */
const statementMs = 30_000
/**
 * Our statements are short. Compiling one took up to a second, for each run: the discouraged scans of `messages.accept`
 * look expensive to a server that compiles (docs/decisions/0081).
 */
const interpreted = 'jit = off'
const limitedBegin = `begin; set local statement_timeout = ${statementMs}; set local ${interpreted}`

/** Opens connections to the server that takes writes, of all that the address names (docs/decisions/0058). */
export function openPool(
  { pooler, direct, replica: standby, distributed = false, ...connection }: Connection,
  log: Log,
  size = 10,
  { patient = false }: { patient?: boolean } = {}
): Pool {
  installReaders()
  const isLent = pooler === 'transaction'
  const { servers, Writer, settings } = addressed(connection, isLent, log)
  const pool = new pg.Pool({
    ...settings,
    Client: Writer,
    max: size,
    connectionTimeoutMillis: patient ? patientMs : connectMs,
    idleTimeoutMillis: 60_000
  })
  if (!isLent) pool.on('connect', interpret)
  // An idle connection that dies affects no request: the pool drops it and opens another when needed. A server that is
  // stopped after the pool may cut connections that are saying goodbye.
  pool.on('error', (error) => pool.ending || log.warn({ error: error.message }, 'a database connection was lost'))
  const limit = atTheLimit(pool, size, connectMs, log)
  const doubtful = (error: unknown): never => {
    if (isReadOnly(error)) servers.doubt()
    throw error
  }
  const connect = () =>
    openOne({ Writer, settings }).catch(async (error) => (await limit.borrowed(error).catch(fail)) ?? fail(error))
  const past = isLent && direct ? addressed(direct, false, log) : undefined
  const session = isLent ? past && (() => openOne(past).catch(fail)) : connect

  /** Commits when `work` returns, unless `work` committed itself, and rolls back when it throws. */
  async function within<Result>(work: (send: Send, commit: () => Promise<void>) => Promise<Result>): Promise<Result> {
    refuseInside()
    const client = await limit.waiting(() => pool.connect()).catch(fail)
    let broken: Error | undefined
    // A connection lost between two statements emits an error event, which would end the process without a listener.
    const lost = (error: Error) => {
      broken = error
    }
    client.on('error', lost)
    // An error that does not come from the server, such as a value that cannot be serialized, leaves the driver and
    // the server with different lists of prepared statements: every later use of them would fail.
    let failure: Error | undefined
    const suspect = (error: Error): never => {
      failure ??= error
      // A connection to a server that takes no writes is not used again.
      if (!(error instanceof pg.DatabaseError) || isReadOnly(error)) broken = error
      // Statements that were sent behind a failed one fail because of it. Their callers learn the cause: whether to
      // repeat the transaction depends on it.
      return doubtful(isAborted(error) ? failure : error)
    }
    let committed = false
    const commit = async () => {
      committed = true
      const { command } = await client.query('commit')
      // After a failed statement the server responds to a commit with a rollback; the failure has the cause. Both
      // responses may arrive together.
      if (command !== 'COMMIT') throw failure ?? new Error('the transaction was rolled back')
    }
    try {
      // `begin` travels with the first statement: waiting for its response would cost a round trip.
      const begun = client.query(isLent ? limitedBegin : 'begin')
      begun.catch(suspect).catch(() => {})
      // If `begin` failed, a statement sent now would run outside of a transaction.
      const send: Send = (config) => (failure ? Promise.reject(failure) : client.query(config).catch(suspect))
      const result = await work(send, commit)
      await begun
      if (!committed) await commit()
      return result
    } catch (error) {
      // A connection that cannot roll back is not returned to the pool.
      await client.query('rollback').catch((cause: Error) => {
        broken = cause
      })
      return fail(error)
    } finally {
      client.off('error', lost)
      client.release(broken)
    }
  }

  const alone: Send = (config) => {
    refuseInside()
    return limit.waiting(() => pool.query(config)).catch(doubtful)
  }
  // The time limit of a statement holds only within a transaction here. All parts travel together.
  const lent: Send = (config) =>
    within(async (send, commit) => (await Promise.all([send(config), commit()]))[0] satisfies pg.QueryResult)

  const own = runner(isLent ? lent : alone, isLent)
  const replica = standby === undefined ? undefined : createReplica({ url: standby, primary: own, isLent, size, log })

  return {
    ...own,
    async reading(work) {
      refuseInside()
      return replica ? replica.reading(work) : work(own)
    },
    replica,
    transaction: (work) =>
      within((send, commit) => {
        const tx = { ...runner(send, isLent), commit, isDistributed: distributed }
        return strict ? inside.run(true, () => work(tx)) : work(tx)
      }),
    connect,
    session,
    isLent,
    isDistributed: distributed,
    servers,
    beginServing() {
      pool.options.connectionTimeoutMillis = connectMs
    },
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      limit.close()
      await replica?.close()
      await pool.end()
      servers.close()
      past?.servers.close()
    }
  }
}

/** How to open connections to the server that takes writes, of those that an address names. */
function addressed(connection: pg.ClientConfig, isLent: boolean, log: Log) {
  const servers = createServers(connection.connectionString, log)
  const settings: pg.ClientConfig = {
    ...connection,
    ...(servers.hosts[0] && { connectionString: servers.hosts[0].url }),
    application_name: 'tidings',
    // A statement need not wait for the result of the one before. Results come in the same order.
    pipeline: true,
    keepAlive: true,
    // A pooler refuses this parameter, or drops it.
    ...(!isLent && { statement_timeout: statementMs }),
    // The server's own limit does not help if the network loses its response.
    query_timeout: statementMs + 5_000
  }
  return { servers, Writer: writerOf(servers), settings }
}

/** A connection outside the pool. */
async function openOne({ Writer, settings }: Pick<ReturnType<typeof addressed>, 'Writer' | 'settings'>) {
  const client = new Writer({ ...settings, connectionTimeoutMillis: connectMs, query_timeout: 0 })
  client.on('error', () => {}) // The owner gets the 'end' event.
  await client.connect()
  return client
}

/** Travels in front of the first statement. A connection that is lost here fails that statement too. */
function interpret(client: pg.ClientBase): void {
  client.query(`set ${interpreted}`).catch(() => {})
}
