import pg from 'pg'
import { isConnectionLimit } from '../connection-limit.ts'
import type { Host } from './hosts.ts'

/** What is known about a server of a list. */
export type Facts =
  | { kind: 'unknown' }
  | { kind: 'primary'; timeline: number }
  | { kind: 'standby'; readOnly: boolean }
  | { kind: 'away'; error: Error }

/** The interval of looks while a server takes writes, and while none does. */
const calmMs = 1_000
const searchMs = 200
/** How long a look may take. Each server is watched by itself, so one that hangs delays no other. */
const limitMs = 2_000

// A promotion begins a timeline with a higher number, which is the beginning of the name of each later WAL file.
const role = `select pg_is_in_recovery() as standby, current_setting('default_transaction_read_only')::boolean as read_only`
const roleAndTimeline = `${role}, case when not pg_is_in_recovery()
    then ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

/** Opens a connection that only looks at the server. */
async function openLook(host: Host): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: host.url,
    application_name: 'tidings watch',
    keepAlive: true,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function readFacts(client: pg.Client): Promise<Facts> {
  // Some services for PostgreSQL have no WAL functions. Their servers then count as equally new.
  const { rows } = await client.query(roleAndTimeline).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError) return client.query(role)
    throw error
  })
  const { standby, read_only, timeline } = rows[0]
  return standby || read_only
    ? { kind: 'standby', readOnly: !standby }
    : { kind: 'primary', timeline: Number(timeline ?? 0) }
}

/** Looks once. */
export async function lookAt(host: Host): Promise<Facts> {
  try {
    const client = await openLook(host)
    return await readFacts(client).finally(() => breakOff(client))
  } catch (error) {
    return { kind: 'away', error: error as Error }
  }
}

/** Keeps a connection to the server and notes its state at each look. */
export function watchHost(host: Host, note: (facts: Facts) => void, isCalm: () => boolean) {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let state: 'looking' | 'waiting' | 'stopped' = 'waiting'
  let known: Facts['kind'] = 'unknown'

  async function look(): Promise<void> {
    clearTimeout(timer)
    state = 'looking'
    const facts = await readOrFail()
    if ((state as string) === 'stopped') return end()
    state = 'waiting'
    known = facts?.kind ?? known
    if (facts) note(facts)
    timer = setTimeout(look, isCalm() ? calmMs : searchMs)
  }

  async function readOrFail(): Promise<Facts | undefined> {
    try {
      const open = client ?? (await openLook(host)).once('end', hurry)
      client = open
      return await readFacts(open)
    } catch (error) {
      end()
      // At its connection limit a primary is still the primary.
      return isConnectionLimit(error) && known === 'primary' ? undefined : { kind: 'away', error: error as Error }
    }
  }

  function end(): void {
    if (client) breakOff(client.off('end', hurry))
    client = undefined
  }

  function hurry(): void {
    if (state === 'waiting') void look()
  }

  void look()
  return {
    /** Looks at once. */
    hurry,
    stop(): void {
      const looking = state === 'looking'
      state = 'stopped'
      clearTimeout(timer)
      if (!looking) end()
    }
  }
}

/** Ends a connection without waiting for its server, which may not respond. */
export function breakOff(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
