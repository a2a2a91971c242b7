interface Entry {
  action: string
  target: string
  details: Record<string, unknown>
}

/** The words between the author of a change and its object: `activated the campaign`. */
const phrases: Record<string, string> = {
  'project.create': 'created the project',
  'project.update': 'changed the project',
  'project.pause': 'paused the project',
  'project.resume': 'resumed the project',
  'project.discard': 'canceled what waited in the restored backup of the project',
  'project.delete': 'deleted the project',
  'key.create': 'created the key',
  'key.rotate': 'rotated the key',
  'key.revoke': 'revoked the key',
  'key.policy': 'changed the policy of the key',
  'token.create': 'created the management token',
  'token.revoke': 'revoked the management token',
  'token.sign_in': 'signed a browser in with the management token',
  'member.invite': 'invited',
  'member.join': 'accepted the invitation for',
  'member.role': 'changed the role of',
  'member.sign_in': 'signed in as',
  'member.locked_out': 'stopped guesses of the password of',
  'member.remove': 'removed the member',
  'member.first': 'created the first member,',
  'member.password': 'set a new password for',
  'passkey.create': 'added the passkey',
  'passkey.remove': 'removed the passkey',
  'member.reset': 'made a link that resets the password of',
  'identity_secret.rotate': 'made a new identity secret for the project',
  'gateway.set': 'saved the credential',
  'gateway.remove': 'removed the credential',
  'webhook.create': 'created the webhook',
  'webhook.update': 'changed the webhook',
  'webhook.delete': 'deleted the webhook',
  'webhook.rotate_secret': 'rotated the secret of the webhook',
  'webhook.test': 'sent a test event to the webhook',
  'webhook_secret.rotate': 'rotated the webhook secret of the project',
  'webhook_delivery.replay': 'retried the webhook delivery',
  'webhook_delivery.replay_failed': 'retried failed webhook deliveries of',
  'campaign.create': 'created the campaign',
  'campaign.update': 'changed the campaign',
  'campaign.archive': 'archived the campaign',
  'campaign.choose_winner': 'chose the winning variant of the campaign',
  'segment.create': 'created the segment',
  'segment.update': 'changed the segment',
  'segment.delete': 'deleted the segment',
  'topic.create': 'created the topic',
  'topic.update': 'changed the topic',
  'topic.delete': 'deleted the topic',
  'approval.request': 'asked for approval of',
  'approval.approve': 'approved',
  'approval.reject': 'rejected',
  'approval.expire': 'let the approval expire of',
  'approval.supersede': 'asked anew for approval of',
  'approval.cancel': 'canceled the request for approval of',
  'users.export': 'exported the users of the project',
  'user.erase': 'erased a user; the receipt is',
  'user.export': 'exported everything about the user with the fingerprint',
  'users.import': 'imported users into the project',
  'agent_tasks.export': 'exported the agent tasks of the project'
}

/** Phrases that depend on the change itself. */
const special: Record<string, (details: Record<string, unknown>) => string | undefined> = {
  'campaign.update': ({ status, before }) => (hasOld(before, 'status') ? statusPhrases[String(status)] : undefined),
  'webhook.update': ({ active, before }) =>
    hasOld(before, 'active') ? (active ? 'resumed the webhook' : 'paused the webhook') : undefined,
  'key.policy': ({ policy, before }) => {
    if (policy === null) return 'removed the policy of the key'
    return hasOld(before, 'policy') && (before as { policy: unknown }).policy === null
      ? 'added a policy to the key'
      : undefined
  }
}

const statusPhrases: Record<string, string> = {
  active: 'activated the campaign',
  draft: 'moved the campaign back to draft',
  paused: 'paused the campaign'
}

const hasOld = (before: unknown, field: string): boolean =>
  typeof before === 'object' && before !== null && field in before

/** An action without words of its own is named as it is: `topic.merge` becomes `topic merge:`. */
export const phraseOf = ({ action, details }: Entry): string =>
  special[action]?.(details) ?? phrases[action] ?? `${action.replace(/[._]/g, ' ')}:`

const approvals: Record<string, string> = {
  'trigger-campaign': 'the trigger of',
  'send-push-notification': 'a push'
}

/** The object by its name at the time. Old entries have none and keep the id. */
export function targetNameOf({ action, target, details: { name, email, skill } }: Entry): string {
  const own = [name, email].find((text): text is string => typeof text === 'string' && text !== '')
  if (!action.startsWith('approval.')) return own ?? target
  const what = approvals[String(skill)] ?? (typeof skill === 'string' ? skill : target)
  return own === undefined ? what : `${what} ${own}`
}
