import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { startService, type TestProject } from '../support/service.ts'
import { type AnyClient, done, type Line, lines, overHttp, overStdio, refused } from './clients.ts'

const service = await startService()
const binary = resolve(import.meta.dirname, '../../bin/tidings.js')

const ways: Record<string, (line: Line, project: TestProject) => Promise<AnyClient>> = {
  HTTP: (line, { secretKey }) => overHttp(line, service.url, { authorization: `Bearer ${secretKey}` }),
  'tidings mcp': (line, { secretKey }) =>
    overStdio(line, {
      command: process.execPath,
      args: [binary, 'mcp', '--url', service.url],
      env: { TIDINGS_KEY: secretKey, PATH: process.env.PATH! }
    })
}

/** A project with a campaign for premium users: ana, who has a phone, and bo, who is not one. */
async function furnished(): Promise<TestProject> {
  const project = await service.project({ mode: 'simulator' })
  for (const [name, plan] of [
    ['ana', 'premium'],
    ['bo', 'free']
  ]) {
    const json = { project_user_id: name, properties: { plan } }
    assert.equal((await project.call('POST', '/api/v1/users', { json })).status, 200)
    const device = { platform: 'IOS', project_user_id: name }
    const made = await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json: device })
    assert.equal(made.status, 201, made.text)
  }
  await givenCampaign(service, project, {
    campaign_id: 'spring-sale',
    segment: { attribute: 'user.plan', operator: 'equals', value: 'premium' },
    message: { title: 'Hello {{ user.plan }}' }
  })
  return project
}

describe('a person has an assistant send a campaign', () => {
  for (const [way, open] of Object.entries(ways))
    for (const line of lines)
      it(`by ${way} with the official client ${line}: find, preview, confirm, broadcast, follow, explain`, async () => {
        const project = await furnished()
        const client = await open(line, project)
        after(() => client.close())

        const { users } = await done(client, 'find-user', { property: 'plan', value: 'premium' })
        assert.deepEqual(
          users.map(({ projectUserId }: Json) => projectUserId),
          ['ana']
        )
        const { campaigns } = await done(client, 'list-campaigns', {})
        assert.deepEqual(
          campaigns.map(({ campaignId }: Json) => campaignId),
          ['spring-sale']
        )

        const wish = { campaignId: 'spring-sale', broadcast: true }
        const { reason } = await refused(client, 'trigger-campaign', wish)
        assert.match(reason, /needs a confirmationId/)
        const preview = await done(client, 'preview-campaign', wish)
        assert.deepEqual([preview.recipients, preview.sample[0].title], [1, 'Hello premium'])

        const seen: Json[] = []
        const call = { name: 'trigger-campaign', arguments: { ...wish, confirmationId: preview.confirmationId } }
        const options = { onprogress: (progress: Json) => void seen.push(progress) }
        // The older line has the schema of the result between the call and its options.
        const callTool = client.callTool.bind(client) as (...given: unknown[]) => Promise<Json>
        const result = await callTool(call, ...(line === '1.32.2' ? [undefined, options] : [options]))
        assert.ok(!result.isError, JSON.stringify(result.content))
        const { triggerId } = result.structuredContent
        // A client may drop the last notification where the result arrives with it.
        assert.ok(seen.length > 0)
        for (const { message } of seen) assert.match(message, /^The trigger is \w+: \d sent/)
        assert.ok(seen.every(({ progress }, at) => at === 0 || progress > seen[at - 1]!.progress))

        const again = await done(client, 'trigger-campaign', call.arguments)
        assert.equal(again.triggerId, triggerId, 'a repeat returns the first trigger')
        const { counts } = await done(client, 'get-trigger', { triggerId })
        assert.equal(counts.sent, 1)
        const explained = await done(client, 'explain-delivery', { triggerId, projectUserId: 'bo' })
        assert.equal(explained.sent, false)
        assert.match(explained.why, /segment/)
      })
})
