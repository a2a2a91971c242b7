import { Anchor, Badge, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { campaignLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import type { Segment } from './segment/segment.ts'
import type { Target } from './targets.tsx'

/** `attributes` and `content_state` are texts while they are typed and no objects yet. */
export interface LiveActivity {
  attributes_type: string
  attributes: object | string
  content_state: object | string
  alert?: { title?: string; body?: string }
}

export interface Campaign {
  campaign_id?: string
  name: string
  type: 'api_triggered' | 'scheduled' | 'event_triggered'
  status: 'draft' | 'active' | 'paused' | 'archived'
  segment: Segment
  default_audience?: { broadcast?: boolean; targets?: Target[] }
  message?: { title?: string; body?: string; image_url?: string; landing_url?: string }
  live_activity?: LiveActivity
  ttl_seconds?: number
  throttle_per_second?: number
  frequency_cap?: { count: number; within: string }
  quiet_hours?: { from: string; to: string; timezone: string; action: 'skip' | 'hold' }
}

/** What the service adds to it. */
export interface StoredCampaign extends Campaign {
  campaign_id: string
  version: number
  created_at: string
  updated_at: string
  warnings: string[]
}

const colors: Record<Campaign['status'], string> = { draft: 'gray', active: 'teal', paused: 'orange', archived: 'dark' }
export const StatusBadge = ({ status }: { status: Campaign['status'] }) => (
  <Badge color={colors[status]} variant="light">
    {status}
  </Badge>
)

export function Campaigns() {
  const projectId = useProjectId()
  const may = useHasRole('editor')
  return (
    <PageLayout
      title="Campaigns"
      about="A message and its audience, triggered by your code or an agent."
      actions={
        may && (
          <Button component={Link} to={`/p/${encodeURIComponent(projectId)}/new-campaign`}>
            Create campaign
          </Button>
        )
      }
    >
      <PagedList
        label="Campaigns"
        pages={usePagedList<StoredCampaign>('/campaigns')}
        keyOf={({ campaign_id }) => campaign_id}
        empty={
          <EmptyState title="No campaigns yet">
            Create one here, or apply a file: npx tidings campaign apply -f welcome.yaml
          </EmptyState>
        }
        columns={[
          {
            name: 'Name',
            show: ({ campaign_id, name }) => (
              <Anchor component={Link} to={campaignLink(projectId, campaign_id)}>
                {name}
              </Anchor>
            )
          },
          { name: 'ID', show: ({ campaign_id }) => campaign_id },
          { name: 'Status', show: ({ status }) => <StatusBadge status={status} /> },
          { name: 'Version', show: ({ version }) => version },
          { name: 'Updated', show: ({ updated_at }) => <When at={updated_at} /> }
        ]}
      />
    </PageLayout>
  )
}
