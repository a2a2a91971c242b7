// Moves an installation from the embedded PostgreSQL to one of Debian's packages and back, by `npm run test:backup`. It
// says so where there is none.
import assert from 'node:assert/strict'
import { chmod, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../src/platform/db/open.ts'
import { run } from '../cli/service.ts'
import { preparedFolder, tempFolder } from '../embedded/support/embedded.ts'
import { startPlain, whyNoServer } from '../engines/citus/cluster.ts'
import { ask } from '../support/http.ts'
import { startProgram } from '../support/program.ts'

const people = process.env.TIDINGS_LONG ? 1_000_000 : 20_000
const secretKey = 'svc_sk_moved'
const headers = { 'x-service-project-id': 'demo', 'x-service-api-key': secretKey }

it(`a backup of ${people} users moves from the embedded PostgreSQL to Debian's and back, with every row`, {
  skip: whyNoServer() ?? false
}, async (t) => {
  const first = { DATA_DIR: await preparedFolder(t) }
  await served(t, { ...first, BOOTSTRAP_SECRET_KEY: secretKey }, async () => {})
  const there = await onEmbedded(first.DATA_DIR, async (url) => {
    await query(url, fill)
    return digests(url)
  })
  const file = join(await tempFolder(t), 'one.backup')
  await timed(t, 'backup of the embedded database', ['backup', file], first)
  t.diagnostic(`${Math.round((await stat(file)).size / 1024 / 1024)} MiB for ${people} users`)

  const second = { DATABASE_URL: await debian(t), DATA_DIR: await withKeyOf(t, first.DATA_DIR) }
  await timed(t, "restore into Debian's", ['restore', file], second)
  assert.deepEqual(await digests(second.DATABASE_URL), there)
  await timed(t, 'resume', ['resume'], second)
  await served(t, second, seesUsers)
  const moved = await digests(second.DATABASE_URL)
  await timed(t, "backup of Debian's", ['backup', file, '--overwrite'], second)

  const third = { DATA_DIR: await withKeyOf(t, first.DATA_DIR) }
  await timed(t, 'restore into an embedded database', ['restore', file], third)
  assert.deepEqual(await onEmbedded(third.DATA_DIR, digests), moved)
  await timed(t, 'resume', ['resume'], third)
  await served(t, third, seesUsers)
})

const fill = `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
  select 'demo', gen_random_uuid(), 'bulk-' || n,
         jsonb_build_object('plan', 'free', 'age', n % 90, 'name', 'Zoë ' || md5(n::text), 'text', E'\\t\\\\ 😀'), now(), now()
    from generate_series(1, ${people}) n`

async function timed(t: TestContext, what: string, args: string[], env: Record<string, string>): Promise<void> {
  const beganMs = performance.now()
  const { code, stderr } = await run([...args, '--json'], { env })
  assert.equal(code, 0, stderr)
  t.diagnostic(`${what}: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s`)
}

/** Runs work while a service runs with these settings. */
async function served(t: TestContext, env: Record<string, string>, work: (url: string) => Promise<void>) {
  const service = startProgram(t, env)
  await work(await service.ready)
  service.child.kill('SIGTERM')
  assert.equal((await service.exited).code, 0, service.stderr())
}

async function seesUsers(url: string): Promise<void> {
  const reply = await ask(url, 'GET', `/api/v1/users/bulk-${people}`, { headers })
  assert.deepEqual([reply.status, reply.json.properties?.age], [200, people % 90], reply.text)
}

async function onEmbedded<Result>(DATA_DIR: string, work: (url: string) => Promise<Result>): Promise<Result> {
  const database = await openDatabase({ DATABASE_URL: undefined, DATA_DIR }, () => {})
  return work(database.connection.connectionString!).finally(database.stop)
}

async function query(url: string, text: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`set timezone = 'UTC'`)
  return (await client.query(text).finally(() => client.end())).rows
}

/** The number of rows of each table, and a sum over their texts. A restore changes the tables that are left out. */
async function digests(url: string): Promise<Record<string, string>> {
  const tables = await query(
    url,
    `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
        and relnamespace = 'public'::regnamespace and relname not in ('projects', 'settings', 'sessions', 'migrations') order by 1`
  )
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await query(
      url,
      `select count(*) || ' ' || coalesce(sum(('x' || substr(md5(r::text), 1, 8))::bit(32)::bigint), 0) as sum from ${name} r`
    )
    found[name!] = row!.sum!
  }
  return found
}

/** A new folder with the master key of another installation. */
async function withKeyOf(t: TestContext, dataDir: string): Promise<string> {
  const folder = await tempFolder(t)
  await copyFile(join(dataDir, 'master.key'), join(folder, 'master.key'))
  return folder
}

/** A server of Debian's package that syncs its writes, as in earnest. */
async function debian(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-debian-'))
  await chmod(folder, 0o755)
  const server = await startPlain(folder, {})
  t.after(async () => {
    await server.end('SIGINT')
    await rm(folder, { recursive: true, force: true })
  })
  await query(server.url(), 'create database tidings')
  return server.url('tidings')
}
