import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { everyone, givenCampaign, givenMany } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'
import { agentKey, setPolicy } from './keys.ts'

const service = await startService({}, { sender: scriptedSender() })

const request = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
const shownBy = (task: Json): Json => task.status.message.parts[1].data
const triggerIn = (task: Json): string => task.artifacts[0].parts[0].data.triggerId

async function given(policy: Json, campaign: Json = {}) {
  const project = await service.project()
  await givenMany(service, project, 5, project.id)
  await givenCampaign(service, project, campaign)
  const key = await agentKey(service, project, policy)
  const triggers = async () => {
    const rows = await service.sql('select id from triggers where project_id = $1 order by id', [project.id])
    return rows.map(({ id }) => id as string)
  }
  return { project, key, agent: agentOf(service, key, 'plain'), triggers }
}

describe('a key whose policy wants broadcasts to be confirmed (B.5)', () => {
  it('is asked about data, and a yes or the id does it', async () => {
    const { agent, triggers } = await given({ confirm_broadcasts: true })
    for (const answer of ['words', 'data', 'the request with the id']) {
      const before = await triggers()
      const asked = await agent.send(request)
      assert.equal(asked.status.state, 'input-required')
      assert.match(asked.status.message.parts[0].text, /“News” \(version 1\) would reach 5 people.*Shall I\?/)
      assert.deepEqual(await triggers(), before)
      const { confirmationId } = shownBy(asked)
      const done =
        answer === 'words'
          ? await agent.send('yes', { taskId: asked.id })
          : await agent.send(answer === 'data' ? { confirmationId, confirm: true } : { ...request, confirmationId })
      assert.equal(done.status.state, 'completed', JSON.stringify(done.status))
      assert.deepEqual(await triggers(), [...before, triggerIn(done)])
    }
  })

  it('is asked about a default audience that is a broadcast, and not about named users', async () => {
    const { project, agent, triggers } = await given(
      { confirm_broadcasts: true },
      { default_audience: everyone.audience }
    )
    const asked = await agent.send({ skill: 'trigger-campaign', campaignId: 'news' })
    assert.equal(asked.status.state, 'input-required')
    assert.deepEqual(await triggers(), [])
    const targets = [{ projectUserId: `${project.id}-user-1` }]
    assert.equal((await agent.send({ ...request, broadcast: undefined, targets })).status.state, 'completed')
  })

  it('is not asked, and shown nothing, where its policy would refuse the answer', async () => {
    const words = 'Trigger campaign news for all users'
    for (const [policy, reason] of [
      [{ skills: ['create-user'] }, /does not allow the skill trigger-campaign/],
      [{ max_recipients: 4 }, /may reach 4 at once/],
      [{ dry_run: true }, /dry runs/]
    ] as const) {
      const { agent } = await given(policy)
      const task = await agent.send(words)
      assert.deepEqual([task.status.state, task.status.message.parts.length], ['rejected', 1])
      assert.match(task.status.message.parts[0].text, reason)
    }
    const { agent } = await given({ skills: ['create-user'] })
    const task = await agent.send({ ...request, confirmationId: 'nonsense' })
    assert.deepEqual([task.status.state, task.status.message.parts.length], ['rejected', 1])
    assert.equal((await (await given({ max_recipients: 5 })).agent.send(words)).status.state, 'input-required')
  })

  it('may send the id of a preview, and every policy still counts', async () => {
    const { key, agent, triggers } = await given({ confirm_broadcasts: true, max_recipients: 4 })
    const preview = async () =>
      (await agent.send({ ...request, skill: 'preview-campaign' })).artifacts[0].parts[0].data.confirmationId
    const refused = await agent.send({ confirmationId: await preview(), confirm: true })
    assert.equal(refused.status.state, 'rejected', JSON.stringify(refused.status))
    await setPolicy(service, key, { max_recipients: null, max_recipients_per_day: 5 })
    const confirmationId = await preview()
    const done = await agent.send({ confirmationId, confirm: true })
    assert.equal(done.status.state, 'completed', JSON.stringify(done.status))
    // The day is used up. A repeat reaches no one, and returns the trigger.
    assert.equal(triggerIn(await agent.send({ confirmationId, confirm: true })), triggerIn(done))
    assert.equal((await agent.send({ confirmationId: await preview(), confirm: true })).status.state, 'rejected')
    assert.deepEqual(await triggers(), [triggerIn(done)])
  })
})
