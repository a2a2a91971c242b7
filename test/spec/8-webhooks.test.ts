import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { type OutcomeChange, onOutcomes, onTriggersEnded } from '../../src/webhooks/outcomes.ts'
import { givenCampaign, run, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { silentLog } from '../support/log.ts'
import { givenUser } from '../support/messages.ts'
import { isSignedWith, startReceiver } from '../support/receiver.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
const guarded = await startService()
const receiver = await startReceiver({ secure: false })
const pool = openPool({ connectionString: service.databaseUrl }, silentLog)
after(async () => {
  await receiver.close()
  await pool.close()
})

const outcome = (more: Partial<OutcomeChange> = {}): OutcomeChange => ({
  triggerId: newId(),
  campaignId: 'welcome',
  messageId: newId(),
  deviceId: 'phone',
  userId: newId(),
  to: 'accepted',
  reason: null,
  kind: 'state',
  ...more
})

const tell = (projectId: string, changes: OutcomeChange[]) =>
  pool.transaction((tx) => onOutcomes(tx, projectId as ProjectId, changes))

async function webhookOf(events: string[], path = `/${newId()}`, more = {}) {
  const project = await service.project()
  const own = `/projects/${project.id}`
  const reply = await service.manage('POST', `${own}/webhooks`, {
    json: { url: receiver.url + path, events, ...more }
  })
  assert.equal(reply.status, 201, reply.text)
  const calls = () => receiver.received.filter((one) => one.path === path)
  const told = (): Json[] => calls().flatMap(({ body }) => JSON.parse(body).events)
  return { project, own, path, webhook: reply.json, calls, told }
}

describe('/manage/v1/projects/{id}/webhooks', () => {
  it('a webhook is made, listed, read, changed and deleted, and each change is in the audit log', async () => {
    const { own, webhook } = await webhookOf(['message.failed', 'message.failed', 'message.accepted'])
    assert.match(webhook.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual(webhook.events, ['message.accepted', 'message.failed'])
    assert.equal(webhook.active, true)
    const at = `${own}/webhooks/${webhook.id}`
    const { secret, ...shown } = webhook
    assert.deepEqual((await service.manage('GET', `${own}/webhooks`)).json.items, [shown])
    assert.deepEqual((await service.manage('GET', at)).json, shown)
    const changed = await service.manage('PATCH', at, { json: { active: false, events: ['message.tapped'] } })
    assert.deepEqual([changed.json.active, changed.json.events], [false, ['message.tapped']])
    const rotated = await service.manage('POST', `${at}:rotate-secret`)
    assert.match(rotated.json.secret, /^whsec_/)
    assert.notEqual(rotated.json.secret, secret)
    assert.equal((await service.manage('DELETE', at)).status, 200)
    for (const [method, path] of [
      ['GET', at],
      ['PATCH', at],
      ['DELETE', at],
      ['POST', `${at}:rotate-secret`],
      ['GET', `${own}/webhooks/nonsense`]
    ] as const)
      assert.equal((await service.manage(method, path, { json: {} })).status, 404, `${method} ${path}`)
    const audit = (await service.manage('GET', `${own}/audit`)).json.items
    assert.deepEqual(
      audit.map(({ action }: Json) => action).filter((action: string) => action.startsWith('webhook')),
      ['webhook.delete', 'webhook.rotate_secret', 'webhook.update', 'webhook.create']
    )
    assert.doesNotMatch(JSON.stringify(audit), /whsec_/)
  })

  it('bad input is refused and changes nothing', async () => {
    const { id } = await service.project()
    const path = `/projects/${id}/webhooks`
    const url = 'https://example.com/'
    const bad: unknown[] = [
      {},
      { url },
      { events: ['message.failed'] },
      { url, events: [] },
      { url, events: ['message.exploded'] },
      { url, events: 'message.failed' },
      { url: 7, events: ['message.failed'] },
      { url: 'nonsense', events: ['message.failed'] },
      { url: 'ftp://example.com', events: ['message.failed'] },
      { url, events: ['message.failed'], active: 'yes' },
      { url, events: ['message.failed'], active: null },
      []
    ]
    for (const json of bad) {
      const reply = await service.manage('POST', path, { json })
      assert.equal(reply.status, 400, JSON.stringify(json))
      assert.ok(reply.json.error && reply.json.code)
    }
    assert.deepEqual((await service.manage('GET', path)).json.items, [])
  })

  it('an address that is not public is refused, naming the setting', async () => {
    const { id } = await guarded.project()
    for (const url of ['https://127.0.0.1/', 'https://localhost/', 'http://example.com/', 'https://[::1]/']) {
      const reply = await guarded.manage('POST', `/projects/${id}/webhooks`, {
        json: { url, events: ['message.failed'] }
      })
      assert.equal(reply.status, 400)
      assert.equal(reply.json.code, 'invalid_parameter')
      assert.equal(reply.json.details[0].path, 'url')
      assert.match(reply.json.error, /WEBHOOK_ALLOW_PRIVATE/)
    }
  })

  it('a project has at most 20', async () => {
    const { id } = await service.project()
    const make = () =>
      service.manage('POST', `/projects/${id}/webhooks`, { json: { url: receiver.url, events: ['message.failed'] } })
    for (let index = 0; index < 20; index += 1) assert.equal((await make()).status, 201)
    assert.equal((await make()).status, 409)
  })

  it('a viewer reads no urls, an editor reads but does not change', async () => {
    const { project, own, webhook } = await webhookOf(['message.failed'])
    const as = async (role: string) => {
      const { token } = (
        await service.manage('POST', '/tokens', { json: { name: role, role, project_id: project.id } })
      ).json
      return { authorization: `Bearer ${token}` }
    }
    const viewer = await as('viewer')
    const editor = await as('editor')
    assert.equal((await service.manage('GET', `${own}/webhooks`, { headers: viewer })).status, 403)
    assert.equal((await service.manage('GET', `${own}/webhooks`, { headers: editor })).status, 200)
    const json = { active: false }
    assert.equal(
      (await service.manage('PATCH', `${own}/webhooks/${webhook.id}`, { headers: editor, json })).status,
      403
    )
  })
})

describe('an outcome of messages', () => {
  it('is sent to the webhook that wants it: batched, signed with its own secret, with the names of users', async () => {
    const { project, calls, told, webhook } = await webhookOf([
      'message.accepted',
      'message.failed',
      'message.delivered',
      'message.tapped'
    ])
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const [user] = await service.sql('select id from users where project_id = $1', [project.id])
    const direct = newId()
    const changes = [
      outcome({ userId: user.id }),
      outcome({ to: 'failed', reason: 'TOKEN_GONE' }),
      outcome({ kind: 'delivered', to: 'accepted', triggerId: direct, messageId: direct, campaignId: null }),
      outcome({ kind: 'tapped', to: 'accepted' }),
      outcome({ to: 'handed' }),
      outcome({ to: 'skipped' })
    ]
    await tell(project.id, changes)
    await eventually(() => assert.equal(told().length, 4))
    assert.equal(calls().length, 1)
    const [call] = calls()
    assert.ok(isSignedWith(webhook.secret, call!))
    const { events, ...envelope } = JSON.parse(call!.body)
    assert.equal(envelope.type, 'events')
    assert.equal(envelope.project_id, project.id)
    assert.deepEqual(
      events.map(({ type }: Json) => type),
      ['message.accepted', 'message.failed', 'message.delivered', 'message.tapped']
    )
    const { id, at, ...first } = events[0]
    assert.match(id + at, /^[0-9a-f-]{36}\d{4}-/)
    assert.deepEqual(first, {
      type: 'message.accepted',
      message_id: changes[0]!.messageId,
      trigger_id: changes[0]!.triggerId,
      campaign_id: 'welcome',
      device_id: 'phone',
      user_id: user.id,
      project_user_id: 'ana',
      reason: null
    })
    assert.equal(events[1].reason, 'TOKEN_GONE')
    assert.deepEqual([events[2].trigger_id, events[2].message_id], [null, direct])
  })

  it('comes a hundred to a call, in order, and the end of a trigger after it', async () => {
    const { project, calls, told } = await webhookOf(['message.accepted', 'trigger.completed'])
    const changes = Array.from({ length: 250 }, () => outcome())
    for (let from = 0; from < 250; from += 50) await tell(project.id, changes.slice(from, from + 50))
    const end = { triggerId: newId(), campaignId: 'welcome', state: 'completed', counts: { targeted: 250, sent: 250 } }
    await pool.transaction((tx) => onTriggersEnded(tx, project.id as ProjectId, [end]))
    await eventually(() => assert.equal(told().length, 251))
    assert.deepEqual(
      told()
        .slice(0, 250)
        .map(({ message_id }) => message_id),
      changes.map(({ messageId }) => messageId)
    )
    const { type, state, counts } = told().at(-1)
    assert.deepEqual([type, state, counts], ['trigger.completed', 'completed', end.counts])
    assert.ok(calls().every(({ body }) => JSON.parse(body).events.length <= 100))
  })

  it('is sent for the messages of a trigger first, and for its end last', async () => {
    const { project, told } = await webhookOf(['message.failed', 'trigger.completed'])
    await givenUser(project, 'ana', 'ana-phone')
    await givenCampaign(service, project)
    await run(project, users('ana'))
    await eventually(() => assert.equal(told().length, 2))
    assert.deepEqual(
      told().map(({ type, reason, counts }) => [type, reason ?? counts.failed]),
      [
        ['message.failed', 'CREDENTIALS_MISSING'],
        ['trigger.completed', 1]
      ]
    )
  })

  it('of an unwanted kind, for an inactive webhook or of another project is not sent', async () => {
    const wanting = await webhookOf(['message.tapped'])
    const inactive = await webhookOf(['message.accepted'], undefined, { active: false })
    const stranger = await webhookOf(['message.accepted'])
    await tell(wanting.project.id, [outcome()])
    await tell(inactive.project.id, [outcome()])
    await tell(wanting.project.id, [outcome({ kind: 'tapped' })])
    await eventually(() => assert.equal(wanting.told().length, 1))
    assert.equal(wanting.told()[0].type, 'message.tapped')
    assert.deepEqual(inactive.told(), [])
    assert.deepEqual(stranger.told(), [])
    const [{ count }] = await service.sql('select count(*)::int from webhook_events where project_id = $1', [
      inactive.project.id
    ])
    assert.equal(count, 0)
  })

  it('of a transaction that rolled back is not sent', async () => {
    const { project, told } = await webhookOf(['message.accepted'])
    const gone = pool.transaction(async (tx) => {
      await onOutcomes(tx, project.id as ProjectId, [outcome({ deviceId: 'never' })])
      throw new Error('no')
    })
    await assert.rejects(gone)
    await tell(project.id, [outcome({ deviceId: 'phone' })])
    await eventually(() => assert.ok(told().length > 0))
    assert.deepEqual(
      told().map(({ device_id }) => device_id),
      ['phone']
    )
  })

  it('goes to the new url after a change, and nowhere after a deletion', async () => {
    const { project, own, webhook, told } = await webhookOf(['message.accepted'], '/refusing')
    receiver.respond = ({ path }, response) => response.writeHead(path === '/refusing' ? 500 : 204).end()
    await tell(project.id, [outcome()])
    await eventually(() => assert.equal(told().length, 1))
    const moved = `/${newId()}`
    const at = `${own}/webhooks/${webhook.id}`
    assert.equal((await service.manage('PATCH', at, { json: { url: receiver.url + moved } })).status, 200)
    await eventually(() => assert.ok(receiver.received.some(({ path }) => path === moved)))
    await service.manage('PATCH', at, { json: { url: `${receiver.url}/refusing` } })
    await tell(project.id, [outcome()])
    const pending = async () =>
      (await service.manage('GET', `${own}/webhook-deliveries?state=pending`)).json.items.length
    await eventually(async () => assert.equal(await pending(), 1))
    assert.equal((await service.manage('DELETE', at)).status, 200)
    assert.equal(await pending(), 0)
  })

  it('is signed with every secret of the last 24 hours, and with the newest alone after a rotation without an overlap', async () => {
    const { project, own, webhook, calls } = await webhookOf(['message.accepted'])
    const rotate = async (json?: object, at = `${own}/webhooks/${webhook.id}:rotate-secret`) =>
      service.manage('POST', at, json && { json })
    const secrets = [webhook.secret]
    for (const json of [undefined, { overlap: '1h' }]) secrets.push((await rotate(json)).json.secret)
    // The secret of the project is another one.
    secrets.push((await rotate({ overlap: '0s' }, `${own}/webhook-secret:rotate`)).json.secret)
    await tell(project.id, [outcome()])
    await eventually(() => assert.equal(calls().length, 1))
    assert.equal(String(calls()[0]!.headers['webhook-signature']).split(' ').length, 3)
    assert.deepEqual(
      secrets.map((secret) => isSignedWith(secret, calls()[0]!)),
      [true, true, true, false]
    )
    for (let times = 0; times < 2; times += 1) assert.equal((await rotate({})).status, 200)
    const refused = await rotate()
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'])
    for (const overlap of ['soon', '31d', 0]) assert.equal((await rotate({ overlap })).status, 400, String(overlap))
    const { secret } = (await rotate({ overlap: '0s' })).json
    await service.manage('POST', `${own}/webhooks/${webhook.id}:test`)
    assert.equal(String(calls()[1]!.headers['webhook-signature']).split(' ').length, 1)
    assert.ok(isSignedWith(secret, calls()[1]!))
    const { items } = (await service.manage('GET', `${own}/audit?action=webhook.rotate_secret`)).json
    const [last, , , second] = items.map(({ details, at }: Json) => Date.parse(details.previous_until) - Date.parse(at))
    assert.ok(Math.abs(last) < 60_000 && Math.abs(second - 3_600_000) < 60_000, `${last} ${second}`)
  })
})

describe('POST /manage/v1/projects/{id}/webhooks/{webhook_id}:test', () => {
  it('makes one signed call about nothing that happened, also where the webhook is not active', async () => {
    const { own, webhook, calls, told } = await webhookOf(['message.failed'], undefined, { active: false })
    const reply = await service.manage('POST', `${own}/webhooks/${webhook.id}:test`)
    assert.equal(reply.status, 200, reply.text)
    await eventually(() => assert.equal(calls().length, 1))
    assert.deepEqual(
      told().map(({ type }) => type),
      ['webhook.test']
    )
    assert.equal(calls()[0]!.headers['webhook-id'], reply.json.delivery_id)
    assert.ok(isSignedWith(webhook.secret, calls()[0]!))
    const stranger = await service.project()
    for (const id of [webhook.id, newId(), 'x', '%00'])
      assert.equal((await service.manage('POST', `/projects/${stranger.id}/webhooks/${id}:test`)).status, 404, id)
  })
})

describe('/manage/v1/projects/{id}/webhook-deliveries', () => {
  it('lists calls by state, newest first, page by page, and replays one', async () => {
    const { project, own, calls } = await webhookOf(['message.accepted'])
    for (let index = 0; index < 3; index += 1) {
      await tell(project.id, [outcome()])
      await eventually(() => assert.equal(calls().length, index + 1))
    }
    const path = `${own}/webhook-deliveries`
    await eventually(async () => {
      const { items } = (await service.manage('GET', `${path}?state=delivered`)).json
      assert.equal(items.length, 3)
    })
    assert.deepEqual((await service.manage('GET', `${path}?state=failed`)).json.items, [])
    assert.equal((await service.manage('GET', `${path}?state=odd`)).status, 400)
    const one = (await service.manage('GET', `${path}?limit=2`)).json
    const two = (await service.manage('GET', `${path}?limit=2&cursor=${one.next_cursor}`)).json
    const all = [...one.items, ...two.items]
    assert.equal(two.next_cursor, null)
    assert.deepEqual(
      all.map(({ id }) => id),
      calls()
        .map(({ headers }) => headers['webhook-id'])
        .reverse()
    )
    assert.deepEqual([all[0].state, all[0].attempts, all[0].last_status, all[0].next_at], ['delivered', 1, 204, null])
    const replay = await service.manage('POST', `${path}/${all[2].id}:replay`)
    assert.deepEqual([replay.status, replay.json.state, replay.json.attempts], [200, 'pending', 0])
    await eventually(() => assert.equal(calls().length, 4))
    assert.equal(calls()[3]!.headers['webhook-id'], all[2].id)
    const stranger = await service.project()
    for (const id of [all[2].id, newId(), 'x', '%00'])
      assert.equal(
        (await service.manage('POST', `/projects/${stranger.id}/webhook-deliveries/${id}:replay`)).status,
        404,
        id
      )
  })

  it('goes with its project', async () => {
    const { project, own } = await webhookOf(['message.accepted'])
    await tell(project.id, [outcome()])
    await service.manage('DELETE', own)
    await eventually(async () => {
      for (const table of ['webhooks', 'webhook_events', 'webhook_calls', 'webhook_secrets'])
        assert.deepEqual(await service.sql(`select 1 from ${table} where project_id = $1`, [project.id]), [], table)
    })
  })
})
