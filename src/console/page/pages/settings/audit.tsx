import { Group, Select, Stack } from '@mantine/core'
import type { AuditEntry } from '../../../../wire.ts'
import { useActors } from '../../api/actors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useUrlState } from '../../parts/url-state.ts'
import { AuditList, labelOf } from './audit-list.tsx'
import { PeriodSelect, useFrom } from './audit-period.tsx'

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
  const [actor] = useUrlState('actor')
  const [action] = useUrlState('kind')
  const from = useFrom()
  return (
    <Stack>
      <Filters />
      <AuditList
        pages={usePagedList<AuditEntry>('/audit', { actor, action, from })}
        filtered={Boolean(actor || action || from)}
        empty="Every change of this project appears here, with its author."
      />
    </Stack>
  )
}

function Filters() {
  const [actor, setActor] = useUrlState('actor')
  const [kind, setKind] = useUrlState('kind')
  const actors = useActors()
  const people = actors.data?.items.map((one) => ({ value: one.actor, label: labelOf(one) })) ?? []
  const common = { placeholder: 'Any', clearable: true, w: 200 }
  return (
    <Group>
      <Select label="Who" {...common} searchable value={actor || null} onChange={setActor} data={people} />
      <Select label="What" {...common} value={kind || null} onChange={setKind} data={kinds} />
      <PeriodSelect />
    </Group>
  )
}
