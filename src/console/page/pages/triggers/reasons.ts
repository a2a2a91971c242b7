/** Why a device or a target gets no message: a title, and what one or several of them do. */
const skips: Record<string, [title: string, one: string, several: string]> = {
  unknown_user: ['Unknown user', 'is an unknown user ID', 'are unknown user IDs'],
  unknown_device: ['Unknown device', 'is an unknown device ID', 'are unknown device IDs'],
  no_device: ['No device', 'has no device', 'have no device'],
  not_in_segment: ['Not in the segment', 'is not in the segment', 'are not in the segment'],
  missing_trigger_property: [
    'Missing trigger property',
    'lacks a trigger property that the segment uses',
    'lack a trigger property that the segment uses'
  ],
  no_push_token: ['No push token', 'has no push token', 'have no push token'],
  no_live_activity_token: ['No Live Activity token', 'has no Live Activity token', 'have no Live Activity token'],
  unsupported_platform: ['Unsupported platform', 'cannot show this message', 'cannot show this message'],
  opted_out: ['Opted out', 'opted out of all messages', 'opted out of all messages'],
  topic_opted_out: ['Turned off the topic', 'turned off this topic', 'turned off this topic'],
  capped: ['Over the project’s limit', 'is over a limit of the project', 'are over a limit of the project'],
  frequency_cap: ['Over the campaign’s limit', 'is over the limit per user', 'are over the limit per user'],
  quiet_hours: ['Quiet hours', 'is in quiet hours', 'are in quiet hours'],
  holdout: ['Holdout', 'is in the holdout', 'are in the holdout'],
  missing_value: ['Missing value', 'lacks a value that the text uses', 'lack a value that the text uses'],
  not_entered_again: ['Entered before', 'entered before', 'entered before'],
  exited: ['Left the campaign', 'left the campaign', 'left the campaign'],
  already_sent: ['Already sent', 'got it in another time zone', 'got it in another time zone'],
  policy_limit: ['Over the key’s limit', 'is over the limit of the key', 'are over the limit of the key'],
  expired: ['Expired', 'expired', 'expired'],
  canceled: ['Canceled', 'was canceled', 'were canceled'],
  template_failed: ['Template error', 'cannot be rendered', 'cannot be rendered'],
  payload_too_large: ['Too large', 'would be too large', 'would be too large']
}

const failures: Record<string, string> = {
  no_audience: 'Neither the trigger nor the campaign has an audience',
  campaign_not_active: 'The campaign was not active when the trigger was due',
  discarded: 'Canceled by resume --discard, after a restore',
  segment_too_slow: 'The conditions take too long',
  segment_invalid: 'The conditions cannot be evaluated',

  TOKEN_INVALID: 'Push token no longer valid',
  CONNECTION_LOST: 'Connection to the gateway lost',
  EXPIRED: 'Not accepted in time',
  INTERNAL_ERROR: 'Internal error',
  NO_DEVICE: 'No device',
  USER_NOT_FOUND: 'Unknown user',
  CANCELED: 'Canceled'
}

/** `no_push_token` as `No push token`. A reason of a gateway that has no words is shown in lower case. */
export function reasonTitle(reason: string): string {
  const known = skips[reason]?.[0] ?? failures[reason] ?? skips[reason.toLowerCase()]?.[0]
  if (known) return known
  const words = reason.replaceAll('_', ' ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** `7 have no push token`. */
export function exclusionText(reason: string, count: number): string {
  const [, one, several] = skips[reason] ?? []
  const number = count.toLocaleString()
  return one ? `${number} ${count === 1 ? one : several}` : `${number}: ${reasonTitle(reason).toLowerCase()}`
}
