import type { reach } from '../devices/devices.ts'
import type { GatewayName, PushEnvironment } from './push.ts'

/** The address of one device at a gateway: a token, and the facts that sending to it needs. */
export interface Endpoint {
  deviceId: string
  gateway: GatewayName
  environment: PushEnvironment
  /** Bundle id or package; null if the credential contains it. */
  app: string | null
  token: string
  /** For a Live Activity through Firebase: Apple's token, beside the registration token. */
  activityToken?: string
  registeredAt: Date
  /** The key of the token's row, for tokens of Live Activities. */
  activity?: { type: string; id: string }
}

type Registered = reach.ReachRow & { type: 'APNS' | 'FCM' | 'WEBPUSH'; token: string; registered_at: Date }

export const isRegistered = (device: reach.ReachRow): device is Registered =>
  device.token !== null && device.type !== null && device.registered_at !== null

const common = (device: reach.ReachRow) => ({
  deviceId: device.id,
  environment: device.environment ?? ('production' as const),
  app: device.app_identifier
})

export const pushEndpoint = (device: Registered): Endpoint => ({
  ...common(device),
  gateway: device.type.toLowerCase() as GatewayName,
  token: device.token,
  registeredAt: device.registered_at
})

/**
 * A Live Activity reaches Apple through its own token. For an app that uses Firebase, both tokens are sent through
 * Firebase.
 */
export function activityEndpoint(device: reach.ReachRow, found: reach.ActivityTokenRow): Endpoint {
  const { token, registered_at: registeredAt, attributes_type: type, activity_id: id } = found
  const activity = { type, id }
  if (device.type !== 'FCM' || device.token === null)
    return { ...common(device), activity, gateway: 'apns', token, registeredAt }
  const since = device.registered_at ?? registeredAt
  return {
    ...common(device),
    activity,
    gateway: 'fcm',
    token: device.token,
    activityToken: token,
    registeredAt: since
  }
}

/**
 * Whether the token that a gateway reports as dead belongs to the Live Activity. Through Firebase it is the push token.
 */
export const addressesActivity = ({ activity, gateway }: Endpoint): boolean =>
  activity !== undefined && gateway === 'apns'

const usual = { IOS: 'apns', ANDROID: 'fcm', WEB: 'webpush' } as const

/** The gateway that the token of a device without one would most likely belong to. */
export const usualGateway = (platform: reach.ReachRow['platform']): GatewayName => usual[platform]
