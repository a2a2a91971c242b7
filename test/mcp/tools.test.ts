import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { describedSkills } from '../../src/a2a/skills/skills.ts'
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
