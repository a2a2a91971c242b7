import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, databaseUrl, withClient } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { startProgram, temporaryFolder } from '../../support/program.ts'

// Kills workers and the coordinator of a Citus cluster under load. TIDINGS_LONG=1: three times each.
const rounds = process.env.TIDINGS_LONG ? 3 : 1
const control = process.env.TEST_CITUS_CONTROL!
const program = join(import.meta.dirname, '../../support/campaign-worker.ts')
const secretKey = 'svc_sk_kills'
const people = 40

/** Asks run.ts, which started the servers, to end one as a crash does, and to start it again. */
async function crash(server: string, awayMs: number): Promise<void> {
  const reply = await fetch(`${control}/crash?server=${server}&away=${awayMs}`, { method: 'POST' })
  assert.equal(reply.status, 200, await reply.text())
}

async function startCluster(t: TestContext) {
  const name = await createDatabase('migrated')
  const url = databaseUrl(name)
  // The servers of tests do not wait for WAL, so a crash would lose what they committed last.
  for (const host of [new URL(url).host, ...process.env.TEST_CITUS_WORKERS!.split(',')]) {
    const server = new URL('/postgres', url)
    server.host = host
    await withClient(server.href, (client) => client.query(`alter database ${name} set synchronous_commit = on`))
  }
  const { rows } = await withClient(url, (client) =>
    client.query(`select distinct result from run_command_on_all_nodes('show synchronous_commit')`)
  )
  assert.deepEqual(rows, [{ result: 'on' }])
  const folder = await temporaryFolder(t)
  const ledger = join(folder, 'ledger')
  writeFileSync(ledger, '')
  const env = {
    DATA_DIR: folder,
    DATABASE_URL: url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_kills',
    BOOTSTRAP_PROJECT_ID: 'shop',
    BOOTSTRAP_SECRET_KEY: secretKey,
    SHUTDOWN_SECONDS: '1'
  }
  const nodes = [0, 1].map(() => startProgram(t, env, [process.execPath, program, 'all', ledger, '20']))
  const bases = await Promise.all(nodes.map(({ ready }) => ready))
  const pushes = () => readFileSync(ledger, 'utf8').split('\n').filter(Boolean)
  return { url, bases, pushes }
}

/** Repeats a call until it is acknowledged; counts the status of every response. */
function createCaller(bases: string[]) {
  const statuses = new Map<number, number>()
  const wrong: string[] = []
  let turn = 0
  async function call(method: string, path: string, body: unknown, headers: Record<string, string> = {}) {
    for (const untilMs = Date.now() + 120_000; Date.now() < untilMs; await sleep(200)) {
      const base = bases[turn++ % bases.length]!
      const reply = await fetch(base + path, {
        method,
        headers: {
          'content-type': 'application/json',
          'x-service-project-id': 'shop',
          'x-service-api-key': secretKey,
          authorization: 'Bearer svc_at_kills',
          ...headers
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(60_000)
      }).catch(() => undefined)
      if (!reply) continue
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
      const text = await reply.text()
      if (reply.status < 300) return JSON.parse(text)
      if (reply.status !== 503 && reply.status !== 429 && reply.status !== 409)
        wrong.push(`${reply.status} ${path} ${text}`)
    }
    throw new Error(`${path} was not acknowledged within two minutes`)
  }
  return { call, statuses, wrong }
}

/** Everything that can keep a trigger from its end, for the report of a failed run. */
async function stuckThings(sql: (text: string) => Promise<unknown[]>): Promise<string> {
  const looks = [
    `select id, state, outcome, targeted, sent, accepted_at, expanded_at, wake_at, begin_job from triggers where ended_at is null limit 8`,
    `select m.trigger_id, m.state, m.due_at, m.owner, count(*)::int from messages m
       join triggers t using (project_id) where t.ended_at is null and t.id = m.trigger_id group by 1, 2, 3, 4 limit 8`,
    `select * from trigger_chunks limit 8`,
    `select name, key, run_at, attempts, last_error from jobs where key is distinct from 'recurring' limit 12`,
    `select name, run_at, attempts, last_error from jobs where attempts > 0 limit 12`,
    `select * from dead_jobs limit 8`,
    `select * from pg_prepared_xacts`,
    `select result from run_command_on_workers('select json_agg(p) from pg_prepared_xacts p')`
  ]
  const found = await Promise.all(looks.map((look) => sql(look).catch((error: Error) => [error.message])))
  return `what is left: ${JSON.stringify(found, null, 1)}`
}

test('kills of workers and of the coordinator lose nothing that was acknowledged, and everything ends', async (t) => {
  const { url, bases, pushes } = await startCluster(t)
  const { call, statuses, wrong } = createCaller(bases)
  await call('PUT', '/manage/v1/projects/shop/campaigns/news', {
    name: 'N',
    status: 'active',
    message: { title: 'Hi' }
  })
  for (let one = 0; one < people; one += 1)
    await call('POST', '/manage/v1/projects/shop/simulator/devices', {
      platform: 'IOS',
      project_user_id: `p${one}`,
      device_id: `d${one}`
    })

  let stopped = false
  const acknowledged = { users: new Map<string, number>(), triggers: new Map<string, string>() }
  const load = async (lane: number) => {
    for (let n = 0; !stopped; n += 1) {
      const name = `u${lane}-${n}`
      await call('POST', '/api/v1/users', { project_user_id: name, properties: { n } })
      acknowledged.users.set(name, n)
      const target = `p${(lane * 7 + n) % people}`
      const { trigger_id } = await call(
        'POST',
        '/api/v1/campaigns/news:trigger',
        { audience: { targets: [{ project_user_id: target }] } },
        { 'idempotency-key': `${lane}-${n}` }
      )
      acknowledged.triggers.set(trigger_id, target)
      await sleep(20)
    }
  }
  const lanes = Array.from({ length: 6 }, (_, lane) => load(lane))
  await sleep(2_000)
  for (let round = 0; round < rounds; round += 1)
    for (const server of ['worker-1', 'worker-2', 'coordinator']) {
      const before = acknowledged.triggers.size
      await crash(server, 2_000)
      await eventually(
        () => assert.ok(acknowledged.triggers.size > before + 20, `${server}: nothing is acknowledged`),
        60_000
      )
    }
  stopped = true
  await Promise.all(lanes)

  const sql = (text: string) => withClient(url, async (client) => (await client.query(text)).rows)
  const ends = await eventually(async () => {
    const open = await sql(`select id, state from triggers where ended_at is null`)
    assert.deepEqual(open, [])
    return sql('select id, state, sent::int as sent, targeted::int as targeted from triggers')
  }, 120_000).catch(async (error) => {
    t.diagnostic(await stuckThings(sql))
    throw error
  })
  const stored = new Map(
    (await sql('select project_user_id as name, properties from users')).map((row) => [row.name, row.properties])
  )
  const lostUsers = [...acknowledged.users].filter(([name, n]) => stored.get(name)?.n !== n)
  const known = new Set(ends.map(({ id }) => id))
  const lostTriggers = [...acknowledged.triggers.keys()].filter((id) => !known.has(id))
  const all = pushes()
  const doubled = all.length - new Set(all.map((line) => line.split(' ').slice(0, 2).join(' '))).size
  t.diagnostic(
    `${acknowledged.users.size} users and ${acknowledged.triggers.size} triggers acknowledged, ${ends.length} triggers ended, ` +
      `${all.length} pushes, ${doubled} doubled; responses ${JSON.stringify(Object.fromEntries(statuses))}`
  )
  assert.deepEqual([lostUsers, lostTriggers, wrong], [[], [], []])
  assert.deepEqual(
    ends.filter(({ sent, targeted }) => sent !== targeted),
    []
  )
})
