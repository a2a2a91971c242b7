import { Badge, NavLink } from '@mantine/core'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useChanges } from '../api/changes.ts'
import { useNodes } from '../api/nodes.ts'
import { useHasRole, useProject, useProjectId, useProjects } from '../api/session.ts'
import { AuditIcon, PersonIcon, ProjectsIcon, UsersIcon } from '../parts/icons.tsx'
import { keep } from '../parts/session-state.ts'
import { ErrorAlert, Loading } from '../parts/states.tsx'
import { ConnectionLost } from './connection-lost.tsx'
import { Frame } from './frame.tsx'
import { ProjectMenu } from './menu.tsx'
import { NoWorker } from './no-worker.tsx'
import { PausedBanner, RestoredBanner } from './paused.tsx'

/** The frame of every page of a project: header, menu and banners. */
export function Shell() {
  const project = useProject()
  useEffect(() => {
    if (project) keep(localStorage, 'tidings-project', project.id)
  }, [project])
  return (
    <Frame
      menu={(close) => <ProjectMenu close={close} />}
      badge={
        project?.mode === 'simulator' && (
          <Badge
            color="orange"
            variant="light"
            visibleFrom="sm"
            title="Simulated gateways: nothing reaches real devices."
          >
            Simulated
          </Badge>
        )
      }
    >
      <Banners />
      <ProjectPage />
    </Frame>
  )
}

/** The pages of the whole installation: path, label and icon. */
const installation = [
  ['/projects', 'All projects', ProjectsIcon],
  ['/members', 'Members', UsersIcon],
  ['/audit', 'Audit log', AuditIcon],
  ['/account', 'My account', PersonIcon]
] as const

/** The frame of pages that belong to no project. */
export function InstallationShell() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const admin = useHasRole('admin')
  const pages = installation.filter(([to]) => (to !== '/members' && to !== '/audit') || admin)
  return (
    <Frame
      menu={(close) =>
        pages.map(([to, label, Icon]) => (
          <NavLink
            key={to}
            label={label}
            leftSection={<Icon />}
            component={Link}
            to={to}
            active={path.startsWith(to)}
            onClick={close}
          />
        ))
      }
    >
      <RestoredBanner />
      <Outlet />
    </Frame>
  )
}

function Banners() {
  const project = useProject()
  const reachable = useChanges(project?.id)
  const restored = useNodes().data?.paused
  return (
    <>
      {!reachable && <ConnectionLost />}
      <RestoredBanner />
      {project?.paused_at && project.paused_at !== restored?.since && (
        <PausedBanner projectId={project.id} since={project.paused_at} />
      )}
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
  return <ErrorAlert error={new Error(`Project “${projectId}” does not exist, or you have no access to it.`)} />
}
