import { Badge, Box, NavLink, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import type { Approval, Page } from '../../../wire.ts'
import { project } from '../api/client.ts'
import { useProjectId } from '../api/session.ts'
import {
  AgentsIcon,
  ApprovalsIcon,
  CampaignsIcon,
  HomeIcon,
  LabIcon,
  LiveActivitiesIcon,
  MessagesIcon,
  PrivacyIcon,
  ResultsIcon,
  SegmentsIcon,
  SettingsIcon,
  TopicsIcon,
  TriggersIcon,
  UsersIcon,
  WebhooksIcon
} from '../parts/icons.tsx'
import { pageLink } from '../parts/links.ts'

/** The menu of a project in its order: groups of paths with their labels and icons. */
export const groups = [
  ['', [['home', 'Home', HomeIcon]]],
  [
    'Messaging',
    [
      ['campaigns', 'Campaigns', CampaignsIcon],
      ['triggers', 'Triggers', TriggersIcon],
      ['messages', 'Messages', MessagesIcon],
      ['live-activities', 'Live Activities', LiveActivitiesIcon],
      ['results', 'Results', ResultsIcon]
    ]
  ],
  [
    'Audience',
    [
      ['users', 'Users', UsersIcon],
      ['segments', 'Segments', SegmentsIcon],
      ['topics', 'Topics', TopicsIcon],
      ['privacy', 'Privacy', PrivacyIcon]
    ]
  ],
  [
    'Automation',
    [
      ['agents', 'Agents', AgentsIcon],
      ['approvals', 'Approvals', ApprovalsIcon],
      ['webhooks', 'Webhooks', WebhooksIcon]
    ]
  ],
  [
    'Setup',
    [
      ['lab', 'Device lab', LabIcon],
      ['settings', 'Settings', SettingsIcon]
    ]
  ]
] as const

/** Detail pages belong to the menu item of their list. */
const menuItemOf = (path: string) => path.split('/')[3]?.replace(/^new-(.*)$/, '$1s')

export function ProjectMenu({ close }: { close: () => void }) {
  const projectId = useProjectId()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return groups.map(([label, items]) => (
    <Box key={label} role="group" aria-label={label || 'Overview'} mb={6}>
      {label && (
        <Text size="xs" c="dimmed" fw={600} px="sm" pt={4} aria-hidden>
          {label}
        </Text>
      )}
      {items.map(([name, text, Icon]) => (
        <NavLink
          key={name}
          py={6}
          label={text}
          leftSection={<Icon />}
          rightSection={name === 'approvals' && <WaitingApprovals />}
          component={Link}
          to={pageLink(projectId, name)}
          active={menuItemOf(path) === name}
          onClick={close}
        />
      ))}
    </Box>
  ))
}

const mostCounted = 100

/** How many actions of agents wait for a person. */
function WaitingApprovals() {
  const projectId = useProjectId()
  const { data } = useQuery({
    queryKey: ['waiting approvals', projectId],
    queryFn: () =>
      project<Page<Approval>>(projectId, 'GET', '/approvals', { query: { state: 'pending', limit: mostCounted } }),
    meta: { kinds: ['approvals'] },
    retry: false
  })
  const count = data?.items.length ?? 0
  if (count === 0) return null
  return (
    <Badge color="orange" variant="light" title="Waiting for a decision">
      {count === mostCounted ? `${mostCounted}+` : count}
    </Badge>
  )
}
