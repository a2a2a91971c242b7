import { checkDeviceId, type Devices, noDevice } from '../devices/devices.ts'
import { createCoalescer, roughBytes } from '../platform/coalesce.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { isWithoutPartition, makePartitions } from '../platform/db/partitions.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { Refusal } from '../platform/errors.ts'
import { isUuid, newId, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { inParts } from '../platform/parts.ts'
import { identity } from '../users/users.ts'
import { checkTrackEvent, type EventFacts, type EventInput, type TrackEvent } from './fields.ts'
import { eventMonths, keepEventsJob } from './jobs.ts'
import { createEventQueue, type EventSubscriber } from './queue.ts'
import { eraseQueueWindow } from './queue-store.ts'
import { eraseReceiptWindow, firstArrivals } from './receipt-store.ts'
import * as store from './store.ts'
import { createStoring } from './storing.ts'
import { eraseWantedWindow } from './wanted-store.ts'

export { checkFacts, type EventFacts, type TrackEvent } from './fields.ts'
export { historyOf, managedEvent } from './history.ts'
export { eventMonths, keepEventsJob } from './jobs.ts'
export { type ArrivedEvent, type EventSubscriber, type Handling, PrepareFirst, prepared } from './queue.ts'
export { countQueued } from './queue-store.ts'
export { wantEvents } from './wanted-store.ts'
/** Moves the history of a user to another, in the caller's transaction. */
export const moveHistory = async (tx: Db, projectId: ProjectId, fromUserId: string, toUserId: string) => {
  await store.moveEvents(tx, projectId, fromUserId, toUserId)
}
export type Events = ReturnType<typeof createEvents>

/** The events of one request: all of them are stored, or none. */
type Outcome = store.NewEvent[] | Refusal
/** Rows in one statement; a batch of large requests takes several statements in one transaction. */
const rowsAtOnce = 5_000

/** An event of a named user, or of the user of a device. */
export interface OwnedEvent extends EventFacts {
  projectUserId: string | undefined
  deviceId: string | null
}

/** A report of an app about a message to its device. */
export interface PushReport {
  messageId: string
  deviceId: string
  kind: 'delivered' | 'tapped'
  at: Date
}

/** Event names that SDKs record by themselves. */
const reportKinds = new Map<string, PushReport['kind']>([
  ['PUSH_NOTIFICATION_RECEIVED', 'delivered'],
  ['PUSH_NOTIFICATION_TAPPED', 'tapped']
])

export function createEvents({
  pool,
  devices,
  metrics,
  onPushReports,
  subscribers
}: {
  pool: Pool
  devices: Devices
  metrics: Metrics
  /** Runs in the transaction that stores the events. */
  onPushReports: (tx: Db, projectId: ProjectId, reports: PushReport[]) => Promise<void>
  /** They react to events whose names campaigns want. A function, because they come later in the line of imports. */
  subscribers: () => readonly EventSubscriber[]
}) {
  const queue = createEventQueue(pool, subscribers)
  const storeAll = createStoring()
  const writes = createCoalescer<EventInput[], Outcome>(
    async (projectId, requests) => {
      metrics.coalesced('events', requests.length)
      const attempt = () => againIfRaced(() => pool.transaction((tx) => recordTogether(tx, projectId, requests)))
      const { outcomes, queued } = await withPartition(attempt)
      if (queued > 0) queue.wake(projectId)
      return outcomes
    },
    roughBytes,
    { paced: pool.isDistributed }
  )

  /** The partition of the month is missing if no worker has run for months, or the clock was set. It is created then. */
  const withPartition = <Result>(attempt: () => Promise<Result>): Promise<Result> =>
    attempt().catch(async (error) => {
      if (!isWithoutPartition(error)) throw error
      await makePartitions(pool, eventMonths, new Date())
      return attempt()
    })

  async function recordTogether(tx: Db, projectId: ProjectId, requests: EventInput[][]) {
    const ids = [...new Set(requests.flat().map(({ deviceId }) => deviceId))]
    const at = new Date()
    const users = await devices.hold(tx, projectId, ids, at)
    const outcomes = requests.map((events): Outcome => {
      const unknown = events.findIndex(({ deviceId }) => !users.has(deviceId))
      if (unknown >= 0) return noDevice(`events[${unknown}].device_id: no device of this id is registered`)
      return events.map((event) => ({ ...event, userId: users.get(event.deviceId)! }))
    })
    const accepted = outcomes.flatMap((outcome) => (outcome instanceof Refusal ? [] : outcome))
    return { outcomes, queued: await storeArrived(tx, projectId, accepted, at) }
  }

  /** Stores the events that did not arrive before. Returns how many of them campaigns wait for. */
  async function storeArrived(tx: Db, projectId: ProjectId, accepted: store.NewEvent[], at: Date): Promise<number> {
    const arrived = await firstArrivals(tx, projectId, accepted, at)
    // Sorted by user: the foreign key locks users in the order of the rows, and a deletion of several users locks them
    // by id.
    const rows = (await store.notStored(tx, projectId, arrived)).toSorted((one, other) =>
      one.userId < other.userId ? -1 : one.userId > other.userId ? 1 : 0
    )
    let queued = 0
    for (const some of inParts(rows, rowsAtOnce)) {
      const wanted = await storeAll(tx, projectId, some)
      if (wanted === undefined) throw new Refusal('invalid_api_key', 'Invalid API key')
      queued += wanted
    }
    const reports = rows.flatMap(reportOf)
    if (reports.length > 0) await onPushReports(tx, projectId, reports)
    if (rows.length > 0) await identity.markSeen(tx, projectId, [...new Set(rows.map(({ userId }) => userId))], at)
    return queued
  }

  async function storeOwned(tx: Db, projectId: ProjectId, events: OwnedEvent[], proven: string | null | undefined) {
    const at = new Date()
    const deviceIds = [...new Set(events.flatMap(({ deviceId }) => deviceId ?? []))]
    const given = [...new Set(events.flatMap(({ projectUserId }) => projectUserId ?? []))]
    const onDevice = await devices.hold(tx, projectId, deviceIds, at)
    const named = await identity.idsOf(tx, projectId, given)
    const held = await identity.hold(tx, projectId, [...named.values()])
    const names = proven === null ? undefined : await identity.namesOf(tx, projectId, [...new Set(onDevice.values())])
    const unproven: number[] = []
    const owned = events.flatMap(({ projectUserId, deviceId, ...facts }, place) => {
      const onIt = deviceId !== null && onDevice.has(deviceId) ? deviceId : null
      const userId = projectUserId === undefined ? onDevice.get(deviceId ?? '') : named.get(projectUserId)
      if (userId === undefined || (projectUserId !== undefined && !held.has(userId))) return []
      const name = projectUserId === undefined ? names?.get(userId) : undefined
      if (typeof name === 'string' && name !== proven) {
        unproven.push(place)
        return []
      }
      return [{ ...facts, userId, deviceId: onIt }]
    })
    return { unproven, queued: await storeArrived(tx, projectId, owned, at) }
  }

  async function trackOfUser(projectId: ProjectId, event: Exclude<TrackEvent, { deviceId: string }>): Promise<void> {
    const facts = checkTrackEvent(event)
    const queued = await againIfRaced(() =>
      pool.transaction(async (tx) => {
        const userId = await identity.find(tx, projectId, event)
        if (!userId) throw new Refusal('not_found', 'There is no such user.')
        const stored = await store.notStored(tx, projectId, [{ ...facts, userId, deviceId: null }])
        const wanted = await storeAll(tx, projectId, stored)
        await identity.markSeen(tx, projectId, [userId], new Date())
        return wanted ?? 0
      })
    )
    if (queued > 0) queue.wake(projectId)
  }

  return {
    /** Stores all events, or none if a device is unknown. Returns the user of each. */
    async record(projectId: ProjectId, events: EventInput[]): Promise<store.NewEvent[]> {
      if (events.length === 0) return []
      // Requests need no order among themselves: each has its own key, except for a repeated request.
      const outcome = await writes.write(projectId, events[0]!.id ?? newId(), events)
      if (outcome instanceof Refusal) throw outcome
      return outcome
    },
    /**
     * Stores events of users and devices, except those whose user was deleted meanwhile. An event that only its device
     * gives to a named user needs the proof of that user: `proven` is the proven user, null if no proof is needed. Returns
     * the places of events that were left out for want of it.
     */
    async recordOwned(
      projectId: ProjectId,
      events: OwnedEvent[],
      proven: string | null | undefined
    ): Promise<readonly number[]> {
      if (events.length === 0) return []
      const attempt = () => againIfRaced(() => pool.transaction((tx) => storeOwned(tx, projectId, events, proven)))
      const { unproven, queued } = await withPartition(attempt)
      if (queued > 0) queue.wake(projectId)
      return unproven
    },
    /** Tracks one event of a device or a user. */
    async track(projectId: ProjectId, event: TrackEvent): Promise<void> {
      if (!('deviceId' in event)) return trackOfUser(projectId, event)
      const deviceId = checkDeviceId(event.deviceId, 'deviceId')
      const outcome = await writes.write(projectId, event.run.id, [{ ...checkTrackEvent(event), deviceId }])
      if (outcome instanceof Refusal) throw noDevice('deviceId: no device of this id is registered')
    },
    /** Deletes one batch of events of a project that is being erased. */
    eraseWindow: async (db: Db, projectId: ProjectId): Promise<number> =>
      (await eraseQueueWindow(db, projectId)) ||
      (await store.eraseEventWindow(db, projectId)) ||
      (await eraseWantedWindow(db, projectId)) ||
      eraseReceiptWindow(db, projectId),
    /** Handles the events that waited in a backup without starting campaigns. */
    discard: queue.discard,
    jobs: [...queue.jobs, keepEventsJob(pool)]
  }
}

function reportOf({ name, messageId, deviceId, at }: store.NewEvent): PushReport[] {
  const kind = reportKinds.get(name)
  return kind && deviceId !== null && messageId !== null && isUuid(messageId) ? [{ messageId, deviceId, kind, at }] : []
}
