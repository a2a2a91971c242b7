import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf, names } from './agent.ts'

const service = await startService()
const project = await service.project()
const properties = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`p${index}`, 'x'.repeat(200)]))
await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { plan: 'gold' } } })
await project.call('POST', '/api/v1/users', { json: { project_user_id: 'large', properties } })

describe('a task that a text asked for', () => {
  for (const name of names)
    it(`repeats its result as a text, for clients that read no data parts (${name})`, async () => {
      const task = await agentOf(service, project, name).send('Find user ana')
      const [said, shown, ...more] = task.status.message.parts as Json[]
      assert.match(said.text, /^Done: Find the user "ana"/)
      assert.deepEqual(JSON.parse(shown.text), task.artifacts[0].parts[0].data)
      assert.deepEqual(more, [])
    })

  for (const name of names)
    it(`repeats the id of a user who was there before, also in a stream and later (${name})`, async () => {
      const agent = agentOf(service, project, name)
      const text = 'Create user ana with plan=gold'
      const { users } = (await agent.send('Find user ana')).artifacts[0].parts[0].data
      const task = await agent.send(text)
      for (const one of [task, await agent.get(task.id)]) {
        assert.deepEqual(JSON.parse(one.status.message.parts[1].text), one.artifacts[0].parts[0].data)
        assert.equal(one.artifacts[0].parts[0].data.userId, users[0].userId)
      }
      const streamed = JSON.stringify(await agent.stream('stream', { message: agent.message(text) }))
      const drawn = streamed.match(/\\"userId\\":\\"([0-9a-f-]{36})/)
      assert.equal(drawn?.[1], users[0].userId, streamed)
    })

  it('repeats no more than 4,000 characters', async () => {
    const task = await agentOf(service, project, 'plain').send('Find user large')
    const { text } = task.status.message.parts[1]
    assert.ok(text.length <= 4_001 && text.endsWith('…'), String(text.length))
    assert.equal(Object.keys(task.artifacts[0].parts[0].data.users[0].properties).length, 50)
  })
})

describe('a task that data asked for', () => {
  it('has its result in the artifact alone', async () => {
    const task = await agentOf(service, project, 'plain').send({ skill: 'find-user', projectUserId: 'ana' })
    assert.equal(task.status.message, undefined)
  })
})
