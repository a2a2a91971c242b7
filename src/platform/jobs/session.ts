import type pg from 'pg'
import type { Pool } from '../db/db.ts'
import { isPassing } from '../db/db.ts'
import type { Statement } from '../db/statement.ts'
import { together } from '../db/together.ts'
import { Unavailable } from '../errors.ts'
import { localSettings, settings } from './store.ts'

/** Runs one statement at a time on the worker's own connection. */
export interface Session {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** Longer than any statement of a worker takes, shorter than a lease: a lost response must not cost the leases. */
const patienceMs = 5_000

/** Sends a statement with the settings around it, all at once: a pooler lends the back end until the commit. */
async function inTransaction(to: pg.Client, config: pg.QueryConfig & { query_timeout: number }) {
  const { query_timeout } = config
  const sent = [
    { text: 'begin', query_timeout },
    { text: localSettings.text, query_timeout },
    config,
    { text: 'commit', query_timeout }
  ].map((one) => to.query(one))
  await together(...sent)
  return sent[2]!
}

/**
 * The worker does not share the pool with its jobs: when these use every connection, the worker must still renew their
 * leases. The connection is opened when first needed and reopened after a loss; `opened` is called each time.
 */
export function createSession(pool: Pool, opened: (session: Session) => Promise<void>, answerMs = patienceMs): Session {
  let client: Promise<pg.Client> | undefined

  function connected(): Promise<pg.Client> {
    if (client) return client
    const opening = open(() => forget(opening))
    client = opening
    opening.catch(() => forget(opening))
    return opening
  }

  /** Only if it is still the one in use: an old connection may end after the next one was opened. */
  function forget(which: Promise<pg.Client>): void {
    if (client === which) client = undefined
  }

  async function open(lost: () => void): Promise<pg.Client> {
    const fresh = await pool.connect()
    fresh.on('end', lost)
    try {
      if (!pool.isLent) await send(fresh, settings)
      await opened({ query: (statement, values) => send(fresh, statement, values), close: async () => {} })
      return fresh
    } catch (error) {
      fresh.end().catch(() => {})
      throw error
    }
  }

  async function send<Row>(to: pg.Client, { name, text }: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      const config = { text, values: values as unknown[], query_timeout: answerMs }
      const result = pool.isLent ? inTransaction(to, config) : to.query({ name, ...config })
      return (await result).rows as Row[]
    } catch (error) {
      if (!isPassing(error)) throw error
      // The connection is closed also when the server is only slow: the late response would be taken for the next
      // statement's.
      to.end().catch(() => {})
      throw new Unavailable(`The database cannot answer now: ${(error as Error).message}`, { cause: error })
    }
  }

  return {
    async query(statement, values) {
      const current = connected()
      try {
        return await send(await current, statement, values)
      } catch (error) {
        if (error instanceof Unavailable) forget(current)
        throw error
      }
    },
    async close() {
      const current = await client?.catch(() => undefined)
      client = undefined
      await current?.end().catch(() => {})
    }
  }
}
