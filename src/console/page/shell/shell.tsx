import {
  ActionIcon,
  Alert,
  AppShell,
  Badge,
  Burger,
  Group,
  NavLink,
  Select,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { session } from '../api/client.ts'
import { useIdentity, useProject, useProjectId, useProjects } from '../api/session.ts'
import { NoWorker } from '../pages/home/health.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorAlert, Loading } from '../parts/states.tsx'
import { PausedBanner } from './paused.tsx'

/** The menu, in this order: the address, the name, the strokes of its sign. */
export const rooms = [
  ['home', 'Home', 'M4 11l8-7 8 7v9h-5v-6H9v6H4z'],
  ['lab', 'Device lab', 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM11 18h2'],
  ['campaigns', 'Campaigns', 'M4 10v4h3l9 4V6l-9 4zM19 10v4M8 14l1 6h3l-1-5'],
  ['triggers', 'Triggers', 'M13 3L5 14h6l-1 7 8-11h-6z'],
  ['users', 'Users', 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2 21c0-4 3-7 7-7s7 3 7 7M16 4a4 4 0 0 1 0 7M18 14c2 1 4 3 4 7'],
  ['messages', 'Messages', 'M4 5h16v11H9l-5 4z'],
  ['agents', 'Agents', 'M6 8h12v10H6zM12 8V4M9 12v2M15 12v2M3 12v3M21 12v3'],
  ['webhooks', 'Webhooks', 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1'],
  ['settings', 'Settings', 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4']
] as const

/** A page of one thing belongs to the room of its list. */
const roomOf = (path: string) => (path.split('/')[3] === 'new-campaign' ? 'campaigns' : path.split('/')[3])

export function Shell() {
  const [opened, { toggle, close }] = useDisclosure()
  const projects = useProjects()
  const project = useProject()
  const projectId = useProjectId()
  const reachable = useReachable()
  const path = useRouterState({ select: ({ location }) => location.pathname })
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
            <ProjectChoice />
            {project?.mode === 'simulator' && (
              <Tooltip label="Simulated gateways: nothing reaches real devices.">
                <Badge color="orange" variant="light" visibleFrom="xs">
                  simulated
                </Badge>
              </Tooltip>
            )}
          </Group>
          <Group wrap="nowrap" gap="xs">
            <SchemeButton />
            <SignOut />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Console">
        {rooms.map(([name, label, sign]) => (
          <NavLink
            key={name}
            label={label}
            leftSection={<Icon path={sign} />}
            component={Link}
            to={`/p/${encodeURIComponent(projectId)}/${name}`}
            active={roomOf(path) === name}
            onClick={close}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        {!reachable && (
          <Alert color="orange" mb="md" role="status">
            Connection lost. Reconnecting…
          </Alert>
        )}
        {project?.paused_at && <PausedBanner projectId={project.id} since={project.paused_at} />}
        <NoWorker />
        {projects.error && !projects.data ? (
          <ErrorAlert error={projects.error} again={projects.refetch} />
        ) : projects.isPending ? (
          <Loading />
        ) : project ? (
          <Outlet />
        ) : (
          <ErrorAlert error={new Error(`Project “${projectId}” does not exist, or your token has no access to it.`)} />
        )}
      </AppShell.Main>
    </AppShell>
  )
}

/** Whether the service answers. When it does again, everything shown is asked for anew. */
function useReachable(): boolean {
  const queries = useQueryClient()
  const { error } = useQuery({
    queryKey: ['reachable'],
    queryFn: async () => (await fetch('/healthz', { cache: 'no-store' })).status,
    refetchInterval: 2_000,
    // The browser's own guess about the network is none of ours: the service may be on this machine.
    networkMode: 'always',
    retry: false
  })
  const lost = error !== null
  const before = useRef(lost)
  useEffect(() => {
    if (before.current && !lost) void queries.invalidateQueries()
    before.current = lost
  }, [lost, queries])
  return !lost
}

const all = 'all projects'

function ProjectChoice() {
  const { data } = useProjects()
  const projectId = useProjectId()
  const navigate = useNavigate()
  return (
    <Select
      aria-label="Project"
      size="xs"
      w={150}
      searchable
      allowDeselect={false}
      value={projectId}
      data={[
        ...(data?.items.map(({ id, name }) => ({ value: id, label: name || id })) ?? []),
        { value: all, label: 'All projects…' }
      ]}
      onChange={(id) => id && void navigate({ to: id === all ? '/projects' : `/p/${encodeURIComponent(id)}/home` })}
    />
  )
}

const sun = 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2'
const moon = 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10'
const door = 'M14 4H6v16h8M10 12h11M17 8l4 4-4 4'

function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return (
    <ActionIcon
      variant="default"
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
      aria-label={dark ? 'Switch to light mode' : 'Switch to dark mode'}
    >
      <Icon path={dark ? sun : moon} />
    </ActionIcon>
  )
}

function SignOut() {
  const queries = useQueryClient()
  const { data } = useIdentity()
  const leave = async () => {
    await session('DELETE')
    queries.clear()
    // What was typed and not sent is not for whoever signs in next.
    sessionStorage.clear()
    location.reload()
  }
  return (
    <Tooltip label={`Signed in as ${data?.name} (${data?.role})`}>
      <ActionIcon variant="default" onClick={() => void leave()} aria-label="Sign out">
        <Icon path={door} />
      </ActionIcon>
    </Tooltip>
  )
}
