import { apns } from './apns/payload.ts'
import { fcm } from './fcm/payload.ts'
import type { Gateway } from './gateway.ts'
import type { GatewayName } from './push.ts'
import { webpush } from './webpush/payload.ts'

/** Each takes the credential of its own name; the sender never mixes them. */
export const gateways = { apns, fcm, webpush } as unknown as Record<GatewayName, Gateway>
