import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { agentKey } from '../oversight/keys.ts'
import { givenCampaign } from '../support/campaigns.ts'
import { startService, type TestProject } from '../support/service.ts'
import { done, overHttp, refused } from './clients.ts'

const service = await startService()
const wish = { campaignId: 'news', broadcast: true }

async function clientOf({ secretKey }: Pick<TestProject, 'secretKey'>) {
  const client = await overHttp('2.4.0', service.url, { 'x-api-key': secretKey })
  after(() => client.close())
  return client
}

/** A project with one user who can be reached. */
async function furnished(): Promise<TestProject> {
  const project = await service.project({ mode: 'simulator' })
  const json = { platform: 'IOS', project_user_id: 'ana' }
  assert.equal((await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json })).status, 201)
  await givenCampaign(service, project)
  return project
}
const triggersOf = ({ id }: TestProject) => service.sql('select id from triggers where project_id = $1', [id])

describe('a confirmation over MCP', () => {
  it('with confirm: false does nothing, with and without an id, and ends the id', async () => {
    const project = await furnished()
    const client = await clientOf(project)
    const target = { campaignId: 'news', targets: [{ projectUserId: 'ana' }] }
    const { confirmationId } = await done(client, 'preview-campaign', wish)
    for (const no of [target, wish, { confirmationId }]) {
      const { reason } = await refused(client, 'trigger-campaign', { ...no, confirm: false })
      assert.match(reason, /not to do it, and did nothing/)
    }
    assert.match((await refused(client, 'trigger-campaign', { confirmationId })).reason, /not known/)
    assert.deepEqual(await triggersOf(project), [])
  })

  it('is asked for anew, with a new id, where the campaign was changed since the preview', async () => {
    const project = await furnished()
    const client = await clientOf(project)
    const { confirmationId } = await done(client, 'preview-campaign', wish)
    await givenCampaign(service, project, { message: { title: 'Changed' } })
    const { reason, data } = await refused(client, 'trigger-campaign', { ...wish, confirmationId })
    assert.match(reason, /campaign was changed meanwhile.*call the tool again with the confirmationId that follows/s)
    assert.equal(data.sample[0].title, 'Changed')
    assert.notEqual(data.confirmationId, confirmationId)
    assert.deepEqual(await triggersOf(project), [])
    await done(client, 'trigger-campaign', { ...wish, confirmationId: data.confirmationId })
    assert.equal((await triggersOf(project)).length, 1)
  })

  it('counts for the key that saw the preview, for what was shown, and for one trigger', async () => {
    const project = await furnished()
    const [client, other] = [await clientOf(project), await clientOf(await agentKey(service, project, null))]
    const { confirmationId } = await done(client, 'preview-campaign', wish)
    await refused(other, 'trigger-campaign', { ...wish, confirmationId })
    await refused(client, 'trigger-campaign', { ...wish, properties: { code: 'B' }, confirmationId })
    await refused(client, 'trigger-campaign', { ...wish, confirmationId: 'made-up' })
    assert.deepEqual(await triggersOf(project), [])
    const calls = Array.from({ length: 5 }, () => done(client, 'trigger-campaign', { ...wish, confirmationId }))
    const ids = new Set((await Promise.all(calls)).map(({ triggerId }) => triggerId))
    assert.equal(ids.size, 1)
    assert.equal((await triggersOf(project)).length, 1)
  })
})
