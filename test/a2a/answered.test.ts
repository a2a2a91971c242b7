import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKey, setPolicy } from '../oversight/keys.ts'
import { givenCampaign } from '../support/campaigns.ts'
import { ask, type Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'
import { agentOf, names } from './agent.ts'

const service = await startService({}, { sender: scriptedSender() })
const textOf = (task: Json): string => task.status.message.parts[0].text
const shownBy = (task: Json): Json => task.status.message.parts[1].data

/** A question about a broadcast to two users, by a key with this policy. */
async function given(policy: Json | null = null, name: (typeof names)[number] = 'plain') {
  const project = await service.project()
  for (const user of ['ana', 'bo']) await givenUser(project, user, `${user}-phone`)
  await givenCampaign(service, project)
  const key = await agentKey(service, project, policy)
  const agent = agentOf(service, key, name)
  const asked = await agent.send('Trigger campaign news for everyone')
  assert.equal(asked.status.state, agent.state('input-required'), JSON.stringify(asked.status))
  return { project, key, agent, asked, confirmationId: shownBy(asked).confirmationId as string }
}

describe('a question that a message of another task answers (B.5)', () => {
  for (const name of names)
    it(`with a yes is completed, and names the task that does it, for a ${name} agent`, async () => {
      const { agent, asked, confirmationId } = await given(null, name)
      const done = await agent.send({ confirmationId, confirm: true })
      assert.equal(done.status.state, agent.state('completed'))
      assert.notEqual(done.id, asked.id)
      const now = await agent.get(asked.id)
      assert.equal(now.status.state, agent.state('completed'), JSON.stringify(now.status))
      assert.ok(textOf(now).includes(done.id), textOf(now))
      assert.equal(now.status.message.metadata.taskId, done.id)
    })

  it('takes no further text: the next one of its context begins a task', async () => {
    const { agent, asked, confirmationId } = await given()
    await agent.send({ confirmationId, confirm: true })
    const next = await agent.send('Create user cleo', { contextId: asked.contextId })
    assert.notEqual(next.id, asked.id)
    assert.equal(next.status.state, 'completed', JSON.stringify(next.status))
    const late = await agent.call('send', { message: agent.message('yes', { taskId: asked.id }) })
    assert.match(late.json.error.message, /takes no further messages/)
  })

  it('with a no is canceled, as by a no in its task', async () => {
    const { agent, asked, confirmationId } = await given()
    const no = await agent.send({ confirmationId, confirm: false })
    assert.equal(no.status.state, 'canceled')
    const now = await agent.get(asked.id)
    assert.deepEqual([now.status.state, textOf(now)], ['canceled', 'I am not to do it, and did nothing.'])
  })

  it('ends also by data with the skill, and over MCP', async () => {
    const whole = { campaignId: 'news', broadcast: true }
    const byData = await given()
    await byData.agent.send(
      { skill: 'trigger-campaign', ...whole, confirmationId: byData.confirmationId },
      { contextId: byData.asked.contextId }
    )
    assert.equal((await byData.agent.get(byData.asked.id)).status.state, 'completed')
    const { agent, key, asked, confirmationId } = await given()
    const params = { name: 'trigger-campaign', arguments: { ...whole, confirmationId } }
    await ask(service.url, 'POST', '/mcp', {
      json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      headers: { 'x-api-key': key.secretKey, accept: 'application/json, text/event-stream' }
    })
    assert.equal((await agent.get(asked.id)).status.state, 'completed')
  })

  it('is completed where the yes waits for an approval, and rejected where the policy refuses it', async () => {
    const { key, agent, asked, confirmationId } = await given({ approval_above: 1 })
    const waits = await agent.send({ confirmationId, confirm: true })
    assert.equal(waits.status.state, 'auth-required', JSON.stringify(waits.status))
    const now = await agent.get(asked.id)
    assert.deepEqual([now.status.state, now.status.message.metadata.taskId], ['completed', waits.id])
    const again = await agent.send('Trigger campaign news for everyone')
    await setPolicy(service, key, { max_recipients: 1 })
    const refused = await agent.send({ confirmationId: shownBy(again).confirmationId, confirm: true })
    assert.equal(refused.status.state, 'rejected', JSON.stringify(refused.status))
    const end = await agent.get(again.id)
    assert.deepEqual([end.status.state, textOf(end)], ['rejected', textOf(refused)])
  })

  it('is canceled where the yes is asked about anew, and names the task that asks', async () => {
    const { project, agent, asked, confirmationId } = await given()
    await givenCampaign(service, project, { message: { title: 'Changed' } })
    const again = await agent.send({ confirmationId, confirm: true })
    assert.equal(again.status.state, 'input-required')
    const now = await agent.get(asked.id)
    assert.deepEqual(
      [now.status.state, textOf(now)],
      ['canceled', `The question is asked again in the task ${again.id}.`]
    )
  })

  it('stays open for an answer of another key, and for data about something else', async () => {
    const { project, agent, asked, confirmationId } = await given()
    const stranger = agentOf(service, await agentKey(service, project, null), 'plain')
    for (const confirm of [true, false]) await stranger.send({ confirmationId, confirm })
    await agent.send({ skill: 'trigger-campaign', campaignId: 'news', targets: [], confirmationId })
    assert.equal((await agent.get(asked.id)).status.state, 'input-required')
    assert.equal((await agent.send('yes', { taskId: asked.id })).status.state, 'completed')
  })
})
