import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { type OutcomeChange, onOutcomes } from '../../src/webhooks/outcomes.ts'
import type { Json } from '../support/http.ts'
import { silentLog } from '../support/log.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
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

describe('POST …:test shows the response at once', () => {
  it('with the attempt, its duration, its headers and the beginning of the body; a failed test is not repeated', async () => {
    const { own, webhook, calls, path } = await webhookOf(['message.failed'])
    receiver.respond = (got, response) =>
      got.path === path ? response.writeHead(503).end('not today') : response.writeHead(204).end()
    const { delivery } = (await service.manage('POST', `${own}/webhooks/${webhook.id}:test`)).json
    assert.deepEqual(
      [delivery.state, delivery.attempts, delivery.last_status, delivery.next_at],
      ['failed', 1, 503, null]
    )
    const { events } = JSON.parse(delivery.body)
    assert.deepEqual([events[0].type, events[0].test], ['webhook.test', true])
    const [attempt] = delivery.made
    assert.deepEqual([attempt.status, attempt.response, attempt.error], [503, 'not today', 'answered 503'])
    assert.ok(attempt.duration_ms >= 0)
    assert.equal(attempt.headers['webhook-signature'], calls()[0]!.headers['webhook-signature'])
    assert.equal(attempt.headers['webhook-id'], delivery.id)
  })
})

describe('/manage/v1/projects/{id}/webhook-deliveries', () => {
  it('shows a delivery with its body and each attempt, to editors of its project only', async () => {
    const { project, own, webhook, calls, path } = await webhookOf(['message.accepted'])
    receiver.respond = (got, response) =>
      got.path === path && calls().length === 1
        ? response.writeHead(500).end('try again')
        : response.writeHead(200).end('thanks')
    await tell(project.id, [outcome()])
    await eventually(() => assert.equal(calls().length, 2))
    const [listed] = (await service.manage('GET', `${own}/webhook-deliveries?webhook_id=${webhook.id}`)).json.items
    const at = `${own}/webhook-deliveries/${listed.id}`
    await eventually(async () => assert.equal((await service.manage('GET', at)).json.state, 'delivered'))
    const { body, made, expires_at } = (await service.manage('GET', at)).json
    assert.equal(body, calls()[0]!.body)
    assert.equal(expires_at, null)
    assert.deepEqual(
      made.map(({ status, response, error }: Json) => [status, response, error]),
      [
        [200, 'thanks', null],
        [500, 'try again', 'answered 500']
      ]
    )
    const stranger = await service.project()
    for (const id of [listed.id, newId(), 'x', '%00'])
      assert.equal((await service.manage('GET', `/projects/${stranger.id}/webhook-deliveries/${id}`)).status, 404, id)
    const made_ = await service.manage('POST', '/tokens', {
      json: { name: 'viewer', role: 'viewer', project_id: project.id }
    })
    const headers = { authorization: `Bearer ${made_.json.token}` }
    assert.equal((await service.manage('GET', at, { headers })).status, 403)
    receiver.respond = (_, response) => response.writeHead(204).end()
  })

  it('are neither replayed nor tested by viewers, nor through another project', async () => {
    const { project, own, webhook, calls } = await webhookOf(['message.accepted'])
    const { delivery_id } = (await service.manage('POST', `${own}/webhooks/${webhook.id}:test`)).json
    const before = calls().length
    const json = { name: 'viewer', role: 'viewer', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json })).json
    const headers = { authorization: `Bearer ${token}` }
    const acts = [`webhook-deliveries/${delivery_id}:replay`, `webhooks/${webhook.id}:test`]
    for (const act of [...acts, 'webhook-deliveries:replay-failed', `webhooks/${webhook.id}:rotate-secret`])
      assert.equal((await service.manage('POST', `${own}/${act}`, { headers, json: {} })).status, 403, act)
    const stranger = await service.project()
    for (const act of [...acts, 'webhook-deliveries/%00:replay', 'webhooks/x:test'])
      assert.equal((await service.manage('POST', `/projects/${stranger.id}/${act}`)).status, 404, act)
    assert.equal(calls().length, before)
    const { items } = (await service.manage('GET', `${own}/webhook-deliveries`)).json
    assert.deepEqual([items.length, items[0].attempts], [1, 1])
  })

  it('are narrowed to a webhook and a time', async () => {
    const { own, webhook } = await webhookOf(['message.accepted'])
    const other = await service.manage('POST', `${own}/webhooks`, {
      json: { url: receiver.url, events: ['message.tapped'], description: 'Billing' }
    })
    assert.equal(other.json.description, 'Billing')
    await service.manage('POST', `${own}/webhooks/${webhook.id}:test`)
    await service.manage('POST', `${own}/webhooks/${other.json.id}:test`)
    const found = async (query: string) =>
      (await service.manage('GET', `${own}/webhook-deliveries?${query}`)).json.items.length
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
    assert.equal(await found(`webhook_id=${other.json.id}&state=delivered`), 1)
    assert.deepEqual([await found(`from=${hourAgo}`), await found(`to=${hourAgo}`)], [2, 0])
    const wrong = await service.manage('GET', `${own}/webhook-deliveries?from=now&to=then`)
    assert.deepEqual(
      [wrong.status, wrong.json.details.map(({ path }: Json) => path)],
      [400, ['from', 'to']],
      'all faults at once'
    )
    assert.equal((await service.manage('GET', `${own}/webhook-deliveries?webhook_id=%00`)).status, 400)
  })

  it('failed ones of a time are replayed together, of one webhook or of all', async () => {
    const { project, own, webhook, calls, path } = await webhookOf(['message.accepted'])
    receiver.respond = (got, response) => response.writeHead(got.path === path ? 410 : 204).end()
    for (let index = 0; index < 2; index += 1) await service.manage('POST', `${own}/webhooks/${webhook.id}:test`)
    assert.equal(calls().length, 2)
    const replay = async (json: Json) =>
      (await service.manage('POST', `${own}/webhook-deliveries:replay-failed`, { json })).json
    assert.deepEqual(await replay({ since: new Date(Date.now() + 60_000).toISOString() }), { replayed: 0 })
    assert.deepEqual(await replay({ webhook_id: newId() }), { replayed: 0 })
    const stranger = await service.project()
    const others = await service.manage('POST', `/projects/${stranger.id}/webhook-deliveries:replay-failed`, {
      json: {}
    })
    assert.deepEqual(others.json, { replayed: 0 })
    receiver.respond = (_, response) => response.writeHead(204).end()
    assert.deepEqual(await replay({ webhook_id: webhook.id }), { replayed: 2 })
    await eventually(() => assert.equal(calls().length, 4))
    assert.equal(
      (await service.manage('POST', `${own}/webhook-deliveries:replay-failed`, { json: { since: 1 } })).status,
      400
    )
    const { items } = (await service.manage('GET', `/projects/${project.id}/audit`)).json
    assert.equal(items.find(({ action }: Json) => action === 'webhook_delivery.replay_failed').details.count, 2)
  })

  it('are replayed to the url that the webhook has now, and not after it was deleted', async () => {
    const { own, webhook, calls } = await webhookOf(['message.accepted'])
    receiver.respond = (_, response) => response.writeHead(410).end()
    const { delivery_id } = (await service.manage('POST', `${own}/webhooks/${webhook.id}:test`)).json
    const moved = `/${newId()}`
    const at = `${own}/webhooks/${webhook.id}`
    assert.equal((await service.manage('PATCH', at, { json: { url: receiver.url + moved } })).status, 200)
    const replayed = await service.manage('POST', `${own}/webhook-deliveries/${delivery_id}:replay`)
    assert.deepEqual([replayed.status, replayed.json.url], [200, receiver.url + moved])
    const arrived = () => receiver.received.filter(({ path }) => path === moved).length
    await eventually(() => assert.equal(arrived(), 1))
    const failed = async () => (await service.manage('GET', `${own}/webhook-deliveries?state=failed`)).json.items.length
    await eventually(async () => assert.equal(await failed(), 1))
    const all = () => service.manage('POST', `${own}/webhook-deliveries:replay-failed`, { json: {} })
    assert.deepEqual((await all()).json, { replayed: 1 })
    await eventually(() => assert.equal(arrived(), 2))
    await eventually(async () => assert.equal(await failed(), 1))
    assert.equal((await service.manage('DELETE', at)).status, 200)
    const refused = await service.manage('POST', `${own}/webhook-deliveries/${delivery_id}:replay`)
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'])
    assert.match(refused.json.error, /webhook of this delivery was deleted/)
    assert.deepEqual((await all()).json, { replayed: 0 })
    assert.equal(calls().length, 1, 'the old url got the first call only')
  })

  it('waiting ones go to a corrected url at once, whatever the pause of the one before', async () => {
    const { project, own, webhook, calls } = await webhookOf(['message.accepted'])
    receiver.respond = ({ path }, response) =>
      path.startsWith('/right')
        ? response.writeHead(204).end()
        : response.writeHead(503, { 'retry-after': '3600' }).end()
    await tell(project.id, [outcome()])
    await eventually(() => assert.equal(calls().length, 1))
    const right = `/right/${newId()}`
    await eventually(async () => {
      const { items } = (await service.manage('GET', `${own}/webhook-deliveries`)).json
      assert.ok(Date.parse(items[0].next_at) > Date.now() + 3_000_000)
    })
    await service.manage('PATCH', `${own}/webhooks/${webhook.id}`, { json: { url: receiver.url + right } })
    await eventually(() => assert.ok(receiver.received.some(({ path }) => path === right)))
  })
})
