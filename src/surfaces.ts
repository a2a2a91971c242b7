import type { FastifyRequest } from 'fastify'
import { agentRoutes, cardRoutes, registryRoutes, taskRecordRoutes } from './a2a/a2a.ts'
import { activityChannelRoutes } from './activity-channels/routes.ts'
import { campaignManagementRoutes } from './campaigns/manage-routes.ts'
import { campaignPreviewRoutes } from './campaigns/preview/routes.ts'
import { campaignSummaryRoutes } from './campaigns/summary-routes.ts'
import type { Capabilities } from './capabilities.ts'
import { importRoutes } from './devices/import/routes.ts'
import { deviceManagementRoutes } from './devices/manage-routes.ts'
import { deviceRoutes } from './devices/routes.ts'
import { eventManagementRoutes } from './events/manage-routes.ts'
import { eventRoutes } from './events/routes.ts'
import { gatewayRoutes } from './gateways/gateways.ts'
import { intakeRoutes } from './intake/routes.ts'
import { journeyRoutes } from './journeys/manage-routes.ts'
import { passkeyRoutes } from './manage/account/passkey-routes.ts'
import type { Changes } from './manage/changes/changes.ts'
import { changeRoutes } from './manage/changes/routes.ts'
import { jobRoutes } from './manage/job-routes.ts'
import { memberRoutes } from './manage/member-routes.ts'
import { erasureRoutes } from './manage/privacy/erasure-routes.ts'
import { privacyRoutes } from './manage/privacy/routes.ts'
import { manageRoutes } from './manage/routes.ts'
import { sessionRoutes } from './manage/session-routes.ts'
import { simulatorRoutes } from './manage/simulator-routes.ts'
import { checkOrigin, mcpRoutes } from './mcp/mcp.ts'
import { authorsOf } from './members/members.ts'
import { messageManagementRoutes, messageRoutes } from './messages/messages.ts'
import { approvalRoutes } from './oversight/oversight.ts'
import type { Pool } from './platform/db/db.ts'
import { pagesOfAgents, pagesOfApps } from './platform/http/cross-origin.ts'
import { pathTemplate } from './platform/http/openapi/names.ts'
import type { Mount } from './platform/http/route.ts'
import { routesOn } from './platform/http/routes.ts'
import type { Http } from './platform/http/server.ts'
import { createWatching, type Most } from './platform/http/streams/watching.ts'
import type { Nodes } from './platform/nodes/nodes.ts'
import { topicRoutes } from './preferences/manage-routes.ts'
import { preferenceRoutes } from './preferences/routes.ts'
import * as tenants from './projects/projects.ts'
import { resumeRoutes } from './resuming/routes.ts'
import { webPushKeyRoute } from './sdk/sdk.ts'
import { simulatedWebPushRoutes } from './sdk/simulated-routes.ts'
import { catalogRoutes } from './segments/catalog/routes.ts'
import { segmentRoutes } from './segments/saved/routes.ts'
import { statsRoutes } from './stats/routes.ts'
import { triggerManagementRoutes } from './triggers/manage-routes.ts'
import { triggerRoutes } from './triggers/routes.ts'
import { indexedPropertyRoutes } from './users/index-routes.ts'
import { userManagementRoutes } from './users/manage-routes.ts'
import { userRoutes } from './users/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** Mounts the API and the agents, opened by a key, and the management, opened by a token, with both again below it. */
export function mountSurfaces(
  http: Http,
  capabilities: Capabilities,
  {
    pool,
    nodes,
    changes,
    limits,
    agentOrigins
  }: {
    pool: Pool
    nodes: Nodes
    changes: Changes
    limits: tenants.RateLimits
    agentOrigins: readonly string[]
  }
): void {
  const {
    users,
    devices,
    events,
    messages,
    campaigns,
    triggers,
    agents,
    mcp,
    simulators,
    gateways,
    webhooks,
    projects
  } = capabilities
  const admission = tenants.createAdmission(capabilities.credentials, capabilities.cookies, limits)
  const policies = capabilities.oversight.restGate(agents.skills.values())
  const api = routesOn<tenants.ApiCaller, tenants.ApiAccess>(http, [
    {
      prefix: '/api/v1',
      security: 'key',
      plainUnauthorized: true,
      admit: withinPolicy(admission.byKey, policies.checkRoute),
      shareOf: ofProject,
      // Apps call these with a public key, and pages are apps too.
      crossOrigin: (access) => (access === 'client' ? pagesOfApps : undefined)
    },
    {
      prefix: '/manage/v1/projects/:project_id/api/v1',
      security: 'token',
      twin: true,
      admit: admission.byTokenForApi,
      shareOf: ofProject
    }
  ])
  const forAgents = pagesOfAgents(agentOrigins)
  const cards = routesOn<null, never>(http, [
    { prefix: '', security: 'none', admit: () => null, crossOrigin: () => forAgents }
  ])
  const agentSurface = routesOn<tenants.ApiCaller, tenants.ApiAccess>(http, [
    {
      prefix: '/a2a',
      security: 'agent',
      plainUnauthorized: true,
      admit: admission.byAgentKey,
      shareOf: ofProject,
      crossOrigin: () => forAgents
    },
    {
      prefix: '/manage/v1/projects/:project_id/a2a',
      security: 'token',
      twin: true,
      admit: tenants.actingWithKey(pool, admission.byTokenForApi),
      shareOf: ofProject
    }
  ])
  const mcpSurface = routesOn<tenants.ApiCaller, tenants.ApiAccess>(http, [
    {
      prefix: '/mcp',
      security: 'agent',
      admit: (request, reply) => {
        checkOrigin(request.headers.origin, agentOrigins)
        return admission.byAgentKey(request, reply)
      },
      shareOf: ofProject,
      crossOrigin: () => forAgents
    }
  ])
  const manage = routesOn<tenants.ManageCaller, tenants.ManageAccess>(http, [
    { prefix: '/manage/v1', security: 'token', admit: admission.byTokenForManagement, shareOf: ofCaller }
  ])

  userRoutes(api, users)
  importRoutes(api, capabilities.imports)
  deviceRoutes(api, devices, capabilities.identity)
  eventRoutes(api, events)
  preferenceRoutes(api, capabilities.preferences, capabilities.identity)
  messageRoutes(api, messages.send, pool, messages.cancelWaiting, policies.admitSend)
  activityChannelRoutes(api, capabilities.activityChannels, policies.checkChannelChange)
  triggerRoutes(api, {
    ...{ triggers, permitTrigger: policies.permitTrigger },
    // Routes end their streams with the rights of the caller by themselves.
    watching: createWatching(async () => {}, triggerStreams)
  })
  campaignPreviewRoutes(api, campaigns, policies.issueConfirmation)
  campaignSummaryRoutes(api, { campaigns, pool })
  statsRoutes(api, capabilities.stats)
  webPushKeyRoute(api, async ({ id, mode }) =>
    mode === 'simulator' ? simulators.vapidPublicKey(id) : gateways.credentials.webPushKey(id)
  )
  simulatedWebPushRoutes(api, simulators)
  cardRoutes(cards, agents)
  registryRoutes(cards, agents.baseUrlOf)
  agentRoutes(agentSurface, agents, admission)
  mcpRoutes(mcpSurface, mcp, admission)

  intakeRoutes(http, { ...capabilities, admission, baseUrlOf: agents.baseUrlOf })

  const names = tenants.createNames(pool, authorsOf)
  manageRoutes(manage, { projects, identity: capabilities.identity, pool, nodes, names, skills: agents.skills })
  const watching = (most: Most) => createWatching(admission.byTokenForManagement, most)
  changeRoutes(manage, changes, watching({ caller: 20, project: 200, node: 1_000 }))
  memberRoutes(manage, capabilities.members, () => capabilities.address.base)
  sessionRoutes(manage, capabilities.members, capabilities.doors)
  passkeyRoutes(manage, { ...capabilities, baseUrlOf: agents.baseUrlOf })
  jobRoutes(manage, pool)
  resumeRoutes(manage, pool)
  userManagementRoutes(manage, users, pool)
  privacyRoutes(manage, { ...capabilities, pool })
  erasureRoutes(manage, capabilities.erasures)
  indexedPropertyRoutes(manage, users, pool)
  deviceManagementRoutes(manage, { devices, users, pool })
  eventManagementRoutes(manage, { users, pool })
  gatewayRoutes(manage, gateways.credentials, names)
  messageManagementRoutes(manage, pool)
  simulatorRoutes(manage, {
    ...{ simulators, devices, events, pool },
    watching: watching({ caller: 20, project: 50, node: 200 })
  })
  topicRoutes(manage, capabilities.preferences)
  segmentRoutes(manage, capabilities.segments)
  campaignManagementRoutes(manage, { campaigns, pool, namesOf: names })
  catalogRoutes(manage, capabilities.segments.catalog)
  triggerManagementRoutes(manage, {
    ...{ triggers, namesOf: names },
    watching: watching(triggerStreams)
  })
  journeyRoutes(manage, { users, campaigns, pool })
  taskRecordRoutes(manage, pool, names)
  webhookRoutes(manage, webhooks)
  approvalRoutes(manage, capabilities.oversight.approvals, names)
}

/** Each of these streams reads the database twice a second. */
const triggerStreams: Most = { caller: 20, project: 100, node: 500 }

type Admit = Mount<tenants.ApiCaller, tenants.ApiAccess>['admit']

/** Admits a caller and checks that the policy of its key allows the route. Costs nothing for a key without a policy. */
function withinPolicy(admit: Admit, check: (policy: tenants.Policy, route: string) => void): Admit {
  const checked = (caller: tenants.ApiCaller, request: FastifyRequest) => {
    if (caller.key?.policy) check(caller.key.policy, routeOf(request))
    return caller
  }
  return (request, reply, access) => {
    const caller = admit(request, reply, access)
    return caller instanceof Promise ? caller.then((found) => checked(found, request)) : checked(caller, request)
  }
}

/** The route of a request as the docs name it, without its prefix. */
const routeOf = ({ method, routeOptions: { url = '' } }: FastifyRequest): string =>
  `${method === 'HEAD' ? 'GET' : method} ${pathTemplate(url.slice('/api/v1'.length))}`

const ofProject = ({ project }: tenants.ApiCaller): string => project.id
/** A request that concerns no project counts for the share of its caller. */
const ofCaller = ({ project, actor }: tenants.ManageCaller): string => project?.id ?? actor
