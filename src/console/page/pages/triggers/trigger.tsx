import { Anchor, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { AuthoredTrigger, Trigger as TriggerState } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { authorOf } from '../../parts/author.ts'
import { ConfirmButton } from '../../parts/forms/confirm-button.tsx'
import { campaignLink } from '../../parts/links.ts'
import { PageLayout } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { FilteredMessages } from '../messages/filtered-messages.tsx'
import { Explain } from './explain.tsx'
import { MoveTrigger } from './move.tsx'
import { Progress, StateBadge } from './progress.tsx'
import { reasonTitle } from './reasons.ts'
import { sourceText } from './source.tsx'

const ended = (state: string) => ['completed', 'canceled', 'failed'].includes(state)

export function Trigger() {
  const projectId = useProjectId()
  const { triggerId = '' } = useParams({ strict: false })
  const canStop = useHasRole('editor')
  const queries = useQueryClient()
  const key = ['trigger', projectId, triggerId]
  const trigger = useQuery({
    queryKey: key,
    queryFn: () => project<AuthoredTrigger>(projectId, 'GET', `/triggers/${triggerId}`),
    // Apps report deliveries and taps after the trigger has ended.
    meta: { kinds: ['triggers', 'messages'] }
  })
  const running = trigger.data !== undefined && !ended(trigger.data.state)
  // Other responses than that of the query do not name the author, which stays the same.
  const see = (seen: TriggerState) =>
    queries.setQueryData<AuthoredTrigger>(key, (known) => known && { ...known, ...seen })
  useLive(running ? `/projects/${encodeURIComponent(projectId)}/triggers/${triggerId}/stream` : null, (seen) =>
    see(seen as TriggerState)
  )
  const cancel = async () => {
    see(await project<TriggerState>(projectId, 'POST', `/api/v1/triggers/${triggerId}:cancel`))
  }
  return (
    <PageLayout
      title="Trigger"
      about={triggerId}
      actions={
        canStop && trigger.data?.state === 'scheduled' ? (
          <ConfirmButton
            label="Cancel trigger"
            title="Cancel this trigger?"
            question="It will not be sent at its time."
            keep="Keep it"
            act={cancel}
          />
        ) : canStop && running ? (
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
      <Loaded query={trigger}>
        {(found) => (
          <Stack>
            <Group>
              <StateBadge state={found.state} />
              <Anchor component={Link} to={campaignLink(projectId, found.campaign_id)}>
                {found.campaign_id}, version {found.campaign_version}
              </Anchor>
              <Text size="sm" c="dimmed">
                {sourceText(found)}
                {found.source.kind === 'api' && found.actor !== null && (
                  <>
                    {' by '}
                    <bdi title={found.actor}>{authorOf(found)}</bdi>
                  </>
                )}{' '}
                · accepted <When at={found.accepted_at} />
                {found.send_at && (
                  <>
                    {' · send at '}
                    <When at={found.send_at} />
                  </>
                )}{' '}
                · ended <When at={found.ended_at} />
              </Text>
            </Group>
            {canStop && found.state === 'scheduled' && <MoveTrigger key={found.send_at} trigger={found} moved={see} />}
            {found.reason && <Text>{reasonTitle(found.reason)}</Text>}
            <Progress trigger={found} />
            <Counts counts={found.counts} />
            <Reasons title="Skipped by reason" reasons={found.skipped} />
            <Reasons title="Failed by reason" reasons={found.failures} />
            <Explain triggerId={triggerId} />
            <Title order={2} size="h4">
              Messages
            </Title>
            <FilteredMessages triggerId={triggerId} />
          </Stack>
        )}
      </Loaded>
    </PageLayout>
  )
}

const Counts = ({ counts }: Pick<TriggerState, 'counts'>) => (
  <SimpleGrid cols={{ base: 2, sm: 4, md: 7 }}>
    {Object.entries(counts).map(([name, count]) => (
      <Paper key={name} withBorder p="xs">
        <Text size="xs" c="dimmed" tt="capitalize">
          {name}
        </Text>
        <Text fw={700} data-count={name}>
          {count.toLocaleString()}
        </Text>
      </Paper>
    ))}
  </SimpleGrid>
)

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
              <Table.Td title={reason}>{reasonTitle(reason)}</Table.Td>
              <Table.Td ta="right">{count.toLocaleString()}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
