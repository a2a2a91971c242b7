import assert from 'node:assert/strict'
import { it } from 'node:test'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import { ask, type Json } from '../support/http.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'
import { agentKey, setPolicy } from './keys.ts'

const service = await startService({}, { sender: scriptedSender() })

it('the same policy holds for tools of MCP, and an approval carries out their call (B.5)', async () => {
  const project = await service.project()
  await givenMany(service, project, 2, project.id)
  await givenCampaign(service, project)
  const key = await agentKey(service, project, { skills: ['trigger-campaign'], approval_above: 0 })
  const call = async (name: string, args: Json): Promise<Json> => {
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const headers = { 'x-api-key': key.secretKey, accept: 'application/json, text/event-stream' }
    const { text } = await ask(service.url, 'POST', '/mcp', { json, headers })
    return JSON.parse(/^data: (.*)$/m.exec(text)![1]!)
  }
  const triggers = async () => (await project.call('GET', '/api/v1/triggers')).json.items.length
  const refused = JSON.stringify(await call('create-user', { projectUserId: 'ana' }))
  assert.match(refused, /create-user/)
  const asked = JSON.stringify(
    await call('trigger-campaign', { campaignId: 'news', targets: [{ projectUserId: `${project.id}-user-1` }] })
  )
  assert.match(asked, /wants a person to approve more than 0/)
  assert.equal(await triggers(), 0)
  const path = `/projects/${project.id}/approvals`
  const [approval] = (await service.manage('GET', `${path}?state=pending`)).json.items
  assert.ok(asked.includes(approval.id), 'the result names the approval')
  assert.equal((await service.manage('POST', `${path}/${approval.id}:approve`)).status, 200)
  await eventually(async () => assert.equal(await triggers(), 1))
  await setPolicy(service, key, { max_recipients: 0 })
  const none = await call('trigger-campaign', {
    campaignId: 'news',
    targets: [{ projectUserId: `${project.id}-user-1` }]
  })
  assert.match(JSON.stringify(none), /may reach 0 at once/)
  assert.equal(await triggers(), 1)
})
