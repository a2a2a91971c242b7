import { channelOf, type Endpoint, type FailureCode } from '../../channels/channels.ts'
import { reach } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { MessageRow } from '../message.ts'
import { findMessages, keyOf } from '../store.ts'

/**
 * Finds the endpoints of rows that were written before. Since then the device may have got a new token, or another user, who
 * must not receive these messages.
 */
export async function locate(
  db: Db,
  projectId: ProjectId,
  rows: MessageRow[]
): Promise<Map<MessageRow, Endpoint | FailureCode>> {
  const deviceIds = rows.map(({ device_id }) => device_id)
  const found = await reach.findReachOfDevices(db, projectId, deviceIds)
  const devices = new Map(found.map((device) => [device.id, device]))
  const located = new Map<MessageRow, Endpoint | FailureCode>()
  for (const [channel, own] of Map.groupBy(rows, ({ content }) => channelOf(content)))
    for (const [row, endpoint] of await channel.findEndpoints(db, projectId, own, devices)) located.set(row, endpoint)
  for (const row of await ofOtherUsers(db, projectId, rows, devices)) located.set(row, 'NO_DEVICE')
  return located
}

/** Rows whose device belongs to another user by now. Read again, because a login moves messages to the new user. */
async function ofOtherUsers(
  db: Db,
  projectId: ProjectId,
  rows: MessageRow[],
  devices: Map<string, reach.ReachRow>
): Promise<MessageRow[]> {
  const userOf = (row: MessageRow) => devices.get(row.device_id)?.user_id
  const doubtful = rows.filter(
    (row) => row.user_id !== null && devices.has(row.device_id) && userOf(row) !== row.user_id
  )
  if (doubtful.length === 0) return []
  const now = new Map((await findMessages(db, projectId, doubtful)).map((row) => [keyOf(row), row.user_id]))
  return doubtful.filter((row) => now.get(keyOf(row)) !== userOf(row))
}
