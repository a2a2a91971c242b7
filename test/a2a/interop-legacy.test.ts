import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Task } from 'a2a-sdk-03'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  TaskNotCancelableError,
  TaskNotFoundError
} from 'a2a-sdk-03/client'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { doubles } from './agent.ts'

// The unmodified official client of the older protocol.
const queued: Json[] = []
const service = await startService(
  {},
  {
    agents: {
      messages: doubles.messages,
      enqueue: async (_tx, _projectId, call) => void queued.push(call),
      refuseAddress: async () => null
    }
  }
)
const project = await service.project()
const fetchImpl: typeof fetch = (input, init) =>
  fetch(input, {
    ...init,
    headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-api-key': project.secretKey }
  })
const client = await new ClientFactory({
  transports: [new JsonRpcTransportFactory({ fetchImpl })],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl })
}).createFromUrl(service.url)

const say = (data: Json, more: Json = {}, configuration?: Json) => ({
  message: {
    kind: 'message' as const,
    messageId: randomUUID(),
    role: 'user' as const,
    parts: [{ kind: 'data' as const, data }],
    ...more
  },
  ...(configuration && { configuration })
})
const send = async (...args: Parameters<typeof say>) => (await client.sendMessage(say(...args))) as Task
const collect = async (stream: AsyncIterable<Json>, onEvent = () => {}) => {
  const events: Json[] = []
  for await (const event of stream) {
    events.push(event)
    onEvent()
  }
  return events
}

describe('@a2a-js/sdk 0.3.14', () => {
  it('reads the card and the extended card', async () => {
    const card = await client.getAgentCard()
    assert.ok(card.description.includes(project.id))
    assert.equal(card.protocolVersion, '0.3.0')
  })

  it('sends, gets and goes on with a task', async () => {
    const asked = await send({ skill: 'create-user' })
    assert.deepEqual([asked.kind, asked.status.state], ['task', 'input-required'])
    const task = await send({ projectUserId: 'ana' }, { taskId: asked.id })
    assert.equal(task.status.state, 'completed')
    const [part] = task.artifacts![0]!.parts
    assert.ok(part?.kind === 'data' && part.data.projectUserId === 'ana')
    assert.deepEqual(await client.getTask({ id: task.id }), task)
  })

  it('streams, and comes back to a running task', async () => {
    const events = await collect(client.sendMessageStream(say({ skill: 'create-user', projectUserId: 'bo' })))
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['task', 'status-update', 'artifact-update', 'status-update']
    )
    assert.deepEqual([events.at(-1).status.state, events.at(-1).final], ['completed', true])
    const slow = { skill: 'send-push-notification', projectUserId: 'slow', title: 'a' }
    // This client always waits, whatever its options say; so the test starts the task by a stream and closes the
    // stream.
    let id = ''
    for await (const event of client.sendMessageStream(say(slow))) {
      id = (event as Task).id
      break
    }
    const rest = await collect(client.resubscribeTask({ id }), doubles.finish)
    assert.equal(rest.at(-1).status.state, 'completed')
  })

  it('cancels, and learns what cannot be canceled or found', async () => {
    const waiting = await send({ skill: 'create-user' })
    assert.equal((await client.cancelTask({ id: waiting.id })).status.state, 'canceled')
    await assert.rejects(client.cancelTask({ id: waiting.id }), TaskNotCancelableError)
    await assert.rejects(client.getTask({ id: randomUUID() }), TaskNotFoundError)
    await assert.rejects(client.sendMessage(say({ skill: 'none' })), /There is no skill none/)
  })

  it('sets, reads, lists and deletes webhooks', async () => {
    const task = await send({ skill: 'create-user' })
    const url = `https://example.com/${randomUUID()}`
    const config = await client.setTaskPushNotificationConfig({
      taskId: task.id,
      pushNotificationConfig: { url, token: 't', authentication: { schemes: ['Bearer'], credentials: 'c' } }
    })
    const { id } = config.pushNotificationConfig
    assert.ok(id)
    const ref = { id: task.id, pushNotificationConfigId: id }
    const read = await client.getTaskPushNotificationConfig(ref)
    assert.deepEqual(
      [read.pushNotificationConfig.url, read.pushNotificationConfig.token, read.pushNotificationConfig.authentication],
      [url, '[redacted]', { schemes: ['Bearer'], credentials: '[redacted]' }]
    )
    assert.deepEqual(await client.listTaskPushNotificationConfig({ id: task.id }), [read])
    await send({ projectUserId: 'd' }, { taskId: task.id })
    const bodies = queued.filter((call) => call.url === url).map(({ body }) => JSON.parse(body))
    assert.deepEqual(
      bodies.map(({ kind, status }) => [kind, status.state]),
      [
        ['task', 'working'],
        ['task', 'completed']
      ]
    )
    await client.deleteTaskPushNotificationConfig(ref)
    assert.deepEqual(await client.listTaskPushNotificationConfig({ id: task.id }), [])
  })
})
