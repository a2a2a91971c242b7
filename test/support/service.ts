import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import pg from 'pg'
import { type App, type AppOptions, startApp } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/platform/config/config.ts'
import { connectionOf } from '../../src/platform/db/open.ts'
import { onCitus } from './citus-databases.ts'
import { createDatabase, databaseUrl, dropDatabase, withClient } from './database.ts'
import { eventually } from './eventually.ts'
import { type Asked, ask, type Json, type Reply } from './http.ts'
import { silentLog } from './log.ts'
import { throughPooler } from './pooled.ts'

export { eventually }

export interface TestProject {
  id: string
  secretKey: string
  publicKey: string
  /** Calls with this project's secret key. */
  call(method: string, path: string, asked?: Asked): Promise<Reply>
}

/** Stand-ins that a test provides in place of the real parts. */
export type Given = Pick<
  AppOptions,
  'sender' | 'onSettled' | 'eventSubscribers' | 'agents' | 'console' | 'passwordCost'
> &
  Partial<Pick<AppOptions, 'log' | 'say'>>

export interface TestService {
  url: string
  config: Config
  app: App
  adminToken: string
  databaseUrl: string
  /** Calls without any credentials. */
  ask(method: string, path: string, asked?: Asked): Promise<Reply>
  /** Calls with the administrator's token. */
  manage(method: string, path: string, asked?: Asked): Promise<Reply>
  /** Makes a separate project, so that tests of one file do not affect each other. */
  project(wish?: Record<string, unknown>): Promise<TestProject>
  /** Reads the database directly. */
  sql(text: string, values?: unknown[]): Promise<Json[]>
  /** Starts recurring work now, for tests of its effect and not of its schedule. */
  hurry(job: string): Promise<void>
  /** Another node on the same database. */
  another(env?: Record<string, string>, given?: Given): Promise<TestService>
  close(): Promise<void>
}

/** The same settings for all services, so that a bootstrapped database can be copied. */
const usual = {
  BOOTSTRAP_ADMIN_TOKEN: `svc_at_${'suite'.padEnd(43, '-suite')}`,
  MASTER_KEY: Buffer.alloc(32, 'suite').toString('base64')
}

/**
 * A database on which the service has started once, to be copied. All recurring work has run, so that no copy begins
 * with it: in a copy, hourly work runs only if a test hurries it.
 */
export async function bootstrappedDatabase(): Promise<string> {
  const name = await createDatabase('migrated')
  const service = await open({ ...usual, DATABASE_URL: databaseUrl(name) }, {})
  // Not by `service.sql`, whose connection stays open: a database that is in use cannot be copied.
  await withClient(databaseUrl(name), (client) =>
    eventually(async () => {
      const { rows } = await client.query<{ due: string; known: string }>(
        `select count(*) filter (where ready or claim is not null) as due, count(*) as known
           from jobs where key = 'recurring'`
      )
      const { due, known } = rows[0]!
      if (due !== '0' || known === '0') throw new Error(`recurring work has not run: ${due} of ${known}`)
    }, 60_000)
  )
  await service.close()
  return name
}

/** Starts the service in this process on a separate database; both end when the tests of the file are over. */
export async function startService(env: Record<string, string> = {}, given: Given = {}): Promise<TestService> {
  const first = Object.keys(env).some((name) => /^(BOOTSTRAP_|MASTER_KEY|DATA_DIR)/.test(name))
  const name = await createDatabase(first ? 'migrated' : 'bootstrapped')
  const service = await startNode({ ...usual, DATABASE_URL: databaseUrl(name), ...env }, given)
  after(() => dropDatabase(name))
  return service
}

/** Starts the service in this process on the database that the settings name. */
export async function startNode(env: Record<string, string>, given: Given = {}): Promise<TestService> {
  const service = await open(env, given)
  after(service.close)
  return service
}

async function open(env: Record<string, string>, given: Given): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  const config = readConfig({
    PORT: '0',
    LOG_LEVEL: 'silent',
    SHUTDOWN_SECONDS: '2',
    DATA_DIR: dataDir,
    ...throughPooler(env)
  })
  const connection = { ...connectionOf({ ...config, DATABASE_URL: config.DATABASE_URL! }), distributed: onCitus }
  const database = { connection, name: 'test', exited: new Promise<void>(() => {}), stop: async () => {} }
  const app = await startApp({ config, database, log: silentLog, role: 'all', say: () => {}, ...given })
  const url = `http://127.0.0.1:${app.port}`
  const adminToken = config.BOOTSTRAP_ADMIN_TOKEN ?? app.bootstrapped.credentials.admin_token!
  // The connection stays open, because a test that waits queries again and again. It ends with the database or the
  // process.
  const behind = new pg.Pool({ connectionString: env.DATABASE_URL!, max: 3, allowExitOnIdle: true })
  behind.on('error', () => {})
  let closed: Promise<void> | undefined
  const close = () => (closed ??= app.close().then(() => rm(dataDir, { recursive: true, force: true })))

  const manage = (method: string, path: string, asked: Asked = {}) =>
    ask(url, method, `/manage/v1${path}`, {
      ...asked,
      headers: { authorization: `Bearer ${adminToken}`, ...asked.headers }
    })

  return {
    url,
    config,
    app,
    adminToken,
    databaseUrl: env.DATABASE_URL!,
    ask: (method, path, asked) => ask(url, method, path, asked),
    manage,
    async project(wish = {}) {
      const { id } = must(await manage('POST', '/projects', { json: { name: 'Test', ...wish } }))
      const secretKey = must(
        await manage('POST', `/projects/${id}/keys`, { json: { kind: 'secret', name: 'test' } })
      ).key
      const publicKey = must(
        await manage('POST', `/projects/${id}/keys`, { json: { kind: 'public', name: 'test' } })
      ).key
      return {
        id,
        secretKey,
        publicKey,
        call: (method, path, asked = {}) =>
          ask(url, method, path, {
            ...asked,
            headers: { 'x-service-project-id': id, 'x-service-api-key': secretKey, ...asked.headers }
          })
      }
    },
    sql: async (text, values) => (await behind.query(text, values)).rows,
    async hurry(job) {
      // A run that is under way may have read the tables before the test wrote, so another one follows it.
      await behind.query(
        `with hurried as (
           update jobs
              set ready = claim is null,
                  run_at = case when claim is null then now() else run_at end,
                  again_at = case when claim is not null then now() end
            where name = $1 and key = 'recurring' and not ready
           returning 1
         )
         select pg_notify('tidings_jobs', '') from hurried`,
        [job]
      )
    },
    another: (more = {}, other = {}) => startNode({ ...env, ...more }, { ...given, ...other }),
    close
  }
}

function must(reply: Reply): Json {
  if (reply.status >= 300) throw new Error(`setting up failed: ${reply.status} ${reply.text}`)
  return reply.json
}
