import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Navigate } from '@tanstack/react-router'
import { useProjects } from './api/session.ts'
import { untilLoaded } from './load-page.ts'
import { EmptyState, ErrorAlert, Loading } from './parts/states.tsx'
import { InstallationShell, Shell } from './shell/shell.tsx'

const root = createRootRoute({ notFoundComponent: () => <EmptyState title="Page not found" /> })

/** Opens the project that was open last, or else the oldest one. */
function FirstProject() {
  const projects = useProjects()
  if (projects.error) return <ErrorAlert error={projects.error} retry={projects.refetch} />
  if (projects.isPending) return <Loading />
  const { items } = projects.data
  const last = localStorage.getItem('tidings-project')
  const id = (items.find((each) => each.id === last) ?? items.at(-1))?.id
  return id ? <Navigate to={`/p/${encodeURIComponent(id)}/home`} replace /> : <Navigate to="/projects" replace />
}

const start = createRoute({ getParentRoute: () => root, path: '/', component: FirstProject })
const project = createRoute({ getParentRoute: () => root, path: '/p/$projectId', component: Shell })

const installation = createRoute({ getParentRoute: () => root, id: 'installation', component: InstallationShell })

/** The code of all pages. */
export const loads: (() => Promise<unknown>)[] = []

/** A page whose code is loaded when it is opened, or before, when the browser is idle. */
function page(path: string, load: () => Promise<Record<string, unknown>>, name: string, parent = project) {
  loads.push(load)
  return createRoute({
    getParentRoute: () => parent,
    path,
    component: lazyRouteComponent(untilLoaded(load as () => Promise<Record<string, () => React.ReactNode>>), name),
    errorComponent: ({ error }) => <ErrorAlert error={error as Error} />,
    pendingComponent: Loading
  })
}

const installationPage: typeof page = (path, load, name) => page(path, load, name, installation as never)

export const router = createRouter({
  basepath: '/console',
  // The code of a page is loaded as soon as the pointer or the focus is on its link.
  defaultPreload: 'intent',
  routeTree: root.addChildren([
    start,
    installation.addChildren([
      installationPage('projects', () => import('./pages/projects/projects.tsx'), 'Projects'),
      installationPage('members', () => import('./pages/members/members.tsx'), 'Members'),
      installationPage('audit', () => import('./pages/audit/installation-audit.tsx'), 'InstallationAudit'),
      installationPage('account', () => import('./pages/account/account.tsx'), 'AccountPage')
    ]),
    project.addChildren([
      page('home', () => import('./pages/home/home.tsx'), 'Home'),
      page('lab', () => import('./pages/lab/lab.tsx'), 'Lab'),
      page('live-activities', () => import('./pages/live-activities/channels.tsx'), 'Channels'),
      page('campaigns', () => import('./pages/campaigns/campaigns.tsx'), 'Campaigns'),
      page('new-campaign', () => import('./pages/campaigns/campaign.tsx'), 'NewCampaign'),
      page('campaigns/$campaignId', () => import('./pages/campaigns/campaign.tsx'), 'CampaignPage'),
      page('triggers', () => import('./pages/triggers/triggers.tsx'), 'Triggers'),
      page('triggers/$triggerId', () => import('./pages/triggers/trigger.tsx'), 'Trigger'),
      page('results', () => import('./pages/results/results.tsx'), 'Results'),
      page('users', () => import('./pages/users/users.tsx'), 'Users'),
      page('users/$userId', () => import('./pages/users/user.tsx'), 'User'),
      page('segments', () => import('./pages/segments/segments.tsx'), 'Segments'),
      page('new-segment', () => import('./pages/segments/segment.tsx'), 'NewSegment'),
      page('segments/$segmentId', () => import('./pages/segments/segment.tsx'), 'SegmentPage'),
      page('topics', () => import('./pages/topics/topics.tsx'), 'Topics'),
      page('privacy', () => import('./pages/privacy/privacy.tsx'), 'Privacy'),
      page('privacy/$erasureId', () => import('./pages/privacy/receipt.tsx'), 'ReceiptPage'),
      page('messages', () => import('./pages/messages/messages.tsx'), 'Messages'),
      page('messages/$messageId', () => import('./pages/messages/message.tsx'), 'MessagePage'),
      page('agents', () => import('./pages/agents/agents.tsx'), 'Agents'),
      page('agents/tasks/$taskId', () => import('./pages/agents/task.tsx'), 'TaskPage'),
      page('approvals', () => import('./pages/approvals/approvals.tsx'), 'Approvals'),
      page('approvals/$approvalId', () => import('./pages/approvals/approval.tsx'), 'ApprovalPage'),
      page('webhooks', () => import('./pages/webhooks/webhooks.tsx'), 'Webhooks'),
      page('webhooks/$webhookId', () => import('./pages/webhooks/webhook.tsx'), 'WebhookPage'),
      page('webhooks/deliveries/$deliveryId', () => import('./pages/webhooks/delivery.tsx'), 'DeliveryPage'),
      page('settings', () => import('./pages/settings/settings.tsx'), 'Settings')
    ])
  ])
})
