import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { ShownSegment } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { campaignLink, pageLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { SegmentForm } from './segment-form.tsx'
import { SegmentSizes } from './sizes.tsx'

export const NewSegment = () => (
  <PageLayout title="New segment" about="Name it and say who belongs to it.">
    <SegmentForm />
  </PageLayout>
)

export function SegmentPage() {
  const projectId = useProjectId()
  const { segmentId = '' } = useParams({ strict: false })
  const canEdit = useHasRole('editor')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const path = `/segments/${encodeURIComponent(segmentId)}`
  const segment = useQuery({
    queryKey: ['segment', projectId, segmentId],
    queryFn: () => project<ShownSegment>(projectId, 'GET', path)
  })
  const remove = async () => {
    await project(projectId, 'DELETE', path)
    await queries.invalidateQueries({ queryKey: ['list', projectId, '/segments'] })
    void navigate({ to: pageLink(projectId, 'segments') })
  }
  return (
    <Loaded query={segment}>
      {(found) => (
        <PageLayout
          title={found.name}
          about={`${found.segment_id}, version ${found.version}`}
          actions={
            canEdit && (
              <ConfirmButton
                label="Delete segment"
                question="Segments that a campaign uses can’t be deleted."
                act={remove}
              />
            )
          }
        >
          <Stack>
            <SegmentForm key={found.version} segment={found} />
            <UsedBy campaigns={found.campaigns} />
            <SegmentSizes segmentId={segmentId} version={found.version} />
          </Stack>
        </PageLayout>
      )}
    </Loaded>
  )
}

function UsedBy({ campaigns }: { campaigns: string[] }) {
  const projectId = useProjectId()
  return (
    <section aria-label="Used by">
      <Title order={2} size="h4" mb="xs">
        Used by
      </Title>
      {campaigns.length === 0 && <Text c="dimmed">No campaign uses it yet.</Text>}
      <Group>
        {campaigns.map((id) => (
          <Anchor key={id} component={Link} to={campaignLink(projectId, id)}>
            {id}
          </Anchor>
        ))}
      </Group>
    </section>
  )
}
