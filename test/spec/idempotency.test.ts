import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, type Json } from '../support/http.ts'
import { givenUser, send, succeed, to } from '../support/messages.ts'
import { accepted, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const keyed = (key: string, name = 'idempotency-key') => ({ headers: { [name]: key } })

describe('a request with an idempotency key', () => {
  it('is done once: the same bytes get the same response again, marked as a replay', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'once-1')
    const first = await send(project, [to('ana'), to('nobody')], keyed('k'))
    assert.equal(first.status, 200)
    assert.equal(first.headers['idempotent-replay'], undefined)
    const again = await send(project, [to('ana'), to('nobody')], keyed('k'))
    assert.deepEqual([again.status, again.text], [200, first.text])
    assert.equal(again.headers['idempotent-replay'], 'true')
    assert.equal(again.headers['content-type'], first.headers['content-type'])
    const alias = await send(project, [to('ana'), to('nobody')], keyed('k', 'x-service-idempotency-key'))
    assert.deepEqual([alias.text, alias.headers['idempotent-replay']], [first.text, 'true'])
    assert.equal(sender.to('once-1').length, 1)
  })

  it('is the same through the management surface, which has the same paths', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'twin-1')
    const first = await send(project, [to('ana')], keyed('k'))
    const twin = await service.manage('POST', `/projects/${project.id}/api/v1/messages:send`, {
      json: { push_notifications: [to('ana')] },
      ...keyed('k')
    })
    assert.deepEqual([twin.text, twin.headers['idempotent-replay']], [first.text, 'true'])
  })

  it('is the same on another node', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'node-1')
    const other = await service.another()
    const first = await send(project, [to('ana')], keyed('k'))
    const again = await ask(other.url, 'POST', '/api/v1/messages:send', {
      json: { push_notifications: [to('ana')] },
      headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey, 'idempotency-key': 'k' }
    })
    assert.equal(again.text, first.text)
    assert.equal(sender.to('node-1').length, 1)
  })

  it('is refused with other bytes, be it one blank', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'other-1')
    await send(project, [to('ana')], keyed('k'))
    const body = `${JSON.stringify({ push_notifications: [to('ana')] })} `
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
    const reply = await project.call('POST', '/api/v1/messages:send', { body, headers })
    assert.deepEqual([reply.status, reply.text], [409, 'Idempotency key was used with another body'])
    assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(reply.headers['x-service-error-code'], 'idempotency_key_reused')
    assert.equal(reply.headers['retry-after'], undefined)
    assert.equal(sender.to('other-1').length, 1)
  })

  it('gets Retry-After while the first runs', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'busy-1')
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof accepted>>()
    sender.script('busy-1', promise)
    const first = send(project, [to('ana')], keyed('k'))
    await eventually(() => assert.equal(sender.to('busy-1').length, 1))
    const second = await send(project, [to('ana')], keyed('k'))
    assert.deepEqual([second.status, second.text], [409, 'Idempotency key is in use'])
    assert.equal(second.headers['retry-after'], '1')
    assert.equal(second.headers['x-service-error-code'], 'idempotency_key_in_use')
    resolve(accepted())
    const done = await first
    assert.equal((await send(project, [to('ana')], keyed('k'))).text, done.text)
  })

  it('is done once however many come at once', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'race-1')
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(project, [to('ana')], keyed('k'))))
    const done = replies.filter(({ status }) => status === 200)
    assert.ok(done.length > 0)
    assert.equal(new Set(done.map(({ text }) => text)).size, 1)
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    assert.equal(sender.to('race-1').length, 1)
  })

  it('counts for its project and its path, and for nothing else', async () => {
    const [one, two] = [await service.project(), await service.project()]
    for (const project of [one, two]) {
      await givenUser(project, 'ana', 'scope-1')
      assert.equal((await send(project, [to('ana')], keyed('k'))).headers['idempotent-replay'], undefined)
    }
    assert.equal(sender.to('scope-1').length, 2)
    const activity = { target: { project_user_id: 'ana' }, attributes_type: 'A', attributes: {}, content_state: {} }
    const reply = await start(one, [activity], 'k')
    assert.deepEqual([reply.status, reply.headers['idempotent-replay']], [200, undefined])
    assert.equal((await start(one, [activity], 'k')).headers['idempotent-replay'], 'true')
  })

  it('remembers only successes', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'bad-1')
    assert.equal((await send(project, [], keyed('k'))).status, 400)
    const reply = await send(project, [to('ana')], keyed('k'))
    assert.equal(reply.json.delivery_results[0].status, succeed)
  })

  it('is forgotten when its time is over', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'old-1')
    const first = await send(project, [to('ana')], keyed('k'))
    const [{ hours }] = await service.sql(
      `select round(extract(epoch from expires_at - now()) / 3600) as hours from idempotency_keys where project_id = $1`,
      [project.id]
    )
    assert.equal(Number(hours), 24)
    await service.sql(`update idempotency_keys set expires_at = now() where project_id = $1`, [project.id])
    const again = await send(project, [to('ana')], keyed('k'))
    assert.notEqual(again.text, first.text)
    assert.equal(sender.to('old-1').length, 2)
  })

  it('whose process died goes on where it stopped: accepted messages are not sent again', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'dead-1', 'dead-2', 'dead-3')
    const first = await send(project, [to('ana')], keyed('k'))
    const [{ message_id }] = first.json.delivery_results
    // The state after kill -9: one response was lost, one push was never made, and no process holds the key.
    await service.sql(
      `update messages set state = case when device_id = 'dead-2' then 'handed' else 'queued' end, settled_at = null,
              due_at = date_trunc('milliseconds', now() + interval '30 s'), gateway_message_id = null, attempts = 0
        where project_id = $1 and device_id <> 'dead-1'`,
      [project.id]
    )
    await service.sql(`update idempotency_keys set answer = null, held_until = now() where project_id = $1`, [
      project.id
    ])
    const again = await project.call('POST', '/api/v1/messages:send?expand=devices', {
      json: { push_notifications: [to('ana')] },
      ...keyed('k')
    })
    const [result] = again.json.delivery_results
    assert.deepEqual([again.status, result.message_id, result.status], [200, message_id, succeed])
    assert.equal(result.additional_params.devices.length, 3)
    assert.ok(result.additional_params.devices.every(({ status }: Json) => status === succeed))
    const counts = ['dead-1', 'dead-2', 'dead-3'].map((device) => sender.to(device).length)
    assert.deepEqual(counts, [1, 2, 2])
    assert.equal(new Set(sender.to('dead-2').map(({ collapseId }) => collapseId)).size, 1)
  })

  for (const key of ['', 'x'.repeat(256)]) {
    it(`is refused with a key of ${key.length} characters`, async () => {
      const project = await service.project()
      await givenUser(project, 'ana', 'length-1')
      const reply = await send(project, [to('ana')], keyed(key))
      assert.deepEqual([reply.status, reply.text], [400, 'Invalid push notification parameters'])
      assert.equal(reply.headers['x-service-error-code'], 'invalid_idempotency_key')
      assert.deepEqual(sender.to('length-1'), [])
    })
  }

  it('takes a key of 255 characters', async () => {
    const project = await service.project()
    assert.equal((await send(project, [to('ana')], keyed('x'.repeat(255)))).status, 200)
  })
})

const start = (project: TestProject, items: unknown, key: string) =>
  project.call('POST', '/api/v1/live-activities:start', { json: { live_activities: items }, ...keyed(key) })
