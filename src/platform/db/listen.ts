import type pg from 'pg'
import type { Log } from '../log.ts'
import type { Pool } from './db.ts'
import { appear, createLookout, type Presence } from './presence.ts'

/** Receives notifications of other nodes. They are hints: every listener must also work without them. */
export interface Listener {
  /** Calls back on each message of a channel, and with undefined after a gap in which messages may have been missed. */
  on(channel: string, heard: (payload: string | undefined) => void): void
  /** The same connection shows other processes that this one is alive. */
  readonly presence: Presence
  close(): Promise<void>
}

const retryMs = 1_000
/** A connection that lasted this long is reopened at once: until then this process looks dead to others. */
const livedMs = 100

/**
 * A process whose own connection is younger than this cannot know which processes died: the database may have been
 * unreachable, and the others may be reconnecting. They need 4 s at most: a pause and the time-out of a connection.
 */
const steadyMs = 5_000

/** How often a process looks for changes that cannot notify it. */
const pollMs = 500

/** Keeps one connection listening and reopens it when it is lost. Without one that can listen, it reports gaps. */
export function createListener(pool: Pool, log: Log, { judgesAfterMs = steadyMs } = {}): Listener {
  const { session } = pool
  return session ? listenBy(session, log, judgesAfterMs) : poll()
}

/** Stands in for a listener behind a pooler: reports a gap again and again, so that all look for themselves. */
function poll(): Listener {
  const all: Array<(payload: undefined) => void> = []
  const timer = setInterval(() => {
    for (const heard of all) heard(undefined)
  }, pollMs)
  timer.unref()
  return {
    on: (_, heard) => void all.push(heard),
    // No connection shows that this process is alive, so others wait until its claims expire.
    presence: { name: undefined, isGone: async () => false },
    close: async () => clearInterval(timer)
  }
}

function listenBy(session: () => Promise<pg.Client>, log: Log, judgesAfterMs: number): Listener {
  const channels = new Map<string, Array<(payload: string | undefined) => void>>()
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let name: number | undefined
  let isPresent = false
  let openedAtMs = 0

  async function open(): Promise<void> {
    try {
      const fresh = await session()
      if (closed) return void (await fresh.end())
      client = fresh
      openedAtMs = performance.now()
      fresh.on('notification', ({ channel, payload }) => {
        for (const heard of channels.get(channel) ?? []) heard(payload ?? '')
      })
      fresh.on('end', again)
      name = (await appear(fresh, name)) ?? name
      isPresent = name !== undefined
      // Channel names are constants of the code, never input.
      for (const channel of channels.keys()) await fresh.query(`listen ${channel}`)
      for (const heard of [...channels.values()].flat()) heard(undefined)
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'listening failed, will try again')
      client?.removeListener('end', again)
      client?.end().catch(() => {})
      again()
    }
  }

  function again(): void {
    const lived = client !== undefined && performance.now() - openedAtMs >= livedMs
    client = undefined
    isPresent = false
    if (!closed) timer = setTimeout(() => void open(), lived ? 0 : retryMs)
  }

  const isMissing = createLookout()
  const isSteady = () => isPresent && performance.now() - openedAtMs >= judgesAfterMs

  void open()
  return {
    on(channel, heard) {
      const known = channels.get(channel)
      channels.set(channel, [...(known ?? []), heard])
      if (!known) client?.query(`listen ${channel}`).catch(() => {})
    },
    presence: {
      get name() {
        return isPresent ? name : undefined
      },
      isGone: async (db, asked) => isSteady() && (await isMissing(db, asked)) && isSteady()
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    }
  }
}
