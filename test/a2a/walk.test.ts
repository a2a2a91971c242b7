import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { type AgentCard, SendMessageRequest, Task } from '@a2a-js/sdk'
import * as current from '@a2a-js/sdk/client'
import * as older from 'a2a-sdk-03/client'
import type { Json } from '../support/http.ts'
import { startService, type TestProject } from '../support/service.ts'
import { givenSpring } from '../support/walk.ts'

// The unmodified official clients: find a user, preview a campaign, confirm, broadcast, ask why a user did not get it.
const service = await startService()

interface Talker {
  /** Sends a text or data, and returns the task in the spelling of the contract. */
  say(content: string | Json, task?: Json): Promise<Json>
}

const keyed =
  ({ secretKey }: TestProject): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-api-key': secretKey } })

const partOf = (content: string | Json) => (typeof content === 'string' ? { text: content } : { data: content })

async function byCurrent(project: TestProject): Promise<Talker> {
  const fetchImpl = keyed(project)
  const client = await new current.ClientFactory({
    transports: [new current.JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new current.DefaultAgentCardResolver({ fetchImpl })
  }).createFromUrl(service.url)
  assert.equal(((await client.getAgentCard()) as AgentCard).skills.length, 4)
  return {
    async say(content, task) {
      const message = { messageId: randomUUID(), role: 'ROLE_USER', taskId: task?.id, parts: [partOf(content)] }
      const sent = await client.sendMessage(SendMessageRequest.fromJSON({ message }))
      const read = Task.toJSON(sent as Task) as Json
      read.status.state = read.status.state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-')
      return read
    }
  }
}

async function byOlder(project: TestProject): Promise<Talker> {
  const fetchImpl = keyed(project)
  const client = await new older.ClientFactory({
    transports: [new older.JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new older.DefaultAgentCardResolver({ fetchImpl })
  }).createFromUrl(service.url)
  return {
    say(content, task) {
      const part = { kind: typeof content === 'string' ? 'text' : 'data', ...partOf(content) } as Json
      const message = { kind: 'message' as const, messageId: randomUUID(), role: 'user' as const, parts: [part] }
      return client.sendMessage({ message: { ...message, ...(task && { taskId: task.id }) } })
    }
  }
}

const dataOf = (task: Json): Json => {
  assert.equal(task.status.state, 'completed', JSON.stringify(task.status))
  return task.artifacts.at(-1).parts[0].data
}
const shownBy = (task: Json): Json => {
  assert.equal(task.status.state, 'input-required')
  return task.status.message.parts.find((part: Json) => part.data !== undefined).data
}
const broadcasts = async (project: TestProject) => (await project.call('GET', '/api/v1/triggers')).json.items.length

for (const [name, connect] of [
  ['1.3.0', byCurrent],
  ['0.3.14', byOlder]
] as const) {
  describe(`@a2a-js/sdk ${name} walks from a search to an explanation`, () => {
    it('by texts', async () => {
      const project = await givenSpring(service)
      const { say } = await connect(project)
      assert.equal(dataOf(await say('Find user ana')).users[0].properties.plan, 'gold')
      assert.equal(dataOf(await say('Preview campaign spring for everyone')).sample[0].title, 'Spring is here')
      const asked = await say('Trigger campaign spring for everyone')
      const { recipients, devices, campaignVersion } = shownBy(asked)
      assert.deepEqual([recipients, devices, campaignVersion], [1, 1, 1])
      assert.equal(await broadcasts(project), 0)
      const { triggerId } = dataOf(await say('yes', asked))
      assert.equal(await broadcasts(project), 1)
      const { sent, why } = dataOf(await say(`Why did user bo not get trigger ${triggerId}?`))
      assert.deepEqual([sent, why], [false, 'The user has no device.'])
    })

    it('by data, confirming what the preview showed', async () => {
      const project = await givenSpring(service)
      const { say } = await connect(project)
      const found = dataOf(await say({ skill: 'find-user', property: 'plan', value: 'gold' }))
      assert.equal(found.users[0].projectUserId, 'ana')
      const preview = dataOf(await say({ skill: 'preview-campaign', campaignId: 'spring', broadcast: true }))
      assert.deepEqual([preview.recipients, preview.sample[0].title], [1, 'Spring is here'])
      const confirm = { confirmationId: preview.confirmationId, confirm: true }
      const { triggerId } = dataOf(await say(confirm))
      assert.equal(dataOf(await say(confirm)).triggerId, triggerId, 'a repeat returns the first trigger')
      assert.equal(await broadcasts(project), 1)
      const { sent } = dataOf(await say({ skill: 'explain-delivery', triggerId, projectUserId: 'bo' }))
      assert.equal(sent, false)
    })
  })
}
