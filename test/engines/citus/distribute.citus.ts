import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openPool } from '../../../src/platform/db/db.ts'
import { migrate } from '../../../src/platform/db/migrate.ts'
import { readMigrations } from '../../../src/platform/db/migrations.ts'
import { run, temporaryFolder } from '../../cli/service.ts'
import { emptyDatabase, withClient } from '../../support/database.ts'
import { silentLog } from '../../support/log.ts'
import { startNode } from '../../support/service.ts'

// These tests run on the Citus cluster that test/engines/citus/run.ts starts.

const settings = async (t: TestContext) => ({
  DATABASE_URL: (await emptyDatabase(t)).url,
  DATA_DIR: await temporaryFolder(t),
  BOOTSTRAP_SECRET_KEY: 'svc_sk_distributed'
})
type Report = { tables: Record<string, number>; distributed: number }
const sql = async (url: string, text: string) => (await withClient(url, (client) => client.query(text))).rows
const headers = { 'x-service-project-id': 'demo', 'x-service-api-key': 'svc_sk_distributed' }
const put = (base: string, name: string) =>
  fetch(`${base}/api/v1/users`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ project_user_id: name, properties: { name } })
  })

test('db distribute spreads an empty database over the workers, and has nothing to do the second time', async (t) => {
  const env = await settings(t)
  const before = await run(['db', 'distribute', '--check', '--json'], { env })
  assert.equal(before.code, 0, before.stderr)
  const wanted = Object.keys(before.json<Report>().tables)
  const first = await run(['db', 'distribute', '--shards', '4', '--json'], { env })
  assert.equal(first.code, 0, first.stderr)
  assert.deepEqual(Object.keys(first.json<Report>().tables), wanted)
  const placed = await sql(
    env.DATABASE_URL,
    `select count(*)::int as tables, count(distinct colocation_id)::int as groups, min(distribution_column) as by,
            min(shard_count)::int as shards
       from citus_tables where table_name::text !~ '_\\d{4}_\\d\\d$'`
  )
  assert.deepEqual(placed, [{ tables: wanted.length, groups: 1, by: 'project_id', shards: 4 }])
  assert.deepEqual(await sql(env.DATABASE_URL, 'show citus.max_adaptive_executor_pool_size'), [
    { 'citus.max_adaptive_executor_pool_size': '1' }
  ])
  const again = await run(['db', 'distribute'], { env })
  assert.match(again.stdout, /^All \d+ tables of the database \S+ were distributed already/)
  const doctor = await run(['doctor', '--json'], { env })
  const checks = doctor.json<{ checks: { name: string; status: string }[] }>().checks
  assert.deepEqual(
    checks.filter(({ name }) => name === 'Citus').map(({ status }) => status),
    ['ok']
  )
})

test('db distribute moves the rows of a database in use, and the service continues on it', async (t) => {
  const env = await settings(t)
  const first = await startNode(env)
  for (const name of ['ana', 'bob', 'cleo']) assert.equal((await put(first.url, name)).status, 200)
  const refused = await run(['db', 'distribute'], { env })
  assert.match(refused.stderr, /^Stop the nodes first/)
  await first.close()
  const done = await run(['db', 'distribute', '--shards', '4', '--json'], { env })
  assert.equal(done.code, 0, done.stderr)
  assert.ok(done.json<Report>().tables.users! >= 3)
  assert.deepEqual(await sql(env.DATABASE_URL, 'select count(*)::int as rows from only users'), [{ rows: 4 }])
  const second = await startNode(env)
  assert.deepEqual(await (await put(second.url, 'ana')).json(), { properties: { name: 'ana' } })
})

test('migrations run on a distributed database, and distribute the tables that they add', async (t) => {
  const env = await settings(t)
  const all = readMigrations()
  const half = all.findIndex(({ name }) => name.includes('journeys'))
  const pool = openPool({ connectionString: env.DATABASE_URL }, silentLog, 2)
  t.after(() => pool.close())
  const { distribute } = await import('../../../src/platform/db/citus/distribute.ts')
  await migrate(
    pool,
    async () => {
      const client = await pool.connect()
      await distribute(client, { shards: 4 }).finally(() => client.end())
    },
    { migrations: all.slice(0, half) }
  )
  const { stdout, stderr, code } = await run(['migrate'], { env })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Applied \d+ migrations/)
  const left = await run(['db', 'distribute', '--check', '--json'], { env })
  assert.deepEqual(left.json<Report>().tables, {})
})

test('a worker is refused as the database, by the start, by doctor and by db distribute', async (t) => {
  const env = await settings(t)
  const own = new URL(env.DATABASE_URL)
  own.host = process.env.TEST_CITUS_WORKERS!.split(',')[0]!
  const wrong = { ...env, DATABASE_URL: own.href }
  for (const command of [['migrate'], ['db', 'distribute']]) {
    const { code, stderr } = await run(command, { env: wrong })
    assert.notEqual(code, 0)
    assert.match(stderr, /a worker of a Citus cluster.* coordinator\./)
  }
  assert.match((await run(['doctor'], { env: wrong })).stdout, /^fail {2}Citus .*worker of a Citus cluster/m)
})
