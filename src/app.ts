import { type Agents, type AgentsOptions, agentRoutes, cardRoutes, createAgents } from './a2a/a2a.ts'
import { createDevices, lockDevicesOf } from './devices/devices.ts'
import { deviceManagementRoutes } from './devices/manage-routes.ts'
import { deviceRoutes } from './devices/routes.ts'
import { createEvents, keepEventsJob, makePartitions, moveHistory } from './events/events.ts'
import { eventManagementRoutes } from './events/manage-routes.ts'
import { eventRoutes } from './events/routes.ts'
import { healthRoutes } from './health.ts'
import { manageRoutes } from './manage/routes.ts'
import type { Config } from './platform/config.ts'
import { openPool } from './platform/db/db.ts'
import { createListener } from './platform/db/listen.ts'
import { migrate } from './platform/db/migrate.ts'
import type { Database } from './platform/db/open.ts'
import { Refusal } from './platform/errors.ts'
import { docsRoutes } from './platform/http/docs-routes.ts'
import { routesOn } from './platform/http/routes.ts'
import { createHttp } from './platform/http/server.ts'
import { add } from './platform/jobs/jobs.ts'
import { createWorker } from './platform/jobs/worker.ts'
import type { Log } from './platform/log.ts'
import { createMetrics } from './platform/metrics.ts'
import { joinNodes, type NodeRole } from './platform/nodes.ts'
import { checkMasterKey, masterKey } from './platform/secrets.ts'
import { openTracing } from './platform/tracing.ts'
import { type Bootstrapped, bootstrap, writeCredentials } from './projects/bootstrap.ts'
import { eraseProjectJob, sweepJob } from './projects/jobs.ts'
import * as tenants from './projects/projects.ts'
import { userManagementRoutes } from './users/manage-routes.ts'
import { userRoutes } from './users/routes.ts'
import { createUsers } from './users/users.ts'

export interface App {
  baseUrl: string
  port: number
  bootstrapped: Bootstrapped
  /** Resolves when no job is due any more; for tests. */
  idle(): Promise<void>
  agents: Pick<Agents, 'stats'>
  close(): Promise<void>
}

export interface AppOptions {
  config: Config
  database: Pick<Database, 'connection'>
  log: Log
  role: NodeRole
  say: (line: string) => void
  /** Instead of what agents would use otherwise; for tests and for the conformance agent. */
  agents?: Partial<Pick<AgentsOptions, 'moreSkills' | 'enqueue' | 'refuseAddress' | 'readText'>> &
    Partial<AgentsOptions['does']>
}

/** Builds the whole service from its settings. Read this to see what knows what. */
export async function startApp({ config, database, log, role, say, agents: given = {} }: AppOptions): Promise<App> {
  // What was opened is closed in the opposite order, also when the start fails half-way.
  const opened: (() => Promise<unknown>)[] = []
  let stopping = false
  async function close(): Promise<void> {
    stopping = true
    for (const closeOne of opened.splice(0).reverse()) await closeOne()
  }

  try {
    const key = await masterKey(config.MASTER_KEY, config.DATA_DIR)
    const pool = openPool(database.connection, log, config.DATABASE_POOL_SIZE)
    opened.push(pool.close)
    const metrics = createMetrics()
    metrics.gauge(
      'tidings_database_connections',
      'Connections of the pool, and requests that wait for one.',
      pool.stats
    )
    const tracing = await openTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT)
    opened.push(tracing.close)
    const listener = createListener(pool, log)
    opened.push(listener.close)

    const credentials = tenants.createCredentials(pool, listener, tenants.toProject(config.PLANS), log)
    opened.push(credentials.close)
    const users = createUsers({ pool, metrics, beforeRemoval: lockDevicesOf })
    const devices = createDevices({ pool, metrics, moveHistory })
    const events = createEvents({ pool, devices, metrics })
    const agents = createAgents({
      pool,
      listener,
      log,
      metrics,
      key,
      does: {
        createUser: async (projectId, projectUserId, properties) => ({
          userId: (await users.create(projectId, projectUserId, properties)).id
        }),
        createUsers: async (tx, projectId, entries) =>
          (await users.createIn(tx, projectId, entries)).map((one) =>
            one instanceof Refusal ? one : { userId: one.id }
          ),
        trackEvent: (projectId, event) => events.track(projectId, event),
        sendPush: absent,
        triggerCampaign: absent,
        ...given
      },
      enqueue: absent,
      refuseAddress: async () => 'task webhooks are not part of this build',
      ...given,
      publicUrl: config.PUBLIC_URL,
      markTenant: config.A2A_TENANT_MARK,
      idempotencyHours: config.IDEMPOTENCY_HOURS,
      retentionDays: config.TASK_RETENTION_DAYS
    })
    opened.push(agents.close)
    // What belongs to others goes first: a cascade over all of it would be one long transaction.
    const erasure = eraseProjectJob(pool, [
      agents.eraseWindow,
      events.eraseWindow,
      devices.eraseWindow,
      users.eraseWindow
    ])
    const projects = tenants.createProjects({
      pool,
      plans: config.PLANS,
      credentials,
      log,
      scheduleErasure: (tx, projectId) => add(tx, erasure, { projectId }, { projectId, key: projectId })
    })

    const bootstrapped = await migrate(pool, async () => {
      await checkMasterKey(pool, key)
      // Should they be in use for long, the start does not fail over months that may not be needed before tomorrow.
      await makePartitions(pool, new Date()).catch((error: Error) => {
        log.warn({ error: error.message }, 'the tables of the coming months were not made yet')
      })
      return bootstrap(config, pool, projects, say)
    })
    const nodes = await joinNodes(pool, role, log)
    opened.push(nodes.leave)

    const worker = createWorker({
      pool,
      listener,
      log,
      nodeId: nodes.id,
      concurrency: config.WORKER_CONCURRENCY,
      jobs: [erasure, sweepJob(pool, nodes, config.AUDIT_RETENTION_DAYS), keepEventsJob(pool), ...agents.jobs].map(
        tracing.job
      )
    })
    if (role !== 'api') {
      worker.start()
      opened.push(() => worker.stop(config.SHUTDOWN_SECONDS * 1000))
    }

    const http = createHttp({ log, metrics, trustProxy: config.TRUST_PROXY })
    opened.push(() => http.close(config.SHUTDOWN_SECONDS * 1000))
    opened.push(agents.endStreams)
    tracing.requests(http.app)
    const open = routesOn<null, never>(http, [{ prefix: '', security: 'none', admit: () => null }])
    healthRoutes(open, { pool, metrics, stopping: () => stopping, metricsToken: config.METRICS_TOKEN })
    docsRoutes(open, http.documented)
    if (role !== 'worker') {
      const admission = tenants.createAdmission(credentials, tenants.createRateLimits(nodes.serving))
      const api = routesOn<tenants.ApiCaller, tenants.ApiAccess>(http, [
        { prefix: '/api/v1', security: 'key', plainUnauthorized: true, admit: admission.byKey },
        {
          prefix: '/manage/v1/projects/:project_id/api/v1',
          security: 'token',
          twin: true,
          admit: admission.byTokenForApi
        }
      ])
      const manage = routesOn<tenants.ManageCaller, tenants.ManageAccess>(http, [
        { prefix: '/manage/v1', security: 'token', admit: admission.byTokenForManagement }
      ])
      const agentSurface = routesOn<tenants.ApiCaller, tenants.ApiAccess>(http, [
        { prefix: '/a2a', security: 'agent', plainUnauthorized: true, admit: admission.byAgentKey },
        { prefix: '/manage/v1/projects/:project_id/a2a', security: 'token', twin: true, admit: admission.byTokenForApi }
      ])
      cardRoutes(open, agents)
      agentRoutes(agentSurface, agents)
      userRoutes(api, users)
      deviceRoutes(api, devices)
      eventRoutes(api, events)
      manageRoutes(manage, { projects, pool, nodes })
      userManagementRoutes(manage, users, pool)
      deviceManagementRoutes(manage, { devices, users, pool })
      eventManagementRoutes(manage, { users, pool })
    }

    const port = await http.listen(config.HOST, config.PORT)
    const baseUrl = config.PUBLIC_URL ?? `http://${reachable(config.HOST)}:${port}`
    bootstrapped.credentials.base_url = baseUrl
    // On a read-only disk all is given by settings, and nobody needs the file.
    await writeCredentials(config.DATA_DIR, bootstrapped.credentials).catch((error: Error) =>
      say(`Warning: ${error.message}`)
    )
    return { baseUrl, port, bootstrapped, idle: worker.idle, agents, close }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

/** For what another part will bring. */
const absent = async (): Promise<never> => {
  throw new Refusal('not_found', 'This is not part of this build.')
}

/** An address a person on this machine can open. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
