import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'
import { agentKey, setPolicy } from './keys.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

async function given(policy: object | null, count = 5) {
  const project = await service.project()
  await givenMany(service, project, count, project.id)
  await givenCampaign(service, project)
  const key = await agentKey(service, project, policy)
  const triggers = async () => (await project.call('GET', '/api/v1/triggers')).json.items.length
  return { project, key, agent: agentOf(service, key, 'plain'), user: `${project.id}-user-1`, triggers }
}
const everyone = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
const textOf = (task: { status: { message: { parts: { text?: string }[] } } }) =>
  task.status.message.parts.map(({ text }) => text ?? '').join(' ')

describe('a policy on A2A (B.5)', () => {
  it('links to the console at the address that the start prints, where no public one is set', async () => {
    const { agent, project } = await given({ approval_above: 2 })
    const asked = textOf(await agent.send(everyone))
    assert.ok(asked.includes(` at ${service.url}/console/p/${project.id}/approvals/`), asked)
  })

  it('rejects a skill that is not allowed, and does those that are', async () => {
    const { agent, triggers } = await given({ skills: ['create-user'] })
    assert.equal((await agent.send({ skill: 'create-user', projectUserId: 'ana' })).status.state, 'completed')
    const refused = await agent.send(everyone)
    assert.equal(refused.status.state, 'rejected')
    assert.match(textOf(refused), /does not allow the skill trigger-campaign\. It allows create-user\./)
    const event = await agent.send({ skill: 'track-event', projectUserId: 'ana', eventName: 'x' })
    assert.equal(event.status.state, 'rejected')
    assert.equal(await triggers(), 0)
  })

  it('dry_run rejects and says what would have been reached; reading works', async () => {
    const { agent, triggers, user } = await given({ dry_run: true })
    const refused = await agent.send(everyone)
    assert.equal(refused.status.state, 'rejected')
    assert.match(textOf(refused), /nothing was done\. It would reach 5 users on 5 devices\./)
    const push = await agent.send({ skill: 'send-push-notification', projectUserId: user, title: 'Hello' })
    assert.equal(push.status.state, 'rejected')
    assert.match(textOf(push), /would reach 1 user on 1 device\./)
    const made = await agent.send({ skill: 'create-user', projectUserId: 'ana' })
    assert.equal(made.status.state, 'rejected')
    assert.equal((await agent.send({ skill: 'list-campaigns' })).status.state, 'completed')
    assert.equal(await triggers(), 0)
    assert.equal(sender.to(`${user.replace('-user', '')}`).length, 0)
  })

  it('a rejected text is rejected for the same reason', async () => {
    const { agent } = await given({ skills: ['track-event'] })
    const refused = await agent.send('Create user ana')
    assert.equal(refused.status.state, 'rejected')
    assert.match(textOf(refused), /does not allow the skill create-user/)
  })

  it('rejects a skill that is not allowed before it asks for a field or about one', async () => {
    const { agent, key } = await given({ skills: ['track-event'] })
    for (const [content, skill] of [
      [{ skill: 'create-user' }, 'create-user'],
      [{ skill: 'create-user', projectUserId: 5 }, 'create-user'],
      [{ skill: 'trigger-campaign' }, 'trigger-campaign'],
      [{ ...everyone, segment: 'all' }, 'trigger-campaign'],
      [{ skill: 'trigger-campaign', campaignId: 'news', targets: [{}] }, 'trigger-campaign'],
      [{ skill: 'send-push-notification', title: 'Hello' }, 'send-push-notification'],
      ['Create a user', 'create-user'],
      ['Send a push to ana', 'send-push-notification'],
      ['Trigger campaign news', 'trigger-campaign']
    ] as const) {
      const refused = await agent.send(content)
      assert.equal(refused.status.state, 'rejected', JSON.stringify(content))
      assert.equal(textOf(refused), `The policy of this key does not allow the skill ${skill}. It allows track-event.`)
    }
    const asked = await agent.send({ skill: 'track-event', projectUserId: 'ana' })
    assert.equal(asked.status.state, 'input-required')
    await setPolicy(service, key, { skills: ['create-user'] })
    await eventually(async () =>
      assert.equal((await agent.send({ skill: 'create-user' })).status.state, 'input-required')
    )
    const late = await agent.send({ properties: {} }, { taskId: asked.id })
    assert.equal(late.status.state, 'rejected', 'a skill that was allowed when the task began')
    assert.match(textOf(late), /does not allow the skill track-event/)
  })

  it('quiet_hours, max_recipients and max_recipients_per_day reject sends', async () => {
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
    const quiet = await given({ quiet_hours: { from: at(-60), to: at(2) } })
    assert.match(textOf(await quiet.agent.send(everyone)), /quiet hours of this key last until/)
    const few = await given({ max_recipients: 4 })
    assert.match(textOf(await few.agent.send(everyone)), /would reach 5 users, and the key may reach 4 at once/)
    const daily = await given({ max_recipients_per_day: 6 })
    assert.equal((await daily.agent.send(everyone)).status.state, 'completed')
    const push = { skill: 'send-push-notification', projectUserId: daily.user, title: 'Hello' }
    assert.equal((await daily.agent.send(push)).status.state, 'completed')
    const refused = await daily.agent.send(push)
    assert.equal(refused.status.state, 'rejected')
    assert.match(textOf(refused), /0 of the 6 recipients of 24 hours are left/)
  })

  it('confirm_broadcasts asks with the facts, and a broadcast without a confirmation is not done', async () => {
    const { agent, triggers } = await given({ confirm_broadcasts: true })
    const asked = await agent.send(everyone)
    assert.equal(asked.status.state, 'input-required')
    const { data } = asked.status.message.parts.find((part: object) => 'data' in part)
    assert.deepEqual([data.campaignVersion, data.recipients, data.devices], [1, 5, 5])
    assert.ok(data.confirmationId)
    assert.equal(await triggers(), 0)
  })

  it('a task that does not exist for a policy’s sake is repeated by its messageId', async () => {
    const { agent, triggers } = await given({ max_recipients_per_day: 5 })
    const more = { messageId: 'once' }
    const first = await agent.send(everyone, more)
    const again = await agent.send(everyone, more)
    assert.deepEqual(again, first)
    assert.equal(await triggers(), 1)
  })

  it('a request that would be refused anyway is refused for its own reason', async () => {
    const { agent } = await given({ approval_above: 0, confirm_broadcasts: true })
    const refused = await agent.send({ ...everyone, campaignId: 'absent' })
    assert.equal(refused.status.state, 'rejected')
    assert.match(textOf(refused), /no campaign "absent"/)
  })
})
