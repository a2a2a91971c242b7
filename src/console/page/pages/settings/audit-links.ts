import type { AuditEntry } from '../../../../wire.ts'
import {
  approvalLink,
  campaignLink,
  deliveryLink,
  erasureLink,
  pageLink,
  segmentLink,
  webhookLink
} from '../../parts/links.ts'

/** The page of what a change was about; undefined if it has none, or none any more. */
export function targetLink(projectId: string, { action, target }: AuditEntry): string | undefined {
  const [kind, verb] = action.split('.')
  if (verb === 'delete' || verb === 'revoke' || verb === 'remove') return undefined
  switch (kind) {
    case 'campaign':
      return campaignLink(projectId, target)
    case 'segment':
      return segmentLink(projectId, target)
    case 'topic':
      return pageLink(projectId, 'topics')
    case 'webhook':
      return webhookLink(projectId, target)
    case 'webhook_delivery':
      return verb === 'replay' ? deliveryLink(projectId, target) : undefined
    case 'approval':
      return approvalLink(projectId, target)
    case 'key':
    case 'gateway':
      return pageLink(projectId, 'settings')
    case 'user':
      return verb === 'erase' ? erasureLink(projectId, target) : undefined
    case 'users':
      return pageLink(projectId, 'users')
    case 'agent_tasks':
      return pageLink(projectId, 'agents')
    default:
      return undefined
  }
}

/** The tab of that page. */
export const targetTab = ({ action }: AuditEntry): string | undefined => tabs[action.split('.')[0] ?? '']

const tabs: Record<string, string> = { key: 'keys', gateway: 'gateways', agent_tasks: 'tasks' }
