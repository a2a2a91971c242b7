import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf } from './agent.ts'

const service = await startService()
const project = await service.project()
const agent = agentOf(service, project, 'official')

const userOf = (task: Json) => task.artifacts[0].parts[0].data
const create = (projectUserId: string, properties: Json = {}) =>
  agent.send({ skill: 'create-user', projectUserId, properties })
const put = (projectUserId: string, properties: Json) =>
  project.call('POST', '/api/v1/users', { json: { project_user_id: projectUserId, properties } })
const stored = async () =>
  new Map(
    (await service.sql('select project_user_id, id, properties from users where project_id = $1', [project.id])).map(
      (row: Json) => [row.project_user_id, row]
    )
  )
const named = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

describe('users that agents create at once', () => {
  it('have the same id in the answer, in the task and in the store, whether they are new or known', async () => {
    const known = [...named('known', 20), '__proto__', 'it"s \\ ✓', 'constructor']
    await Promise.all(known.map((id) => put(id, { before: true })))
    const before = await stored()
    const all = [...known, ...named('new', 20)]
    const tasks = await Promise.all(all.map((id) => create(id, { after: true })))
    const after = await stored()
    for (const [index, id] of all.entries()) {
      assert.deepEqual(userOf(tasks[index]), { userId: after.get(id).id, projectUserId: id })
      assert.deepEqual(userOf(await agent.get(tasks[index].id)), userOf(tasks[index]))
      if (before.has(id)) assert.equal(before.get(id).id, after.get(id).id)
    }
  })

  it('are each as the last of them left it, where several are the same one', async () => {
    const tasks = await Promise.all(named('value', 30).map((name) => create('one', { [name]: true })))
    const { id, properties } = (await stored()).get('one')
    assert.deepEqual(new Set(tasks.map((task) => userOf(task).userId)), new Set([id]))
    assert.deepEqual(Object.keys(properties).length, 30)
  })

  it('do not suffer from one that grows too large, which alone is rejected and unchanged', async () => {
    const large = Object.fromEntries(named('text', 3).map((name) => [name, 'x'.repeat(20_000)]))
    assert.equal((await put('large', large)).status, 200)
    const [refused, ...others] = await Promise.all([
      create('large', { more: 'x'.repeat(20_000) }),
      ...named('beside', 20).map((id) => create(id))
    ])
    assert.equal(refused.status.state, agent.state('rejected'))
    assert.match(refused.status.message.parts[0].text, /64 KiB|too large/)
    for (const task of others) assert.equal(task.status.state, agent.state('completed'))
    assert.equal((await stored()).get('large').properties.more, undefined)
  })

  it('keep their order with what else is asked for: a text, a question', async () => {
    const tasks = await Promise.all([
      ...named('among', 10).map((id) => create(id)),
      agent.send('Hello'),
      agent.send({ skill: 'create-user' }),
      agent.send('Create user textual with plan=free')
    ])
    const states = tasks.map(({ status }) => status.state)
    assert.deepEqual(states, [
      ...Array(10).fill(agent.state('completed')),
      agent.state('input-required'),
      agent.state('input-required'),
      agent.state('completed')
    ])
    assert.deepEqual((await stored()).get('textual').properties, { plan: 'free' })
    for (const task of tasks) assert.deepEqual((await agent.get(task.id)).status, task.status)
  })
})
