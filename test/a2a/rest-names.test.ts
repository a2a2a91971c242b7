import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'
import { agentOf } from './agent.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const project = await service.project()
await givenUser(project, 'ana', 'ana-phone')
const agent = agentOf(service, project, 'plain')
const state = async (data: Json) => (await agent.send(data)).status.state

describe('B.9: skills take the field names and the target of the REST API', () => {
  it('create-user', async () => {
    const skill = 'create-user'
    assert.equal(await state({ skill, project_user_id: 'bo', properties: { snake_case: 1 } }), 'completed')
    const { properties } = (await project.call('GET', '/api/v1/users/bo')).json
    assert.deepEqual(properties, { snake_case: 1 }, 'names of properties stay')
    assert.equal(await state({ skill, target: { project_user_id: 'cy' } }), 'completed')
    assert.equal(await state({ skill, projectUserId: 'dee', project_user_id: 'dee', target: null }), 'completed')
    assert.equal(await state({ skill, projectUserId: 'ed', properties: null }), 'rejected', 'as in 4.1')
    assert.equal(await state({ skill, projectUserId: 'ed', target: { projectUserId: 'flo' } }), 'rejected')
    assert.equal(await state({ skill, project_user_id: null }), 'input-required')
    for (const absent of ['ed', 'flo']) assert.equal((await project.call('GET', `/api/v1/users/${absent}`)).status, 404)
  })

  it('track-event', async () => {
    const skill = 'track-event'
    assert.equal(await state({ skill, event_name: 'purchase', device_id: 'ana-phone', properties: null }), 'completed')
    assert.equal(await state({ skill, event_name: 'purchase', target: { project_user_id: 'ana' } }), 'completed')
    assert.equal(
      await state({ skill, eventName: 'purchase', target: { deviceId: 'ana-phone', user_id: null } }),
      'completed'
    )
    assert.equal(await state({ skill, event_name: 'purchase', target: {} }), 'input-required')
    const events = await service.sql(`select name from events where project_id = $1`, [project.id])
    assert.deepEqual(
      events.map(({ name }) => name),
      ['purchase', 'purchase', 'purchase']
    )
  })

  it('send-push-notification', async () => {
    const skill = 'send-push-notification'
    const target = { project_user_id: 'ana', device_id: null }
    const more = { image_url: 'https://x.example/a.png', landing_url: 'app://a', body: null }
    assert.equal(await state({ skill, target, title: 'Snake', ...more }), 'completed')
    const [push] = sender.to('ana-phone').slice(-1)
    assert.deepEqual(push!.content, {
      kind: 'alert',
      notification: { title: 'Snake', imageUrl: 'https://x.example/a.png', landingUrl: 'app://a' }
    })
    assert.equal(await state({ skill, device_id: 'ana-phone', title: 'Flat' }), 'completed')
    const before = sender.to('ana-phone').length
    assert.equal(await state({ skill, target, deviceId: 'ana-phone', title: 'Two' }), 'rejected')
    assert.equal(
      await state({ skill, target: { project_user_id: 'ana', projectUserId: 'bo' }, title: 'Two' }),
      'rejected'
    )
    assert.equal(await state({ skill, target: ['ana'], title: 'None' }), 'rejected')
    assert.equal(await state({ skill, target, title: null }), 'input-required')
    assert.equal(sender.to('ana-phone').length, before)
  })

  it('an answer to a question may be spelt so too', async () => {
    const first = await agent.send({ skill: 'send-push-notification', title: 'Later' })
    const second = await agent.send({ target: { project_user_id: 'ana' } }, { taskId: first.id })
    assert.equal(second.status.state, 'completed')
    const asked = await agent.send('Send a push saying "hello"')
    assert.equal(asked.status.state, 'input-required')
    const answered = await agent.send({ target: { project_user_id: 'ana' } }, { taskId: asked.id })
    assert.equal(answered.status.state, 'completed', JSON.stringify(answered.status))
    const campaign = await agent.send('Trigger campaign welcome')
    const strange = await agent.send(
      { recipients: ['ana'], targets: [{ project_user_id: 'ana' }] },
      { taskId: campaign.id }
    )
    assert.match(strange.status.message.parts[0].text, /does not know the field "recipients"/)
  })

  it('other skills ignore fields that they do not know, as before', async () => {
    assert.equal(await state({ skill: 'create-user', projectUserId: 'gil', nonsense: 1, targets: [] }), 'completed')
    assert.equal(
      await state({ skill: 'send-push-notification', deviceId: 'ana-phone', title: 'a', recipients: ['x'] }),
      'completed'
    )
  })
})
