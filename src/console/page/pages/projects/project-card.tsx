import { Anchor, Badge, Group, Paper, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Project, ProjectStats } from '../../../../wire.ts'
import { manage, project as ofProject } from '../../api/client.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { pageLink } from '../../parts/links.ts'
import { Clip, When } from '../../parts/texts.tsx'
import { queryOf } from '../campaigns/results/period.ts'

/** One project: its name, its state and what it sent on the last day. */
export const ProjectCard = ({
  project: { id, name, mode, plan, paused_at, created_at },
  canDelete,
  counted
}: {
  project: Project
  canDelete: boolean
  counted: boolean
}) => (
  <Paper withBorder p="md" component="article" aria-label={name || id}>
    <Group justify="space-between" wrap="nowrap" align="start">
      <Anchor component={Link} to={pageLink(id, 'home')} fw={600} style={{ minWidth: 0 }}>
        <Clip width="100%">{name || id}</Clip>
      </Anchor>
      <Group gap={4} wrap="nowrap">
        {paused_at && (
          <Badge variant="light" color="orange">
            Paused
          </Badge>
        )}
        <Badge variant="light" color={mode === 'live' ? 'teal' : 'orange'}>
          {mode === 'live' ? 'Live' : 'Simulated'}
        </Badge>
      </Group>
    </Group>
    <Text size="sm" c="dimmed" component="div">
      <Clip width="100%">{id}</Clip>
    </Text>
    {counted && <LastDay id={id} />}
    <Group justify="space-between" mt="sm">
      <Text size="xs" c="dimmed">
        {plan} plan · created <When at={created_at} />
      </Text>
      {canDelete && <DeleteProject id={id} />}
    </Group>
  </Paper>
)

/** What the project sent within 24 hours. */
function LastDay({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['project stats', id, 'day'],
    queryFn: () => ofProject<ProjectStats>(id, 'GET', '/api/v1/stats', { query: queryOf('day') }),
    staleTime: 60_000
  })
  const figures = (['sent', 'delivered', 'tapped'] as const).map(
    (figure) => `${data?.totals[figure].toLocaleString() ?? '–'} ${figure}`
  )
  return (
    <Text size="sm" mt="xs">
      Last 24 hours: {figures.join(' · ')}
    </Text>
  )
}

function DeleteProject({ id }: { id: string }) {
  const queries = useQueryClient()
  const remove = async () => {
    await manage('DELETE', `/projects/${encodeURIComponent(id)}`)
    await queries.invalidateQueries({ queryKey: ['projects'] })
  }
  return (
    <ConfirmButton
      label="Delete"
      title="Delete project?"
      question="Permanently deletes the project with its users, keys, campaigns and messages."
      type={id}
      act={remove}
    />
  )
}
