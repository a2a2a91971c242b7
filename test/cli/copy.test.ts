import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { emptyDatabase, migratedDatabase, withClient } from '../support/database.ts'
import { startNode } from '../support/service.ts'
import { run, temporaryFolder } from './service.ts'

/** An installation as a first start makes it, with rows of every month and kind, and no running node. */
async function setUp(t: TestContext) {
  const { url } = await migratedDatabase(t)
  const env = { DATABASE_URL: url, DATA_DIR: await temporaryFolder(t) }
  const first = await startNode(env)
  const { secret_key: key } = JSON.parse(await readFile(join(env.DATA_DIR, 'credentials.json'), 'utf8'))
  const headers = { 'X-Service-Project-ID': 'demo', 'X-Service-API-Key': key, 'Content-Type': 'application/json' }
  const api = async (base: string, path: string, body: unknown) => {
    const answer = await fetch(`${base}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(answer.status, 200, path)
    return (await answer.json()) as Record<string, unknown>
  }
  const properties = { 'na"me\\': 'ä\u2028😀', tenth: 0.1, big: 2 ** 53, none: null, yes: true }
  await api(first.url, '/users', { project_user_id: 'ana', properties })
  await api(first.url, '/messages:send', {
    push_notifications: [{ target: { project_user_id: 'demo-user' }, title: 'Hello' }]
  })
  await first.close()
  await withClient(url, async (client) => {
    await client.query(
      `create table events_2020_02 partition of events for values from ('2020-02-01') to ('2020-03-01')`
    )
    await client.query(
      `insert into events (project_id, user_id, at, id, name, details, properties)
       select project_id, id, '2020-02-29 12:00:00.123456+00', gen_random_uuid(), 'old', '{}', '{}' from users limit 1`
    )
  })
  return { url, env, api, properties }
}

/** The content of each table as text, without the lists of processes and migrations, which differ between databases. */
const contents = (url: string) =>
  withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
          and relname not in ('migrations', 'nodes') order by 1`
    )
    const all: Record<string, string[]> = {}
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t order by 1`)
      all[name] = rows.map(({ row }) => row)
    }
    return all
  })

test('a copy has all rows unchanged, and the service continues on it with its keys', async (t) => {
  const { url, env, api, properties } = await setUp(t)
  const other = await emptyDatabase(t)
  const copied = await run(['copy', other.url, '--json'], { env })
  assert.deepEqual([copied.code, copied.stderr], [0, ''])
  const { to, rows } = copied.json<{ to: string; rows: Record<string, number> }>()
  assert.ok(to.endsWith(`/${other.name}`) && !to.includes('@'))
  assert.deepEqual([rows.messages, rows.projects], [3, 1])
  // One of the set-up, and the reports of simulated phones.
  assert.ok(rows.events! >= 1)

  const [before, after] = [await contents(url), await contents(other.url)]
  assert.deepEqual(after, before)
  assert.equal(after.events_2020_02?.length, 1)
  assert.ok(['a2a_tasks', 'push_tokens', 'campaigns', 'gateway_credentials'].every((name) => name in after))

  const second = await startNode({ ...env, DATABASE_URL: other.url })
  t.after(second.close)
  assert.deepEqual(await api(second.url, '/users', { project_user_id: 'ana' }), { properties })
  const { delivery_results } = await api(second.url, '/messages:send', {
    push_notifications: [{ target: { project_user_id: 'demo-user' }, title: 'Hello again' }]
  })
  assert.equal((delivery_results as { status: string }[])[0]?.status, 'DELIVERY_RESULT_STATUS_SUCCEED')
})

test('a database that does not respond or refuses is reported at once', async (t) => {
  const env = { DATABASE_URL: (await emptyDatabase(t)).url, DATA_DIR: await temporaryFolder(t) }
  const absent = await run(['copy', 'postgres://nobody.invalid/tidings'], { env })
  assert.deepEqual([absent.code, absent.stdout], [1, ''])
  assert.match(
    absent.stderr,
    /^PostgreSQL at nobody\.invalid\/tidings does not answer: .* the address <url> is right\.\n$/
  )
  const wrong = Object.assign(new URL(env.DATABASE_URL), { pathname: '/no_such_database' })
  const missing = await run(['copy', wrong.href], { env })
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /no_such_database refuses: .*\. Check the address <url>\.\n$/)
})

test('a database in use, a running node and an invalid address are refused, and nothing is copied', async (t) => {
  const { url } = await migratedDatabase(t)
  const env = { DATABASE_URL: url, DATA_DIR: await temporaryFolder(t) }
  const other = await emptyDatabase(t)
  const node = await startNode(env)
  const running = await run(['copy', other.url, '--json'], { env }).finally(node.close)
  assert.deepEqual([running.code, JSON.parse(running.stderr).code], [1, 'nodes_alive'])
  assert.match(running.stderr, /the copy would miss what they write/)

  const fresh = await migratedDatabase(t)
  const backwards = await run(['copy', url], { env: { ...env, DATABASE_URL: fresh.url } })
  assert.equal(backwards.code, 1)
  assert.match(backwards.stderr, /in use already.*Nothing was copied/)
  const left = await withClient(fresh.url, (client) => client.query('select from projects'))
  assert.equal(left.rowCount, 0)

  const alias = url.includes('sslmode=') ? url.replace(/sslmode=[^&]*/, 'sslmode=disable&x=1') : `${url}?x=1`
  for (const address of ['', 'mysql://db/tidings', url, alias]) {
    assert.equal((await run(['copy', address], { env })).code, 2, address)
  }
})
