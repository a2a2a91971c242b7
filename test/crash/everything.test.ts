import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { migratedDatabase, withClient } from '../support/database.ts'
import { ask, type Json, type Reply } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually } from '../support/service.ts'

// Kills the whole program while twenty clients make every kind of durable request; TIDINGS_LONG=1 does it ten times.
const rounds = process.env.TIDINGS_LONG ? 10 : 1
const clients = 20
const project = 'crash'
const secret = 'svc_sk_crash-crash-crash-crash'
const token = 'svc_at_crash-crash-crash-crash-crash'

/** One kind of request. Its effects contain its name, so that they can be counted. */
interface Ask {
  kind: 'send' | 'trigger' | 'event' | 'user' | 'push'
  name: string
  device: string
  reply?: Reply
}

const kinds = ['send', 'trigger', 'event', 'user', 'push'] as const
const api = { 'x-service-project-id': project, 'x-service-api-key': secret }

function send(base: string, { kind, name, device }: Ask): Promise<Reply> {
  const keyed = { ...api, 'idempotency-key': name }
  const post = (path: string, json: Json, headers: Record<string, string>) => ask(base, 'POST', path, { json, headers })
  if (kind === 'send') {
    const push_notifications = [{ target: { device_id: device }, title: name }]
    return post('/api/v1/messages:send', { push_notifications }, keyed)
  }
  if (kind === 'trigger') {
    const json = { audience: { targets: [{ device_id: device }] }, properties: { name } }
    return post('/api/v1/campaigns/news:trigger', json, keyed)
  }
  if (kind === 'event') return post('/api/v1/events', { events: [{ device_id: device, name }] }, api)
  const data =
    kind === 'user'
      ? { skill: 'create-user', projectUserId: name }
      : { skill: 'send-push-notification', deviceId: device, title: name }
  const message = { messageId: name, role: 'user', parts: [{ data }] }
  const json = { jsonrpc: '2.0', id: name, method: 'SendMessage', params: { message } }
  return post('/a2a', json, { 'x-api-key': secret, 'a2a-version': '1.0' })
}

it('a killed service loses no acknowledged write, and does nothing twice when requests are repeated', async (t) => {
  const folder = await temporaryFolder(t)
  const { url: database } = await migratedDatabase(t)
  const sql = (text: string, values: unknown[] = []): Promise<Json[]> =>
    withClient(database, async (client) => (await client.query(text, values)).rows)
  const env = {
    DATA_DIR: folder,
    DATABASE_URL: database,
    MASTER_KEY: randomBytes(32).toString('base64'),
    BOOTSTRAP_PROJECT_ID: project,
    BOOTSTRAP_SECRET_KEY: secret,
    BOOTSTRAP_ADMIN_TOKEN: token
  }
  const manage = async (base: string, method: string, path: string, json: Json) =>
    assert.ok(
      (
        await ask(base, method, `/manage/v1/projects/${project}${path}`, {
          json,
          headers: { authorization: `Bearer ${token}` }
        })
      ).status < 300
    )

  let program = startProgram(t, env)
  let base = await program.ready
  await manage(base, 'PATCH', '', { mode: 'simulator', limits: { requests_per_second: 0, triggers_per_second: 0 } })
  await manage(base, 'PUT', '/campaigns/news', {
    name: 'News',
    status: 'active',
    message: { title: '{{ trigger.name }}' }
  })
  const devices = Array.from({ length: clients }, (_, n) => ({
    id: `phone-${n}`,
    platform: 'IOS',
    push_token: randomBytes(32).toString('hex'),
    push_token_type: 'APNS'
  }))
  assert.equal((await ask(base, 'POST', '/api/v1/devices', { json: { devices }, headers: api })).status, 200)

  const all: Ask[] = []
  for (let round = 0; round < rounds; round += 1) {
    let alive = true
    const working = devices.map(async ({ id: device }, client) => {
      for (let n = 0; alive; n += 1) {
        const asked: Ask = { kind: kinds[(client + n) % kinds.length]!, name: `r${round}-c${client}-n${n}`, device }
        all.push(asked)
        const reply = await send(base, asked).catch(() => undefined)
        if (reply) asked.reply = reply
        else return
      }
    })
    await eventually(() => assert.ok(all.filter(({ reply }) => reply).length > (round + 1) * 400), 30_000)
    program.child.kill('SIGKILL')
    alive = false
    await program.exited
    await Promise.all(working)
    // The test makes the claims of the dead process expire at once.
    const accepted = new Set(
      (await sql(`select content #>> '{notification,title}' as title from messages where state = 'accepted'`)).map(
        ({ title }) => title
      )
    )
    await sql('update idempotency_keys set held_until = now() where answer is null')
    await sql('update messages set due_at = now() where due_at is not null')
    await sql('update a2a_tasks set due_at = now() where due_at is not null')
    await sql('update jobs set run_at = now() where claim is not null')
    await sql('delete from simulator_inbox')

    program = startProgram(t, env)
    base = await program.ready
    const unanswered = all.filter(({ reply, kind }) => !reply && kind !== 'event')
    assert.ok(unanswered.length > 0, 'some were cut off')
    await Promise.all(
      unanswered.map(async (asked) => {
        asked.reply = await eventually(async () => {
          const reply = await send(base, asked)
          assert.ok(reply.status === 200, `${asked.kind} ${reply.status} ${reply.text}`)
          return reply
        }, 40_000)
      })
    )
    await eventually(async () => {
      assert.deepEqual(await sql(`select 1 from messages where state in ('queued', 'handed', 'unknown') limit 1`), [])
      assert.deepEqual(await sql(`select 1 from triggers where ended_at is null limit 1`), [])
    }, 40_000)
    const items = await sql('select item from simulator_inbox')
    const repeated = items.map(({ item }) => JSON.parse(item).title).filter((title) => accepted.has(title))
    assert.deepEqual(repeated, [], 'what was recorded as accepted is not sent again')
  }

  const counted = async (text: string) =>
    new Map((await sql(text)).map(({ name, n, good }) => [name as string, { n: n as number, good: good as boolean }]))
  const messages = await counted(
    `select content #>> '{notification,title}' as name, count(*)::int as n, bool_and(state = 'accepted') as good
       from messages group by 1`
  )
  const triggers = await counted(
    `select properties ->> 'name' as name, count(*)::int as n, bool_and(state = 'completed' and sent = 1) as good
       from triggers group by 1`
  )
  const events = await counted(`select name, count(*)::int as n, true as good from events group by 1`)
  const users = await counted(`select project_user_id as name, count(*)::int as n, true as good from users group by 1`)
  const tasks = new Map(
    (await sql('select id, state from a2a_tasks')).map(({ id, state }) => [id as string, state as string])
  )
  const once = { n: 1, good: true }
  for (const { kind, name, reply } of all) {
    if (!reply) {
      assert.ok((events.get(name)?.n ?? 0) <= 1, 'an event that was not answered may be there, once')
      continue
    }
    const said = `${kind} ${name}: ${reply.status} ${reply.text}`
    assert.equal(reply.status, 200, said)
    if (kind === 'send') {
      // Pending if a job had claimed it when the request was repeated; by now it has arrived.
      assert.match(reply.json.delivery_results[0].status, /_(SUCCEED|PENDING)$/, said)
      assert.deepEqual(messages.get(name), once, said)
    } else if (kind === 'trigger') {
      assert.deepEqual([triggers.get(name), messages.get(name)], [once, once], said)
    } else if (kind === 'event') assert.deepEqual(events.get(name), once, said)
    else {
      const { task } = reply.json.result
      assert.ok(tasks.has(task.id), said)
      if (kind === 'user') assert.deepEqual([task.status.state, users.get(name)], ['completed', once], said)
      else {
        // An interrupted task may have failed with the remark that it may have been done. It has never been done twice.
        assert.ok(['completed', 'failed'].includes(task.status.state), said)
        if (task.status.state === 'completed') assert.deepEqual(messages.get(name), once, said)
        else assert.match(said, /may have been done/)
        assert.ok((messages.get(name)?.n ?? 0) <= 1, said)
      }
    }
  }
  assert.equal(
    tasks.size,
    all.filter(({ kind }) => kind === 'user' || kind === 'push').length,
    'a task for each message'
  )
})
