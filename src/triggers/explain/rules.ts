import {
  type Campaign,
  localTime,
  type ProjectRules,
  type RecipientWithChoices,
  zoneFor
} from '../../campaigns/campaigns.ts'

/** Reasons of skips, for people. */
export const sentences: Readonly<Record<string, string>> = {
  not_entered_again: 'The user had entered the campaign before and could not enter it again.',
  not_in_segment: 'The device was not in the segment when the batch was sent.',
  missing_trigger_property: 'The segment refers to a property that the trigger does not have.',
  quiet_hours: 'It was quiet hours for the device when the batch was sent.',
  frequency_cap: 'The user had already received as many messages of this campaign as the frequency cap allows.',
  opted_out: 'The user had opted out of all messages but transactional ones.',
  topic_opted_out: 'The user did not want messages of the topic of this campaign.',
  capped: 'The user had already received as many messages as the limits of the project allow.',
  already_sent: 'The user got this occurrence in another time zone already.',
  policy_limit: 'The trigger had reached as many users as the policy of its key allows.',
  expired: 'The time to live (ttl_seconds) was over when the batch was sent.',
  no_push_token: 'The device has no push token, or the user does not allow pushes.',
  no_live_activity_token: 'The app has registered no token that starts this Live Activity.',
  unsupported_platform: 'The platform of the device does not support this message.',
  canceled: 'The trigger was canceled before the batch was sent.',
  holdout: 'The user belongs to the holdout of the campaign, which gets nothing, for comparison.',
  missing_value: 'A value in the text has neither a value nor a default for this recipient (on_missing is skip).'
}

/** What decided about a device, beside its segment. The recipient is absent if the device was deleted. */
export interface Rules {
  definition: Campaign
  project: ProjectRules
  recipient: Pick<RecipientWithChoices, 'properties' | 'facts'> | undefined
}

/** Why a device was skipped, with the rule that decided: `… allows: 1 every 24h.` */
export function skipText(reason: string, rules: Rules): string {
  const sentence = sentences[reason] ?? 'The device was skipped when the batch was sent.'
  const rule = ruleOf(reason, rules)
  return rule === undefined ? sentence : `${sentence.slice(0, -1)}: ${rule}.`
}

function ruleOf(reason: string, { definition, project, recipient }: Rules): string | undefined {
  const { topic, frequency_cap: cap } = definition
  if (reason === 'topic_opted_out' && topic !== undefined) return JSON.stringify(topic)
  if (reason === 'frequency_cap' && cap) return `${cap.count} within ${cap.within}`
  if (reason === 'capped')
    return (
      project.limits
        .map(
          ({ count, within, topic }) =>
            `${count} within ${within}${topic ? ` of the topic ${JSON.stringify(topic)}` : ''}`
        )
        .join(', ') || undefined
    )
  const hours = [definition.quiet_hours, project.quietHours].find((one) => one?.action === 'skip')
  return reason === 'quiet_hours' && hours ? `${hours.from} to ${hours.to}, ${zoneOf(hours, recipient)}` : undefined
}

type Hours = NonNullable<Campaign['quiet_hours']>

const zoneOf = ({ timezone }: Pick<Hours, 'timezone'>, recipient: Rules['recipient']) =>
  zoneFor(timezone, { user: recipient?.properties.timezone, device: recipient?.facts.timezone })

/** `Quiet hours defer the message until 08:00, Europe/Vienna (…).` */
export function deferredText(due: Date, { definition, project, recipient }: Rules): string {
  const all = [definition.quiet_hours, project.quietHours].filter((one) => !!one)
  const zones = all.map((hours) => ({ hours, zone: zoneOf(hours, recipient) }))
  // The rule that ends then, if it has not been changed since.
  const found = zones.find(({ hours, zone }) => localTime(zone, due) === hours.to) ?? zones[0]
  const until = due.toISOString()
  return found
    ? `Quiet hours defer the message until ${localTime(found.zone, due)}, ${found.zone} (${until}).`
    : `Quiet hours defer the message until ${until}.`
}
