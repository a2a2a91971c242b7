import { type Endpoint, type FailureCode, findStartEndpoints, pushEndpointOf } from '../../channels/channels.ts'
import type { reach } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Campaign } from '../definition/definition.ts'
import type { Reachable } from './recipients-store.ts'

/** For each device, its endpoint or the reason why it has none. */
export type Endpoints = Map<string, Endpoint | FailureCode>

/** The push tokens of devices; for a Live Activity, the tokens that start one of its type. */
export async function findEndpoints(
  db: Db,
  projectId: ProjectId,
  live_activity: Campaign['live_activity'],
  recipients: Reachable[]
): Promise<Endpoints> {
  const devices = recipients.map(deviceOf)
  if (live_activity) return findStartEndpoints(db, projectId, devices, live_activity.attributes_type)
  return new Map(devices.map((device) => [device.id, pushEndpointOf(device)]))
}

const deviceOf = (recipient: Reachable): reach.ReachRow => ({
  id: recipient.device_id,
  user_id: recipient.user_id,
  platform: recipient.platform,
  push_permission: recipient.push_permission,
  token: recipient.token,
  type: recipient.type,
  environment: recipient.environment,
  app_identifier: recipient.app_identifier,
  registered_at: recipient.registered_at
})
