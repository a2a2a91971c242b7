import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ListedSegment } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { pageLink, segmentLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

export function Segments() {
  const projectId = useProjectId()
  const canCreate = useHasRole('editor')
  return (
    <PageLayout
      title="Segments"
      about="Groups of users that many campaigns share."
      actions={
        canCreate && (
          <Button component={Link} to={pageLink(projectId, 'new-segment')}>
            Create segment
          </Button>
        )
      }
    >
      <PagedList
        label="Segments"
        pages={usePagedList<ListedSegment>('/segments')}
        keyOf={({ segment_id }) => segment_id}
        empty={<EmptyState title="No saved segments yet">Save one here, and choose it in any campaign.</EmptyState>}
        columns={[
          {
            name: 'Name',
            show: ({ segment_id, name }) => (
              <Anchor component={Link} to={segmentLink(projectId, segment_id)}>
                {name}
              </Anchor>
            )
          },
          { name: 'ID', show: ({ segment_id }) => segment_id },
          { name: 'Version', show: ({ version }) => version },
          { name: 'Updated', show: ({ updated_at }) => <When at={updated_at} /> }
        ]}
      />
    </PageLayout>
  )
}
