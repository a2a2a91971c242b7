import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databaseProxy } from '../support/proxy.ts'
import { eventually, startService } from '../support/service.ts'
import { agentOf, doubles } from './agent.ts'

const service = await startService({}, { agents: { messages: doubles.messages } })

describe('a database that goes away', () => {
  it('gives agents 503 with Retry-After, and what was under way is brought to an end', async () => {
    const project = await service.project({ limits: { requests_per_second: 0 } })
    const proxy = await databaseProxy(service.databaseUrl)
    const node = await service.another({ DATABASE_URL: proxy.url })
    const [there, here] = [agentOf(node, project, 'official'), agentOf(service, project, 'official')]
    const waiting = await there.send({ skill: 'create-user' })
    const slow = there.message(
      { skill: 'send-push-notification', projectUserId: 'slow', title: 'a' },
      { contextId: 'away' }
    )
    const running = there.call('send', { message: slow })
    const taskId = await eventually(async () => {
      const [first] = (await here.result('list', { contextId: 'away' })).tasks
      assert.ok(first)
      return first.id
    })
    const stream = there.stream('subscribe', { id: taskId })
    await new Promise((resolve) => setTimeout(resolve, 300))

    proxy.cut()
    for (const reply of await Promise.all([
      there.call('send', { message: there.message({ skill: 'create-user', projectUserId: 'a' }) }),
      there.call('stream', { message: there.message({ skill: 'create-user', projectUserId: 'a' }) }),
      there.call('send', { message: there.message({ projectUserId: 'a' }, { taskId: waiting.id }) }),
      there.call('get', { id: waiting.id }),
      there.call('list', {}),
      there.call('cancel', { id: waiting.id }),
      there.call('subscribe', { id: waiting.id })
    ])) {
      assert.equal(reply.status, 503, reply.text)
      assert.match(String(reply.headers['retry-after']), /^\d+$/)
      assert.ok(reply.headers['x-request-id'])
    }
    assert.equal((await running).status, 503, 'its end could not be written')
    const before = doubles.sent.length
    // The lease is not renewed, so that it expires, only sooner.
    await service.sql(`update a2a_tasks set due_at = now() where id = $1`, [taskId])
    await service.hurry('a2a.look_after')
    await eventually(async () => assert.equal((await here.get(taskId)).status.state, here.state('completed')), 20_000)
    assert.equal(doubles.sent.length, before, 'taken over by the other node, and not sent again')

    proxy.mend()
    assert.equal((await stream).events.at(-1).statusUpdate.status.state, here.state('completed'), 'the stream lived on')
    await eventually(async () => assert.equal((await there.call('get', { id: waiting.id })).status, 200))
    const again = await there.call('send', { message: slow })
    assert.equal(again.json.result.task.status.state, here.state('completed'))
    assert.equal(doubles.sent.length, before, 'a repeat does not notify twice')
    await node.close()
  })
})
