import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  type Task,
  TaskPushNotificationConfig,
  TaskState
} from '@a2a-js/sdk'
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import type { Json } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'
import { agentOf, doubles } from './agent.ts'
import { contractSkills } from './skills.ts'

// The unmodified official client, in its current version and with its own compatibility mode.
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
const projects = [await service.project(), await service.project()] as const

const withKey =
  (key: string): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-api-key': key } })

const factory = (fetchImpl: typeof fetch, legacy = false) => {
  const compat = legacy ? { legacyCompat: { enabled: true } } : {}
  return new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl, ...compat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl, ...compat })
  })
}

async function oldCard(): Promise<Json> {
  const { supportedInterfaces: _, ...card } = (await service.ask('GET', '/.well-known/agent-card.json')).json
  return card
}

const [current, older] = projects
const clients = [
  { name: '1.3.0', project: current, client: await factory(withKey(current.secretKey)).createFromUrl(service.url) },
  {
    name: '1.3.0 in its 0.3 mode',
    project: older,
    client: await factory(withKey(older.secretKey), true).createFromAgentCard(await oldCard())
  }
]

const say = (data: Json, more: Json = {}, configuration?: Json) =>
  SendMessageRequest.fromJSON({
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data }], ...more },
    ...(configuration && { configuration })
  })
const slow = { skill: 'send-push-notification', projectUserId: 'slow', title: 'a' }
const collect = async (stream: AsyncIterable<StreamResponse>, onEvent = () => {}) => {
  const events: StreamResponse[] = []
  for await (const event of stream) {
    events.push(event)
    onEvent()
  }
  return events.map(({ payload }) => payload!)
}

for (const { name, project, client } of clients) {
  describe(`@a2a-js/sdk ${name}`, () => {
    const legacy = client.protocolVersion.startsWith('0.')
    const send = async (...args: Parameters<typeof say>) => (await client.sendMessage(say(...args))) as Task

    it('reads the card and the extended card', async () => {
      const card = await client.getAgentCard()
      assert.ok(card.description.includes(project.id), card.description)
      assert.deepEqual(
        card.skills.map(({ id }) => id),
        contractSkills
      )
    })

    it('sends, gets and goes on with a task', async () => {
      const asked = await send({ skill: 'create-user' })
      assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED)
      const task = await send({ projectUserId: 'ana' }, { taskId: asked.id, contextId: asked.contextId })
      assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED)
      const content = task.artifacts[0]!.parts[0]!.content!
      assert.equal(content.$case, 'data')
      assert.equal(content.value.projectUserId, 'ana')
      const read = await client.getTask(GetTaskRequest.fromJSON({ id: task.id }))
      assert.equal(read.status?.state, TaskState.TASK_STATE_COMPLETED)
      assert.deepEqual(read.artifacts, task.artifacts)
      assert.equal(read.history.length, 3)
    })

    it('streams', async () => {
      const events = await collect(client.sendMessageStream(say({ skill: 'create-user', projectUserId: 'bo' })))
      assert.deepEqual(
        events.map(({ $case }) => $case),
        ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']
      )
      const last = events.at(-1)!
      assert.ok(last.$case === 'statusUpdate' && last.value.status?.state === TaskState.TASK_STATE_COMPLETED)
    })

    it('lists, in 1.0', async () => {
      const asked = client.listTasks(ListTasksRequest.fromJSON({ pageSize: 1 }))
      if (legacy) return void (await assert.rejects(asked))
      const page = await asked
      assert.equal(page.tasks.length, 1)
      for (const { status } of page.tasks) assert.notEqual(status?.state, TaskState.UNRECOGNIZED)
      const next = await client.listTasks(ListTasksRequest.fromJSON({ pageSize: 1, pageToken: page.nextPageToken }))
      assert.deepEqual([next.tasks.length, next.totalSize], [1, 2])
    })

    it('cancels, and learns what cannot be canceled or found', async () => {
      const waiting = await send({ skill: 'create-user' })
      const canceled = await client.cancelTask(CancelTaskRequest.fromJSON({ id: waiting.id }))
      assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED)
      const done = await send({ skill: 'create-user', projectUserId: 'c' })
      await assert.rejects(client.cancelTask(CancelTaskRequest.fromJSON({ id: done.id })), TaskNotCancelableError)
      await assert.rejects(client.getTask(GetTaskRequest.fromJSON({ id: randomUUID() })), TaskNotFoundError)
      await assert.rejects(client.sendMessage(say({ skill: 'none' })), /There is no skill none/)
    })

    it('need not wait, and comes back to a running task', async () => {
      const task = await send(slow, {}, { returnImmediately: true })
      assert.ok([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING].includes(task.status!.state))
      const subscribed = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: task.id }))
      const events = await collect(subscribed, doubles.finish)
      assert.equal(events[0]!.$case, 'task')
      const last = events.at(-1)!
      assert.ok(last.$case === 'statusUpdate' && last.value.status?.state === TaskState.TASK_STATE_COMPLETED)
    })

    it('sets, reads, lists and deletes webhooks', async () => {
      const task = await send({ skill: 'create-user' })
      const url = `https://example.com/${randomUUID()}`
      const config = await client.createTaskPushNotificationConfig(
        TaskPushNotificationConfig.fromJSON({
          taskId: task.id,
          url,
          token: 't',
          authentication: { scheme: 'Bearer', credentials: 'c' }
        })
      )
      assert.deepEqual([config.url, config.token, config.authentication?.scheme], [url, 't', 'Bearer'])
      const ref = { taskId: task.id, id: config.id }
      assert.equal(
        (await client.getTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest.fromJSON(ref))).url,
        url
      )
      const list = ListTaskPushNotificationConfigsRequest.fromJSON({ taskId: task.id })
      assert.equal((await client.listTaskPushNotificationConfig(list)).configs.length, 1)
      await send({ projectUserId: 'd' }, { taskId: task.id })
      await eventually(() => assert.equal(queued.filter((call) => call.url === url).length, 2))
      await client.deleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest.fromJSON(ref))
      assert.equal((await client.listTaskPushNotificationConfig(list)).configs.length, 0)
    })

    it('is refused without a key', async () => {
      const fetchImpl = withKey('svc_sk_wrong')
      const other = legacy
        ? factory(fetchImpl, true).createFromAgentCard(await oldCard())
        : factory(fetchImpl).createFromUrl(service.url)
      await assert.rejects((await other).sendMessage(say({ skill: 'create-user', projectUserId: 'x' })), /401/)
    })
  })
}

describe('@a2a-js/sdk 1.3.0 in a project with agents of both spellings', () => {
  it('reads its own tasks right without the mark, and all of them with it', async () => {
    const both = await service.project()
    const node = await service.another({ A2A_TENANT_MARK: 'true' })
    const [unmarked, marked] = await Promise.all(
      [service, node].map(({ url }) => factory(withKey(both.secretKey)).createFromUrl(url))
    )
    await agentOf(service, both, 'plain').send({ skill: 'create-user', projectUserId: 'p' })
    await unmarked!.sendMessage(say({ skill: 'create-user', projectUserId: 'o' }))
    const states = async (client: Client) =>
      (await client.listTasks(ListTasksRequest.fromJSON({}))).tasks.map(({ status }) => status?.state)
    const { TASK_STATE_COMPLETED: completed, UNRECOGNIZED: unread } = TaskState
    assert.deepEqual(await states(unmarked!), [completed, unread])
    assert.deepEqual(await states(marked!), [completed, completed])
    await node.close()
  })
})
