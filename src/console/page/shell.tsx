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
import { session } from './api.ts'
import { Failed, Waiting } from './parts/states.tsx'
import { useProject, useProjectId, useProjects, useWho } from './who.ts'

/** The menu, in this order. */
export const rooms = [
  ['home', 'Home'],
  ['lab', 'Device lab'],
  ['campaigns', 'Campaigns'],
  ['triggers', 'Triggers'],
  ['users', 'Users'],
  ['messages', 'Messages'],
  ['agents', 'Agents'],
  ['webhooks', 'Webhooks'],
  ['settings', 'Settings']
] as const

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
            <UnstyledButton component={Link} to="/" aria-label="Tidings, to the start">
              <Text fw={700}>Tidings</Text>
            </UnstyledButton>
            <ProjectChoice />
            {project?.mode === 'simulator' && (
              <Tooltip label="Gateways are simulated: nothing reaches a real phone.">
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
        {rooms.map(([name, label]) => (
          <NavLink
            key={name}
            label={label}
            component={Link}
            to={`/p/${encodeURIComponent(projectId)}/${name}`}
            active={path.split('/')[3] === name}
            onClick={close}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        {!reachable && (
          <Alert color="orange" mb="md" role="status">
            The connection to the service is lost. The page goes on by itself when it is back.
          </Alert>
        )}
        {projects.error && !projects.data ? (
          <Failed error={projects.error} again={projects.refetch} />
        ) : projects.isPending ? (
          <Waiting />
        ) : project ? (
          <Outlet />
        ) : (
          <Failed error={new Error(`There is no project ${projectId}, or this token does not reach it.`)} />
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

function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return (
    <ActionIcon
      variant="default"
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
      aria-label={dark ? 'Use light colours' : 'Use dark colours'}
    >
      {dark ? '☀' : '☾'}
    </ActionIcon>
  )
}

function SignOut() {
  const queries = useQueryClient()
  const { data } = useWho()
  const leave = async () => {
    await session('DELETE')
    queries.clear()
    location.reload()
  }
  return (
    <Tooltip label={`Signed in as ${data?.name} (${data?.role})`}>
      <ActionIcon variant="default" onClick={() => void leave()} aria-label="Sign out">
        ⎋
      </ActionIcon>
    </Tooltip>
  )
}
