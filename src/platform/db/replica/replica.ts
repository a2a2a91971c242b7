import pg from 'pg'
import type { Log } from '../../log.ts'
import { isPassing } from '../failures.ts'
import { readHosts } from '../hosts/hosts.ts'
import { breakOff } from '../hosts/watch.ts'
import { type Db, onClient } from '../runner.ts'
import { catchUp, Unfit } from './standing.ts'
import { readPosition } from './store.ts'

/**
 * A standby that serves reads of pages and exports. A read sees everything that was committed before it began: it waits a
 * moment until the replica has replayed that much, and otherwise goes to the primary (docs/decisions/0069).
 */
export interface Replica {
  /** Begins to look at the replica. Before that, all reads go to the primary. */
  open(): void
  /** Runs reads on the replica, or on the primary. They may run twice: on the replica, and again after it failed. */
  reading<Result>(work: (db: Db) => Promise<Result>): Promise<Result>
  stats(): ReplicaStats
  close(): Promise<void>
}

export interface ReplicaStats {
  /** Why the primary serves all reads; undefined while the replica does. */
  why: string | undefined
  reads: { replica: number; primary: number }
  lagSeconds: number
}

/** The interval of looks, and how long one may take. */
const lookMs = 1_000
const limitMs = 2_000
/** A read that gets no connection within this time goes to the primary. */
const connectMs = 1_000
const statementMs = 30_000
const begin = `begin read only; set local statement_timeout = ${statementMs}; set local jit = off`

interface Options {
  url: string
  primary: Db
  isLent: boolean
  size: number
  log: Pick<Log, 'info' | 'warn'>
}

export function createReplica({ url, primary, isLent, size, log }: Options): Replica {
  const { name } = readHosts(url)[0]!
  const settings = { connectionString: url, application_name: 'tidings', keepAlive: true }
  const readers = new pg.Pool({
    ...settings,
    max: size,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs + 5_000,
    idleTimeoutMillis: 60_000
  })
  readers.on('error', () => {})
  const busy = new Set<pg.PoolClient>()
  const reads = { replica: 0, primary: 0 }
  let why: string | undefined = 'has not been looked at yet'
  let lagSeconds = 0
  let watcher: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function note(next: string | undefined): void {
    if (next === why || closed) return
    why = next
    if (next === undefined) log.info({ replica: name }, 'the replica serves reads of pages and exports')
    else log.warn({ replica: name, why: next }, 'the primary serves reads of pages and exports: the replica cannot')
  }

  /** Looks at the replica with a connection of its own, which long exports do not occupy. */
  async function look(): Promise<void> {
    const position = await readPosition(primary).catch(() => undefined)
    // Without a primary there is nothing to compare with.
    if (position) {
      const beganMs = performance.now()
      try {
        watcher ??= await connected()
        await catchUp(watcher, position)
        lagSeconds = (performance.now() - beganMs) / 1_000
        note(undefined)
      } catch (error) {
        if (error instanceof Unfit) lagSeconds = error.ageSeconds ?? lagSeconds
        else endAll()
        note(reasonOf(error))
      }
    }
    if (!closed) timer = setTimeout(() => void look(), lookMs).unref()
  }

  async function connected(): Promise<pg.Client> {
    const client = new pg.Client({ ...settings, connectionTimeoutMillis: limitMs, query_timeout: limitMs })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  /** A replica that does not respond must not keep a page waiting: its reads fail now, and run again on the primary. */
  function endAll(): void {
    if (watcher) breakOff(watcher)
    watcher = undefined
    for (const client of busy) breakOff(client as unknown as pg.Client)
  }

  async function onReplica<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
    const client = await readers.connect()
    let broken: Error | undefined
    const lost = (error: Error) => {
      broken = error
    }
    client.on('error', lost)
    busy.add(client)
    try {
      // A transaction keeps a pooler, or a balancer before several standbys, on the server that was looked at.
      const [position] = await Promise.all([readPosition(primary), client.query(begin)])
      await catchUp(client, position)
      const result = await work(onClient(client, isLent))
      await client.query('commit')
      return result
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) && !(error instanceof Unfit)) broken ??= error as Error
      if (!broken) await client.query('rollback').catch(lost)
      throw error
    } finally {
      busy.delete(client)
      client.off('error', lost)
      client.release(broken)
    }
  }

  function here<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
    reads.primary += 1
    return work(primary)
  }

  return {
    open: () => void look(),
    async reading(work) {
      if (why !== undefined) return here(work)
      try {
        const result = await onReplica(work)
        reads.replica += 1
        return result
      } catch (error) {
        if (error instanceof Unfit) note(error.message)
        else if (!isReplicas(error)) throw error
        return here(work)
      }
    },
    stats: () => ({ why, reads: { ...reads }, lagSeconds }),
    async close() {
      closed = true
      clearTimeout(timer)
      if (watcher) breakOff(watcher)
      await readers.end()
    }
  }
}

/** A statement that was stopped because it took too long. It would take as long on the primary. */
const tooLong = '57014'

/** Whether the replica failed, and not the read: it went away, replay removed rows that a read needed, or it refuses a function. */
function isReplicas(error: unknown): boolean {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = inner instanceof Error && 'code' in inner ? String(inner.code) : ''
  return code !== tooLong && (isPassing(error) || code === '55000')
}

const reasonOf = (error: unknown): string =>
  error instanceof Unfit
    ? error.message
    : `does not respond (${(error as Error).message || String(Object(error).code)})`
