import { Text } from '@mantine/core'
import type { AuditEntry } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

export const Audit = () => (
  <PagedList
    label="Audit log"
    pages={usePagedList<AuditEntry>('/audit')}
    keyOf={({ id }) => id}
    empty={<EmptyState title="No changes yet" />}
    columns={[
      { name: 'Time', show: ({ at }) => <When at={at} /> },
      { name: 'Actor', show: ({ actor }) => <Text size="sm">{actor}</Text> },
      { name: 'Action', show: ({ action }) => action },
      { name: 'Target', show: ({ target }) => <Text size="sm">{target}</Text> },
      { name: 'Details', show: ({ details }) => <Text size="sm">{JSON.stringify(details)}</Text> }
    ]}
  />
)
