import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentOf, toldState } from '../a2a/agent.ts'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'
import { agentKey } from './keys.ts'

const service = await startService({}, { sender: scriptedSender() })
const everyone = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }

describe('a subscription to a task that waits for an approval', () => {
  for (const name of ['official', 'legacy'] as const)
    it(`shows messages, a superseded approval and the end, also in the ${name} spelling`, async () => {
      const project = await service.project()
      await givenMany(service, project, 5, project.id)
      await givenCampaign(service, project)
      const agent = agentOf(service, await agentKey(service, project, { approval_above: 2 }), name)
      const approve = (approvalId: string) =>
        service.manage('POST', `/projects/${project.id}/approvals/${approvalId}:approve`, { json: {} })
      const task = await agent.send(everyone)
      const told: string[] = []
      const open = agent.stream('subscribe', { id: task.id }, (event) => told.push(toldState(event)))
      await eventually(() => assert.deepEqual(told, ['auth-required']))
      const waits = await agent.send('What is the status?', { taskId: task.id })
      assert.equal(toldState(waits), 'auth-required')
      await givenCampaign(service, project, { message: { title: 'Other' } })
      assert.equal((await approve(waits.status.message.metadata.approvalId)).status, 409)
      const anew = await agent.get(task.id)
      assert.equal((await approve(anew.status.message.metadata.approvalId)).status, 200)
      const { events } = await open
      assert.deepEqual(
        events.map(toldState).filter((state) => state !== 'undefined'),
        // A message leaves the task in its state; the approval that was asked for anew moves it.
        ['auth-required', 'auth-required', 'working', 'auth-required', 'working', 'completed']
      )
      const finals = events.flatMap(({ final }) => (final === undefined ? [] : [final]))
      assert.deepEqual(finals, name === 'legacy' ? [false, false, false, false, true] : [])
    })
})
