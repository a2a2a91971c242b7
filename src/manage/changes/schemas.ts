/** The kinds of things that a page of the console shows and that change. */
export const kinds = [
  'messages',
  'triggers',
  'users',
  'devices',
  'events',
  'campaigns',
  'segments',
  'topics',
  'tasks',
  'approvals',
  'webhooks',
  'gateways',
  'keys',
  'members',
  'project',
  'simulator',
  'nodes',
  'audit'
] as const
export type Kind = (typeof kinds)[number]

const kindOf = new Map<string, Kind>([
  ['approval', 'approvals'],
  ['campaign', 'campaigns'],
  ['gateway', 'gateways'],
  ['invitation', 'members'],
  ['key', 'keys'],
  ['member', 'members'],
  ['segment', 'segments'],
  ['token', 'keys'],
  ['topic', 'topics'],
  ['trigger', 'triggers'],
  ['user', 'users'],
  ['users', 'users'],
  ['webhook', 'webhooks'],
  ['webhook_delivery', 'webhooks'],
  ['webhook_secret', 'webhooks']
])

/** What an entry of the audit log has changed: `campaign.update` concerns campaigns. */
export const kindOfAction = (action: string): Kind => kindOf.get(action.split('.')[0]!) ?? 'project'
