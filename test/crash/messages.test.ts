import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { emptyDatabase, withClient } from '../support/database.ts'
import { ask, type Json } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually } from '../support/service.ts'

const items = 500
type Entry = [deviceId: string, messageId: string, collapseId: string, pushId: string]

/** A service that can be killed, with 500 phones, and the pushes that its gateways accepted. */
async function given(t: TestContext) {
  const folder = await temporaryFolder(t)
  const { url } = await emptyDatabase(t)
  const ledger = join(folder, 'ledger')
  writeFileSync(ledger, '')
  const env = {
    DATA_DIR: folder,
    DATABASE_URL: url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    BOOTSTRAP_PROJECT_ID: 'crash',
    BOOTSTRAP_SECRET_KEY: 'svc_sk_crash-crash-crash-crash',
    LEDGER: ledger,
    ANSWER_MS: '60'
  }
  const start = (more = {}) =>
    startProgram(t, { ...env, ...more }, [process.execPath, 'test/support/ledger-service.ts'])
  const headers = { 'x-service-project-id': 'crash', 'x-service-api-key': env.BOOTSTRAP_SECRET_KEY }
  const devices = Array.from({ length: items }, (_, n) => ({ id: `d${n}`, platform: 'IOS', push_token: `${n}` }))
  const body = { push_notifications: devices.map(({ id }) => ({ target: { device_id: id }, title: id })) }
  return {
    start,
    body,
    call: (base: string, path: string, json: unknown, more = {}) =>
      ask(base, 'POST', path, { json, headers: { ...headers, ...more } }),
    devices,
    entries: (): Entry[] =>
      readFileSync(ledger, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    sql: (text: string): Promise<Json[]> => withClient(url, async (client) => (await client.query(text)).rows)
  }
}

/** Each push has one collapse id, so a phone shows a repeated push once. */
function assertOneIdentity(entries: Entry[]): void {
  const byDevice = Map.groupBy(entries, ([device]) => device)
  assert.equal(byDevice.size, items)
  for (const [device, own] of byDevice)
    assert.equal(new Set(own.map(([, ...rest]) => rest.join())).size, 1, `${device} is known by one name`)
}

it('repeating a killed request with its key sends no accepted message again', async (t) => {
  const { start, body, call, devices, entries, sql } = await given(t)
  const first = start({ ANSWERS: '300' })
  const url = await first.ready
  const again = await start().ready
  const repeat = () => call(again, '/api/v1/messages:send', body, { 'idempotency-key': 'once' })
  assert.equal((await call(url, '/api/v1/devices', { devices })).status, 200)
  const cut = call(url, '/api/v1/messages:send', body, { 'idempotency-key': 'once' }).catch(() => undefined)
  await eventually(() => assert.ok(entries().length > 50), 20_000)
  const early = await repeat()
  assert.deepEqual([early.status, early.text], [409, 'Idempotency key is in use'], 'while the first lives')
  await eventually(() => assert.ok(entries().length > 150), 20_000)
  first.child.kill('SIGKILL')
  await first.exited
  assert.equal(await cut, undefined, 'the request was cut off')
  const known = await sql(`select device_id, message_id, state from messages`)
  const recorded = known.filter(({ state }) => state === 'accepted').map(({ device_id }) => device_id)
  assert.equal(known.length, items, 'all was written before the first was handed over')
  assert.ok(recorded.length > 50 && recorded.length < items, `${recorded.length} answers were recorded`)

  // The takeover depends on the death of the first node, not on the end of its claim.
  await sql(`update idempotency_keys set held_until = now() + interval '1 hour'`)
  const reply = await eventually(async () => {
    const answer = await repeat()
    assert.equal(answer.status, 200, answer.text)
    return answer
  }, 40_000)
  const results = reply.json.delivery_results
  assert.deepEqual(
    results.map((result: Json) => [result.status, result.additional_params.device_id]),
    devices.map(({ id }) => ['DELIVERY_RESULT_STATUS_SUCCEED', id])
  )
  const idOf = new Map(known.map(({ device_id, message_id }) => [device_id, message_id]))
  for (const { message_id, additional_params } of results)
    assert.equal(message_id, idOf.get(additional_params.device_id), 'it is the same message')
  const sent = entries()
  for (const device of recorded)
    assert.equal(sent.filter(([id]) => id === device).length, 1, `${device} was accepted, and is not sent again`)
  assertOneIdentity(sent)
  const replay = await repeat()
  assert.deepEqual([replay.text, replay.headers['idempotent-replay']], [reply.text, 'true'])
  assert.equal(entries().length, sent.length)
})

it('the next process finishes a killed request that is not repeated', async (t) => {
  const { start, body, call, devices, entries, sql } = await given(t)
  const first = start({ ANSWERS: '300' })
  const url = await first.ready
  assert.equal((await call(url, '/api/v1/devices', { devices })).status, 200)
  void call(url, '/api/v1/messages:send', body).catch(() => undefined)
  await eventually(() => assert.ok(entries().length > 150), 20_000)
  first.child.kill('SIGKILL')
  await first.exited
  const recorded = (await sql(`select device_id from messages where state = 'accepted'`)).map((row) => row.device_id)
  const [{ untimed }] = await sql(
    `select count(*) filter (where due_at is null and state = 'handed')::int as untimed from messages`
  )
  assert.equal(untimed, items - recorded.length, 'only the job of the request finds them')
  // The test ends the claims of the dead process, so that it need not wait half a minute.
  await sql(`update messages set handed_at = handed_at - interval '1 minute' where state = 'handed'`)
  await sql(`update jobs set run_at = now(), ready = true where name = 'delivery.release_send'`)
  await start().ready
  await eventually(async () => {
    const [{ n }] = await sql(`select count(*)::int as n from messages where state = 'accepted'`)
    assert.equal(n, items)
  }, 40_000)
  const sent = entries()
  for (const device of recorded) assert.equal(sent.filter(([id]) => id === device).length, 1, device)
  assertOneIdentity(sent)
})
