import { collapseIdOf } from '../messages/draft.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import type { Size } from './gateway.ts'
import type { Content, GatewayName } from './push.ts'
import { gateways } from './table.ts'

/** How much of what a gateway takes this would be: the payload that would be sent, with ids of the length that all have. */
export function payloadSize(gateway: GatewayName, content: Content): Size {
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
    collapseId: collapseIdOf(content, id),
    priority: 'high' as const,
    notAfter: now
  }
  return gateways[gateway].measure(push, now)
}
