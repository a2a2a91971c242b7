import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Agent, agentOf, type Method, names } from '../a2a/agent.ts'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'
import { agentKey, setPolicy, withKey } from './keys.ts'

const service = await startService({}, { sender: scriptedSender() })
const project = await service.project()
const owner = agentOf(service, project, 'plain')

const agentWith = async (policy: Json | null) => agentOf(service, await agentKey(service, project, policy), 'plain')
/** A task that waits for the name of its user. */
const waiting = (agent: Agent = owner, more: Json = {}) => agent.send({ skill: 'create-user' }, more)
const idsSeenBy = async (agent: Agent, more: Json = {}) =>
  (await agent.result('list', more)).tasks.map(({ id }: Json) => id)
const refusedTo = async (agent: Agent, method: Method, params: Json) => (await agent.error(method, params)).code

async function rotated(key: TestProject & { keyId: string }) {
  const path = `/projects/${project.id}/keys/${key.keyId}:rotate`
  const { status, text, json } = await service.manage('POST', path, { json: { overlap: '1h' } })
  assert.equal(status, 201, text)
  return { ...withKey(project, json.key), keyId: json.id }
}

describe('the task of another key, for a key with a policy', () => {
  for (const name of names)
    it(`does not exist, whatever the method (${name})`, async () => {
      const task = await waiting()
      const url = 'https://example.com/hook'
      const config = await owner.result('createConfig', { taskId: task.id, id: 'hook', url })
      assert.equal(config.id, 'hook')
      const before = await owner.get(task.id)
      const stranger = agentOf(service, await agentKey(service, project, { dry_run: true }), name)
      const { id } = task
      const ref = name === 'legacy' ? { id, pushNotificationConfigId: 'hook' } : { taskId: id, id: 'hook' }
      const made = name === 'legacy' ? { taskId: id, pushNotificationConfig: { url } } : { taskId: id, url }
      const asked: [Method, Json][] = [
        ['get', { id }],
        ['cancel', { id }],
        ['subscribe', { id }],
        ['send', { message: stranger.message('ana', { taskId: id }) }],
        ['stream', { message: stranger.message('ana', { taskId: id }) }],
        ['createConfig', made],
        ['getConfig', ref],
        ['listConfigs', name === 'legacy' ? { id } : { taskId: id }],
        ['deleteConfig', ref]
      ]
      const absent = await stranger.error('get', { id: '0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17' })
      for (const [method, params] of asked) {
        const { code, message } = await stranger.error(method, params)
        assert.deepEqual([method, code, message], [method, -32001, absent.message])
      }
      assert.deepEqual(await owner.get(id), before)
      assert.equal((await owner.result('listConfigs', { taskId: id })).configs.length, 1)
    })

  it('cannot be canceled by a key that may do nothing', async () => {
    const task = await waiting()
    for (const policy of [{ skills: [] }, { dry_run: true }])
      assert.equal(await refusedTo(await agentWith(policy), 'cancel', { id: task.id }), -32001)
    assert.equal((await owner.get(task.id)).status.state, 'input-required')
  })

  it('stays as it was after a yes of that key, and takes the yes of its own', async () => {
    await givenMany(service, project, 2, project.id)
    await givenCampaign(service, project)
    const triggers = async () => (await project.call('GET', '/api/v1/triggers')).json.items.length
    const task = await owner.send('Trigger the campaign news for everyone')
    assert.equal(task.status.state, 'input-required')
    const stranger = await agentWith({ skills: ['find-user'] })
    const yes = stranger.message('yes', { taskId: task.id })
    assert.equal(await refusedTo(stranger, 'send', { message: yes }), -32001)
    const other = await stranger.send('yes', { contextId: task.contextId })
    assert.notEqual(other.id, task.id)
    assert.equal(await triggers(), 0)
    assert.deepEqual((await owner.get(task.id)).status, task.status)
    assert.equal((await owner.send('yes', { taskId: task.id })).status.state, 'completed')
    assert.equal(await triggers(), 1)
  })

  it('is in none of its lists, and in none of their totals', async () => {
    const key = await agentKey(service, project, { skills: ['find-user'] })
    const agent = agentOf(service, key, 'official')
    const contextId = 'shared'
    await waiting(owner, { contextId })
    const own: string[] = []
    for (let count = 0; count < 3; count++) own.unshift((await agent.send({ skill: 'create-user' }, { contextId })).id)
    await waiting(owner, { contextId })
    const first = await agent.result('list', { contextId, pageSize: 2 })
    assert.equal(first.totalSize, 3)
    const next = await agent.result('list', { contextId, pageSize: 2, pageToken: first.nextPageToken })
    assert.deepEqual(
      [...first.tasks, ...next.tasks].map(({ id }: Json) => id),
      own
    )
    assert.equal((await agentOf(service, project, 'official').result('list', { contextId, pageSize: 2 })).totalSize, 5)
  })

  it('is not returned for the same messageId and message: the key is used', async () => {
    const agent = await agentWith({ skills: ['create-user'] })
    const bodies = [{ skill: 'create-user', projectUserId: 'repeated' }, { skill: 'create-user' }, 'Create user bea']
    for (const [index, content] of bodies.entries()) {
      const message = owner.message(content, { messageId: `guessed-${index}` })
      const { task } = await owner.result('send', { message })
      const { status, json } = await agent.call('send', { message })
      assert.equal(status, 409)
      assert.match(json.error.message, /^Idempotency key was used with another message/)
      assert.ok(!JSON.stringify(json).includes(task.id))
      assert.deepEqual((await owner.result('send', { message })).task.id, task.id, 'its own key repeats it')
      const unlimited = await agentWith(null)
      assert.deepEqual(
        (await unlimited.result('send', { message })).task.id,
        task.id,
        'and so do keys without a policy'
      )
    }
  })
})

describe('the tasks of a key with a policy', () => {
  it('are its own: it reads, lists, continues and cancels them, also in a dry run', async () => {
    const key = await agentKey(service, project, null)
    const agent = agentOf(service, key, 'plain')
    const [one, two] = [await waiting(agent), await waiting(agent)]
    await setPolicy(service, key, { dry_run: true, skills: ['find-user'] })
    assert.deepEqual(await idsSeenBy(agent), [two.id, one.id])
    assert.equal((await agent.result('cancel', { id: one.id })).status.state, 'canceled')
    assert.equal((await agent.send({ projectUserId: 'ana' }, { taskId: two.id })).status.state, 'rejected')
  })

  it('are those of the keys that were rotated to it, too', async () => {
    const first = await agentKey(service, project, { skills: ['create-user'] })
    const second = await rotated(first)
    const third = await rotated(second)
    const agents = [first, second, third].map((key) => agentOf(service, key, 'plain'))
    const tasks = []
    for (const agent of agents) tasks.unshift((await waiting(agent)).id)
    const last = agents[2]!
    assert.deepEqual(await idsSeenBy(last), tasks)
    for (const id of tasks) assert.equal((await last.get(id)).id, id)
    assert.equal((await last.result('cancel', { id: tasks[1] })).status.state, 'canceled')
  })

  it('are visible to keys without a policy', async () => {
    const task = await waiting(await agentWith({ skills: [] }))
    const unlimited = await agentWith(null)
    assert.equal((await unlimited.get(task.id)).id, task.id)
    assert.ok((await idsSeenBy(owner)).includes(task.id))
  })
})
