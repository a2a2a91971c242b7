import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'
import { agentOf } from './agent.ts'

const service = await startService({}, { sender: scriptedSender() })

/** A project with a user who can be reached, and the campaign `news`. */
async function given() {
  const project = await service.project()
  await givenUser(project, 'ana', 'ana-phone')
  await givenCampaign(service, project, { message: { title: 'Hello', body: 'Sale' } })
  return { project, agent: agentOf(service, project, 'plain') }
}

const triggersOf = ({ id }: TestProject) => service.sql('select id from triggers where project_id = $1', [id])
const textOf = (task: Json): string => task.status.message.parts[0].text
const shownBy = (task: Json): Json => task.status.message.parts[1].data
/** All texts of a task, for a failed assertion. */
const said = (task: Json) => JSON.stringify(task.status)

async function asked(agent: ReturnType<typeof agentOf>): Promise<Json> {
  const task = await agent.send('Trigger campaign news for all users')
  assert.equal(task.status.state, 'input-required', said(task))
  return task
}

describe('a no to a broadcast', () => {
  it('is confirm: false with the id, which alone says neither yes nor no', async () => {
    const { project, agent } = await given()
    const task = await asked(agent)
    const { confirmationId } = shownBy(task)
    const open = await agent.send({ confirmationId }, { taskId: task.id })
    assert.equal(open.status.state, 'input-required', said(open))
    const no = await agent.send({ confirmationId, confirm: false }, { taskId: task.id })
    assert.equal(no.status.state, 'canceled')
    const late = await agent.send({ confirmationId, confirm: true })
    assert.equal(late.status.state, 'rejected', said(late))
    assert.deepEqual(await triggersOf(project), [])
  })

  it('counts wherever it stands among the data of a message', async () => {
    const { project, agent } = await given()
    const { confirmationId } = shownBy(await asked(agent))
    const whole = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
    const parts = [
      [
        { confirmationId, confirm: false },
        { confirmationId, confirm: true }
      ],
      [{ ...whole, confirm: false }, { confirm: true }],
      [{ confirm: false }, whole]
    ]
    for (const data of parts) {
      const task = await agent.send('', { parts: data.map((one) => ({ data: one })) })
      assert.equal(task.status.state, 'canceled', JSON.stringify(data))
    }
    assert.deepEqual(await triggersOf(project), [])
  })

  it('is confirm: false without the id, also beside the whole request, and declines the question that it answers', async () => {
    const { project, agent } = await given()
    const no = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true, confirm: false }
    for (const content of [no, { ...no, confirmationId: null }, { ...no, campaignId: undefined }]) {
      const task = await agent.send(content)
      assert.equal(task.status.state, 'canceled', said(task))
      assert.equal(textOf(task), 'I am not to do it, and did nothing.')
    }
    const snake = { skill: 'trigger-campaign', campaign_id: 'news', confirmation_id: null, confirm: false }
    const answers: ((task: Json) => Promise<Json>)[] = [
      ({ id }) => agent.send({ confirm: false }, { taskId: id }),
      ({ contextId }) => agent.send({ confirm: false }, { contextId }),
      ({ id }) => agent.send(no, { taskId: id }),
      ({ contextId }) => agent.send(no, { contextId }),
      ({ contextId }) => agent.send(snake, { contextId })
    ]
    for (const answer of answers) {
      const task = await asked(agent)
      const declined = await answer(task)
      assert.deepEqual([declined.id, declined.status.state], [task.id, 'canceled'], said(declined))
      const late = await agent.send({ confirmationId: shownBy(task).confirmationId, confirm: true })
      assert.equal(late.status.state, 'rejected', said(late))
    }
    const open = await asked(agent)
    const other = await agent.send({ ...no, campaignId: 'other' }, { contextId: open.contextId })
    assert.equal(other.status.state, 'canceled')
    assert.equal((await agent.get(open.id)).status.state, 'input-required', 'it was about another campaign')
    assert.deepEqual(await triggersOf(project), [])
  })

  it('in words ends the id too', async () => {
    const { project, agent } = await given()
    const task = await asked(agent)
    assert.equal((await agent.send('no', { taskId: task.id })).status.state, 'canceled')
    const late = await agent.send({ confirmationId: shownBy(task).confirmationId, confirm: true })
    assert.equal(late.status.state, 'rejected', said(late))
    assert.deepEqual(await triggersOf(project), [])
  })
})
