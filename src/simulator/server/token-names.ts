import { simulatedHost } from '../webpush/crypto.ts'
import type { GatewayName } from './ledger.ts'

const types = { apns: 'APNS', fcm: 'FCM', webpush: 'WEBPUSH' } as const

/**
 * A token as devices store it, `<APNS|FCM|WEBPUSH>:<token, or endpoint>`: of a subscription, a request has the id and
 * devices have the endpoint.
 */
export const nameOf = (gateway: GatewayName, token: string): string =>
  `${types[gateway]}:${gateway === 'webpush' ? `https://${simulatedHost}/push/${encodeURIComponent(token)}` : token}`
