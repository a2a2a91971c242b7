import { Anchor, Badge, Group, Progress, Select, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { AnsweredTrigger as Trigger } from '../../../../triggers/responses.ts'
import { useInUrl } from '../../parts/in-url.tsx'
import { ListOf, usePages } from '../../parts/list.tsx'
import { PageOf } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'
import { useProjectId } from '../../who.ts'

const colors: Record<string, string> = { completed: 'teal', failed: 'red', canceled: 'gray', canceling: 'orange' }
export const StateBadge = ({ state }: { state: string }) => (
  <Badge color={colors[state] ?? 'cyan'} variant="light">
    {state}
  </Badge>
)

export const triggerLink = (projectId: string, id: string) => `/p/${encodeURIComponent(projectId)}/triggers/${id}`

/** Sent, failed and skipped of what is targeted so far. */
export function Share({ counts }: Pick<Trigger, 'counts'>) {
  const of = (count: number) => (counts.targeted === 0 ? 0 : (100 * count) / counts.targeted)
  return (
    <Progress.Root size="lg" aria-label="Progress">
      <Progress.Section value={of(counts.sent)} color="teal" aria-label={`${counts.sent} sent`} />
      <Progress.Section value={of(counts.failed)} color="red" aria-label={`${counts.failed} failed`} />
      <Progress.Section value={of(counts.skipped)} color="gray.5" aria-label={`${counts.skipped} skipped`} />
    </Progress.Root>
  )
}

export function Triggers() {
  const projectId = useProjectId()
  const [state, setState] = useInUrl('state')
  const triggers = usePages<Trigger>('/api/v1/triggers', { state }, 2_000)
  return (
    <PageOf title="Triggers" about="Every campaign run and its results.">
      <Select
        label="State"
        placeholder="Any"
        clearable
        w={200}
        value={state || null}
        onChange={setState}
        data={['accepted', 'running', 'canceling', 'completed', 'canceled', 'failed']}
      />
      <ListOf
        label="Triggers"
        pages={triggers}
        keyOf={({ trigger_id }) => trigger_id}
        empty={
          state ? (
            <Empty title="No matching triggers">Clear the filter to see more.</Empty>
          ) : (
            <Empty title="No triggers yet">Trigger a campaign from its page, the API or an agent.</Empty>
          )
        }
        columns={[
          {
            name: 'Accepted',
            show: ({ trigger_id, accepted_at }) => (
              <Anchor component={Link} to={triggerLink(projectId, trigger_id)}>
                <When at={accepted_at} />
              </Anchor>
            )
          },
          {
            name: 'Campaign',
            show: ({ campaign_id, campaign_version }) => `${campaign_id} (version ${campaign_version})`
          },
          { name: 'State', show: ({ state }) => <StateBadge state={state} /> },
          {
            name: 'Messages',
            show: ({ counts }) => (
              <Group gap="xs" wrap="nowrap">
                <Text size="sm" miw={110}>
                  {counts.sent} of {counts.targeted} sent
                </Text>
                {counts.failed > 0 && <Badge color="red">{counts.failed} failed</Badge>}
              </Group>
            )
          },
          { name: 'Tapped', show: ({ counts }) => counts.tapped }
        ]}
      />
    </PageOf>
  )
}
