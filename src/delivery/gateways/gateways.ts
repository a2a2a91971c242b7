import type { GatewayName } from '../push.ts'
import { apns } from './apns.ts'
import { fcm } from './fcm.ts'
import type { Gateway } from './gateway.ts'
import { webpush } from './webpush.ts'

/** Each takes the credential of its own name; the sender never mixes them. */
export const gateways = { apns, fcm, webpush } as unknown as Record<GatewayName, Gateway>
