import { type Agents, agentQueue } from './a2a/a2a.ts'
import { demoCampaign } from './campaigns/campaigns.ts'
import { createRooms, type Given, type Rooms } from './capabilities.ts'
import { type ConsoleState, consoleRoutes } from './console/console.ts'
import { eventMonths, keepEventsJob } from './events/events.ts'
import { healthRoutes } from './health.ts'
import { furnishDemo } from './manage/simulated-devices.ts'
import { messageMonths } from './messages/messages.ts'
import type { Config } from './platform/config.ts'
import { openPool } from './platform/db/db.ts'
import { createListener } from './platform/db/listen.ts'
import { migrate } from './platform/db/migrate.ts'
import type { Database } from './platform/db/open.ts'
import { makePartitions } from './platform/db/partitions.ts'
import { docsRoutes } from './platform/http/openapi/docs-routes.ts'
import { routesOn } from './platform/http/routes.ts'
import { checkAddress, createHttp } from './platform/http/server.ts'
import { newId } from './platform/ids.ts'
import { countJobs, oldestReady } from './platform/jobs/jobs.ts'
import { createWorker } from './platform/jobs/worker.ts'
import type { Log } from './platform/log.ts'
import { createMetrics } from './platform/metrics.ts'
import { joinNodes, type NodeRole, type Nodes } from './platform/nodes/nodes.ts'
import { finishRotation } from './platform/secrets/rotation.ts'
import { checkMasterKey, hasSecrets, masterKey } from './platform/secrets/secrets.ts'
import { openTracing } from './platform/tracing.ts'
import { type Bootstrapped, bootstrap, writeCredentials } from './projects/bootstrap.ts'
import { sweepJob } from './projects/jobs.ts'
import { makeSignInCode } from './projects/projects.ts'
import { sdkRoutes } from './sdk/sdk.ts'
import { mountSurfaces } from './surfaces.ts'
import { callQueue } from './webhooks/webhooks.ts'

export interface App {
  baseUrl: string
  port: number
  bootstrapped: Bootstrapped
  /** Opens the console; that of a first start on this machine alone also signs in, once. A worker has none. */
  consoleUrl: string | undefined
  /** Resolves when no job is due any more; for tests. */
  idle(): Promise<void>
  agents: Pick<Agents, 'stats'>
  close(): Promise<void>
}

export interface AppOptions extends Given {
  config: Config
  database: Pick<Database, 'connection'>
  log: Log
  role: NodeRole
  say: (line: string) => void
  /** What the console shows; filled by whoever builds it. */
  console?: ConsoleState
}

/** Jobs of these queues do little but wait: for receivers of webhooks, and for the gateways of an agent's push. */
const waitingQueues = { [callQueue]: 64, [agentQueue]: 32 }

/** Starts the whole service from its settings. rooms.ts tells what knows what, surfaces.ts how it is reached. */
export async function startApp({ config, database, log, role, say, ...given }: AppOptions): Promise<App> {
  // What was opened is closed in the opposite order, also when the start fails half-way.
  const opened: (() => Promise<unknown>)[] = []
  const stopMs = config.SHUTDOWN_SECONDS * 1000
  let stopping = false
  async function close(): Promise<void> {
    stopping = true
    for (const closeOne of opened.splice(0).reverse()) await closeOne()
  }

  try {
    await checkAddress(config.HOST, config.PORT)
    const pool = openPool(database.connection, log, config.DATABASE_POOL_SIZE)
    opened.push(pool.close)
    // Before the key is read: a change of it that was cut off is finished here.
    if (!config.MASTER_KEY && (await finishRotation(pool, config.DATA_DIR)))
      say('Finished a change of the master key that had been cut off.')
    const key = await masterKey(config.MASTER_KEY, config.DATA_DIR, () => hasSecrets(pool))
    const metrics = createMetrics()
    metrics.gauge(
      'tidings_database_connections',
      'Connections of the pool, and requests that wait for one.',
      pool.stats
    )
    metrics.gauge('tidings_jobs', 'Jobs of the whole installation: ready, for later, running, given up.', () =>
      countJobs(pool)
    )
    metrics.gauge(
      'tidings_jobs_oldest_ready_seconds',
      'How long the oldest job that a worker could take has waited.',
      () => oldestReady(pool),
      'queue'
    )
    const tracing = await openTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT)
    opened.push(tracing.close)
    const listener = createListener(pool, log)
    opened.push(listener.close)
    const nodeId = newId()
    let nodes: Nodes | undefined
    // After all that follows messages has ended: to other nodes one that has left the list is dead.
    opened.push(async () => nodes?.leave())
    const rooms = createRooms({ config, pool, listener, log, metrics, key, opened, nodeId }, given)
    const { simulators, webhooks, campaigns, triggers, agents } = rooms

    const started = await migrate(pool, async () => {
      await checkMasterKey(pool, key)
      // Should they be in use for long, the start does not fail over months that may not be needed before tomorrow.
      const months = async () => {
        for (const monthly of [eventMonths, messageMonths]) await makePartitions(pool, monthly, new Date())
      }
      await months().catch((error: Error) => {
        log.warn({ error: error.message }, 'the tables of the coming months were not made yet')
      })
      const bootstrapped = await bootstrap(config, pool, rooms.projects, say, async (id) => {
        await Promise.all([furnishDemo(rooms, id), campaigns.saving.create(id, 'bootstrap', demoCampaign())])
      })
      // Under the same lock: whoever changes the master key sees every node that read the old one.
      nodes = await joinNodes(pool, { id: nodeId, role, alone: config.DATABASE_URL === undefined }, log)
      return { bootstrapped, nodes }
    })
    const { bootstrapped } = started
    rooms.cluster.workers = started.nodes.working
    metrics.gauge(
      'tidings_nodes',
      'Nodes at work on this database; all and worker run jobs.',
      started.nodes.counts,
      'role'
    )

    const worker = createWorker({
      pool,
      listener,
      log,
      nodeId,
      concurrency: config.WORKER_CONCURRENCY,
      wider: waitingQueues,
      jobs: [
        rooms.erasure,
        sweepJob(pool, started.nodes, config.AUDIT_RETENTION_DAYS),
        keepEventsJob(pool),
        webhooks.keepJob,
        ...webhooks.jobs,
        ...rooms.messages.jobs,
        ...triggers.jobs,
        ...agents.jobs
      ].map(tracing.job)
    })
    if (role !== 'api') {
      worker.start()
      opened.push(() => worker.stop(stopMs))
    }

    const http = createHttp({ log, metrics, trustProxy: config.TRUST_PROXY })
    opened.push(() => http.close(stopMs))
    for (const endStreams of [simulators.endStreams, agents.endStreams, triggers.streams.close]) opened.push(endStreams)
    tracing.requests(http.app)
    const open = routesOn<null, never>(http, [{ prefix: '', security: 'none', admit: () => null }])
    healthRoutes(open, {
      pool,
      metrics,
      stopping: () => stopping,
      warning: started.nodes.warning,
      metricsToken: config.METRICS_TOKEN
    })
    docsRoutes(open, http.documented)
    if (role !== 'worker') {
      sdkRoutes(open)
      consoleRoutes(open, given.console ?? {}, {
        pool,
        credentials: rooms.credentials,
        secure: config.PUBLIC_URL?.startsWith('https:') === true
      })
      mountSurfaces(http, open, rooms, { pool, nodes: started.nodes })
    }

    const port = await http.listen(config.HOST, config.PORT)
    const localUrl = `http://${reachable(config.HOST)}:${port}`
    const baseUrl = config.PUBLIC_URL ?? localUrl
    bootstrapped.credentials.base_url = baseUrl
    if (config.PUBLIC_URL) bootstrapped.credentials.local_url = localUrl
    else delete bootstrapped.credentials.local_url
    // On a read-only disk all is given by settings, and nobody needs the file.
    await writeCredentials(config.DATA_DIR, bootstrapped.credentials).catch((error: Error) =>
      say(`Warning: ${error.message}`)
    )
    // Only where this start made the admin token: later starts would leave a live code in each log.
    const newcomer = bootstrapped.first && !bootstrapped.named.admin_token
    const signIn =
      newcomer && role !== 'worker' && isLoopback(config.HOST) ? await signInCode(rooms, pool, bootstrapped) : ''
    return {
      baseUrl,
      port,
      bootstrapped,
      consoleUrl: role === 'worker' ? undefined : `${baseUrl}/console/${signIn}`,
      idle: worker.idle,
      agents,
      close
    }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

/** Behind the #, which no server and no log ever sees. */
async function signInCode(
  { credentials }: Rooms,
  pool: Parameters<typeof makeSignInCode>[0],
  { credentials: { admin_token } }: Bootstrapped
): Promise<string> {
  const admin = admin_token && (await credentials.token(admin_token))
  return admin ? `#code=${await makeSignInCode(pool, admin.id)}` : ''
}

/** Whoever reads what a start prints there sits at this machine. */
const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** An address a person on this machine can open. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
