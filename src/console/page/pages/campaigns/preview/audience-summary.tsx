import { List, Text } from '@mantine/core'
import type { Preview } from '../../../../../wire.ts'
import { plural } from '../../../parts/texts.tsx'
import { exclusionText } from '../../triggers/reasons.ts'
import { countedText } from '../segment/segment-size.tsx'

type Audience = Preview['audience']

/** Why an audience is empty, or was not counted to its end. */
const reasons: Record<string, string> = {
  missing_trigger_property: 'The audience uses a trigger property that has no value, so it matches no user.',
  no_audience: 'The campaign has no default audience.',
  segment_too_slow: 'The conditions take too long to be counted.',
  segment_invalid: 'The conditions cannot be evaluated.'
}

/** `113 users`; `at least 12,000 users` if the time was too short to count them all. */
export const usersText = ({ users, complete }: Pick<Audience, 'users' | 'complete'>) =>
  `${complete ? '' : 'at least '}${plural(users, 'user')}`

/** How many users and devices a trigger would reach. */
export const AudienceSummary = (audience: Audience) => (
  <div role="status">
    <Text>
      Would reach <b data-audience="users">{usersText(audience)}</b> on <b>{plural(audience.devices, 'device')}</b>.
    </Text>
    <Exclusions {...audience} />
  </div>
)

/** Who gets it later and who gets nothing, in words. */
export const Exclusions = ({ deferred, reason, skipped, complete, ...part }: Audience) => (
  <>
    {deferred > 0 && <Text size="sm">{plural(deferred, 'device')} would get it later, after quiet hours.</Text>}
    {reason && <Text size="sm">{reasons[reason] ?? reason.replaceAll('_', ' ')}</Text>}
    {!complete && !reason && (
      <Text size="sm">{countedText(part) || 'Counted for three seconds, so there are more.'}</Text>
    )}
    {Object.keys(skipped).length > 0 && (
      <List size="sm" aria-label="Excluded">
        {Object.entries(skipped).map(([why, count]) => (
          <List.Item key={why} data-excluded={why}>
            {exclusionText(why, count)}
          </List.Item>
        ))}
      </List>
    )}
  </>
)
