import { List, Text } from '@mantine/core'
import type { Preview } from '../../../../../wire.ts'
import { plural } from '../../../parts/texts.tsx'

const reasons = new Map([
  ['missing_trigger_property', 'The audience uses a trigger property that has no value, so it matches no user.']
])

/** Why someone is left out. Reasons without an entry are shown as they are. */
const exclusions: Record<string, string> = {
  no_push_token: 'no push token',
  no_live_activity_token: 'no token for Live Activities',
  opted_out: 'opted out of all messages',
  topic_opted_out: 'said no to the topic',
  capped: 'over a limit of the project',
  frequency_cap: 'over the limit per user',
  quiet_hours: 'quiet hours now',
  holdout: 'in the holdout',
  missing_value: 'a value in the text is missing',
  not_entered_again: 'entered before'
}

/** How many users and devices a trigger would reach, and how many it excludes. */
export const AudienceSummary = ({ users, devices, deferred, complete, reason, skipped }: Preview['audience']) => (
  <div role="status">
    <Text>
      Would reach {complete ? '' : 'at least '}
      <b data-audience="users">{plural(users, 'user')}</b> on <b>{plural(devices, 'device')}</b>.
    </Text>
    {deferred > 0 && <Text size="sm">{plural(deferred, 'device')} would get it later, after quiet hours.</Text>}
    {reason && <Text size="sm">{reasons.get(reason) ?? `Partial count: ${reason}`}</Text>}
    {Object.keys(skipped).length > 0 && (
      <List size="sm" aria-label="Excluded">
        {Object.entries(skipped).map(([why, count]) => (
          <List.Item key={why} data-excluded={why}>
            {count.toLocaleString()} excluded: {exclusions[why] ?? why.replaceAll('_', ' ')}
          </List.Item>
        ))}
      </List>
    )}
  </div>
)
