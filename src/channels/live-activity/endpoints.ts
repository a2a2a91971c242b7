import { reach } from '../../devices/devices.ts'
import { activityEndpoint } from '../../gateways/gateways.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Endpoint, FailureCode, Written } from '../channel.ts'

/** The endpoint of an activity on a device; the reason if there is none. */
export function activityEndpointOf(
  device: reach.ReachRow,
  token: reach.ActivityTokenRow | undefined
): Endpoint | FailureCode {
  if (device.platform !== 'IOS') return 'UNSUPPORTED_PLATFORM'
  if (!device.push_permission) return 'NO_PUSH_TOKEN'
  return token ? activityEndpoint(device, token) : 'NO_LIVE_ACTIVITY_TOKEN'
}

type EndpointOf = (device: reach.ReachRow, attributesType: string) => Endpoint | FailureCode

/** Finds where activities of these types can be started. A token without a type starts any activity. */
export async function startEndpoints(
  db: Db,
  projectId: ProjectId,
  deviceIds: string[],
  attributesTypes: string[]
): Promise<EndpointOf> {
  const tokens = await reach.findStartTokens(db, projectId, deviceIds, attributesTypes)
  const byDevice = Map.groupBy(tokens, ({ device_id }) => device_id)
  return (device, attributesType) => {
    const own = byDevice.get(device.id) ?? []
    const ofType = (type: string) => own.find((token) => token.attributes_type === type)
    return activityEndpointOf(device, ofType(attributesType) ?? ofType(''))
  }
}

/** The endpoints at which an activity of this type can be started, by device. */
export async function findStartEndpoints(
  db: Db,
  projectId: ProjectId,
  devices: reach.ReachRow[],
  attributesType: string
): Promise<Map<string, Endpoint | FailureCode>> {
  const deviceIds = devices.map(({ id }) => id)
  const endpointOf = await startEndpoints(db, projectId, deviceIds, [attributesType])
  return new Map(devices.map((device) => [device.id, endpointOf(device, attributesType)]))
}

const keyOf = (deviceId: string, type: string, id: string) => JSON.stringify([deviceId, type, id])

/** The endpoints of written messages as they are now. */
export async function findEndpoints<Message extends Written>(
  db: Db,
  projectId: ProjectId,
  messages: Message[],
  devices: Map<string, reach.ReachRow>
): Promise<Map<Message, Endpoint | FailureCode>> {
  const deviceIds = messages.map(({ device_id }) => device_id)
  const types = [...new Set(messages.flatMap(({ activity_type }) => activity_type ?? []))]
  const tokens = [
    ...(await reach.findStartTokens(db, projectId, deviceIds, types)),
    ...(await reach.findUpdateTokens(db, projectId, deviceIds, types))
  ]
  const known = new Map(
    tokens.map((token) => [keyOf(token.device_id, token.attributes_type, token.activity_id), token])
  )
  return new Map(
    messages.map((message) => {
      const device = devices.get(message.device_id)
      if (!device) return [message, 'NO_DEVICE']
      const token = known.get(keyOf(device.id, message.activity_type ?? '', message.activity_id ?? ''))
      return [message, activityEndpointOf(device, token)]
    })
  )
}
