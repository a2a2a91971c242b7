import { Text } from '@mantine/core'
import type { Preview } from '../../../../wire.ts'
import { plural } from '../../parts/texts.tsx'

const reasons = new Map([
  ['missing_trigger_property', 'The audience uses a trigger property that has no value, so it matches nobody.']
])

/** How many users and devices a trigger would reach, and how many it excludes. */
export const AudienceSummary = ({ users, devices, complete, reason, skipped }: Preview['audience']) => (
  <div role="status">
    <Text>
      Would reach {complete ? '' : 'at least '}
      <b data-audience="users">{plural(users, 'user')}</b> on <b>{plural(devices, 'device')}</b>.
    </Text>
    {reason && <Text size="sm">{reasons.get(reason) ?? `Partial count: ${reason}`}</Text>}
    {Object.entries(skipped).map(([why, count]) => (
      <Text key={why} size="sm">
        {count} excluded: {why.replaceAll('_', ' ')}
      </Text>
    ))}
  </div>
)
