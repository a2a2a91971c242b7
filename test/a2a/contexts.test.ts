import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf, names } from './agent.ts'

// Settled 5: a message with a context and without a task answers the one open question of that context.
const service = await startService()
const project = await service.project()
const textOf = (task: Json): string => task.status.message.parts[0].text

for (const name of names)
  describe(`a message of a ${name} agent that names only its context`, () => {
    const agent = agentOf(service, project, name)
    const states = (tasks: Json[]) => tasks.map(({ status }) => status.state)
    const open = (contextId: string = randomUUID()) => agent.send('Create a user', { contextId })
    const userOf = (task: Json) => task.artifacts[0].parts[0].data.projectUserId
    const tasksOf = async (contextId: string): Promise<Json[]> => {
      const listed = await agent.result('list', { contextId })
      return name === 'legacy' ? listed : listed.tasks
    }

    it('answers the one open question by text', async () => {
      const asked = await open()
      const done = await agent.send(`text-${name}-1`, { contextId: asked.contextId })
      assert.equal(done.id, asked.id)
      assert.deepEqual([done.status.state, userOf(done)], [agent.state('completed'), `text-${name}-1`])
    })

    it('answers it by data without a skill', async () => {
      const asked = await open()
      const done = await agent.send({ projectUserId: `data-${name}-1` }, { contextId: asked.contextId })
      assert.deepEqual([done.id, userOf(done)], [asked.id, `data-${name}-1`])
    })

    it('answers it in a stream', async () => {
      const asked = await open()
      const message = agent.message(`stream-${name}-1`, { contextId: asked.contextId })
      await agent.stream('stream', { message })
      assert.equal((await agent.get(asked.id)).status.state, agent.state('completed'))
      assert.equal((await tasksOf(asked.contextId)).length, 1)
    })

    it('ends it with a no, and makes no task for that', async () => {
      const asked = await open()
      const no = await agent.send('no', { contextId: asked.contextId })
      assert.deepEqual([no.id, no.status.state], [asked.id, agent.state('canceled')])
      assert.equal((await tasksOf(asked.contextId)).length, 1)
    })

    it('starts a task where nothing is open, and always with a skill', async () => {
      const asked = await open()
      const skill = { skill: 'create-user', projectUserId: `skill-${name}-1` }
      const other = await agent.send(skill, { contextId: asked.contextId })
      assert.notEqual(other.id, asked.id)
      assert.equal((await agent.get(asked.id)).status.state, agent.state('input-required'))
      await agent.send('no', { contextId: asked.contextId })
      const next = await agent.send(`Create user next-${name}-1`, { contextId: asked.contextId })
      assert.notEqual(next.id, asked.id)
      assert.equal(next.contextId, asked.contextId)
      assert.equal(next.status.state, agent.state('completed'))
    })

    it('is asked which where several are open, and nothing is done', async () => {
      const first = await open()
      const { contextId } = first
      const second = await agent.send({ skill: 'create-user' }, { contextId })
      const which = await agent.send(`which-${name}-1`, { contextId })
      assert.ok(![first.id, second.id].includes(which.id))
      assert.equal(which.status.state, agent.state('input-required'))
      for (const { id } of [first, second]) assert.ok(textOf(which).includes(id), textOf(which))
      assert.match(textOf(which), /projectUserId/)
      assert.deepEqual(states([await agent.get(first.id), await agent.get(second.id)]), [
        agent.state('input-required'),
        agent.state('input-required')
      ])
      const byId = await agent.send(`${second.id}: which-${name}-1`, { contextId })
      assert.deepEqual(
        [byId.id, byId.status.state, userOf(byId)],
        [second.id, agent.state('completed'), `which-${name}-1`]
      )
      const last = await agent.send(`last-${name}-1`, { contextId })
      assert.deepEqual([last.id, userOf(last)], [first.id, `last-${name}-1`], 'one is left, so it is meant')
    })

    it('answers the one that it refers to', async () => {
      const first = await open()
      const { contextId } = first
      const second = await open(contextId)
      const done = await agent.send(`refers-${name}-1`, { contextId, referenceTaskIds: [second.id] })
      assert.deepEqual([done.id, done.status.state], [second.id, agent.state('completed')])
    })

    it('is answered as before when it is repeated, whatever is open by then', async () => {
      const asked = await open()
      const { contextId } = asked
      const message = agent.message(`again-${name}-1`, { contextId })
      const first = agent.taskOf(await agent.result('send', { message }))
      assert.equal(first.id, asked.id)
      assert.deepEqual(agent.taskOf(await agent.result('send', { message })), first)
      const other = await open(contextId)
      assert.deepEqual(agent.taskOf(await agent.result('send', { message })), first)
      assert.equal((await agent.get(other.id)).status.state, agent.state('input-required'))
    })
  })

describe('an open question', () => {
  const agent = agentOf(service, project, 'plain')

  it('of another key or another project is not answered by a context', async () => {
    const asked = await agent.send('Create a user')
    const made = await service.manage('POST', `/projects/${project.id}/keys`, {
      json: { kind: 'secret', name: 'other' }
    })
    for (const key of [{ secretKey: made.json.key }, await service.project()]) {
      const other = agentOf(service, key, 'plain')
      const task = await other.send('stranger', { contextId: asked.contextId })
      assert.notEqual(task.id, asked.id)
      assert.equal(task.status.state, 'input-required', 'not understood')
    }
    const [{ n }] = await service.sql(`select count(*)::int as n from users where project_user_id = 'stranger'`)
    assert.equal(n, 0)
    assert.equal((await agent.send('own', { contextId: asked.contextId })).id, asked.id)
  })

  it('takes one of ten answers that come at once; the others begin tasks or are told to wait', async () => {
    const asked = await agent.send('Create a user')
    const { contextId } = asked
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        agent.call('send', { message: agent.message(`ten-${index}`, { contextId }) })
      )
    )
    for (const { status } of replies) assert.ok(status === 200 || status === 409, String(status))
    const [{ n }] = await service.sql(`select count(*)::int as n from users where project_user_id like 'ten-%'`)
    assert.equal(n, 1)
  })

  it('that waits for an approval takes no message, by its context or by its id, and can be canceled', async () => {
    const asked = await agent.send('Create a user')
    const { id, contextId } = asked
    await service.sql(
      `update a2a_tasks set state = 'auth-required', content = replace(
         jsonb_set(content::jsonb, '{request,approvalId}', '"01a1e40b-8cac-7000-a16a-0ae58ca7525c"')::text, 'input-required', 'auth-required')::json
        where project_id = $1 and id = $2`,
      [project.id, id]
    )
    for (const content of [
      'yes',
      'retry',
      'no',
      { projectUserId: 'x' },
      { skill: 'create-user', projectUserId: 'x' }
    ]) {
      const task = await agent.send(content, { taskId: id })
      assert.equal(task.status.state, 'auth-required')
      assert.match(textOf(task), /waits for an approval by a person/)
    }
    assert.notEqual((await agent.send('approved-user', { contextId })).id, id)
    assert.equal((await agent.result('cancel', { id })).status.state, 'canceled')
  })
})
