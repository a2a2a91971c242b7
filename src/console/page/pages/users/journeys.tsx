import { Anchor, Badge, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Journey } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { campaignLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { When } from '../../parts/texts.tsx'

const colors: Record<Journey['state'], string> = {
  waiting: 'indigo',
  completed: 'teal',
  exited: 'gray',
  stopped: 'orange'
}

/** The campaigns that the user is on the way through, or was. */
export function Journeys({ userId }: { userId: string }) {
  const projectId = useProjectId()
  return (
    <PagedList
      label="Journeys"
      pages={usePagedList<Journey>(`/users/${encodeURIComponent(userId)}/journeys`)}
      keyOf={({ journey_id }) => journey_id}
      empty={
        <EmptyState title="No journeys">
          Campaigns with steps or a delay appear here once the user enters them.
        </EmptyState>
      }
      columns={[
        {
          name: 'Campaign',
          show: ({ campaign_id, campaign_version }) => (
            <Anchor component={Link} to={campaignLink(projectId, campaign_id)}>
              {campaign_id}, version {campaign_version}
            </Anchor>
          )
        },
        {
          name: 'State',
          show: ({ state }) => (
            <Badge color={colors[state]} variant="light">
              {state}
            </Badge>
          )
        },
        { name: 'Next step', show: ({ step }) => step ?? '–' },
        { name: 'Due', show: ({ due_at }) => <When at={due_at} /> },
        { name: 'Entered', show: ({ entered_at }) => <When at={entered_at} /> },
        { name: 'Details', show: ({ message }) => <Text size="sm">{message}</Text>, width: 240 }
      ]}
    />
  )
}
