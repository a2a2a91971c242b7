import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { startReceiver } from '../support/receiver.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'
import { agentKey } from './keys.ts'

const service = await startService({}, { sender: scriptedSender() })

it('approval.requested and approval.decided tell a webhook who asks for what, and how it was decided (B.1)', async () => {
  const receiver = await startReceiver({ secure: false })
  after(receiver.close)
  const project = await service.project({ mode: 'simulator' })
  await givenMany(service, project, 3, project.id)
  await givenCampaign(service, project)
  const made = await service.manage('POST', `/projects/${project.id}/webhooks`, {
    json: { url: `${receiver.url}/hook`, events: ['approval.requested', 'approval.decided'] }
  })
  assert.equal(made.status, 201, made.text)
  const key = await agentKey(service, project, { approval_above: 0 })
  const agent = agentOf(service, key, 'plain')
  const task = await agent.send({ skill: 'trigger-campaign', campaignId: 'news', broadcast: true })
  const { approvalId } = task.status.message.metadata
  const rejected = await service.manage('POST', `/projects/${project.id}/approvals/${approvalId}:reject`, {
    json: { note: 'Later' }
  })
  assert.equal(rejected.status, 200, rejected.text)
  await eventually(() => {
    const events = receiver.received.flatMap(({ body }) => JSON.parse(body).events as Json[])
    assert.deepEqual(
      events.map(({ type, approval_id, task_id, state, recipients, campaign_id, key_name, note }) => [
        type,
        approval_id,
        task_id,
        state,
        recipients,
        campaign_id,
        key_name,
        note
      ]),
      [
        ['approval.requested', approvalId, task.id, 'pending', 3, 'news', 'agent', null],
        ['approval.decided', approvalId, task.id, 'rejected', 3, 'news', 'agent', 'Later']
      ]
    )
    assert.match(events[0]!.url, new RegExp(`/console/p/${project.id}/approvals/${approvalId}$`))
  }, 15_000)
})
