import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Outcome, Push } from '../../src/gateways/gateways.ts'
import type { Asked, Json } from '../support/http.ts'
import { failed, pending, succeed } from '../support/messages.ts'
import { accepted, lost, rejected, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
// The two nodes share the sender, as they would share Apple.
const second = await service.another({ DATABASE_URL: service.databaseUrl })

const path = '/api/v1/live-activity-channels'

async function given(): Promise<{ project: TestProject; id: string }> {
  const project = await service.project({ mode: 'simulator' })
  const reply = await project.call('POST', path, { json: { attributes_type: 'Match', storage: 'most_recent' } })
  assert.equal(reply.status, 200, reply.text)
  return { project, id: reply.json.channel_id }
}

/** The same call to the other node. */
const onSecond = (project: TestProject, method: string, path: string, asked: Asked = {}) =>
  second.ask(method, path, {
    ...asked,
    headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey }
  })

const change = (project: TestProject, id: string, state: number, verb = 'update', more = {}) =>
  project.call('POST', `${path}/${id}:${verb}`, { json: { content_state: { state }, ...more } })

const resultOf = (reply: Json): [string, string] => {
  const [result] = reply.json.delivery_results
  return [result.status, result.additional_params.failure_reason.replace(/ .*/, '')]
}

/** The broadcasts to a channel, as [state, timestamp]. */
const broadcasts = (id: string): [number, number][] =>
  sender.to(id).flatMap(({ content }): [number, number][] => {
    if (content.kind !== 'channel-broadcast') return []
    const { contentState, timestamp } = content.change.activity
    return [[(contentState as { state: number }).state, timestamp]]
  })

const kinds = (id: string) => sender.to(id).map(({ content }: Push) => content.kind)

/** A reaction that the test gives later. */
function held(): { reaction: Promise<Outcome>; give: (outcome: Outcome) => void } {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  return { reaction: promise, give: resolve }
}

const waitingChanges = (id: string) =>
  service.sql('select number from live_activity_changes where channel_id = $1 and settled_at is null', [id])

describe('changes of a channel', () => {
  it('leave one at a time over all nodes, and the newest that waits takes the place of the others', async () => {
    const { project, id } = await given()
    const first = held()
    sender.script(id, first.reaction, accepted())
    const replies = [change(project, id, 1)]
    await eventually(() => assert.equal(broadcasts(id).length, 1))
    const other = { ...project, call: (...asked: Parameters<TestProject['call']>) => onSecond(project, ...asked) }
    for (const state of [2, 3]) {
      replies.push(change(other, id, state))
      await eventually(async () => assert.equal((await waitingChanges(id)).length, state))
    }
    assert.equal(broadcasts(id).length, 1, 'nothing leaves beside the first one')
    first.give(accepted())
    assert.deepEqual((await Promise.all(replies)).map(resultOf), [
      [succeed, ''],
      [failed, '[SUPERSEDED]'],
      [succeed, '']
    ])
    assert.deepEqual(
      broadcasts(id).map(([state]) => state),
      [1, 3]
    )
  })

  it('get times that rise by at least a second each, and an end is never left out', async () => {
    const { project, id } = await given()
    const first = held()
    sender.script(id, first.reaction, accepted())
    const replies = [change(project, id, 1)]
    await eventually(() => assert.equal(broadcasts(id).length, 1))
    replies.push(change(project, id, 2, 'end'))
    await eventually(async () => assert.equal((await waitingChanges(id)).length, 2))
    replies.push(change(project, id, 3))
    await eventually(async () => assert.equal((await waitingChanges(id)).length, 3))
    first.give(accepted())
    await Promise.all(replies)
    const sent = broadcasts(id)
    assert.deepEqual(
      sent.map(([state]) => state),
      [1, 2, 3]
    )
    for (const [index, [, timestamp]] of sent.entries())
      if (index > 0) assert.ok(timestamp > sent[index - 1]![1], JSON.stringify(sent))
  })

  it('are repeated with the same time when the response was lost, unless a newer one waits', async () => {
    const { project, id } = await given()
    sender.script(id, lost(), accepted())
    assert.deepEqual(resultOf(await change(project, id, 1)), [succeed, ''])
    const [one, again] = broadcasts(id)
    assert.deepEqual(one, again)
    const response = held()
    sender.script(id, response.reaction, accepted())
    const replies = [change(project, id, 2)]
    await eventually(() => assert.equal(broadcasts(id).length, 3))
    replies.push(change(project, id, 3))
    await eventually(async () => assert.equal((await waitingChanges(id)).length, 2))
    response.give(lost())
    assert.deepEqual((await Promise.all(replies)).map(resultOf), [
      [failed, '[SUPERSEDED]'],
      [succeed, '']
    ])
    assert.deepEqual(
      broadcasts(id).map(([state]) => state),
      [1, 1, 2, 3]
    )
  })

  it('that a dead process had handed over are repeated, and not if a newer one was accepted since', async () => {
    const { project, id } = await given()
    await change(project, id, 1)
    const leave = (number: number) =>
      service.sql(
        `update live_activity_changes set state = 'handed', settled_at = null where channel_id = $1 and number = $2`,
        [id, number]
      )
    await leave(1)
    await service.sql("update live_activity_changes set created_at = now() - interval '1 minute'")
    await service.hurry('activity-channels.sweep')
    await eventually(() => assert.equal(broadcasts(id).length, 2))
    assert.deepEqual(broadcasts(id)[0], broadcasts(id)[1])
    await Promise.all([service.app.idle(), second.app.idle()])
    await leave(1)
    await change(project, id, 2)
    assert.deepEqual(
      broadcasts(id).map(([state]) => state),
      [1, 1, 2]
    )
  })

  it('wait for a gateway that is away, and fail with its reason for good', async () => {
    const { project, id } = await given()
    sender.script(id, retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 300 }), accepted())
    assert.deepEqual(resultOf(await change(project, id, 1)), [succeed, ''])
    sender.script(id, rejected('CREDENTIALS_INVALID'))
    assert.deepEqual(resultOf(await change(project, id, 2)), [failed, '[CREDENTIALS_INVALID]'])
  })

  it('wait while the project is paused', async () => {
    const { project, id } = await given()
    await service.manage('POST', `/projects/${project.id}:pause`)
    await eventually(async () => assert.deepEqual(resultOf(await change(project, id, 1)), [pending, '']))
    const made = await project.call('POST', path, { json: { attributes_type: 'Match', storage: 'none' } })
    assert.deepEqual([made.json.status, made.json.apns_channel_id], ['creating', null])
    assert.equal(
      (await project.call('POST', `${path}/${made.json.channel_id}:update`, { json: { content_state: {} } })).status,
      409
    )
    assert.equal((await project.call('DELETE', `${path}/${made.json.channel_id}`)).status, 409)
    const left = broadcasts(id).length
    await service.manage('POST', `/projects/${project.id}:resume`)
    await eventually(async () => {
      assert.ok(broadcasts(id).length > left)
      const { status } = (await project.call('GET', `${path}/${made.json.channel_id}`)).json
      assert.equal(status, 'active')
    })
  })
})

describe('the creation of a channel', () => {
  const atApple = (...channels: string[]): Outcome => ({ kind: 'accepted', gatewayMessageId: '', channels })

  /** Makes a channel whose creation goes as the outcomes say, from the first listing on. */
  async function make(outcomes: Outcome[]): Promise<Json> {
    const project = await service.project({ mode: 'simulator' })
    await service.manage('POST', `/projects/${project.id}:pause`)
    const { json } = await eventually(async () => {
      const reply = await project.call('POST', path, { json: { attributes_type: 'Match', storage: 'none' } })
      assert.equal(reply.json.status, 'creating', reply.text)
      return reply
    })
    sender.script(json.channel_id, ...outcomes)
    await service.manage('POST', `/projects/${project.id}:resume`)
    return eventually(async () => {
      const found = (await project.call('GET', `${path}/${json.channel_id}`)).json
      assert.notEqual(found.status, 'creating')
      return found
    }, 15_000)
  }

  it('takes the one new channel at Apple as its own after a lost response', async () => {
    const found = await make([atApple('theirs'), lost(), atApple('theirs', 'orphan')])
    assert.deepEqual([found.status, found.apns_channel_id], ['active', 'orphan'])
    assert.deepEqual(kinds(found.channel_id), ['channel-list', 'channel-create', 'channel-list'])
  })

  it('asks again if the request did not arrive', async () => {
    const found = await make([atApple(), lost(), atApple(), { kind: 'accepted', gatewayMessageId: 'made' }])
    assert.deepEqual([found.status, found.apns_channel_id], ['active', 'made'])
  })

  it('takes none of several new channels, nor one that another project has', async () => {
    const other = await make([atApple(), { kind: 'accepted', gatewayMessageId: 'of-another' }])
    assert.equal(other.apns_channel_id, 'of-another')
    const found = await make([
      atApple(),
      lost(),
      atApple('of-another', 'one', 'two'),
      { kind: 'accepted', gatewayMessageId: 'mine' }
    ])
    assert.equal(found.apns_channel_id, 'mine')
  })

  it('fails with the reason of Apple', async () => {
    const found = await make([rejected('CREDENTIALS_INVALID')])
    assert.deepEqual([found.status, found.failure_reason.split(' ')[0]], ['failed', '[CREDENTIALS_INVALID]'])
  })
})

it('a channel is deleted here once Apple has deleted it, with its waiting changes', async () => {
  const { project, id } = await given()
  sender.script(id, retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 60_000 }))
  const waits = change(project, id, 1)
  await eventually(() => assert.equal(broadcasts(id).length, 1))
  sender.script(id, retry('GATEWAY_UNAVAILABLE'), accepted())
  const removed = project.call('DELETE', `${path}/${id}`)
  assert.deepEqual(resultOf(await waits), [failed, '[CANCELED]'])
  assert.deepEqual((await removed).json, {})
  assert.deepEqual(kinds(id).slice(-2), ['channel-delete', 'channel-delete'])
  assert.equal((await project.call('GET', `${path}/${id}`)).status, 404)
  await second.close()
})
