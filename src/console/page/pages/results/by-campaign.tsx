import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ProjectStats } from '../../../../wire.ts'
import { useProjectId } from '../../api/session.ts'
import type { Column } from '../../parts/columns.tsx'
import { campaignLink } from '../../parts/links.ts'
import { SimpleTable } from '../../parts/table.tsx'
import { Clip } from '../../parts/texts.tsx'
import { percent } from '../campaigns/results/share.tsx'

type Line = Pick<ProjectStats['campaigns'][number], 'name' | 'totals'> & { campaign_id: string | null }

const share = (count: number, of: number) =>
  of > 0 ? `${count.toLocaleString()} · ${percent(count / of)}` : count.toLocaleString()

const figures: Column<Line>[] = [
  { name: 'Targeted', show: ({ totals }) => totals.targeted.toLocaleString() },
  { name: 'Sent', show: ({ totals }) => share(totals.sent, totals.targeted) },
  { name: 'Delivered', show: ({ totals }) => share(totals.delivered, totals.sent) },
  { name: 'Tapped', show: ({ totals }) => share(totals.tapped, totals.sent) },
  { name: 'Converted', show: ({ totals }) => share(totals.converted, totals.users) }
]

/** A line for each campaign, and one for what was sent without a campaign. */
export function ByCampaign({ campaigns, direct }: Pick<ProjectStats, 'campaigns' | 'direct'>) {
  const projectId = useProjectId()
  const named: Column<Line> = {
    name: 'Campaign',
    show: ({ campaign_id, name }) =>
      campaign_id === null ? (
        'Direct sends'
      ) : (
        <Anchor component={Link} to={`${campaignLink(projectId, campaign_id)}`} search={{ tab: 'results' } as never}>
          <Clip>{name ?? campaign_id}</Clip>
        </Anchor>
      )
  }
  const lines: Line[] = [
    ...campaigns,
    ...(direct.targeted > 0 ? [{ campaign_id: null, name: null, totals: direct }] : [])
  ]
  return (
    <SimpleTable
      label="Results by campaign"
      items={lines}
      keyOf={({ campaign_id }) => campaign_id ?? ''}
      columns={[named, ...figures]}
    />
  )
}
