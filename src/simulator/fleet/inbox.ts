import type { Db, Pool } from '../../platform/db/db.ts'
import type { Listener } from '../../platform/db/listen.ts'
import { notify } from '../../platform/db/store.ts'
import { Unavailable } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type Bell, createBell } from '../../platform/jobs/bell.ts'
import type { Log } from '../../platform/log.ts'
import type { LedgerItem } from '../server/ledger.ts'
import { simulatedHost } from '../webpush/crypto.ts'
import * as store from './store.ts'

/** A request without its token, since the token allows sending. */
export interface InboxItem extends Omit<LedgerItem, 'token'> {
  /** The simulated activities that a broadcast reached; absent for pushes to one device. */
  activities?: number
}

/** Devices by `<APNS|FCM|WEBPUSH>:<token, or endpoint>`; a token of a Live Activity is found under APNS too. */
export type DevicesOf = (projectId: ProjectId, tokens: string[]) => Promise<Map<string, string>>

export interface Following {
  number: string
  item: InboxItem
}

const channel = 'tidings_simulator_inbox'
const kept = 1_000
/** Requests of this time are written together. */
const batchMs = 200
/** Finds new items if a notification was lost. */
const pollMs = 1_000
const heartbeatMs = 15_000
const batchSize = 200
const mostFollowers = 200
const types = { apns: 'APNS', fcm: 'FCM', webpush: 'WEBPUSH' } as const

/** The pushes at the simulators of a project, in all processes. */
export function createInbox({
  pool,
  listener,
  log,
  devicesOf
}: {
  pool: Pool
  listener: Listener
  log: Log
  devicesOf: DevicesOf
}) {
  /** The writers of this process. */
  const writers = new Map<ProjectId, Set<() => Promise<void>>>()
  const followers = new Set<{ projectId: ProjectId; bell: Bell }>()
  listener.on(channel, (projectId) => {
    for (const each of followers) if (projectId === undefined || each.projectId === projectId) each.bell.ring()
  })

  async function write(projectId: ProjectId, items: LedgerItem[]): Promise<void> {
    const tokens = new Set(items.flatMap((item) => nameOf(item) ?? []))
    const devices = tokens.size > 0 ? await devicesOf(projectId, [...tokens]) : new Map<string, string>()
    await pool.transaction(async (tx) => {
      // An activity that was started in the same batch counts for the broadcasts after it.
      for (const part of beforeBroadcasts(items)) {
        const rows = await Promise.all(part.map((item) => rowOf(tx, projectId, item, devices)))
        await store.appendItems(tx, projectId, rows, kept)
      }
      await tx.run(notify, [channel, projectId])
    })
  }

  /** Writes the pushes of one simulator in batches. The inbox keeps a thousand, so older ones are dropped here too. */
  function writer(projectId: ProjectId) {
    let waiting: LedgerItem[] = []
    let timer: NodeJS.Timeout | undefined
    let writing: Promise<void> = Promise.resolve()

    async function flush(): Promise<void> {
      timer = undefined
      const batch = waiting.slice(-kept)
      waiting = []
      if (batch.length === 0) return
      try {
        await write(projectId, batch)
      } catch (error) {
        log.debug({ error: (error as Error).message, project_id: projectId }, 'the inbox was not written')
        waiting = [...batch, ...waiting]
        schedule(pollMs)
      }
    }
    function schedule(ms: number): void {
      timer ??= setTimeout(() => {
        writing = writing.then(flush)
      }, ms)
    }

    /** Writes what waits now, without the pause in which a batch grows. */
    async function writeNow(): Promise<void> {
      clearTimeout(timer)
      timer = undefined
      writing = writing.then(flush)
      await writing
    }
    const ours = writers.get(projectId) ?? new Set()
    writers.set(projectId, ours.add(writeNow))

    return {
      add(item: LedgerItem): void {
        waiting.push(item)
        if (waiting.length >= 2 * kept) waiting = waiting.slice(-kept)
        schedule(batchMs)
      },
      async close(): Promise<void> {
        ours.delete(writeNow)
        if (ours.size === 0) writers.delete(projectId)
        await writeNow()
        // The database may not come back, so a failed write is not repeated now.
        clearTimeout(timer)
      }
    }
  }

  return {
    writer,
    /** Newest first, each with its number for the next page. Includes every push whose result a caller has received. */
    async list(projectId: ProjectId, before: string | null, deviceId: string | null, limit: number) {
      if (before === null) await Promise.all([...(writers.get(projectId) ?? [])].map((writeNow) => writeNow()))
      const rows = await store.newestItems(pool, projectId, { before, deviceId, limit })
      return rows.map(asFollowing)
    },
    /** Up to 200 items of a device after a number, oldest first, and the number for the next call. Without one: from now on. */
    async since(projectId: ProjectId, after: string | null, deviceId: string) {
      if (after === null) return { items: [], last: await store.lastNumber(pool, projectId) }
      const rows = await store.itemsAfter(pool, projectId, after, deviceId, batchSize)
      return { items: rows.map((row) => asFollowing(row).item), last: rows.at(-1)?.number ?? after }
    },
    clear: (projectId: ProjectId) => store.clearItems(pool, projectId),
    /** Items after a number, or from now on. Yields null as a heartbeat of a silent stream. */
    async *follow(
      projectId: ProjectId,
      after: string | null,
      deviceId: string | null,
      signal: AbortSignal
    ): AsyncGenerator<Following | null> {
      if (followers.size >= mostFollowers) throw new Unavailable('Too many callers follow an inbox on this node.')
      const follower = { projectId, bell: createBell() }
      const wake = () => follower.bell.ring()
      followers.add(follower)
      signal.addEventListener('abort', wake)
      try {
        let number = after ?? (await store.lastNumber(pool, projectId))
        let lastAtMs = Date.now()
        yield null
        while (!signal.aborted) {
          const rows = await store.itemsAfter(pool, projectId, number, deviceId, batchSize)
          for (const row of rows) {
            number = row.number
            yield asFollowing(row)
          }
          if (rows.length > 0) lastAtMs = Date.now()
          else if (Date.now() - lastAtMs >= heartbeatMs) {
            yield null
            lastAtMs = Date.now()
          }
          if (rows.length < batchSize && !signal.aborted) await follower.bell.heard(pollMs)
        }
      } finally {
        followers.delete(follower)
        signal.removeEventListener('abort', wake)
      }
    },
    followers: () => followers.size
  }
}

/** The requests in order, with each accepted broadcast at the head of its part. */
function beforeBroadcasts(items: LedgerItem[]): LedgerItem[][] {
  const parts: LedgerItem[][] = [[]]
  for (const item of items) {
    if (isBroadcast(item)) parts.push([])
    parts.at(-1)!.push(item)
  }
  return parts.filter((part) => part.length > 0)
}

const isAccepted = ({ answer }: LedgerItem) => answer.status >= 200 && answer.status < 300
const isBroadcast = (item: LedgerItem) => item.token === null && item.channel_id !== undefined && isAccepted(item)

async function rowOf(tx: Db, projectId: ProjectId, item: LedgerItem, devices: Map<string, string>) {
  const name = nameOf(item)
  const deviceId = (name && devices.get(name)) || null
  const channel = item.channel_id !== undefined && isAccepted(item) ? item.channel_id : null
  const reached = isBroadcast(item) ? { activities: await store.countActivities(tx, projectId, channel!) } : {}
  return { deviceId, channel, ends: endsActivities(item), text: textOf({ ...item, device_id: deviceId, ...reached }) }
}

function endsActivities(item: LedgerItem): boolean {
  const { aps } = (item.request.payload ?? {}) as { aps?: { event?: unknown } }
  return isBroadcast(item) && aps?.event === 'end'
}

const asFollowing = ({ number, item }: store.InboxRow): Following => ({ number, item: JSON.parse(item) })

/** The token as devices store it: of a subscription, the ledger has the id and devices have the endpoint. */
function nameOf({ gateway, token }: LedgerItem): string | undefined {
  if (token === null) return undefined
  return `${types[gateway]}:${gateway === 'webpush' ? `https://${simulatedHost}/push/${encodeURIComponent(token)}` : token}`
}

function textOf({ token: _, ...item }: LedgerItem & Pick<InboxItem, 'activities'>): string {
  try {
    return JSON.stringify(item)
  } catch {
    // Nested too deeply for JSON.stringify, which no gateway accepts either.
    return JSON.stringify({ ...item, request: { ...item.request, payload: null } })
  }
}
