import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import { ask, type Json } from '../support/http.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'
import { agentKey } from './keys.ts'

const service = await startService({}, { sender: scriptedSender() })
const request = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
const textOf = (task: Json): string => task.status.message.parts[0].text
const approvalIn = (task: Json): string => task.status.message.metadata.approvalId
const triggerIn = (task: Json): string => task.artifacts[0].parts[0].data.triggerId

/** A key that needs a confirmation and an approval, and the id of a preview. */
async function given() {
  const project = await service.project()
  await givenMany(service, project, 5, project.id)
  await givenCampaign(service, project)
  const key = await agentKey(service, project, { approval_above: 2, confirm_broadcasts: true })
  const agent = agentOf(service, key, 'plain')
  const preview = await agent.send({ ...request, skill: 'preview-campaign' })
  const { confirmationId } = preview.artifacts[0].parts[0].data
  const path = `/projects/${project.id}/approvals`
  return {
    project,
    key,
    agent,
    confirmationId,
    yes: { confirmationId, confirm: true },
    approvals: async (): Promise<Json[]> => (await service.manage('GET', path)).json.items,
    decide: async (id: string, verb: string) =>
      assert.equal((await service.manage('POST', `${path}/${id}:${verb}`, { json: {} })).status, 200),
    async tool(args: Json): Promise<string> {
      const params = { name: 'trigger-campaign', arguments: args }
      const headers = { 'x-api-key': key.secretKey, accept: 'application/json, text/event-stream' }
      const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      return (await ask(service.url, 'POST', '/mcp', { json, headers })).text
    }
  }
}

describe('a confirmation that leads to an approval (B.5)', () => {
  it('leads to one, however often and in whatever form the yes is repeated', async () => {
    const { agent, confirmationId, yes, approvals, tool } = await given()
    const first = await agent.send(yes)
    assert.equal(first.status.state, 'auth-required', JSON.stringify(first.status))
    const message = agent.message(yes)
    const repeats = [
      await agent.send(yes),
      await agent.send({ ...request, confirmationId }),
      await agent.send({ skill: 'trigger-campaign', confirmationId }, { contextId: 'another' }),
      agent.taskOf(await agent.result('send', { message })),
      agent.taskOf(await agent.result('send', { message }))
    ]
    for (const { id, status } of repeats) assert.deepEqual([id, status.state], [first.id, 'auth-required'])
    assert.ok((await tool({ ...request, confirmationId })).includes(approvalIn(first)))
    assert.ok((await tool({ confirmationId })).includes(approvalIn(first)))
    assert.deepEqual(
      (await approvals()).map(({ id, state }) => [id, state]),
      [[approvalIn(first), 'pending']]
    )
  })

  it('leads to one where many yeses come at once, on two nodes', async () => {
    const { project, key, agent, yes, approvals } = await given()
    const node = await service.another({}, { sender: scriptedSender() })
    const other = agentOf(node, key, 'plain')
    const replies = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 ? agent : other).send(yes)))
    assert.equal(new Set(replies.map(({ id }) => id)).size, 1)
    assert.equal((await approvals()).length, 1)
    const tasks = await service.sql(`select id from a2a_tasks where project_id = $1 and state = 'auth-required'`, [
      project.id
    ])
    assert.equal(tasks.length, 1)
    await node.close()
  })

  it('is followed to the trigger: a repeat after the approval returns the first one', async () => {
    const { project, agent, yes, approvals, decide } = await given()
    const first = await agent.send(yes)
    await decide(approvalIn(first), 'approve')
    const done = await eventually(async () => {
      const now = await agent.get(first.id)
      assert.equal(now.status.state, 'completed')
      return now
    })
    assert.equal(triggerIn(await agent.send(yes)), triggerIn(done))
    assert.equal((await approvals()).length, 1)
    assert.equal((await service.sql('select id from triggers where project_id = $1', [project.id])).length, 1)
  })

  it('returns the newer approval where the first was superseded', async () => {
    const { project, agent, yes, approvals } = await given()
    const first = await agent.send(yes)
    await givenCampaign(service, project, { message: { title: 'Other' } })
    await service.manage('POST', `/projects/${project.id}/approvals/${approvalIn(first)}:approve`, { json: {} })
    const again = await agent.send(yes)
    assert.deepEqual([again.id, again.status.state], [first.id, 'auth-required'])
    assert.notEqual(approvalIn(again), approvalIn(first))
    assert.deepEqual((await approvals()).map(({ state }) => state).sort(), ['pending', 'superseded'])
  })

  for (const [end, said] of [
    ['rejected', /approval that this confirmationId asked for was rejected, and the id is used up/],
    ['expired', /approval that this confirmationId asked for has expired, and the id is used up/],
    ['canceled', /approval that this confirmationId asked for was canceled, and the id is used up/]
  ] as const)
    it(`is used up where the approval is ${end}: every later yes is refused and says so`, async () => {
      const { project, agent, confirmationId, yes, approvals, decide, tool } = await given()
      const first = await agent.send(yes)
      if (end === 'rejected') await decide(approvalIn(first), 'reject')
      if (end === 'canceled') await agent.result('cancel', { id: first.id })
      if (end === 'expired') {
        await service.sql(`update approvals set expires_at = now() - interval '1 second' where project_id = $1`, [
          project.id
        ])
        await service.hurry('oversight.approvals')
        await eventually(async () => assert.equal((await approvals())[0]!.state, 'expired'))
      }
      for (const content of [yes, { ...request, confirmationId }]) {
        const refused = await agent.send(content)
        assert.equal(refused.status.state, 'rejected', JSON.stringify(refused.status))
        assert.match(textOf(refused), said)
      }
      assert.match(await tool({ ...request, confirmationId }), said)
      assert.deepEqual(
        (await approvals()).map(({ state }) => state),
        [end]
      )
    })
})
