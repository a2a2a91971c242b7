import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { holdDataFolder, makeDataFolder } from './data-folder.ts'
import { type Cluster, openCluster } from './embedded-cluster.ts'
import { chooseIdentity, type Identity } from './embedded-identity.ts'
import { boundLog } from './embedded-log.ts'
import { type Postmaster, startPostmaster, stopPostmaster } from './embedded-postmaster.ts'

export interface EmbeddedServer {
  /** For the `connectionString` of pg. It stays the same when PostgreSQL is restarted. */
  url: string
  /** Resolves when no process of PostgreSQL is left. */
  stop(): Promise<void>
  /** Resolves when PostgreSQL has died for good. A stop that was asked for is no such death. */
  readonly exited: Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  /** Hears what an operator would like to know while it happens. */
  say: (line: string) => void
  /** Ends a start that is under way. */
  signal?: AbortSignal
}

/** Starts the PostgreSQL that comes with Tidings on a data folder, which it makes at the first start. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  return startEmbeddedAs(await chooseIdentity(), options)
}

export async function startEmbeddedAs(identity: Identity, options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { say, signal } = options
  const dataDir = await makeDataFolder(options.dataDir)
  const hold = await holdDataFolder(dataDir)
  try {
    const cluster = await openCluster(dataDir, identity, say)
    const postmaster = await startPostmaster(cluster, say, signal)
    await makeDatabase(cluster).catch(async (error) => {
      await stopPostmaster(postmaster, say)
      throw error
    })
    const keeper = keepRunning(cluster, postmaster, say)
    return {
      url: urlOf(cluster, 'tidings'),
      exited: keeper.diedForGood,
      async stop() {
        await keeper.stop()
        await hold.release()
      }
    }
  } catch (error) {
    await hold.release()
    throw error
  }
}

/** The host of a socket is no host name; it travels as a parameter, so that everything that reads URLs can read this one. */
function urlOf({ socketDir }: Cluster, database: string): string {
  return `postgresql://tidings@localhost:5432/${database}?host=${encodeURIComponent(socketDir)}&sslmode=disable`
}

/** Asked for at each start: the first may have been killed before it came to this. */
async function makeDatabase(cluster: Cluster): Promise<void> {
  const absent = '3D000'
  const found = await connected(cluster, 'tidings', async () => true).catch((error) => {
    if (error.code !== absent) throw error
    return false
  })
  if (!found) await connected(cluster, 'postgres', (client) => client.query('create database tidings'))
}

async function connected<Result>(cluster: Cluster, database: string, work: (client: pg.Client) => Promise<Result>) {
  const client = new pg.Client({ connectionString: urlOf(cluster, database) })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Restarts PostgreSQL when it dies, unless it does so again and again. */
function keepRunning(cluster: Cluster, first: Postmaster, say: (line: string) => void) {
  const stopping = new AbortController()
  let current: Postmaster | undefined = first
  const logCheck = setInterval(() => boundLog(cluster.log).catch(() => {}), 60_000)
  logCheck.unref()

  async function watch(): Promise<void> {
    const deaths: number[] = []
    while (current) {
      const how = await current.ended
      current = undefined
      while (!current && !stopping.signal.aborted) {
        const now = Date.now()
        deaths.push(now)
        const recent = deaths.filter((death) => now - death < 60_000).length
        if (recent > 5)
          return say(`PostgreSQL died ${recent} times within a minute and is left alone. Its log is ${cluster.log}.`)
        say(`PostgreSQL ${how}; starting it again…`)
        current = await startPostmaster(cluster, say, stopping.signal).catch((error: Error) => {
          if (!stopping.signal.aborted) say(error.message)
          return undefined
        })
        if (!current) await sleep(100 * 2 ** recent, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  const over = watch().finally(() => clearInterval(logCheck))
  return {
    diedForGood: new Promise<void>((resolve) => {
      void over.then(() => stopping.signal.aborted || resolve())
    }),
    async stop() {
      stopping.abort()
      if (current) await stopPostmaster(current, say)
      await over
    }
  }
}
