import type { Event } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'

export const Events = ({ userId }: { userId: string }) => (
  <PagedList
    label="Events"
    pages={usePagedList<Event>('/events', { project_user_id: userId })}
    keyOf={({ id }) => id}
    empty={<EmptyState title="No events">Events tracked for this user appear here.</EmptyState>}
    columns={[
      { name: 'Time', show: ({ at }) => <When at={at} /> },
      { name: 'Event', show: ({ name }) => <Clip>{name}</Clip> },
      { name: 'Device', show: ({ device_id }) => (device_id ? <Clip width={160}>{device_id}</Clip> : '–') },
      { name: 'Properties', show: ({ properties }) => <Clip width={320}>{JSON.stringify(properties)}</Clip> }
    ]}
  />
)
