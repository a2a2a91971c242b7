import type { Approval } from '../../../../wire.ts'

/** The action in one line: `Trigger “Spring sale” for everyone`. */
export function actionOf({ skill, campaign_id, campaign_name, broadcast }: Approval): string {
  if (campaign_id === null) return skill === 'send-push-notification' ? 'Send a push' : skill
  return `Trigger “${campaign_name ?? campaign_id}”${broadcast ? ' for everyone' : ''}`
}

/** The agent by the name that it gave, and the key that it used. */
export const askerOf = ({ agent, key }: Pick<Approval, 'agent' | 'key'>): string =>
  agent === null ? `key “${key.name}”` : `${agent}, key “${key.name}”`
