import { type Endpoint, type FailureCode, findStartEndpoints, pushEndpointOf } from '../../channels/channels.ts'
import type { reach } from '../../devices/devices.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Recipient } from '../../templates/templates.ts'
import type { Campaign } from '../definition/definition.ts'
import { quietUntil } from './quiet-hours.ts'
import type { Reachable } from './recipients-store.ts'

/** The longest that gateways keep a notification, where a campaign says nothing. */
const longestTtlMs = 28 * 86_400_000

/** Until when a message is wanted: counted from the trigger, or from the end of the quiet hours that held it. */
export const notAfterOf = ({ ttl_seconds }: Campaign, from: Date): number =>
  from.getTime() + (ttl_seconds === undefined ? longestTtlMs : ttl_seconds * 1000)

/** When quiet hours let this device be reached again; null: now. */
export function quietFor({ quiet_hours }: Campaign, { properties, facts }: Recipient, now: Date): Date | null {
  return quiet_hours ? quietUntil(quiet_hours, { user: properties.timezone, device: facts.timezone }, now) : null
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

/** The endpoints of devices, or why there is none; for a Live Activity, those that can start its type. */
export async function findTargets(
  db: Db,
  projectId: ProjectId,
  live_activity: Campaign['live_activity'],
  recipients: Reachable[]
): Promise<Map<string, Endpoint | FailureCode>> {
  const devices = recipients.map(deviceOf)
  if (live_activity) return findStartEndpoints(db, projectId, devices, live_activity.attributes_type)
  return new Map(devices.map((device) => [device.id, pushEndpointOf(device)]))
}
