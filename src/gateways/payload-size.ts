import { newId, type ProjectId } from '../platform/ids.ts'
import type { Size } from './gateway.ts'
import type { Content, GatewayName } from './push.ts'
import { gateways } from './table.ts'

/**
 * The bytes that a gateway would count for this content, and its limit: the payload as it is sent, with ids of the
 * usual length.
 */
export function payloadSize(gateway: GatewayName, content: Content, collapseId: (messageId: string) => string): Size {
  const id = newId()
  const now = Date.now()
  const push = {
    projectId: '' as ProjectId,
    messageId: id,
    pushId: id,
    deviceId: '',
    gateway,
    environment: 'production' as const,
    app: null,
    token: '',
    registeredAt: new Date(now),
    content,
    collapseId: collapseId(id),
    priority: 'high' as const,
    notAfter: now
  }
  return gateways[gateway].measure(push, now)
}
