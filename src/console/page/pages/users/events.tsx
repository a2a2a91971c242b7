import { Text } from '@mantine/core'
import type { Event } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

export const Events = ({ userId }: { userId: string }) => (
  <PagedList
    label="Events"
    pages={usePagedList<Event>('/events', { project_user_id: userId })}
    keyOf={({ id }) => id}
    empty={<EmptyState title="No events">Events tracked for this user appear here.</EmptyState>}
    columns={[
      { name: 'Time', show: ({ at }) => <When at={at} /> },
      { name: 'Event', show: ({ name }) => name },
      { name: 'Device', show: ({ device_id }) => device_id ?? '–' },
      { name: 'Properties', show: ({ properties }) => <Text size="sm">{JSON.stringify(properties)}</Text> }
    ]}
  />
)
