import type { GatewayName } from '../push.ts'
import { apns } from './apns.ts'
import type { Gateway } from './gateway.ts'

/** Each takes the credential of its own name; the sender never mixes them. */
export const gateways = { apns } as unknown as Record<GatewayName, Gateway>
