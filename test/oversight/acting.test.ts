import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../src/platform/ids.ts'
import { givenUser } from '../support/messages.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()

async function keyOf(project: TestProject, policy: object): Promise<string> {
  const json = { kind: 'secret', name: 'agent', policy }
  return (await service.manage('POST', `/projects/${project.id}/keys`, { json })).json.id
}

/** A message of a person to the agent, within the policy of a key. */
const say = (project: TestProject, keyId: string) =>
  service.manage('POST', `/projects/${project.id}/a2a`, {
    headers: { 'a2a-version': '1.0', 'x-tidings-key': keyId },
    json: {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: newId(), role: 'user', parts: [{ text: 'Send "Hello" to user ana' }] } }
    }
  })

describe('a person who acts with a key', () => {
  it('can do no more than its policy allows, and stays the author', async () => {
    const project = await service.project({ mode: 'simulator' })
    await givenUser(project, 'ana', 'ana-phone')
    const reply = await say(project, await keyOf(project, { skills: ['list-campaigns'] }))
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.json.result.task.status.state, 'rejected')
    const [task] = (await service.manage('GET', `/projects/${project.id}/agent-tasks`)).json.items
    assert.equal(task.asked_by.key_name, 'agent')
    assert.match(task.asked_by.actor, /^token /)
    assert.deepEqual([task.understood.skill, task.understood.fields.body], ['send-push-notification', 'Hello'])
  })

  it('waits for an approval as an agent would', async () => {
    const project = await service.project({ mode: 'simulator' })
    await givenUser(project, 'ana', 'ana-phone')
    const reply = await say(project, await keyOf(project, { approval_above: 0 }))
    assert.equal(reply.json.result.task.status.state, 'auth-required')
    const { id } = reply.json.result.task
    const { items } = (await service.manage('GET', `/projects/${project.id}/approvals?task_id=${id}`)).json
    assert.deepEqual([items.length, items[0].task_id, items[0].decided_by_name], [1, id, null])
    const none = await service.manage('GET', `/projects/${project.id}/approvals?task_id=${newId()}`)
    assert.deepEqual(none.json.items, [])
    assert.equal((await service.manage('GET', `/projects/${project.id}/approvals?task_id=x`)).status, 400)
  })

  it('is refused with a key of another project, a public one, or none', async () => {
    const project = await service.project({ mode: 'simulator' })
    const other = await service.project({ mode: 'simulator' })
    const json = { kind: 'public', name: 'app' }
    const open = (await service.manage('POST', `/projects/${project.id}/keys`, { json })).json.id
    for (const id of [await keyOf(other, {}), open, newId(), 'x'])
      assert.equal((await say(project, id)).status, 404, id)
  })
})
