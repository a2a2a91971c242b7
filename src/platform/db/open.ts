import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { OperatorError } from '../errors.ts'
import { type Connection, isPassing } from './db.ts'
import { findBeside } from './embedded/beside.ts'
import { type EmbeddedServer, startEmbedded } from './embedded/embedded.ts'
import { preparedPlace } from './embedded/prepared.ts'
import { databaseName } from './hosts/hosts.ts'
import { createServers, NoPrimary } from './hosts/servers.ts'
import { checkServer, configuration, type Suitable, silence } from './server-check.ts'

/** A running PostgreSQL and, if it is the embedded one, a function that stops it. */
export interface Database {
  connection: Connection
  /** The name of the database for people, without a password. */
  name: string
  /** Resolves when the embedded server has died for good. */
  exited: Promise<void>
  stop(): Promise<void>
}

export interface Opening {
  signal?: AbortSignal
  /** How long to wait for a server that does not respond; 0: not at all. */
  patienceMs?: number
  /** The name of the setting or argument that gave the address. */
  given?: string
  /** Whether to use the embedded server of a Tidings that runs on the data folder, instead of refusing. */
  beside?: boolean
  /** Whether a new embedded server may be a copy of the prepared one, which has all migrations. */
  prepared?: boolean
  /** Called when this process has nothing to do but wait for the server. */
  launched?: () => void
  /** Whether to carry the WAL of the embedded server into ARCHIVE_DIR while it runs, as a service does. */
  archives?: boolean
  /** Whether to refuse a data folder without a database instead of making one there. */
  mustExist?: boolean
}

const retryMs = 1_000

/** The embedded server, or the operator's own once it responds. */
export async function openDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'> &
    Partial<Pick<Config, 'DATABASE_CACHE_MB' | 'ARCHIVE_DIR' | 'ARCHIVE_DAYS'>> &
    Pooler,
  say: (line: string) => void,
  {
    signal,
    patienceMs = 30_000,
    given = 'DATABASE_URL',
    beside = false,
    archives = false,
    prepared = false,
    mustExist = false,
    launched = () => {}
  }: Opening = {}
): Promise<Database> {
  if (config.DATABASE_URL === undefined) {
    const url = beside && (await findBeside(config.DATA_DIR))
    if (url) {
      const name = `embedded in ${config.DATA_DIR}`
      return { connection: { connectionString: url }, name, exited: new Promise(() => {}), stop: async () => {} }
    }
    if (mustExist && !existsSync(join(config.DATA_DIR, 'postgres'))) throw noTidingsIn(config.DATA_DIR)
    const archive = config.ARCHIVE_DIR
    const server = await startEmbedded({
      dataDir: config.DATA_DIR,
      say,
      ...(config.DATABASE_CACHE_MB && { cacheMb: config.DATABASE_CACHE_MB }),
      archives: archive !== undefined,
      launched,
      ...(prepared && { prepared: preparedPlace }),
      ...(signal && { signal })
    })
    if (archives && archive !== undefined) return archived(server, { ...config, ARCHIVE_DIR: archive }, say)
    return {
      connection: { connectionString: server.url },
      name: `embedded in ${config.DATA_DIR}`,
      exited: server.exited,
      stop: server.stop
    }
  }
  launched()
  const connection = connectionOf({ ...config, DATABASE_URL: config.DATABASE_URL })
  const name = databaseName(config.DATABASE_URL)
  const { distributed } = await awaitServer(connection, name, say, { patienceMs, given, ...(signal && { signal }) })
  return { connection: { ...connection, distributed }, name, exited: new Promise(() => {}), stop: async () => {} }
}

const noTidingsIn = (dataDir: string) =>
  new OperatorError(
    `There is no Tidings in ${resolve(dataDir)}. Set DATA_DIR to its data folder, or DATABASE_URL.`,
    configuration
  )

/** The embedded server with an archiver, which ends before it. */
async function archived(
  server: EmbeddedServer,
  {
    DATA_DIR,
    ARCHIVE_DIR,
    ARCHIVE_DAYS = 7
  }: Pick<Config, 'DATA_DIR'> & { ARCHIVE_DIR: string; ARCHIVE_DAYS?: number },
  say: (line: string) => void
): Promise<Database> {
  const { startArchiver } = await import('../archive/archiver.ts')
  const { url, folder, exited } = server
  const archiver = startArchiver({ url, folder, archive: ARCHIVE_DIR, days: ARCHIVE_DAYS, say })
  return {
    connection: { connectionString: url },
    name: `embedded in ${DATA_DIR}`,
    exited,
    async stop() {
      await archiver.stop()
      await server.stop()
    }
  }
}

type Pooler = Partial<Pick<Config, 'DATABASE_POOLER' | 'DATABASE_LISTEN_URL' | 'DATABASE_REPLICA_URL'>>
type Addressed = Connection & { connectionString: string }

/** How to connect to the operator's own server, or to the pooler before it. */
export const connectionOf = ({
  DATABASE_URL,
  DATABASE_POOLER,
  DATABASE_LISTEN_URL,
  DATABASE_REPLICA_URL
}: { DATABASE_URL: string } & Pooler): Addressed => ({
  connectionString: DATABASE_URL,
  ...(DATABASE_POOLER && { pooler: DATABASE_POOLER }),
  ...(DATABASE_LISTEN_URL && { direct: { connectionString: DATABASE_LISTEN_URL } }),
  ...(DATABASE_REPLICA_URL && { replica: DATABASE_REPLICA_URL })
})

async function awaitServer(
  connection: Addressed,
  name: string,
  say: (line: string) => void,
  { patienceMs, given = 'DATABASE_URL', signal }: Opening & { patienceMs: number }
): Promise<Suitable> {
  const giveUpAt = Date.now() + patienceMs
  for (;;) {
    try {
      return await checkServers(connection, name, given)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      const reason = (error as Error).message || String((error as NodeJS.ErrnoException).code)
      // Waiting does not help against a wrong password or a missing database.
      if (!isPassing(error)) throw new OperatorError(`PostgreSQL at ${name} refuses: ${reason}. Check ${given}.`)
      // A list of standbys gets the time of a failover, in which one of them is promoted.
      if (Date.now() + retryMs > giveUpAt) throw refusalOf(error, name, patienceMs, given)
      say(`Waiting for PostgreSQL at ${name}: ${reason}`)
      await sleep(retryMs, undefined, signal && { signal })
    }
  }
}

/** Finds the server that takes writes and checks whether Tidings can run on it. */
export async function checkServers(connection: Addressed, name: string, given: string): Promise<Suitable> {
  const { direct } = connection
  const host = await writableOf(connection.connectionString)
  const past = direct?.connectionString === undefined ? undefined : await writableOf(direct.connectionString)
  return checkServer(
    { ...connection, connectionString: host.url, ...(past && { direct: { connectionString: past.url } }) },
    host.several ? host.name : name,
    given
  )
}

/** The server that takes writes, of those that an address names. */
async function writableOf(url: string): Promise<{ url: string; name: string; several: boolean }> {
  const servers = createServers(url, { info: () => {}, warn: () => {} })
  try {
    const host = await servers.find()
    return { url: host?.url ?? url, name: host?.name ?? '', several: servers.hosts.length > 1 }
  } finally {
    servers.close()
  }
}

function refusalOf(error: unknown, name: string, patienceMs: number, given: string): OperatorError {
  if (error instanceof NoPrimary && error.onlyStandbys)
    return new OperatorError(
      `Every server of ${name} is a standby, which takes no writes. Promote one of them, or add the primary to ${given}.`,
      configuration
    )
  return new OperatorError(silence(error, name, patienceMs, given))
}
