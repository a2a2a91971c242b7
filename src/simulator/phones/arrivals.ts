import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { LedgerItem } from '../server/ledger.ts'
import { type ActivityPush, activityIdIn, activityIdOf, activityOf } from './activity.ts'
import * as activities from './activity-store.ts'
import { expirationOf, holdingOf, mostKeys, mostWithoutKey } from './holding.ts'
import * as store from './store.ts'

/** An accepted push with its number in the inbox. `deviceId` is null for a broadcast to a channel. */
export interface Arrival {
  number: string
  deviceId: string | null
  channel: string | null
  item: Omit<LedgerItem, 'token'> & { token?: string | null }
}

/** What the apps on the phones report to the service, as real apps do. */
export interface Reports {
  /** Activities that have a token of their own now. */
  started: { deviceId: string; activityId: string; type: string }[]
  /** Notifications on the screen. */
  shown: { deviceId: string; messageId: string }[]
}

export const noReports = (): Reports => ({ started: [], shown: [] })

/** Gives accepted pushes to their phones, and holds those for phones that are offline. */
export async function arrive(tx: Db, projectId: ProjectId, arrivals: Arrival[]): Promise<Reports> {
  const reports = noReports()
  const ids = [...new Set(arrivals.flatMap(({ deviceId }) => deviceId ?? []))]
  const offline = ids.length > 0 ? await store.offlineAmong(tx, projectId, ids) : new Set<string>()
  for (const arrival of arrivals) {
    if (arrival.deviceId !== null && offline.has(arrival.deviceId)) await hold(tx, projectId, arrival)
    else await show(tx, projectId, arrival, reports)
  }
  return reports
}

async function hold(tx: Db, projectId: ProjectId, { number, deviceId, item }: Arrival): Promise<void> {
  const at = new Date()
  const { until, key } = holdingOf({ token: null, ...item }, at)
  if (!until) return void (await store.dropPush(tx, projectId, number, at))
  await store.holdPush(tx, projectId, { number, deviceId: deviceId!, key, until }, at)
  if (item.gateway === 'fcm')
    await store.limitHeld(tx, projectId, deviceId!, { withoutKey: mostWithoutKey, keys: mostKeys }, at)
}

/** A push on a phone that is online. */
async function show(tx: Db, projectId: ProjectId, arrival: Arrival, reports: Reports): Promise<void> {
  const { item, deviceId, channel, number } = arrival
  const push = activityOf(item)
  if (!push) {
    if (deviceId !== null && item.message_id !== null && !item.silent)
      reports.shown.push({ deviceId, messageId: item.message_id })
  } else if (deviceId === null) {
    if (channel !== null) await broadcast(tx, projectId, push, channel, number, null)
  } else if (push.event === 'start') {
    const id = activityIdOf(item)
    const started = { device_id: deviceId, id, type: push.type, channel, state: push.state, started_at: new Date() }
    await activities.startActivity(tx, projectId, started, number)
    // An activity that listens to a channel has no token of its own.
    if (channel === null) reports.started.push({ deviceId, activityId: id, type: push.type })
  } else {
    const id = activityIdIn(item)
    if (id === undefined) return
    if (push.event === 'end') await activities.endActivity(tx, projectId, deviceId, id)
    else await activities.updateActivity(tx, projectId, deviceId, id, push.state, number)
  }
}

const broadcast = (
  tx: Db,
  projectId: ProjectId,
  push: ActivityPush,
  channel: string,
  number: string,
  deviceId: string | null
) =>
  push.event === 'end'
    ? activities.endChannel(tx, projectId, channel, number, deviceId)
    : activities.updateChannel(tx, projectId, channel, number, deviceId, push.state)

/** Gives a phone that has come back what the gateways held for it: pushes, and the newest stored broadcasts. */
export async function catchUp(tx: Db, projectId: ProjectId, deviceId: string): Promise<Reports> {
  const now = new Date()
  const reports = noReports()
  const held = await store.heldPushes(tx, projectId, deviceId)
  await store.settleHeld(tx, projectId, deviceId, now)
  for (const { number, item: text, held_until } of held) {
    const item: Arrival['item'] = JSON.parse(text)
    const channel = item.channel_id ?? null
    if (held_until > now) await show(tx, projectId, { number, deviceId, channel, item }, reports)
  }
  const listening = (await activities.activitiesOf(tx, projectId, [deviceId])).flatMap(({ channel }) => channel ?? [])
  const stored = listening.length > 0 ? await store.storedBroadcasts(tx, projectId, [...new Set(listening)]) : []
  for (const { number, item: text, channel } of stored) {
    const item: Arrival['item'] = JSON.parse(text)
    const until = expirationOf(item.request.headers['apns-expiration'], now)
    const push = activityOf(item)
    if (push && until && until > now) await broadcast(tx, projectId, push, channel, number, deviceId)
  }
  return reports
}
