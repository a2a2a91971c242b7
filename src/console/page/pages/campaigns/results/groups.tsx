import { Text } from '@mantine/core'
import type { CampaignStats } from '../../../../../wire.ts'
import type { Column } from '../../../parts/columns.tsx'
import { SimpleTable } from '../../../parts/table.tsx'
import { Share } from './share.tsx'

type Group = CampaignStats['groups'][number]

const named = { variant: 'No variant', language: 'No language', step: 'No step' } as Record<string, string>

/** A line for each group, with shares that can be compared. */
export function Groups({ groups, by }: { groups: Group[]; by: string }) {
  const columns: Column<Group>[] = [
    {
      name: by[0]!.toUpperCase() + by.slice(1),
      show: ({ key }) => (key === 'holdout' ? 'Holdout' : (key ?? named[by]))
    },
    { name: 'Users', show: ({ totals }) => totals.users.toLocaleString() },
    { name: 'Sent', show: ({ totals }) => <Share hits={totals.sent} cases={totals.targeted} /> },
    { name: 'Delivered', show: ({ totals }) => <Share hits={totals.delivered} cases={totals.sent} /> },
    { name: 'Tapped', show: ({ totals }) => <Share hits={totals.tapped} cases={totals.sent} /> },
    { name: 'Converted', show: ({ totals }) => <Share hits={totals.converted} cases={totals.users} /> },
    { name: 'Value', show: ({ totals }) => totals.conversion_value.toLocaleString() }
  ]
  if (groups.length === 0) return <Text size="sm">No groups in this period.</Text>
  return <SimpleTable items={groups} columns={columns} keyOf={({ key }) => key ?? ''} label={`Results by ${by}`} />
}
