import { Anchor, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { AnsweredTrigger } from '../../../../triggers/responses.ts'
import { project } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { FilteredMessages } from '../messages/filtered-messages.tsx'
import { Explain } from './explain.tsx'
import { Share, StateBadge } from './triggers.tsx'

const ended = (state: string) => ['completed', 'canceled', 'failed'].includes(state)

export function Trigger() {
  const projectId = useProjectId()
  const { triggerId = '' } = useParams({ strict: false })
  const may = useHasRole('editor')
  const queries = useQueryClient()
  const key = ['trigger', projectId, triggerId]
  const path = `/api/v1/triggers/${triggerId}`
  const trigger = useQuery({
    queryKey: key,
    queryFn: () => project<AnsweredTrigger>(projectId, 'GET', path),
    // Deliveries and taps go on being told after the end.
    refetchInterval: 5_000
  })
  const running = trigger.data !== undefined && !ended(trigger.data.state)
  useLive(running ? `/projects/${encodeURIComponent(projectId)}/triggers/${triggerId}/stream` : null, (seen) =>
    queries.setQueryData(key, seen)
  )
  const cancel = async () => {
    queries.setQueryData(key, await project<AnsweredTrigger>(projectId, 'POST', `${path}:cancel`))
  }
  return (
    <PageLayout
      title="Trigger"
      about={triggerId}
      actions={
        may && running ? (
          <ConfirmButton
            label="Stop"
            title="Stop this send?"
            question="Unsent messages will be dropped."
            keep="Keep sending"
            act={cancel}
          />
        ) : null
      }
    >
      <Shown query={trigger}>
        {(found) => (
          <Stack>
            <Group>
              <StateBadge state={found.state} />
              <Anchor
                component={Link}
                to={`/p/${encodeURIComponent(projectId)}/campaigns/${encodeURIComponent(found.campaign_id)}`}
              >
                {found.campaign_id}, version {found.campaign_version}
              </Anchor>
              <Text size="sm" c="dimmed">
                Accepted <When at={found.accepted_at} /> · ended <When at={found.ended_at} />
              </Text>
            </Group>
            {found.reason && <Text>{found.reason}</Text>}
            <Share counts={found.counts} />
            <SimpleGrid cols={{ base: 2, sm: 4, md: 7 }}>
              {Object.entries(found.counts).map(([name, count]) => (
                <Paper key={name} withBorder p="xs">
                  <Text size="xs" c="dimmed">
                    {name}
                  </Text>
                  <Text fw={700} data-count={name}>
                    {count.toLocaleString()}
                  </Text>
                </Paper>
              ))}
            </SimpleGrid>
            <Reasons title="Skipped by reason" reasons={found.skipped} />
            <Reasons title="ErrorAlert by reason" reasons={found.failures} />
            <Explain triggerId={triggerId} />
            <Title order={2} size="h4">
              Messages
            </Title>
            <FilteredMessages triggerId={triggerId} refetchMs={running ? 2_000 : 5_000} />
          </Stack>
        )}
      </Shown>
    </PageLayout>
  )
}

const Reasons = ({ title, reasons }: { title: string; reasons: Record<string, number> }) =>
  Object.keys(reasons).length === 0 ? null : (
    <div>
      <Title order={2} size="h4">
        {title}
      </Title>
      <Table maw={420}>
        <Table.Tbody>
          {Object.entries(reasons).map(([reason, count]) => (
            <Table.Tr key={reason}>
              <Table.Td>{reason}</Table.Td>
              <Table.Td ta="right">{count.toLocaleString()}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
