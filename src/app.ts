import { healthRoutes } from './health.ts'
import { manageRoutes } from './manage/routes.ts'
import type { Config } from './platform/config.ts'
import { openPool } from './platform/db/db.ts'
import { createListener } from './platform/db/listen.ts'
import { migrate } from './platform/db/migrate.ts'
import type { Database } from './platform/db/open.ts'
import { routesOn } from './platform/http/routes.ts'
import { createHttp } from './platform/http/server.ts'
import type { Log } from './platform/log.ts'
import { createMetrics } from './platform/metrics.ts'
import { joinNodes, type NodeRole } from './platform/nodes.ts'
import { checkMasterKey, masterKey } from './platform/secrets.ts'
import { type Bootstrapped, bootstrap, writeCredentials } from './projects/bootstrap.ts'
import * as projectsFront from './projects/projects.ts'
import { userManagementRoutes } from './users/manage-routes.ts'
import { userRoutes } from './users/routes.ts'
import { createUsers } from './users/users.ts'

export interface App {
  baseUrl: string
  port: number
  bootstrapped: Bootstrapped
  migrated: string[]
  close(): Promise<void>
}

export interface AppOptions {
  config: Config
  database: Database
  log: Log
  role: NodeRole
  say: (line: string) => void
}

/** Builds the whole service from its settings. Read this to see what knows what. */
export async function startApp({ config, database, log, role, say }: AppOptions): Promise<App> {
  const pool = openPool(database.connection, log, config.DATABASE_POOL_SIZE)
  const metrics = createMetrics()
  const key = await masterKey(config.MASTER_KEY, config.DATA_DIR)

  const listener = createListener(pool, log)
  const credentials = projectsFront.createCredentials(pool, listener, projectsFront.toProject(config.PLANS), log)
  const projects = projectsFront.createProjects({
    pool,
    plans: config.PLANS,
    credentials,
    scheduleErasure: async () => {}
  })
  const users = createUsers({ pool, metrics })

  let bootstrapped: Bootstrapped = { credentials: {}, first: false }
  const migrated = await migrate(pool, undefined, async () => {
    await checkMasterKey(pool, key)
    bootstrapped = await bootstrap(config, pool, projects, say)
  })
  const nodes = await joinNodes(pool, role, log)
  const limits = projectsFront.createRateLimits(nodes.serving)
  const admission = projectsFront.createAdmission(credentials, limits)

  let stopping = false
  const http = createHttp({ log, metrics, trustProxy: config.TRUST_PROXY })
  const open = routesOn<null, never>(http.app, http.documented, [{ prefix: '', security: 'none', admit: () => null }])
  const api = routesOn<projectsFront.ApiCaller, projectsFront.ApiAccess>(http.app, http.documented, [
    { prefix: '/api/v1', security: 'key', plainUnauthorized: true, admit: admission.byKey },
    { prefix: '/manage/v1/projects/:project_id/api/v1', security: 'token', twin: true, admit: admission.byTokenForApi }
  ])
  const manage = routesOn<projectsFront.ManageCaller, projectsFront.ManageAccess>(http.app, http.documented, [
    { prefix: '/manage/v1', security: 'token', admit: admission.byTokenForManagement }
  ])

  healthRoutes(open, { pool, metrics, stopping: () => stopping, metricsToken: config.METRICS_TOKEN })
  userRoutes(api, users)
  manageRoutes(manage, { projects, pool, nodes })
  userManagementRoutes(manage, users, pool)

  const port = await http.listen(config.HOST, config.PORT)
  const baseUrl = config.PUBLIC_URL ?? `http://${reachable(config.HOST)}:${port}`
  bootstrapped.credentials.base_url = baseUrl
  await writeCredentials(config.DATA_DIR, bootstrapped.credentials)

  return {
    baseUrl,
    port,
    bootstrapped,
    migrated,
    async close() {
      stopping = true
      const deadlineMs = config.SHUTDOWN_SECONDS * 1000
      await http.close(deadlineMs)
      await nodes.leave()
      await credentials.close()
      await listener.close()
      await pool.close()
    }
  }
}

/** An address a person on this machine can open. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
