import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Config } from '../config.ts'
import { OperatorError } from '../errors.ts'
import { type Connection, isPassing } from './db.ts'
import { startEmbedded } from './embedded.ts'

/** A running PostgreSQL and, where it is ours, the way to stop it. */
export interface Database {
  connection: Connection
  /** How it reads to people, without a password. */
  name: string
  /** Resolves when our own server has died for good. */
  exited: Promise<void>
  stop(): Promise<void>
}

export interface Opening {
  signal?: AbortSignal
  /** How long a server that does not answer is waited for; 0: not at all. */
  patienceMs?: number
  /** How whoever gave the address knows it. */
  given?: string
}

const oldest = 15
const retryMs = 1_000

/** The embedded server, or the operator's own once it answers. */
export async function openDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>,
  say: (line: string) => void,
  { signal, patienceMs = 30_000, given = 'DATABASE_URL' }: Opening = {}
): Promise<Database> {
  if (config.DATABASE_URL === undefined) {
    const server = await startEmbedded({ dataDir: config.DATA_DIR, say, ...(signal && { signal }) })
    return {
      connection: { connectionString: server.url },
      name: `embedded in ${config.DATA_DIR}`,
      exited: server.exited,
      stop: server.stop
    }
  }
  const connection = { connectionString: config.DATABASE_URL }
  const name = withoutPassword(config.DATABASE_URL)
  await awaitServer(connection, name, say, { patienceMs, given, ...(signal && { signal }) })
  return { connection, name, exited: new Promise(() => {}), stop: async () => {} }
}

function withoutPassword(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname || 'local socket'}${port && `:${port}`}${pathname}`
}

async function awaitServer(
  connection: Connection,
  name: string,
  say: (line: string) => void,
  { patienceMs, given, signal }: Opening & { patienceMs: number }
): Promise<void> {
  const giveUpAt = Date.now() + patienceMs
  for (;;) {
    try {
      return await checkServer(connection, name)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      const reason = (error as Error).message || String((error as NodeJS.ErrnoException).code)
      // A wrong password or a missing database does not mend itself.
      if (!isPassing(error)) throw new OperatorError(`PostgreSQL at ${name} refuses: ${reason}. Check ${given}.`)
      if (Date.now() + retryMs > giveUpAt) {
        const silent = patienceMs > 0 ? `did not answer within ${patienceMs / 1000} s` : 'does not answer'
        throw new OperatorError(
          `PostgreSQL at ${name} ${silent}: ${reason}. Check that it runs and that ${given} is right.`
        )
      }
      say(`Waiting for PostgreSQL at ${name}: ${reason}`)
      await sleep(retryMs, undefined, signal && { signal })
    }
  }
}

async function checkServer(connection: Connection, name: string): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000, query_timeout: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(
      `select current_setting('server_version_num')::int / 10000 as major, current_setting('server_encoding') as encoding`
    )
    const { major, encoding } = rows[0] as { major: number; encoding: string }
    if (major < oldest)
      throw new OperatorError(`PostgreSQL at ${name} is version ${major}; Tidings needs ${oldest} or newer.`)
    if (encoding !== 'UTF8')
      throw new OperatorError(
        `The database ${name} is encoded in ${encoding}; Tidings needs one created with encoding 'UTF8'.`
      )
  } finally {
    await client.end().catch(() => {})
  }
}
