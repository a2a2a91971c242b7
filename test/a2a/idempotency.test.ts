import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { eventually, startService } from '../support/service.ts'
import { agentOf, doubles, names, toldState } from './agent.ts'

const service = await startService({}, { agents: { messages: doubles.messages } })

for (const name of names) {
  describe(`a ${name} agent that repeats itself`, async () => {
    const project = await service.project()
    const agent = agentOf(service, project, name)
    const create = (projectUserId = 'a') => agent.message({ skill: 'create-user', projectUserId })

    it('gets the first answer again, with its own id and method, and nothing is done twice', async () => {
      const message = create()
      const first = await agent.call('send', { message })
      const again = await agent.call('send', { message, configuration: { historyLength: 5 } })
      assert.deepEqual(again.json, first.json)
      const { events } = await agent.stream('stream', { message })
      assert.deepEqual([toldState(events[0]), toldState(events.at(-1))], ['submitted', 'completed'])
      const shuffled = Object.fromEntries(Object.entries(message).reverse())
      assert.deepEqual((await agent.call('send', { message: shuffled })).json, first.json, 'in whatever order')
      const [{ n }] = await service.sql('select count(*)::int as n from a2a_tasks where project_id = $1', [project.id])
      assert.equal(n, 1)
    })

    it('gets a conflict when the message is another, or is still running', async () => {
      const { messageId } = create()
      await agent.send({ skill: 'create-user', projectUserId: 'b' }, { messageId })
      const other = await agent.call('send', { message: { ...create('c'), messageId } })
      assert.deepEqual([other.status, other.json.error.code, other.json.id], [409, -32603, 'call-1'])
      assert.equal(other.headers['retry-after'], undefined, 'it never succeeds')
      assert.equal((await service.manage('GET', `/projects/${project.id}/users/c`)).status, 404)
      const slow = agent.message({ skill: 'send-push-notification', projectUserId: 'slow', title: 'a' })
      const running = agent.call('send', { message: slow })
      await eventually(async () => {
        const reply = await agent.call('send', { message: slow })
        assert.equal(reply.status, 409)
        assert.match(reply.json.error.message, /in use/)
        assert.equal(reply.headers['retry-after'], '1')
      })
      assert.equal((await agent.call('stream', { message: slow })).status, 409)
      assert.deepEqual((await agent.call('send', { message: slow })).status, 409)
      doubles.finish()
      const first = await running
      assert.deepEqual((await agent.call('send', { message: slow })).json, first.json)
    })

    it('is known by what its fields hold, not by how they stand or what they imitate', async () => {
      const { messageId } = create()
      const send = (properties: Record<string, string>) =>
        agent.call('send', {
          message: { ...agent.message({ skill: 'create-user', projectUserId: 'alike', properties }), messageId }
        })
      const first = await send({ a: 'x', b: 'y' })
      assert.deepEqual((await send({ b: 'y', a: 'x' })).json, first.json)
      for (const imitation of ['x","b":"y', 'x,"1:b:"1:y', 'x"1:b"1:y'])
        assert.equal((await send({ a: imitation })).status, 409, imitation)
    })

    it('B.9: may choose its own key, which alone decides, whatever the message id is', async () => {
      const key = { headers: { 'x-service-idempotency-key': randomUUID() } }
      const message = create('d')
      const first = await agent.call('send', { message }, key)
      assert.deepEqual((await agent.call('send', { message }, key)).json, first.json)
      const renamed = await agent.call('send', { message: create('d') }, key)
      assert.deepEqual(renamed.json, first.json, 'another message id, the same message')
      assert.equal((await agent.call('send', { message: { ...message, ...create('other') } }, key)).status, 409)
      assert.equal(
        (await agent.call('send', { message: { ...create('other'), messageId: message.messageId } }, key)).status,
        409
      )
      const free = await agent.call('send', { message })
      assert.equal(free.status, 200)
      assert.notDeepEqual(agent.taskOf(free.json.result).id, agent.taskOf(first.json.result).id)
      const long = { headers: { 'x-service-idempotency-key': 'x'.repeat(256) } }
      assert.equal((await agent.call('send', { message }, long)).json.error.code, -32602)
    })

    it('is not held to an error', async () => {
      const { messageId } = create()
      assert.equal(
        (await agent.error('send', { message: { ...agent.message({ skill: 'none' }), messageId } })).data[0].reason,
        'SKILL_NOT_FOUND'
      )
      assert.equal(
        (await agent.send({ skill: 'create-user', projectUserId: 'e' }, { messageId })).status.state,
        agent.state('completed')
      )
    })

    it('gets a question again as it was, also when it was answered meanwhile', async () => {
      const question = agent.message({ skill: 'create-user' })
      const asked = (await agent.call('send', { message: question })).json
      const { id } = agent.taskOf(asked.result)
      const answer = agent.message({ projectUserId: 'f' }, { taskId: id })
      const answered = (await agent.call('send', { message: answer })).json
      assert.deepEqual((await agent.call('send', { message: question })).json, asked)
      assert.deepEqual((await agent.call('send', { message: answer })).json, answered)
      const { events } = await agent.stream('stream', { message: answer })
      assert.deepEqual([toldState(events[0]), toldState(events.at(-1))], ['working', 'completed'])
    })

    it('among messages that are new changes nothing, and they are all done', async () => {
      const old = agent.message({ skill: 'create-user', projectUserId: 'h', properties: { plan: 'free' } })
      const first = (await agent.call('send', { message: old })).json
      await agent.send({ skill: 'create-user', projectUserId: 'h', properties: { plan: 'premium' } })
      const fresh = Array.from({ length: 20 }, (_, index) => create(`among-${index}`))
      const replies = await Promise.all([old, ...fresh, old].map((message) => agent.call('send', { message })))
      assert.deepEqual([replies[0]!.json, replies.at(-1)!.json], [first, first])
      for (const { json } of replies) assert.equal(agent.taskOf(json.result).status.state, agent.state('completed'))
      const [{ plan }] = await service.sql(
        `select properties ->> 'plan' as plan from users where project_id = $1 and project_user_id = 'h'`,
        [project.id]
      )
      assert.equal(plan, 'premium')
      const [{ n }] = await service.sql(
        `select count(*)::int as n from users where project_id = $1 and project_user_id like 'among-%'`,
        [project.id]
      )
      assert.equal(n, fresh.length)
    })

    it('waits for the end of a message that it did not wait for at first, on any node', async () => {
      const atOnce = name === 'legacy' ? { blocking: false } : { returnImmediately: true }
      const message = agent.message({ skill: 'send-push-notification', projectUserId: 'slow', title: 'a' })
      const send = async (from = agent, configuration = {}) =>
        agent.taskOf(await from.result('send', { message, configuration }))
      const other = await service.another()
      const { id } = await send(agent, atOnce)
      const waiting = [agent, agentOf(other, project, name)].map((from) => send(from))
      await eventually(async () => assert.equal(toldState(await agent.get(id)), 'working'))
      assert.equal(toldState(await send(agent, atOnce)), 'working', 'a repeat that does not wait')
      doubles.finish()
      for (const task of await Promise.all(waiting)) assert.deepEqual([task.id, toldState(task)], [id, 'completed'])
      await other.close()
      await eventually(() => assert.equal(service.app.agents.stats().watched, 0))
    })

    it('a hundred times at once has it done once', async () => {
      const message = create('g')
      const replies = await Promise.all(Array.from({ length: 100 }, () => agent.call('send', { message })))
      const done = replies.filter(({ status }) => status === 200)
      assert.ok(done.length > 0)
      assert.equal(new Set(done.map(({ json }) => agent.taskOf(json.result).id)).size, 1)
      for (const { status, json } of replies)
        if (status !== 200) assert.deepEqual([status, json.error.code], [409, -32603])
    })
  })
}
