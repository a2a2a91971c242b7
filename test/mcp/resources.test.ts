import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { givenCampaign, run, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { lines, overHttp } from './clients.ts'

const service = await startService()

for (const line of lines) {
  describe(`resources of MCP with the official client ${line}`, async () => {
    const [project, other] = [await service.project(), await service.project()]
    await givenCampaign(service, project, { campaign_id: 'spring sale/1', name: 'Spring sale' })
    await givenCampaign(service, other, { campaign_id: 'secret' })
    const { trigger_id } = await run(project, users('nobody'), 'spring sale/1')
    const client = await overHttp(line, service.url, { 'x-api-key': project.secretKey })
    after(() => client.close())
    const read = async (uri: string): Promise<string> => {
      const { contents } = (await client.readResource({ uri })) as Json
      assert.equal(contents.length, 1)
      assert.equal(contents[0].uri, uri)
      return contents[0].text
    }

    it('lists campaigns, recent triggers and pages of the docs, and each of them can be read', async () => {
      const { resources } = await client.listResources()
      const uris = resources.map(({ uri }) => uri)
      assert.ok(uris.includes('tidings://campaigns/spring%20sale%2F1'), uris.join())
      assert.ok(!uris.join().includes('secret'))
      for (const uri of uris) assert.notEqual(await read(uri), '')
    })

    it('a campaign and a trigger are read by their ids', async () => {
      assert.equal(JSON.parse(await read('tidings://campaigns/spring%20sale%2F1')).name, 'Spring sale')
      assert.equal(JSON.parse(await read(`tidings://triggers/${trigger_id}`)).trigger_id, trigger_id)
      assert.equal(JSON.parse(await read('tidings://triggers')).triggers[0].trigger_id, trigger_id)
      const { resourceTemplates } = await client.listResourceTemplates()
      assert.deepEqual(
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ['tidings://campaigns/{campaignId}', 'tidings://triggers/{triggerId}']
      )
    })

    it('what is not there, is of another project or leaves the docs is not found', async () => {
      const wrong = [
        'campaigns/secret',
        'campaigns/%ZZ',
        'triggers/7',
        'docs/../../package.json',
        'docs',
        'docs/none',
        'users/ana'
      ]
      for (const path of [...wrong.map((one) => `tidings://${one}`), 'file:///etc/passwd', 'x'])
        await assert.rejects(read(path), /There is no such resource/, path)
    })
  })
}
