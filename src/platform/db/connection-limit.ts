import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../log.ts'

/** SQLSTATE of a server, database or role that has no free connection. */
const tooMany = '53300'
/** How long a process uses only its open connections before it tries to open another. */
const contentMs = 5_000
const retryMs = 100
/** The shortest interval between two log lines about the limit. */
const sayEveryMs = 60_000

export const isConnectionLimit = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === tooMany

/**
 * At the connection limit of the server, a pool fails each request for which it tried to open a connection, although
 * its own connections become free all the time. This function makes such a request wait for one of these, as it would
 * if the pool were full: it reduces the size of the pool to its open connections for a while.
 */
export function atTheLimit(pool: pg.Pool, size: number, waitMs: number, log: Log) {
  const { options } = pool
  let timer: NodeJS.Timeout | undefined
  let saidAt = Number.NEGATIVE_INFINITY

  function makeDo(): void {
    const connections = Math.max(1, pool.totalCount)
    if (performance.now() - saidAt > sayEveryMs) {
      saidAt = performance.now()
      log.warn({ wanted: size }, 'the database takes no more connections: requests wait for those this process has')
    }
    options.max = connections
    // Idle connections are not closed now, because they could not be opened again.
    options.min = connections
    timer ??= setTimeout(() => {
      timer = undefined
      options.max = size
      options.min = 0
    }, contentMs)
    timer.unref()
  }

  return {
    /**
     * Runs `work`, whose first step is to get a connection. If that is refused, nothing was sent, so repeating is safe.
     */
    async waiting<Result>(work: () => Promise<Result>): Promise<Result> {
      const giveUpAt = performance.now() + waitMs
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (!isConnectionLimit(error) || performance.now() > giveUpAt) throw error
          makeDo()
          // A pool without any connection has nothing to wait for, so the request tries again after a pause.
          if (pool.totalCount === 0) await sleep(retryMs)
        }
      }
    },
    /**
     * Lends a connection of the pool to a caller whose own connection was refused, unless that would leave the pool
     * without one.
     */
    async borrowed(refusal: unknown): Promise<pg.Client | undefined> {
      if (!isConnectionLimit(refusal)) return undefined
      makeDo()
      if (pool.totalCount < 2) return undefined
      const client = await pool.connect()
      const { end } = client
      let returned = false
      const giveBack = () => {
        if (returned) return
        returned = true
        client.end = end
        // The connection is closed afterwards, because its settings must not affect other requests.
        client.release(true)
      }
      client.on('error', () => {})
      client.once('end', giveBack)
      client.end = (async () => giveBack()) as typeof end
      return client
    },
    close(): void {
      clearTimeout(timer)
    }
  }
}
