import { reach } from '../devices/devices.ts'
import type { FailureCode, GatewayName } from '../gateways/gateways.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { MessageRow, PushTarget } from './message.ts'
import { findMessages, keyOf } from './store.ts'

export type ReachRow = reach.ReachRow
export type ActivityTokenRow = reach.ActivityTokenRow

const gateways = { APNS: 'apns', FCM: 'fcm', WEBPUSH: 'webpush' } as const satisfies Record<string, GatewayName>

/** The push token of a device, as a place to send to; the reason where there is none. */
export function pushTargetOf(device: ReachRow): PushTarget | FailureCode {
  const { token, type, registered_at } = device
  if (!device.push_permission || token === null || type === null || !registered_at) return 'NO_PUSH_TOKEN'
  return {
    deviceId: device.id,
    gateway: gateways[type],
    environment: device.environment ?? 'production',
    app: device.app_identifier,
    token,
    registeredAt: registered_at
  }
}

/** A Live Activity goes to Apple by its own token; an app that uses Firebase sends both through it. */
export function activityTargetOf(device: ReachRow, found: ActivityTokenRow | undefined): PushTarget | FailureCode {
  if (device.platform !== 'IOS') return 'UNSUPPORTED_PLATFORM'
  if (!device.push_permission) return 'NO_PUSH_TOKEN'
  if (!found) return 'NO_LIVE_ACTIVITY_TOKEN'
  const { token, registered_at: registeredAt, attributes_type: type, activity_id: id } = found
  const common = {
    deviceId: device.id,
    environment: device.environment ?? ('production' as const),
    app: device.app_identifier,
    activity: { type, id }
  }
  if (device.type !== 'FCM' || device.token === null) return { ...common, gateway: 'apns', token, registeredAt }
  const of = device.registered_at ?? registeredAt
  return { ...common, gateway: 'fcm', token: device.token, activityToken: token, registeredAt: of }
}

const activityKey = (deviceId: string, type: string, id: string) => JSON.stringify([deviceId, type, id])

/**
 * Looks the tokens of rows up once more: a phone may have got a new one since they were written. It may also have got
 * another person, whom they are not for.
 */
export async function locate(
  db: Db,
  projectId: ProjectId,
  rows: MessageRow[]
): Promise<Map<MessageRow, PushTarget | FailureCode>> {
  const devices = new Map(
    (
      await reach.findReach(
        db,
        projectId,
        [],
        rows.map(({ device_id }) => device_id)
      )
    ).map((device) => [device.id, device])
  )
  const tokens = await activityTokens(db, projectId, rows)
  const others = await ofOthers(db, projectId, rows, devices)
  return new Map(
    rows.map((row) => {
      const device = devices.get(row.device_id)
      if (!device || others.has(row)) return [row, 'NO_DEVICE']
      if (row.activity_type === null) return [row, pushTargetOf(device)]
      return [
        row,
        activityTargetOf(device, tokens.get(activityKey(device.id, row.activity_type, row.activity_id ?? '')))
      ]
    })
  )
}

/** Those whose device is another user's by now. Read again: one who logged in has taken the messages along. */
async function ofOthers(
  db: Db,
  projectId: ProjectId,
  rows: MessageRow[],
  devices: Map<string, ReachRow>
): Promise<Set<MessageRow>> {
  const userOf = (row: MessageRow) => devices.get(row.device_id)?.user_id
  const doubtful = rows.filter(
    (row) => row.user_id !== null && devices.has(row.device_id) && userOf(row) !== row.user_id
  )
  if (doubtful.length === 0) return new Set()
  const now = new Map((await findMessages(db, projectId, doubtful)).map((row) => [keyOf(row), row.user_id]))
  return new Set(doubtful.filter((row) => now.get(keyOf(row)) !== userOf(row)))
}

async function activityTokens(
  db: Db,
  projectId: ProjectId,
  rows: MessageRow[]
): Promise<Map<string, ActivityTokenRow>> {
  const wanted = rows.filter(({ activity_type }) => activity_type !== null)
  if (wanted.length === 0) return new Map()
  const devices = wanted.map(({ device_id }) => device_id)
  const types = [...new Set(wanted.map(({ activity_type }) => activity_type!))]
  const found = [
    ...(await reach.findStartTokens(db, projectId, devices, types)),
    ...(await reach.findUpdateTokens(db, projectId, devices, types))
  ]
  return new Map(found.map((token) => [activityKey(token.device_id, token.attributes_type, token.activity_id), token]))
}
