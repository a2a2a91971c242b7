import { countOutcomes, createCampaigns, type OnEnded, tellEnded } from './campaigns/campaigns.ts'
import { campaignManagementRoutes } from './campaigns/manage-routes.ts'
import { campaignRoutes } from './campaigns/routes.ts'
import { triggerManagementRoutes } from './campaigns/trigger-routes.ts'
import { createCheck } from './delivery/credentials/check.ts'
import { createGateways } from './delivery/credentials/gateways.ts'
import { createProviderTokens } from './delivery/credentials/provider-tokens.ts'
import { gatewayRoutes } from './delivery/credentials/routes.ts'
import { createCredentialSource } from './delivery/credentials/source.ts'
import { createDelivery, messageMonths, moveMessages, type OnOutcomes, type Sender } from './delivery/delivery.ts'
import { deliveryManagementRoutes, deliveryRoutes } from './delivery/routes.ts'
import { createSender } from './delivery/sender.ts'
import { type Agents, type AgentsOptions, agentRoutes, cardRoutes, createAgents } from './a2a/a2a.ts'
import { createDevices, lockDevicesOf } from './devices/devices.ts'
import { deviceManagementRoutes } from './devices/manage-routes.ts'
import { deviceRoutes } from './devices/routes.ts'
import { createEvents, eventMonths, keepEventsJob, moveHistory } from './events/events.ts'
import { eventManagementRoutes } from './events/manage-routes.ts'
import { eventRoutes } from './events/routes.ts'
import { healthRoutes } from './health.ts'
import { manageRoutes } from './manage/routes.ts'
import { furnishDemo } from './manage/simulated-devices.ts'
import { simulatorRoutes } from './manage/simulator-routes.ts'
import type { Config } from './platform/config.ts'
import { openPool } from './platform/db/db.ts'
import { createListener } from './platform/db/listen.ts'
import { migrate } from './platform/db/migrate.ts'
import type { Database } from './platform/db/open.ts'
import { makePartitions } from './platform/db/partitions.ts'
import { Refusal } from './platform/errors.ts'
import { docsRoutes } from './platform/http/docs-routes.ts'
import { routesOn } from './platform/http/routes.ts'
import { createHttp } from './platform/http/server.ts'
import { add } from './platform/jobs/jobs.ts'
import { createWorker } from './platform/jobs/worker.ts'
import type { Log } from './platform/log.ts'
import { createMetrics } from './platform/metrics.ts'
import { joinNodes, type NodeRole } from './platform/nodes.ts'
import { finishRotation } from './platform/rotation.ts'
import { checkMasterKey, masterKey } from './platform/secrets.ts'
import { openTracing } from './platform/tracing.ts'
import { type Bootstrapped, bootstrap, writeCredentials } from './projects/bootstrap.ts'
import { eraseProjectJob, sweepJob } from './projects/jobs.ts'
import * as tenants from './projects/projects.ts'
import { sdkRoutes, webPushKeyRoute } from './sdk/sdk.ts'
import { createSimulators } from './simulator/fleet.ts'
import { userManagementRoutes } from './users/manage-routes.ts'
import { userRoutes } from './users/routes.ts'
import { createUsers } from './users/users.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

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
  /** Instead of the real gateways; for tests. */
  sender?: Sender
  /** Told of every message that ends, beside those who always are; for tests. */
  onOutcomes?: OnOutcomes
  /** Instead of what agents would use otherwise; for tests and for the conformance agent. */
  agents?: Partial<Pick<AgentsOptions, 'moreSkills' | 'enqueue' | 'refuseAddress' | 'readText'>> &
    Partial<AgentsOptions['does']>
}

/** Calls to webhooks that one process makes at a time. They cost little but patience. */
const callsAtOnce = 64

/** Builds the whole service from its settings. Read this to see what knows what. */
export async function startApp({ config, database, log, role, say, ...given }: AppOptions): Promise<App> {
export async function startApp({ config, database, log, role, say, agents: given = {} }: AppOptions): Promise<App> {
  // What was opened is closed in the opposite order, also when the start fails half-way.
  const opened: (() => Promise<unknown>)[] = []
  let stopping = false
  async function close(): Promise<void> {
    stopping = true
    for (const closeOne of opened.splice(0).reverse()) await closeOne()
  }

  try {
    const pool = openPool(database.connection, log, config.DATABASE_POOL_SIZE)
    opened.push(pool.close)
    // Before the key is read: a change of it that was cut off is finished here.
    if (!config.MASTER_KEY && (await finishRotation(pool, config.DATA_DIR)))
      say('Finished a change of the master key that had been cut off.')
    const key = await masterKey(config.MASTER_KEY, config.DATA_DIR)
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
    const devices = createDevices({
      pool,
      metrics,
      moveHistory: async (tx, projectId, from, to) => {
        await moveHistory(tx, projectId, from, to)
        await moveMessages(tx, projectId, from, to)
      }
    })
    const simulators = createSimulators({ pool, listener, log, key, devicesOf: devices.ofTokens })
    opened.push(simulators.close)
    const webhooks = createWebhooks({ pool, metrics, key, allowPrivate: config.WEBHOOK_ALLOW_PRIVATE })
    opened.push(async () => webhooks.close())
    const gatewayCredentials = createCredentialSource({
      pool,
      listener,
      key,
      projectOf: credentials.project,
      simulated: simulators.of
    })
    const providerTokens = createProviderTokens({ pool, key, log })
    const gateways = createGateways({
      pool,
      key,
      check: createCheck(providerTokens),
      changed: gatewayCredentials.forget
    })
    const sender = given.sender ?? createSender({ credentials: gatewayCredentials, providerTokens, log, metrics })
    const onEnded: OnEnded = async (tx, projectId, triggers) => {
      await tellEnded(tx, projectId, triggers)
      for (const { id, campaign_id, state, counts } of triggers) {
        await webhooks.onTriggerEnded(tx, projectId, { triggerId: id, campaignId: campaign_id, state, counts })
      }
    }
    const delivery = createDelivery({
      pool,
      sender,
      log,
      metrics,
      idempotencyHours: config.IDEMPOTENCY_HOURS,
      isSimulated: async (projectId) => (await credentials.project(projectId))?.mode === 'simulator',
      onOutcomes: async (tx, projectId, changes) => {
        await countOutcomes(onEnded)(tx, projectId, changes)
        await webhooks.onOutcomes(tx, projectId, changes)
        await given.onOutcomes?.(tx, projectId, changes)
      }
    })
    opened.push(() => delivery.close(config.SHUTDOWN_SECONDS * 1000))
    opened.push(() => sender.close(config.SHUTDOWN_SECONDS * 1000))
    const users = createUsers({
      pool,
      metrics,
      beforeRemoval: async (tx, projectId, userIds) => {
        await lockDevicesOf(tx, projectId, userIds)
        await delivery.removeOfUsers(tx, projectId, userIds)
      }
    })
    const events = createEvents({ pool, devices, metrics, onPushReports: delivery.recordReports })
    // Known when the node has joined the others.
    let workers = () => 1
    const campaigns = createCampaigns({
      pool,
      listener,
      metrics,
      delivery,
      idempotencyHours: config.IDEMPOTENCY_HOURS,
      workers: () => workers(),
      onEnded
    })
    // What belongs to others goes first: a cascade over all of it would be one long transaction.
    const erasure = eraseProjectJob(pool, [
      webhooks.eraseWindow,
      campaigns.eraseWindow,
      delivery.eraseWindow,
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

    const { bootstrapped, nodes } = await migrate(pool, async () => {
      await checkMasterKey(pool, key)
      // Should they be in use for long, the start does not fail over months that may not be needed before tomorrow.
      const months = async () => {
        for (const monthly of [eventMonths, messageMonths]) await makePartitions(pool, monthly, new Date())
      }
      await months().catch((error: Error) => {
        log.warn({ error: error.message }, 'the tables of the coming months were not made yet')
      })
      const bootstrapped = await bootstrap(config, pool, projects, say, (id) =>
        furnishDemo({ devices, simulators }, id)
      )
      // Under the same lock: whoever changes the master key sees every node that read the old one.
      return { bootstrapped, nodes: await joinNodes(pool, role, log) }
    })
    opened.push(nodes.leave)
    workers = nodes.working

    const worker = createWorker({
      pool,
      listener,
      log,
      nodeId: nodes.id,
      concurrency: config.WORKER_CONCURRENCY,
      jobs: [
        erasure,
        sweepJob(pool, nodes, config.AUDIT_RETENTION_DAYS),
        keepEventsJob(pool),
        webhooks.keepJob,
        ...delivery.jobs,
        ...campaigns.jobs
      ].map(tracing.job)
    })
    // Calls wait for others: they have a worker of their own, so that slow receivers hold up nothing else.
    const callWorker = createWorker({
      pool,
      listener,
      log,
      nodeId: nodes.id,
      concurrency: callsAtOnce,
      jobs: webhooks.jobs.map(tracing.job)
      jobs: [erasure, sweepJob(pool, nodes, config.AUDIT_RETENTION_DAYS), keepEventsJob(pool), ...agents.jobs].map(
        tracing.job
      )
    })
    if (role !== 'api') {
      const workers = [worker, callWorker]
      for (const one of workers) one.start()
      opened.push(() => Promise.all(workers.map((one) => one.stop(config.SHUTDOWN_SECONDS * 1000))))
    }

    const http = createHttp({ log, metrics, trustProxy: config.TRUST_PROXY })
    opened.push(() => http.close(config.SHUTDOWN_SECONDS * 1000))
    opened.push(simulators.endStreams)
    opened.push(agents.endStreams)
    tracing.requests(http.app)
    const open = routesOn<null, never>(http, [{ prefix: '', security: 'none', admit: () => null }])
    healthRoutes(open, { pool, metrics, stopping: () => stopping, metricsToken: config.METRICS_TOKEN })
    docsRoutes(open, http.documented)
    sdkRoutes(open)
    if (role !== 'worker') {
      const admission = tenants.createAdmission(credentials, tenants.createRateLimits(nodes.serving))
      const api = routesOn<tenants.ApiCaller, tenants.ApiAccess>(http, [
        {
          prefix: '/api/v1',
          security: 'key',
          plainUnauthorized: true,
          admit: admission.byKey,
          // What apps call, with a key that is public: pages are apps too.
          crossOrigin: (access) => access === 'client'
        },
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
      deliveryRoutes(api, delivery, pool)
      webPushKeyRoute(api, async ({ id, mode }) => (mode === 'simulator' ? simulators.vapidPublicKey(id) : null))
      manageRoutes(manage, { projects, pool, nodes })
      userManagementRoutes(manage, users, pool)
      deviceManagementRoutes(manage, { devices, users, pool })
      eventManagementRoutes(manage, { users, pool })
      gatewayRoutes(manage, gateways)
      deliveryManagementRoutes(manage, pool)
      simulatorRoutes(manage, { simulators, devices })
      campaignRoutes(api, campaigns)
      campaignManagementRoutes(manage, { campaigns, pool })
      triggerManagementRoutes(manage, campaigns)
      opened.push(campaigns.streams.close)
      webhookRoutes(manage, webhooks)
    }

    const port = await http.listen(config.HOST, config.PORT)
    const baseUrl = config.PUBLIC_URL ?? `http://${reachable(config.HOST)}:${port}`
    bootstrapped.credentials.base_url = baseUrl
    // On a read-only disk all is given by settings, and nobody needs the file.
    await writeCredentials(config.DATA_DIR, bootstrapped.credentials).catch((error: Error) =>
      say(`Warning: ${error.message}`)
    )
    const idle = async () => {
      await worker.idle()
      await callWorker.idle()
    }
    return { baseUrl, port, bootstrapped, idle, close }
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
