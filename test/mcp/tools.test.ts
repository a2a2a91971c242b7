import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { describedSkills } from '../../src/a2a/skills/skills.ts'
import { agentOf } from '../a2a/agent.ts'
import { givenCampaign } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { done, lines, overHttp, refused } from './clients.ts'

const service = await startService()

for (const line of lines) {
  describe(`MCP over HTTP with the official client ${line}`, async () => {
    const project = await service.project()
    const client = await overHttp(line, service.url, { authorization: `Bearer ${project.secretKey}` })
    after(() => client.close())

    it('lists a tool for each skill, with its name, fields, result and hints', async () => {
      const { tools } = await client.listTools()
      const skills = [...describedSkills().values()]
      assert.deepEqual(
        tools.map(({ name }) => name),
        skills.map(({ id }) => id)
      )
      for (const { id, effect, output } of skills) {
        const tool = tools.find(({ name }) => name === id) as Json
        assert.equal(tool.annotations.readOnlyHint, effect === 'read', id)
        assert.equal(tool.annotations.destructiveHint, effect === 'send' || effect === 'stop', id)
        assert.deepEqual(tool.outputSchema, JSON.parse(JSON.stringify(output)), id)
        assert.ok(!('skill' in tool.inputSchema.properties), id)
        for (const name of ['allOf', 'anyOf', 'oneOf']) assert.ok(!(name in tool.inputSchema), `${id}: ${name}`)
        assert.equal('idempotencyKey' in tool.inputSchema.properties, effect !== 'read', id)
      }
    })

    it('a tool does what its skill does, and returns the data of its artifact', async () => {
      const made = await done(client, 'create-user', { projectUserId: 'ana', properties: { plan: 'premium' } })
      assert.equal(made.projectUserId, 'ana')
      const { json } = await service.manage('GET', `/projects/${project.id}/users/ana`)
      assert.equal(json.properties.plan, 'premium')
    })

    it('fields that are missing, wrong or unknown are named, and nothing is done or kept', async () => {
      const tasks = async () =>
        (await service.sql('select count(*) from a2a_tasks where project_id = $1', [project.id]))[0].count
      const before = await tasks()
      assert.equal((await refused(client, 'create-user', {})).reason, 'Send the missing field: projectUserId.')
      assert.match(
        (await refused(client, 'create-user', { projectUserId: 7 })).reason,
        /projectUserId: must be a string/
      )
      const { reason } = await refused(client, 'trigger-campaign', { campaignId: 'a', exclude: 'bo' })
      assert.match(reason, /does not know the field "exclude"/)
      assert.equal(await tasks(), before)
    })
  })
}

describe('a tool call', async () => {
  const [project, other] = [await service.project(), await service.project()]
  const clientOf = async ({ secretKey }: { secretKey: string }) => {
    const client = await overHttp('2.4.0', service.url, { 'x-api-key': secretKey })
    after(() => client.close())
    return client
  }
  const [client, stranger] = [await clientOf(project), await clientOf(other)]

  it('is kept as a task that names its key and its agent', async () => {
    const { userId } = await done(client, 'create-user', { projectUserId: 'kept' })
    const rows = await service.sql('select content from a2a_tasks where project_id = $1', [project.id])
    const content = rows.map((row) => JSON.stringify(row.content)).find((text) => text.includes(userId))
    assert.match(content ?? '', /"agent":"tester"/)
    assert.match(content ?? '', /"actor":"key /)
  })

  it('has one effect however often it is repeated with its idempotencyKey, also at once', async () => {
    const args = { eventName: 'bought', projectUserId: 'kept', idempotencyKey: 'purchase-1' }
    const results = await Promise.all(
      Array.from({ length: 8 }, () => client.callTool({ name: 'track-event', arguments: args }))
    )
    const [first] = results.filter(({ isError }) => !isError)
    assert.deepEqual(first?.structuredContent, { trackedEvents: 1, eventName: 'bought' })
    assert.deepEqual(await done(client, 'track-event', args), first?.structuredContent)
    const events = async () =>
      (await service.sql("select * from events where project_id = $1 and name = 'bought'", [project.id])).length
    assert.equal(await events(), 1)
    const { reason } = await refused(client, 'track-event', { ...args, eventName: 'sold' })
    assert.match(reason, /idempotencyKey was used with other arguments/)
    await done(client, 'track-event', { eventName: 'bought', projectUserId: 'kept' })
    assert.equal(await events(), 2)
  })

  it('and a message to /a2a that arrives with it are each done once, repeats included', async () => {
    const event = { eventName: 'both', projectUserId: 'kept' }
    const agent = agentOf(service, project, 'official')
    const names = Array.from({ length: 16 }, (_, place) => `both-${place}`)
    // Only calls that wait for the same statement are written together.
    const all = () =>
      Promise.all(
        names.flatMap((name) => [
          agent.send({ skill: 'track-event', ...event }, { messageId: name }),
          done(client, 'track-event', { ...event, idempotencyKey: name })
        ])
      )
    await all()
    await all()
    const events = await service.sql("select id from events where project_id = $1 and name = 'both'", [project.id])
    assert.equal(events.length, 2 * names.length)
    const keys = await service.sql(
      `select scope, count(*)::int from idempotency_keys
        where project_id = $1 and key like '%both-%' and scope in ('a2a', 'mcp') group by scope order by scope`,
      [project.id]
    )
    assert.deepEqual(keys, [
      { scope: 'a2a', count: names.length },
      { scope: 'mcp', count: names.length }
    ])
  })

  it('reaches only the project of its key: ids and idempotency keys of another mean nothing there', async () => {
    await done(client, 'create-user', { projectUserId: 'mine', idempotencyKey: 'shared' })
    assert.match((await refused(stranger, 'find-user', { projectUserId: 'mine' })).reason, /^No user has this/)
    await done(stranger, 'create-user', { projectUserId: 'theirs', idempotencyKey: 'shared' })
    assert.equal((await done(client, 'find-user', { projectUserId: 'mine' })).users[0].projectUserId, 'mine')
  })

  it('of an unknown tool is an error of the protocol', async () => {
    await assert.rejects(
      client.callTool({ name: 'delete-everything', arguments: {} }),
      /There is no tool delete-everything/
    )
  })

  it('of a broadcast without a confirmation is refused and points to the preview, also by the default audience', async () => {
    await givenCampaign(service, project)
    await givenCampaign(service, project, { campaign_id: 'daily', default_audience: { broadcast: true } })
    for (const args of [
      { campaignId: 'news', broadcast: true },
      { campaignId: 'news', audience: { broadcast: true } },
      { campaignId: 'daily' }
    ])
      assert.match(
        (await refused(client, 'trigger-campaign', args)).reason,
        /needs a confirmationId. Call preview-campaign/
      )
    assert.deepEqual(await service.sql('select id from triggers where project_id = $1', [project.id]), [])
    await done(client, 'trigger-campaign', { campaignId: 'daily', targets: [{ projectUserId: 'mine' }] })
  })
})
