import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenMany } from '../support/campaigns.ts'
import { emptyDatabase, withClient } from '../support/database.ts'
import { ask, type Json } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

const people = 3_000
const kills = 5
const program = join(import.meta.dirname, '../support/campaign-worker.ts')

/** An api process and worker processes on one database, with one ledger of what reached the gateways. */
async function cluster(t: TestContext) {
  const { url } = await emptyDatabase(t)
  const folder = await temporaryFolder(t)
  const ledger = join(folder, 'ledger')
  writeFileSync(ledger, '')
  const env = {
    DATA_DIR: folder,
    DATABASE_URL: url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_crash',
    BOOTSTRAP_PROJECT_ID: 'shop',
    SHUTDOWN_SECONDS: '1'
  }
  const start = (role: string) => startProgram(t, env, [process.execPath, program, role, ledger, '5'])
  const api = await start('api').ready
  const call = async (method: string, path: string, json?: Json): Promise<Json> => {
    const headers = { authorization: 'Bearer svc_at_crash' }
    const reply = await ask(api, method, `/manage/v1/projects/shop${path}`, { headers, ...(json && { json }) })
    assert.equal(reply.status < 300, true, reply.text)
    return reply.json
  }
  const sql = async (text: string, values?: unknown[]) =>
    (await withClient(url, (client) => client.query(text, values))).rows
  const entries = () =>
    readFileSync(ledger, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ') as [device: string, collapseId: string])
  return { start, call, sql, entries }
}

it('a broadcast survives workers that are killed: every device is reached, what was accepted once, and it ends', async (t) => {
  const { start, call, sql, entries } = await cluster(t)
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  await call('PUT', '/campaigns/news', { name: 'News', status: 'active', message: { title: 'Hi {{ user.n }}' } })
  const workers = [start('worker'), start('worker')]
  await Promise.all(workers.map(({ ready }) => ready))
  const { trigger_id: id } = await call('POST', '/api/v1/campaigns/news:trigger', { audience: { broadcast: true } })

  const seen: { accepted: Set<string>; from: number }[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    const before = entries().length
    // In the middle of something, wherever that is.
    await eventually(() => assert.ok(entries().length > before || entries().length >= people), 30_000)
    await sleep(Math.random() * 150)
    const [victim] = workers.splice(0, 1)
    victim!.child.kill('SIGKILL')
    await victim!.exited
    const rows = await sql(`select device_id from messages where state = 'accepted'`)
    const inHands = new Set(entries().map(([device]) => device)).size - rows.length
    t.diagnostic(`kill ${kill + 1}: ${inHands} pushes were handed over and their answers not yet recorded`)
    seen.push({ accepted: new Set(rows.map(({ device_id }) => device_id)), from: entries().length })
    workers.push(start('worker'))
  }

  const found = await eventually(async () => {
    const trigger = await call('GET', `/api/v1/triggers/${id}`)
    const { targeted, sent, failed, skipped, pending } = trigger.counts
    assert.equal(targeted, sent + failed + skipped + pending)
    assert.equal(trigger.state, 'completed', JSON.stringify(trigger))
    return trigger
  }, 75_000)
  assert.deepEqual([found.counts.targeted, found.counts.sent, found.counts.pending], [people, people, 0])

  const reached = Map.groupBy(entries(), ([device]) => device)
  assert.equal(reached.size, people)
  const repeated = [...reached.values()].filter((pushes) => pushes.length > 1)
  t.diagnostic(`${entries().length} pushes to ${people} devices, ${repeated.length} repeated over ${kills} kills`)
  // Only what was in the hands of a worker when it died, and under the same id, so that a phone shows it once.
  for (const { accepted, from } of seen)
    assert.deepEqual(
      entries()
        .slice(from)
        .filter(([device]) => accepted.has(device)),
      [],
      'what was recorded as accepted is never handed over again'
    )
  assert.ok(repeated.length < people, String(repeated.length))
  for (const pushes of repeated) assert.equal(new Set(pushes.map(([, collapseId]) => collapseId)).size, 1)
  const left = await sql(`select name from jobs where name in ('campaigns.chunk', 'campaigns.expand')`)
  assert.ok(left.length <= 1, JSON.stringify(left))
  assert.deepEqual(await sql('select number from trigger_chunks'), [])
})
