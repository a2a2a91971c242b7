import { Anchor, Badge, Group, Select, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Trigger } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { campaignLink, triggerLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { StateBadge } from './progress.tsx'
import { sourceText } from './source.tsx'

export function Triggers() {
  const projectId = useProjectId()
  const [state, setState] = useUrlState('state')
  const triggers = usePagedList<Trigger>('/api/v1/triggers', { state })
  return (
    <PageLayout title="Triggers" about="Every campaign run and its results.">
      <Select
        label="State"
        placeholder="Any"
        clearable
        w={200}
        value={state || null}
        onChange={setState}
        data={['scheduled', 'accepted', 'running', 'canceling', 'completed', 'canceled', 'failed']}
      />
      <PagedList
        label="Triggers"
        pages={triggers}
        keyOf={({ trigger_id }) => trigger_id}
        empty={
          state ? (
            <EmptyState title="No matching triggers">Clear the filter to see more.</EmptyState>
          ) : (
            <EmptyState title="No triggers yet">Trigger a campaign from its page, the API or an agent.</EmptyState>
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
            show: ({ campaign_id, campaign_version }) => (
              <Anchor component={Link} to={campaignLink(projectId, campaign_id)} title={`Version ${campaign_version}`}>
                <Clip>{campaign_id}</Clip>
              </Anchor>
            )
          },
          { name: 'Source', show: sourceText },
          {
            name: 'State',
            show: ({ state, send_at }) => (
              <Group gap="xs" wrap="nowrap">
                <StateBadge state={state} />
                {state === 'scheduled' && <When at={send_at} />}
              </Group>
            )
          },
          {
            name: 'Messages',
            show: ({ counts, ended_at }) => (
              <Group gap="xs" wrap="nowrap">
                <Text size="sm" miw={110}>
                  {/* While it is sent, the number of recipients grows. */}
                  {ended_at ? `${counts.sent} of ${counts.targeted} sent` : `${counts.sent} sent so far`}
                </Text>
                {counts.failed > 0 && <Badge color="red">{counts.failed} failed</Badge>}
              </Group>
            )
          },
          { name: 'Tapped', show: ({ counts }) => counts.tapped }
        ]}
      />
    </PageLayout>
  )
}
