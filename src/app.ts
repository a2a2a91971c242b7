import { type Agents, agentQueue } from './a2a/a2a.ts'
import { channelQueue } from './activity-channels/activity-channels.ts'
import { demoCampaign } from './campaigns/campaigns.ts'
import { type Capabilities, createCapabilities, type Infrastructure, type Overrides } from './capabilities.ts'
import { type ConsoleState, consoleRoutes } from './console/console.ts'
import { eventMonths } from './events/events.ts'
import { healthRoutes } from './health.ts'
import { openInfrastructure } from './infrastructure.ts'
import { createChanges } from './manage/changes/changes.ts'
import { furnishDemo } from './manage/simulated-devices.ts'
import { messageMonths } from './messages/messages.ts'
import { pausedSentence, pauseOf } from './platform/backup/paused.ts'
import type { Config } from './platform/config/config.ts'
import type { Pool } from './platform/db/db.ts'
import { tooFull } from './platform/db/embedded/disk.ts'
import { migrate } from './platform/db/migrate.ts'
import type { Database } from './platform/db/open.ts'
import { makePartitions } from './platform/db/partitions.ts'
import { docsSiteRoutes } from './platform/docs/docs-routes.ts'
import { docsRoutes } from './platform/http/openapi/docs-routes.ts'
import { routesOn } from './platform/http/routes.ts'
import { createHttp, type Http } from './platform/http/server.ts'
import { createWorker } from './platform/jobs/worker.ts'
import type { Log } from './platform/log.ts'
import { type MetricReport, together } from './platform/metrics.ts'
import { checkAddress } from './platform/net/listening.ts'
import { localUrl } from './platform/net/local-url.ts'
import { joinNodes, type NodeRole, type Nodes } from './platform/nodes/nodes.ts'
import { checkMasterKey } from './platform/secrets/secrets.ts'
import { countProcesses, missingProcesses, type Siblings } from './platform/siblings/siblings.ts'
import type { Telemetry } from './platform/telemetry/telemetry.ts'
import { type Bootstrapped, bootstrap, writeCredentials } from './projects/bootstrap.ts'
import { resumeAllJob, sweepJob } from './projects/jobs.ts'
import { createRateLimits, createSharedLimits, makeSignInCode, type RateLimits } from './projects/projects.ts'
import { schemaNames } from './schema-names.ts'
import { sdkRoutes } from './sdk/sdk.ts'
import { mountSurfaces } from './surfaces.ts'
import { callQueue } from './webhooks/webhooks.ts'

export interface App {
  baseUrl: string
  port: number
  bootstrapped: Bootstrapped
  /**
   * The address of the console; none for a worker. After a first start on a loopback address it also signs in, once.
   */
  consoleUrl: string | undefined
  /** Resolves when no job is due; for tests. */
  idle(): Promise<void>
  agents: Pick<Agents, 'stats'>
  /** The metrics of this process, for a sum over several. */
  report(): Promise<MetricReport>
  close(): Promise<void>
}

export interface AppOptions extends Overrides {
  config: Config
  database: Pick<Database, 'connection'>
  log: Log
  role: NodeRole
  say: (line: string) => void
  /** The other processes of this parent, if there are several. */
  siblings?: Siblings
  /** State of the console, filled by its builder. */
  console?: ConsoleState
}

/** Jobs of these queues are I/O-bound: they wait for receivers of webhooks, or for gateways. */
const waitingQueues = { [callQueue]: 64, [agentQueue]: 32, [channelQueue]: 32 }

type Closers = Infrastructure['opened']
type Start = Pick<AppOptions, 'config' | 'role' | 'say' | 'console' | 'siblings'>

/** Starts the whole service from its settings. capabilities.ts makes its parts, surfaces.ts mounts them. */
export async function startApp({ database, ...options }: AppOptions): Promise<App> {
  const { config, role } = options
  // Closers run in the opposite order, also when the start fails half-way.
  const opened: Closers = []
  let stopping = false
  async function close(): Promise<void> {
    stopping = true
    for (const closeOne of opened.splice(0).reverse()) await closeOne()
  }

  try {
    // The parent of several processes has checked it, and others of them may listen by now.
    if (!options.siblings) await checkAddress(config.HOST, config.PORT)
    const { infrastructure, telemetry } = await openInfrastructure(options, database, opened)
    const joined: { nodes?: Nodes } = {}
    // Leaves the list of nodes last: other nodes treat a node that left as dead and take over its messages.
    opened.push(async () => joined.nodes?.leave())
    const capabilities = createCapabilities(infrastructure, options)
    const bootstrapped = await setUp(options, infrastructure, capabilities, joined)
    const nodes = joined.nodes!
    await capabilities.messages.recover()
    capabilities.cluster.workers = nodes.working
    capabilities.cluster.serving = nodes.serving
    const worker = startWorker(options, infrastructure, capabilities, { nodes, telemetry })
    const http = openHttp(options, infrastructure, capabilities, { nodes, telemetry, stopping: () => stopping })
    infrastructure.pool.beginServing()
    const port = await http.listen(config.HOST, options.siblings?.port ?? config.PORT, options.siblings?.sharesPort)
    // Pushed last, so that it runs first. A worker serves nothing that a load balancer would send elsewhere.
    if (role !== 'worker') opened.push(() => http.drain(config.DRAIN_SECONDS * 1000))
    const baseUrl = await writeAddress(options, bootstrapped, port)
    capabilities.address.base = baseUrl
    const signIn = await signInOf(options, infrastructure, capabilities, bootstrapped)
    return {
      baseUrl,
      port,
      bootstrapped,
      consoleUrl: role === 'worker' ? undefined : `${baseUrl}/console/${signIn}`,
      idle: () => worker.idle(),
      agents: capabilities.agents,
      report: infrastructure.metrics.report,
      close
    }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

/** Migrates, bootstraps and joins the list of nodes, under one lock. */
function setUp(
  { say, role, siblings }: Start,
  { config, pool, log, metrics, key, nodeId }: Infrastructure,
  capabilities: Capabilities,
  joined: { nodes?: Nodes }
): Promise<Bootstrapped> {
  return migrate(
    pool,
    async () => {
      await checkMasterKey(pool, key)
      // A failure to create partitions does not stop the start: tomorrow may be the first day that needs them.
      await makeMonths(pool).catch((error: Error) => {
        log.warn({ error: error.message }, 'the tables of the coming months were not made yet')
      })
      const bootstrapped = await bootstrap(config, pool, capabilities.projects, say, async (id) => {
        const { saving } = capabilities.campaigns
        await Promise.all([furnishDemo(capabilities, id), saving.create(id, 'bootstrap', demoCampaign())])
      })
      // Joins under the same lock, so that a change of the master key sees every node that read the old one.
      const alone = config.DATABASE_URL === undefined && siblings?.first !== false
      joined.nodes = await joinNodes(pool, { id: nodeId, role, parentId: siblings?.parentId ?? null, alone }, log)
      const pause = await pauseOf(pool)
      if (pause) say(pausedSentence(pause))
      const { counts } = joined.nodes
      metrics.gauge('tidings_nodes', 'Nodes at work on this database; all and worker run jobs.', counts, {
        label: 'role',
        of: 'all'
      })
      return bootstrapped
    },
    { newer: 'beside' }
  )
}

async function makeMonths(pool: Pool): Promise<void> {
  for (const monthly of [eventMonths, messageMonths]) await makePartitions(pool, monthly, new Date())
}

function startWorker(
  { role }: Start,
  { config, pool, listener, log, nodeId, opened }: Infrastructure,
  {
    erasure,
    discard,
    projects,
    members,
    users,
    events,
    webhooks,
    messages,
    activityChannels,
    segments,
    triggers,
    schedules,
    journeys,
    stats,
    oversight,
    agents,
    cluster
  }: Capabilities,
  { nodes, telemetry }: { nodes: Nodes; telemetry: Telemetry }
) {
  const worker = createWorker({
    pool,
    listener,
    log,
    nodeId,
    concurrency: config.WORKER_CONCURRENCY,
    wider: waitingQueues,
    jobs: [
      erasure,
      sweepJob(pool, nodes, config.AUDIT_RETENTION_DAYS),
      resumeAllJob(pool, projects),
      discard,
      webhooks.keepJob,
      ...members.jobs,
      ...users.jobs,
      ...events.jobs,
      ...webhooks.jobs,
      ...messages.jobs,
      ...activityChannels.jobs,
      ...segments.jobs,
      ...triggers.jobs,
      ...schedules.jobs,
      ...stats.jobs,
      ...journeys.jobs,
      ...oversight.jobs,
      ...agents.jobs
    ].map(telemetry.job)
  })
  if (role !== 'api') {
    worker.start()
    cluster.reserve = (name) => worker.reserve(name)
    opened.push(() => worker.stop(config.SHUTDOWN_SECONDS * 1000))
  }
  return worker
}

function openHttp(
  { role, console: state = {}, siblings }: Start,
  { config, pool, log, metrics, opened }: Infrastructure,
  capabilities: Capabilities,
  { nodes, telemetry, stopping }: { nodes: Nodes; telemetry: Telemetry; stopping: () => boolean }
): Http {
  const { simulators, agents, mcp, triggers, credentials, cookies, members, doors } = capabilities
  const changes = createChanges({ pool, nodes, log })
  const http = createHttp({ log, metrics, trustProxy: config.TRUST_PROXY, parser: config.HTTP_PARSER })
  opened.push(() => http.close(config.SHUTDOWN_SECONDS * 1000))
  for (const endStreams of [
    simulators.endStreams,
    agents.endStreams,
    mcp.endStreams,
    triggers.streams.close,
    changes.close
  ])
    opened.push(endStreams)
  telemetry.requests(http)
  const open = routesOn<null, never>(http, [{ prefix: '', security: 'none', admit: () => null }])
  const full = () => (config.DATABASE_URL === undefined ? tooFull(config.DATA_DIR) : undefined)
  if (siblings) countProcesses(metrics, siblings)
  healthRoutes(open, {
    pool,
    metrics: async () => (siblings ? together(await siblings.reports()) : metrics.registry.metrics()),
    stopping,
    warning: () => nodes.warning() ?? (siblings && missingProcesses(siblings.state())) ?? full(),
    metricsToken: config.METRICS_TOKEN
  })
  docsRoutes(open, http.documented, schemaNames)
  docsSiteRoutes(open)
  if (role === 'worker') return http
  sdkRoutes(open)
  consoleRoutes(open, state, {
    pool,
    credentials,
    cookies,
    members,
    doors,
    passwords: config.PASSWORD_SIGN_IN,
    baseUrlOf: agents.baseUrlOf
  })
  mountSurfaces(http, capabilities, {
    ...{ pool, nodes, changes },
    limits: limitsOf(nodes, siblings),
    agentOrigins: config.A2A_ORIGINS ?? []
  })
  return http
}

/** Processes of one parent share the buckets that it has; other nodes share each limit by their number. */
function limitsOf({ hosts }: Nodes, siblings: Siblings | undefined): RateLimits {
  if (!siblings) return createRateLimits(hosts)
  const own = createRateLimits(() => hosts() * siblings.state().wanted)
  return createSharedLimits((buckets) => siblings.take(hosts(), buckets), own)
}

/** Writes the addresses of the service into credentials.json, and returns the address for callers. */
async function writeAddress({ config, say }: Start, { credentials }: Bootstrapped, port: number): Promise<string> {
  const local = localUrl(config.HOST, port)
  const baseUrl = config.PUBLIC_URL ?? local
  credentials.base_url = baseUrl
  if (config.PUBLIC_URL) credentials.local_url = local
  else delete credentials.local_url
  // On a read-only disk the settings hold all credentials, and the file is not needed.
  await writeCredentials(config.DATA_DIR, credentials).catch((error: Error) => say(`Warning: ${error.message}`))
  return baseUrl
}

/**
 * The URL fragment that signs a browser in; browsers send fragments to no server, so no log contains it. Only the start
 * that made the admin token prints it, and only on a loopback address: later starts would leave a live code in each
 * log.
 */
async function signInOf(
  { role }: Start,
  { config, pool }: Infrastructure,
  { credentials }: Capabilities,
  { first, named, credentials: { admin_token } }: Bootstrapped
): Promise<string> {
  if (!first || named.admin_token || role === 'worker' || !isLoopback(config.HOST)) return ''
  const admin = admin_token && (await credentials.token(admin_token))
  return admin ? `#code=${await makeSignInCode(pool, admin.id)}` : ''
}

/** Only people at this machine read what a start prints there. */
const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')
