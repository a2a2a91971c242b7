import type { Db, Pool } from '../../platform/db/db.ts'
import type { Listener } from '../../platform/db/listen.ts'
import { notify } from '../../platform/db/store.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type Bell, createBell } from '../../platform/jobs/bell.ts'
import type { Log } from '../../platform/log.ts'
import { type Arrival, arrive, noReports, type Reports } from '../phones/arrivals.ts'
import { phoneChanges } from '../phones/store.ts'
import type { LedgerItem } from '../server/ledger.ts'
import { nameOf } from '../server/token-names.ts'
import { type InboxItem, textOf } from './inbox-item.ts'
import * as store from './store.ts'

/** Devices by `<APNS|FCM|WEBPUSH>:<token, or endpoint>`; a token of a Live Activity is found under APNS too. */
export type DevicesOf = (projectId: ProjectId, tokens: string[]) => Promise<Map<string, string>>

export interface Following {
  number: string
  item: InboxItem
}

/** Something about the phones has changed: who shows them reads them again. */
export interface PhonesChanged {
  phones: string
}

export const inboxChannel = 'tidings_simulator_inbox'
const kept = 1_000
/** Requests of this time are written together. */
const batchMs = 200
/** Finds new items if a notification was lost. */
const pollMs = 1_000
const heartbeatMs = 15_000
const batchSize = 200

/** The pushes at the simulators of a project, in all processes. */
export function createInbox({
  pool,
  listener,
  log,
  devicesOf,
  report
}: {
  pool: Pool
  listener: Listener
  log: Log
  devicesOf: DevicesOf
  /** What the apps on the phones report about the pushes that arrived. */
  report: (projectId: ProjectId, reports: Reports) => void
}) {
  /** The writers of this process. */
  const writers = new Map<ProjectId, Set<() => Promise<void>>>()
  const followers = new Set<{ projectId: ProjectId; bell: Bell }>()
  listener.on(inboxChannel, (projectId) => {
    for (const each of followers) if (projectId === undefined || each.projectId === projectId) each.bell.ring()
  })

  async function write(projectId: ProjectId, items: LedgerItem[]): Promise<void> {
    const tokens = new Set(items.flatMap((item) => nameIn(item) ?? []))
    const devices = tokens.size > 0 ? await devicesOf(projectId, [...tokens]) : new Map<string, string>()
    const reports = await pool.transaction(async (tx) => {
      const all = noReports()
      // An activity that was started in the same batch counts for the broadcasts after it.
      for (const part of beforeBroadcasts(items)) {
        const rows = await Promise.all(part.map((item) => rowOf(tx, projectId, item, devices)))
        const last = await store.appendItems(tx, projectId, rows, kept)
        const { started, shown } = await arrive(tx, projectId, arrivalsOf(part, rows, last))
        all.started.push(...started)
        all.shown.push(...shown)
      }
      await tx.run(notify, [inboxChannel, projectId])
      return all
    })
    report(projectId, reports)
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

  /** Writes what this process has received so far. */
  const flushed = async (projectId: ProjectId): Promise<void> => {
    await Promise.all([...(writers.get(projectId) ?? [])].map((writeNow) => writeNow()))
  }

  return {
    writer,
    /** Newest first, each with its number for the next page. Includes every push whose result a caller has received. */
    async list(projectId: ProjectId, wanted: store.Wanted) {
      if (wanted.before === null) await flushed(projectId)
      const rows = await store.newestItems(pool, projectId, wanted)
      return rows.map(asFollowing)
    },
    flushed,
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
      signal: AbortSignal,
      withPhones = false
    ): AsyncGenerator<Following | PhonesChanged | null> {
      if (signal.aborted) return
      const follower = { projectId, bell: createBell() }
      // The follower leaves here too: the stream over this generator may be destroyed before it starts.
      const wake = () => {
        followers.delete(follower)
        follower.bell.ring()
      }
      followers.add(follower)
      signal.addEventListener('abort', wake)
      try {
        let number = after ?? (await store.lastNumber(pool, projectId))
        let lastAtMs = Date.now()
        let phones = withPhones ? await phoneChanges(pool, projectId) : ''
        yield null
        while (!signal.aborted) {
          const rows = await store.itemsAfter(pool, projectId, number, deviceId, batchSize)
          for (const row of rows) {
            number = row.number
            yield asFollowing(row)
          }
          if (withPhones) {
            const now = await phoneChanges(pool, projectId)
            if (now !== phones) yield { phones: now }
            phones = now
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
  const name = nameIn(item)
  const deviceId = (name && devices.get(name)) || null
  const channel = item.channel_id !== undefined && isAccepted(item) ? item.channel_id : null
  const reached = isBroadcast(item) ? { activities: await store.countActivities(tx, projectId, channel!) } : {}
  return { deviceId, channel, ends: endsActivities(item), text: textOf({ ...item, device_id: deviceId, ...reached }) }
}

function endsActivities(item: LedgerItem): boolean {
  const { aps } = (item.request.payload ?? {}) as { aps?: { event?: unknown } }
  return isBroadcast(item) && aps?.event === 'end'
}

const nameIn = ({ gateway, token }: LedgerItem) => (token === null ? undefined : nameOf(gateway, token))

const asFollowing = ({ number, item }: store.InboxRow): Following => ({ number, item: JSON.parse(item) })

/** The accepted pushes of a part, with the numbers that end with `last`. */
function arrivalsOf(part: LedgerItem[], rows: Awaited<ReturnType<typeof rowOf>>[], last: bigint): Arrival[] {
  const first = last - BigInt(part.length) + 1n
  return part.flatMap((item, index) => {
    const { deviceId, channel } = rows[index]!
    const reaches = isAccepted(item) && (deviceId !== null || isBroadcast(item))
    return reaches ? [{ number: String(first + BigInt(index)), deviceId, channel, item }] : []
  })
}
