import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, temporaryFolder } from '../cli/service.ts'
import { ended, givenCampaign, triggered, users } from '../support/campaigns.ts'
import { emptyDatabase, withClient } from '../support/database.ts'
import { givenUser, pending, results, send, to } from '../support/messages.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually, startNode, startService, type TestProject, type TestService } from '../support/service.ts'
import { type Contents, column, contentsOf, rowsIn, without } from './support/backups.ts'

const key = Buffer.alloc(32, 'suite').toString('base64')
/** Enough for a few hundred writes while the backup reads. */
const bulk = 20_000

/** Projects that use most tables, one of them paused, with a month that is long over and a session. */
async function furnished(service: TestService): Promise<TestProject[]> {
  const projects = await Promise.all([service.project({ mode: 'simulator' }), service.project({ mode: 'simulator' })])
  const held = await service.project({ mode: 'simulator' })
  for (const project of [...projects, held]) {
    await givenUser(project, 'ana')
    const phone = { platform: 'IOS', project_user_id: 'ana' }
    const added = await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json: phone })
    assert.ok(added.status < 300, added.text)
    await givenCampaign(service, project)
  }
  assert.equal((await service.manage('POST', `/projects/${held.id}:pause`)).status, 200)
  await service.sql(`create table events_2020_02 partition of events for values from ('2020-02-01') to ('2020-03-01')`)
  await service.sql(
    `insert into events (project_id, user_id, at, id, name, details, properties)
     select project_id, id, '2020-02-29 12:00:00.123456+00', gen_random_uuid(), 'old', '{}', '{"text": "a\\tb\\nc\\\\d"}'
       from users limit 1`
  )
  await service.sql(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
     select $1, gen_random_uuid(), 'bulk-' || n, '{"plan": "free", "text": "ä\u2028😀 \\\\ \\t"}', now(), now()
       from generate_series(1, $2::int) n`,
    [projects[0]!.id, bulk]
  )
  await service.sql(`insert into settings (name, value) values ('pair', '0')`)
  return [...projects, held]
}

/** Writes until it is stopped, and knows what was acknowledged and when. */
function load(service: TestService, projects: TestProject[]) {
  const acknowledged: { id: string; atMs: number }[] = []
  let stopped = false
  let pairs = 0
  const [first, second] = projects as [TestProject, TestProject]
  const writers = [0, 1, 2].map(async (lane) => {
    for (let number = 0; !stopped; number++) {
      const id = `load-${lane}-${number}`
      const project = lane === 0 ? first : second
      const reply = await project.call('POST', '/api/v1/users', { json: { project_user_id: id, properties: { lane } } })
      assert.equal(reply.status, 200)
      acknowledged.push({ id, atMs: Date.now() })
      if (lane === 1) await send(second, [to('ana')])
      if (lane === 2) await triggered(first, users('ana'))
    }
  })
  // Two rows that change together: a snapshot shows the same number in both.
  const pairing = (async () => {
    while (!stopped) {
      pairs += 1
      await service.sql(
        `with one as (update settings set value = $1::text where name = 'pair')
         update users set properties = jsonb_build_object('pair', $1::text) where project_user_id = 'ana' and project_id = $2`,
        [String(pairs), first.id]
      )
    }
  })()
  return {
    acknowledged,
    async stop() {
      stopped = true
      await Promise.all([...writers, pairing])
    }
  }
}

/** A restore changes only this: who is paused and since when, and sessions. */
function assertSameRows(contents: Contents, found: Record<string, string[]>): void {
  for (const [table, { columns, rows }] of Object.entries(contents.tables)) {
    const restored = found[table]!
    if (table === 'projects')
      assert.deepEqual(without(restored, columns, 'paused_at'), without(rows, columns, 'paused_at'))
    else if (table === 'sessions') assert.deepEqual(restored, [])
    else if (table === 'settings')
      assert.deepEqual(
        restored.filter((row) => !row.startsWith('paused\t')),
        rows
      )
    else assert.deepEqual(restored, rows, table)
  }
}

async function backedUp(t: TestContext) {
  const service = await startService()
  const projects = await furnished(service)
  const receiver = await startReceiver({ secure: false })
  t.after(receiver.close)
  const hook = { url: receiver.url, events: ['message.accepted'] }
  const hooked = await service.manage('POST', `/projects/${projects[0]!.id}/webhooks`, { json: hook })
  assert.ok(hooked.status < 300, hooked.text)
  const busy = load(service, projects)
  await sleep(500)
  const file = join(await temporaryFolder(t), 'one.backup')
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: await temporaryFolder(t) }
  const beganMs = Date.now()
  const made = await run(['backup', file, '--json'], { env })
  const endedMs = Date.now()
  await sleep(200)
  await busy.stop()
  assert.deepEqual([made.code, made.stderr], [0, ''])
  return { service, projects, receiver, file, made: made.json<{ rows: number }>(), busy, beganMs, endedMs }
}

describe('a backup under load', () => {
  it('holds one moment, and a restore has every row of it', async (t) => {
    const { file, made, busy, beganMs, endedMs, projects, service, receiver } = await backedUp(t)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const contents = await contentsOf(file)
    assert.equal(made.rows, Object.values(contents.tables).flatMap(({ rows }) => rows).length)

    const there = new Set(column(contents, 'users', 'project_user_id'))
    for (const { id, atMs } of busy.acknowledged) {
      if (atMs < beganMs) assert.ok(there.has(id), `${id} was acknowledged before the backup`)
      if (atMs > endedMs + 500) assert.ok(!there.has(id), `${id} came later`)
    }
    const pair = contents.tables.settings!.rows.find((row) => row.startsWith('pair\t'))!.split('\t')[1]
    assert.ok(contents.tables.users!.rows.some((row) => row.includes(`{"pair": "${pair}"}`)))
    assert.equal(column(contents, 'events', 'name').filter((name) => name === 'old').length, 1)
    assert.ok(!JSON.stringify(contents).includes(key))

    const other = await emptyDatabase(t)
    const env = { DATABASE_URL: other.url, DATA_DIR: await temporaryFolder(t), MASTER_KEY: key }
    const restored = await run(['restore', file, '--json'], { env })
    assert.deepEqual([restored.code, restored.stderr], [0, ''])
    assert.equal(restored.json<{ rows: number }>().rows, made.rows)
    assertSameRows(contents, await rowsIn(other.url, contents))
    assert.deepEqual(await shape(other.url), await shape(service.databaseUrl))
    await service.close()
    await goesOn(env, projects, receiver.received)
  })
})

/** Indexes and constraints of all tables, in any order. */
const shape = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ text: string }>(
      `select indexdef as text from pg_indexes where schemaname = 'public' and tablename !~ '_\\d{4}_\\d\\d$'
       union all
       select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'public'::regnamespace and conparentid = 0 order by 1`
    )
    return rows.map(({ text }) => text)
  })

/** A restored installation waits, says so, and continues after `tidings resume`. */
async function goesOn(env: Record<string, string>, projects: TestProject[], calls: unknown[]): Promise<void> {
  const said: string[] = []
  const claims = `select id, claim from jobs where claim is not null and run_at > now()`
  // Jobs that ran when the backup was made are claimed in it by processes that are gone.
  const { rows: before } = await withClient(env.DATABASE_URL!, (client) => client.query(claims))
  const node = await startNode(
    { ...env, BOOTSTRAP_ADMIN_TOKEN: `svc_at_${'suite'.padEnd(43, '-suite')}` },
    { say: (line) => said.push(line) }
  )
  assert.match(said.join('\n'), /restored at .* as it was at .* is paused.*tidings resume/)
  const here = (project: TestProject): TestProject => ({
    ...project,
    call: (method, path, asked = {}) =>
      node.ask(method, path, {
        ...asked,
        headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey, ...asked.headers }
      })
  })
  const [first, , held] = projects.map(here) as [TestProject, TestProject, TestProject]
  const callsBefore = calls.length
  const [result] = await results(first, [to('ana')])
  assert.equal(result!.status, pending)
  const triggerId = await triggered(first, users('ana'))
  const made = await node.manage('POST', '/projects', { json: { name: 'Made while paused' } })
  assert.ok(made.json.paused_at)
  const refused = await node.manage('POST', `/projects/${first.id}:resume`)
  assert.deepEqual([refused.status, refused.json.code ?? refused.json.error?.code], [409, 'conflict'], refused.text)
  const { paused } = (await node.manage('GET', '/nodes')).json
  assert.ok(paused.since > paused.backup_made_at)
  const known = new Set(before.map(({ id, claim }) => `${id} ${claim}`))
  for (let look = 0; look < 10; look++) {
    const claimed = (await node.sql(claims)).map(({ id, claim }) => `${id} ${claim}`)
    assert.deepEqual(
      claimed.filter((one) => !known.has(one)),
      [],
      'no job runs'
    )
    await sleep(100)
  }
  assert.equal((await node.manage('GET', `/projects/${first.id}/api/v1/triggers/${triggerId}`)).json.counts.sent, 0)
  assert.equal(calls.length, callsBefore, 'no webhook is called')

  const resumed = await run(['resume', '--json'], { env })
  assert.deepEqual([resumed.code, resumed.json<{ resumed: boolean }>().resumed], [0, true], resumed.stderr)
  await ended(first, triggerId)
  await eventually(async () => {
    const { items } = (
      await node.manage('GET', `/projects/${first.id}/simulator/inbox?message_id=${result!.message_id}`)
    ).json
    assert.equal(items.length, 1, 'the push that waited arrived once')
  })
  await eventually(() => assert.ok(calls.length > callsBefore))
  assert.equal((await node.manage('GET', '/nodes')).json.paused, null)
  assert.equal((await node.manage('GET', `/projects/${made.json.id}`)).json.paused_at, null)
  assert.ok((await node.manage('GET', `/projects/${held.id}`)).json.paused_at, 'it was paused before the backup')
  const again = await run(['resume', '--json'], { env })
  assert.deepEqual([again.code, again.json<{ resumed: boolean }>().resumed], [0, false])
  await node.close()
}
