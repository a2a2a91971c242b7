import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../log.ts'

/** SQLSTATE of a server, database or role whose connections are all taken. */
const tooMany = '53300'
/** How long a process lives on the connections it has before it tries to open another. */
const contentMs = 5_000
const retryMs = 100
/** The log says so no more often than this. */
const sayEveryMs = 60_000

export const isConnectionLimit = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === tooMany

/**
 * At the connection limit of the server a pool fails each request for which it tried to open a connection, at once,
 * though its own connections get free all the time. Here such a request waits for one of these, like those that come
 * when the pool is full: the pool is made as small as the number of connections it has, for a while.
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
    // A connection that is closed because it is idle could not be opened again.
    options.min = connections
    timer ??= setTimeout(() => {
      timer = undefined
      options.max = size
      options.min = 0
    }, contentMs)
    timer.unref()
  }

  return {
    /** Runs `work`, whose first step is to get a connection. Nothing was sent where that is refused: it is safe to repeat. */
    async waiting<Result>(work: () => Promise<Result>): Promise<Result> {
      const giveUpAt = performance.now() + waitMs
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (!isConnectionLimit(error) || performance.now() > giveUpAt) throw error
          makeDo()
          // Without any connection, one request must keep trying.
          if (pool.totalCount === 0) await sleep(retryMs)
        }
      }
    },
    /** For a connection of its own that was refused: one of the pool, unless that would leave the pool none. */
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
        // Settings of this connection must not leak to other requests: it is closed.
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
