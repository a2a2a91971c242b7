import { Anchor, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Page, Trigger } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { triggerLink } from '../../parts/links.ts'
import { Panel } from '../../parts/panel.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'
import { Progress, StateBadge } from './progress.tsx'

/** The newest triggers of the project, or of one campaign. */
export function RecentTriggers({ campaignId, limit = 5 }: { campaignId?: string; limit?: number }) {
  const projectId = useProjectId()
  const triggers = useQuery({
    queryKey: ['recent triggers', projectId, campaignId, limit],
    queryFn: () =>
      project<Page<Trigger>>(projectId, 'GET', '/api/v1/triggers', { query: { limit, campaign_id: campaignId } }),
    meta: { kinds: ['triggers'] }
  })
  return (
    <Panel title="Recent triggers" mb="md">
      <Loaded query={triggers}>
        {({ items }) =>
          items.length === 0 ? (
            <Text c="dimmed">No triggers yet.</Text>
          ) : (
            <Stack gap="sm">
              {items.map((trigger) => (
                <div key={trigger.trigger_id}>
                  <Group justify="space-between" wrap="nowrap">
                    <Anchor component={Link} to={triggerLink(projectId, trigger.trigger_id)} style={{ minWidth: 0 }}>
                      {campaignId === undefined ? (
                        <Clip width="100%">{trigger.campaign_id}</Clip>
                      ) : (
                        <When at={trigger.accepted_at} />
                      )}
                    </Anchor>
                    <StateBadge state={trigger.state} />
                  </Group>
                  <Progress trigger={trigger} />
                </div>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  )
}
