import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf, doubles } from './agent.ts'

const service = await startService({}, { agents: { messages: doubles.messages } })

/** Settled 7, idempotency: only a message whose first call still runs gets 409 and is worth another try. */
describe('a repeated message', () => {
  it('gets its task where another node ended the run, and the task waits for its caller', async () => {
    const project = await service.project()
    const agent = agentOf(service, project, 'plain')
    for (const request of [
      { skill: 'create-user' },
      { skill: 'send-push-notification', projectUserId: 'live', title: 'a' }
    ]) {
      const message = agent.message(request)
      const first = (await agent.call('send', { message })).json
      assert.match(first.result.task.status.state, /required$/)
      // The node died with the run, so that the key never got its answer.
      await service.sql(`update idempotency_keys set answer = null where project_id = $1`, [project.id])
      const again = await agent.call('send', { message })
      assert.deepEqual([again.status, again.json.result?.task.id], [200, first.result.task.id], again.text)
    }
  })

  it('is told that its task is gone, where an erasure took it', async () => {
    const project = await service.project()
    const agent = agentOf(service, project, 'plain')
    const message = agent.message({ skill: 'create-user', projectUserId: 'zed' })
    await agent.call('send', { message })
    const json = { project_user_id: 'zed' }
    const erased = await service.manage('POST', `/projects/${project.id}/erasures`, { json })
    assert.ok(erased.status < 300, erased.text)
    const { error }: Json = (await agent.call('send', { message })).json
    assert.equal(error.code, -32001)
  })
})
