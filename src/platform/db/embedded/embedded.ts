import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { findRunning, keep } from './adopt.ts'
import { findBinaries } from './binaries.ts'
import { databaseBytes, usualCacheMb } from './cache.ts'
import { type Cluster, checkCluster, initialise, takeOver } from './cluster.ts'
import { folderProblem, holdDataFolder, makeDataFolder } from './data-folder.ts'
import { chooseIdentity, type Identity } from './identity.ts'
import { keepRunning } from './keeper.ts'
import { explain } from './log.ts'
import { socketFolder, usableBinaries } from './places.ts'
import { type Postmaster, startPostmaster, stopPostmaster } from './postmaster.ts'
import { preparedFile } from './prepared.ts'
import { letPreviousEnd } from './previous.ts'

export interface EmbeddedServer {
  /** For the `connectionString` of pg. It stays the same when PostgreSQL is started again. */
  url: string
  /** The folder of PostgreSQL. */
  folder: string
  /** Resolves when PostgreSQL has ended. */
  stop(): Promise<void>
  /** Resolves when PostgreSQL has died for good. A requested stop does not count. */
  readonly exited: Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  /** Receives progress messages for an operator. */
  say: (line: string) => void
  /** Where a prepared PostgreSQL may lie that a new one is then a copy of, with all migrations. */
  prepared?: string
  /** Memory for pages of the database, in MB. */
  cacheMb?: number
  /** Whether PostgreSQL archives its WAL, for an archiver to carry away. */
  archives?: boolean
  /** Whether the caller has locked the data folder, and unlocks it. */
  isHeld?: boolean
  /** Recovers from an archive, as in `Cluster`. */
  recovery?: Cluster['recovery']
  /** Cancels a start that is under way. */
  signal?: AbortSignal
  /** Called when initdb or PostgreSQL has been started, and there is nothing to do here but wait. */
  launched?: () => void
}

/** How long an adopted PostgreSQL may take to respond. */
const answerMs = 1_000

/** Starts the PostgreSQL that comes with Tidings on a data folder, and makes both at the first start. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  return startEmbeddedAs(await chooseIdentity(), options)
}

export async function startEmbeddedAs(identity: Identity, options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { say, signal } = options
  signal?.throwIfAborted()
  const installed = findBinaries()
  const dataDir = await makeDataFolder(options.dataDir)
  const hold = options.isHeld ? undefined : await holdDataFolder(dataDir)
  try {
    const folder = join(dataDir, 'postgres')
    const exists = await checkCluster(folder)
    const cluster: Cluster = {
      dataDir,
      folder,
      log: join(dataDir, 'postgres.log'),
      socketDir: await socketFolder(dataDir, identity),
      binaries: await usableBinaries(installed, dataDir, identity),
      identity,
      prepared: !exists && options.prepared ? preparedFile(options.prepared, installed) : undefined,
      cacheMb: options.cacheMb ?? usualCacheMb(exists ? databaseBytes(folder) : 0),
      archives: options.archives === true,
      recovery: options.recovery
    }
    const postmaster = (exists && (await goOnWithPrevious(cluster))) || (await start(cluster, exists, options))
    const keeper = keepRunning(cluster, postmaster, say)
    return {
      url: urlOf(cluster, 'tidings'),
      folder,
      exited: keeper.diedForGood,
      async stop() {
        await keeper.stop()
        await rm(cluster.socketDir, { recursive: true, force: true })
        await hold?.release()
      }
    }
  } catch (error) {
    await hold?.release()
    throw folderProblem(dataDir, error)
  }
}

/**
 * The PostgreSQL of a Tidings that was killed a moment ago. Its sessions are ended, because no client waits for them.
 */
async function goOnWithPrevious(cluster: Cluster): Promise<Postmaster | undefined> {
  const running = await findRunning(cluster)
  if (!running) return undefined
  try {
    await makeDatabase(cluster, 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
      'tidings'
    ])
  } catch {
    // The running PostgreSQL is stopping or does not respond, so the usual start ends it and starts another.
    return undefined
  }
  keep(running, cluster)
  return running
}

async function start(
  cluster: Cluster,
  exists: boolean,
  { say, signal, launched }: EmbeddedOptions
): Promise<Postmaster> {
  // Files must not change their owner while a PostgreSQL is still stopping.
  await letPreviousEnd(cluster, say, signal)
  if (exists) await takeOver(cluster, say)
  else {
    say(`Setting up PostgreSQL in ${cluster.dataDir}, this once…`)
    await initialise(cluster, signal, launched)
  }
  const postmaster = await startPostmaster(cluster, say, signal, launched)
  await makeDatabase(cluster).catch(async (error: Error) => {
    await stopPostmaster(postmaster, say)
    throw explain(cluster, `error: ${error.message}`)
  })
  return postmaster
}

/**
 * The folder of a socket is not a host name, so it travels as a parameter that any reader of URLs can read. Port and
 * sslmode are explicit, because otherwise the variables PGPORT and PGSSLMODE would apply.
 */
export function urlOf({ socketDir }: Pick<Cluster, 'socketDir'>, database: string): string {
  return `postgresql://tidings@localhost:5432/${database}?host=${encodeURIComponent(socketDir)}&sslmode=disable`
}

/** Makes the database if it is missing. Runs at each start, because the first one may have been killed before this. */
async function makeDatabase(cluster: Cluster, before?: string, values?: string[]): Promise<void> {
  const patience = before === undefined ? {} : { connectionTimeoutMillis: answerMs, query_timeout: answerMs }
  const client = new pg.Client({ connectionString: urlOf(cluster, 'postgres'), ...patience })
  client.on('error', () => {})
  await client.connect()
  try {
    if (before !== undefined) await client.query(before, values)
    const found = await client.query("select from pg_database where datname = 'tidings'")
    if (found.rowCount === 0) await client.query('create database tidings')
  } finally {
    await client.end()
  }
}
