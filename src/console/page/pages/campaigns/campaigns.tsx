import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Campaign } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { campaignLink, pageLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { triggerTypes } from './draft.ts'
import { StatusBadge } from './status-badge.tsx'

export function Campaigns() {
  const projectId = useProjectId()
  const canCreate = useHasRole('editor')
  return (
    <PageLayout
      title="Campaigns"
      about="A message and its audience, sent by a call, on a schedule or after an event."
      actions={
        canCreate && (
          <Button component={Link} to={pageLink(projectId, 'new-campaign')}>
            Create campaign
          </Button>
        )
      }
    >
      <PagedList
        label="Campaigns"
        pages={usePagedList<Campaign>('/campaigns')}
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
          { name: 'Type', show: ({ type }) => triggerTypes[type] },
          { name: 'Status', show: ({ status }) => <StatusBadge status={status} /> },
          { name: 'Version', show: ({ version }) => version },
          { name: 'Updated', show: ({ updated_at }) => <When at={updated_at} /> }
        ]}
      />
    </PageLayout>
  )
}
