import { Stack } from '@mantine/core'
import type { AuditEntry } from '../../../../wire.ts'
import { useActors } from '../../api/actors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { AuditFilters, useAuditQuery } from './audit-filters.tsx'
import { AuditList } from './audit-list.tsx'

const kinds = [
  { value: 'campaign', label: 'Campaigns' },
  { value: 'segment', label: 'Segments' },
  { value: 'topic', label: 'Topics' },
  { value: 'approval', label: 'Approvals' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'gateway', label: 'Gateways' },
  { value: 'key', label: 'Keys' },
  { value: 'token', label: 'Tokens' },
  { value: 'member', label: 'Members' },
  { value: 'users', label: 'Users' },
  { value: 'project', label: 'Project' }
]

/** The changes in the project, each as a sentence. */
export function Audit() {
  const { query, filtered } = useAuditQuery()
  return (
    <Stack>
      <AuditFilters actors={useActors().data?.items} kinds={kinds} />
      <AuditList
        pages={usePagedList<AuditEntry>('/audit', query)}
        filtered={filtered}
        empty="Every change of this project appears here, with its author."
      />
    </Stack>
  )
}
