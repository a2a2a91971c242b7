import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { agentKey } from '../oversight/keys.ts'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'
import { done, overHttp, refused } from './clients.ts'

const service = await startService({ PUBLIC_URL: 'https://tidings.example' }, { sender: scriptedSender() })
const wish = { campaignId: 'news', broadcast: true }

/** A project with five users, and a client whose key has this policy. */
async function given(policy: Json) {
  const project = await service.project()
  await givenMany(service, project, 5, project.id)
  await givenCampaign(service, project)
  const { secretKey } = await agentKey(service, project, policy)
  const client = await overHttp('2.4.0', service.url, { 'x-api-key': secretKey })
  after(() => client.close())
  const approvals = `/projects/${project.id}/approvals`
  return {
    client,
    confirmed: async () => ({ ...wish, confirmationId: (await done(client, 'preview-campaign', wish)).confirmationId }),
    triggers: async (): Promise<Json[]> => (await project.call('GET', '/api/v1/triggers')).json.items,
    pending: async (): Promise<Json[]> => (await service.manage('GET', `${approvals}?state=pending`)).json.items,
    decide: (id: string, verb: string, json: Json = {}) =>
      service.manage('POST', `${approvals}/${id}:${verb}`, { json })
  }
}

describe('the policy of a key over MCP', () => {
  it('lists the tools and resources of the skills that it allows, and refuses all others', async () => {
    const { client } = await given({ skills: ['find-user'] })
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['find-user']
    )
    const uris = (await client.listResources()).resources.map(({ uri }) => uri)
    assert.ok(
      uris.every((uri) => uri.startsWith('tidings://docs/')),
      uris.join()
    )
    for (const uri of ['tidings://campaigns', 'tidings://campaigns/news', 'tidings://triggers'])
      await assert.rejects(client.readResource({ uri }), /There is no such resource for this key/)
    const { reason, data } = await refused(client, 'create-user', { projectUserId: 'ana' })
    assert.match(reason, /does not allow the skill create-user. It allows find-user/)
    assert.equal(data.state, 'rejected')
    const incomplete = await refused(client, 'create-user', {})
    assert.deepEqual([incomplete.reason, incomplete.data.state], [reason, 'rejected'], 'no field is asked for')
  })

  it('refuses a broadcast that it does not allow without a word about its audience', async () => {
    const { client, triggers } = await given({ skills: ['find-user'] })
    for (const args of [
      wish,
      { campaignId: 'news' },
      { campaignId: 'news', campaignVersion: 7 },
      { campaignId: 'absent' }
    ]) {
      const { reason } = await refused(client, 'trigger-campaign', args)
      assert.equal(reason, 'The policy of this key does not allow the skill trigger-campaign. It allows find-user.')
    }
    assert.deepEqual(await triggers(), [])
  })

  it('of dry runs lets a client look, and does nothing', async () => {
    const { client, confirmed, triggers } = await given({ dry_run: true })
    const args = await confirmed()
    assert.match((await refused(client, 'trigger-campaign', args)).reason, /dry runs.*would reach 5 users/)
    assert.deepEqual(await triggers(), [])
  })

  it('limits recipients, also of a confirmed broadcast', async () => {
    const { client, confirmed, triggers } = await given({ max_recipients: 4 })
    assert.match((await refused(client, 'trigger-campaign', await confirmed())).reason, /may reach 4 at once/)
    assert.deepEqual(await triggers(), [])
  })

  it('has a person decide: the result has the link, and the same call tells later what became of it', async () => {
    const { client, confirmed, triggers, pending, decide } = await given({ approval_above: 2 })
    const args = await confirmed()
    const { reason, data } = await refused(client, 'trigger-campaign', args)
    assert.match(reason, /wants a person to approve more than 2/)
    assert.ok(reason.includes(`/approvals/${data.approvalId}`), reason)
    const again = { ...args, idempotencyKey: data.idempotencyKey }
    assert.equal((await refused(client, 'trigger-campaign', again)).data.approvalId, data.approvalId)
    assert.deepEqual([(await pending()).length, await triggers()], [1, []], 'asking again asks no second time')

    assert.equal((await decide(data.approvalId, 'approve')).status, 200)
    const { triggerId } = await eventually(() => done(client, 'trigger-campaign', again))
    assert.deepEqual(
      (await triggers()).map(({ trigger_id }) => trigger_id),
      [triggerId]
    )
  })

  it('tells the note of a person who says no', async () => {
    const { client, confirmed, triggers, decide } = await given({ approval_above: 2 })
    const args = { ...(await confirmed()), idempotencyKey: 'spring' }
    const { data } = await refused(client, 'trigger-campaign', args)
    assert.equal(data.idempotencyKey, 'spring')
    assert.equal((await decide(data.approvalId, 'reject', { note: 'Not before Monday' })).status, 200)
    await eventually(async () => {
      const { reason, data: now } = await refused(client, 'trigger-campaign', args)
      assert.equal(now.state, 'rejected')
      assert.match(reason, /Not before Monday/)
    })
    assert.deepEqual(await triggers(), [])
  })
})
