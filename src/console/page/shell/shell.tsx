import { Alert, AppShell, Badge, Burger, Group, NavLink, Text, Tooltip, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useChanges } from '../api/changes.ts'
import { useProject, useProjectId, useProjects } from '../api/session.ts'
import {
  AgentsIcon,
  ApprovalsIcon,
  CampaignsIcon,
  HomeIcon,
  LabIcon,
  MessagesIcon,
  SegmentsIcon,
  SettingsIcon,
  TopicsIcon,
  TriggersIcon,
  UsersIcon,
  WebhooksIcon
} from '../parts/icons.tsx'
import { pageLink } from '../parts/links.ts'
import { ErrorAlert, Loading } from '../parts/states.tsx'
import { ColorSchemeButton, ProjectSelect, SignOutButton } from './header.tsx'
import { NoWorker } from './no-worker.tsx'
import { PausedBanner } from './paused.tsx'

/** The menu, in this order: path, label and icon. */
const menu = [
  ['home', 'Home', HomeIcon],
  ['lab', 'Device lab', LabIcon],
  ['campaigns', 'Campaigns', CampaignsIcon],
  ['triggers', 'Triggers', TriggersIcon],
  ['users', 'Users', UsersIcon],
  ['segments', 'Segments', SegmentsIcon],
  ['topics', 'Topics', TopicsIcon],
  ['messages', 'Messages', MessagesIcon],
  ['agents', 'Agents', AgentsIcon],
  ['approvals', 'Approvals', ApprovalsIcon],
  ['webhooks', 'Webhooks', WebhooksIcon],
  ['settings', 'Settings', SettingsIcon]
] as const

/** Detail pages belong to the menu item of their list. */
const menuItemOf = (path: string) => path.split('/')[3]?.replace(/^new-(.*)$/, '$1s')

/** The frame of every page of a project: header, menu and banners. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure()
  const project = useProject()
  useEffect(() => {
    if (project) localStorage.setItem('tidings-project', project.id)
  }, [project])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group wrap="nowrap" gap="sm">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <UnstyledButton component={Link} to="/" aria-label="Tidings home">
              <Text fw={700}>Tidings</Text>
            </UnstyledButton>
            <ProjectSelect />
            {project?.mode === 'simulator' && (
              <Tooltip label="Simulated gateways: nothing reaches real devices.">
                <Badge color="orange" variant="light" visibleFrom="xs">
                  Simulated
                </Badge>
              </Tooltip>
            )}
          </Group>
          <Group wrap="nowrap" gap="xs">
            <ColorSchemeButton />
            <SignOutButton />
          </Group>
        </Group>
      </AppShell.Header>
      <Menu close={close} />
      <AppShell.Main>
        <Banners />
        <ProjectPage />
      </AppShell.Main>
    </AppShell>
  )
}

function Menu({ close }: { close: () => void }) {
  const projectId = useProjectId()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return (
    <AppShell.Navbar p="xs" aria-label="Console">
      {menu.map(([name, label, Icon]) => (
        <NavLink
          key={name}
          label={label}
          leftSection={<Icon />}
          component={Link}
          to={pageLink(projectId, name)}
          active={menuItemOf(path) === name}
          onClick={close}
        />
      ))}
    </AppShell.Navbar>
  )
}

function Banners() {
  const project = useProject()
  const reachable = useChanges(project?.id)
  return (
    <>
      {!reachable && (
        <Alert color="orange" mb="md" role="status">
          Connection lost. Reconnecting…
        </Alert>
      )}
      {project?.paused_at && <PausedBanner projectId={project.id} since={project.paused_at} />}
      <NoWorker />
    </>
  )
}

/** The open page, once the project is known to exist. */
function ProjectPage() {
  const projects = useProjects()
  const project = useProject()
  const projectId = useProjectId()
  if (projects.error && !projects.data) return <ErrorAlert error={projects.error} retry={projects.refetch} />
  if (projects.isPending) return <Loading />
  if (project) return <Outlet />
  return <ErrorAlert error={new Error(`Project “${projectId}” does not exist, or your token has no access to it.`)} />
}
