import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, readTrigger, run, triggered, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })

const change = (project: TestProject, json: Json) => service.manage('PATCH', `/projects/${project.id}`, { json })
const limited = async (project: TestProject, ...message_limits: Json[]) => {
  const reply = await change(project, { message_limits })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.json.message_limits, message_limits)
}
const topic = (project: TestProject, id: string) =>
  service.manage('PUT', `/projects/${project.id}/topics/${id}`, { json: { name: id } })

describe('limits over all campaigns', () => {
  it('hold back the next campaign to a user, and never a transactional one', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'l-1', 'l-2')
    await givenUser(project, 'bo', 'l-3')
    for (const id of ['one', 'two']) await givenCampaign(service, project, { campaign_id: id })
    await givenCampaign(service, project, { campaign_id: 'receipt', transactional: true })
    await limited(project, { count: 1, within: '24h' })
    assert.equal((await run(project, users('ana'), 'receipt')).counts.sent, 2)
    assert.equal((await run(project, users('ana'), 'one')).counts.sent, 2, 'a transactional message does not count')
    const second = await run(project, everyone, 'two')
    assert.deepEqual([second.counts.sent, second.skipped], [1, { capped: 2 }])
    assert.equal((await run(project, users('ana'), 'receipt')).counts.sent, 2)
    const why = await project.call('GET', `/api/v1/triggers/${second.trigger_id}/explain?project_user_id=ana`)
    assert.equal(why.json.devices[0].gates[0].reason, 'capped')
    await limited(project)
    assert.equal((await run(project, users('ana'), 'two')).counts.sent, 2)
  })

  it('count one topic where they name it', async () => {
    const project = await service.project()
    await topic(project, 'offers')
    await givenUser(project, 'ana', 't-1')
    await givenCampaign(service, project, { campaign_id: 'sale', topic: 'offers' })
    await givenCampaign(service, project)
    await limited(project, { count: 1, within: '1h', topic: 'offers' })
    assert.equal((await run(project, users('ana'))).counts.sent, 1)
    assert.equal((await run(project, users('ana'), 'sale')).counts.sent, 1, 'the other campaign has no topic')
    assert.deepEqual((await run(project, users('ana'), 'sale')).skipped, { capped: 1 })
    assert.equal((await run(project, users('ana'))).counts.sent, 1)
    const refused = await service.manage('DELETE', `/projects/${project.id}/topics/offers`)
    assert.deepEqual([refused.status, refused.json.details[0].path], [409, 'message_limits'])
  })

  it('are exact for triggers that run at the same time', async () => {
    const project = await service.project()
    for (const name of ['ana', 'bo', 'cy']) await givenUser(project, name, `x-${name}`)
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await givenCampaign(service, project, { campaign_id: id })
    await limited(project, { count: 2, within: '24h' })
    const audiences = [users('ana', 'bo', 'cy'), everyone, users('cy', 'ana', 'bo')]
    const ids = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((id, index) => triggered(project, audiences[index % 3], id))
    )
    const all = await Promise.all(ids.map((id) => ended(project, id)))
    const sum = (read: (one: Json) => number) => all.reduce((total, one) => total + (read(one) ?? 0), 0)
    assert.deepEqual([sum(({ counts }) => counts.sent), sum(({ skipped }) => skipped.capped)], [6, 12])
  })

  it('are refused with all their faults, and change nothing then', async () => {
    const project = await service.project()
    const reply = await change(project, {
      message_limits: [
        { count: 1, within: '91d' },
        { count: 1, within: '1h', topic: 'offers' }
      ],
      quiet_hours: { from: '22:00', to: '22:00', timezone: 'Mars/Phobos' }
    })
    assert.deepEqual(
      [reply.status, reply.json.details.map(({ path }: Json) => path)],
      [400, ['message_limits[0].within', 'message_limits[1].topic', 'quiet_hours.to', 'quiet_hours.timezone']]
    )
    for (const json of [
      { message_limits: [{ count: 0, within: '1h' }] },
      { message_limits: { count: 1 } },
      { quiet_hours: { from: '25:00', to: '08:00' } },
      { identity_verification: 'yes' }
    ])
      assert.equal((await change(project, json)).status, 400, JSON.stringify(json))
    const { details } = (await change(project, { message_limits: [{ count: 0, within: '1h' }] })).json
    assert.deepEqual(details, [{ path: 'message_limits[0].count', message: 'must be at least 1' }])
    const { message_limits, quiet_hours } = (await service.manage('GET', `/projects/${project.id}`)).json
    assert.deepEqual([message_limits, quiet_hours], [[], null])
  })

  it('reach no further back than messages are kept, whichever of the two changes', async () => {
    const project = await service.project()
    const within = (text: string) => [{ count: 3, within: text }]
    const kept = (messages_days: number | null) => ({ retention: { messages_days } })
    const refused = async (json: Json, path: string, message: RegExp) => {
      const reply = await change(project, json)
      assert.deepEqual([reply.status, reply.json.details.map((detail: Json) => detail.path)], [400, [path]], reply.text)
      assert.match(reply.json.details[0].message, message)
    }
    const raised = await change(project, { ...kept(365), message_limits: within('200d') })
    assert.equal(raised.status, 200, raised.text)
    await refused(kept(199), 'retention.messages_days', /^must be at least 200, because message_limits .* within 200d:/)
    await refused(kept(null), 'retention.messages_days', /at least 200/)
    const both = { ...kept(1), message_limits: within('25h') }
    await refused(both, 'message_limits[0].within', /^must be at most 1d, .* raise retention\.messages_days$/)
    const { retention, message_limits } = (await service.manage('GET', `/projects/${project.id}`)).json
    assert.deepEqual([retention.messages_days, message_limits], [365, within('200d')], 'nothing was changed')
    for (const json of [kept(200), { ...kept(1), message_limits: within('24h') }, { message_limits: null }])
      assert.equal((await change(project, json)).status, 200, JSON.stringify(json))
  })
})

describe('quiet hours of a project', () => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)

  it('skip or hold messages of every campaign but transactional ones, and end when they are taken away', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'q-1')
    await givenCampaign(service, project)
    await givenCampaign(service, project, { campaign_id: 'receipt', transactional: true })
    const hours = { from: at(-1), to: at(2), timezone: 'UTC' }
    const set = await change(project, { quiet_hours: { ...hours, action: 'skip' } })
    assert.deepEqual(set.json.quiet_hours, { ...hours, action: 'skip' })
    assert.deepEqual((await run(project, users('ana'))).skipped, { quiet_hours: 1 })
    assert.equal((await run(project, users('ana'), 'receipt')).counts.sent, 1)
    await change(project, { quiet_hours: hours })
    const id = await triggered(project, users('ana'))
    await eventually(async () => {
      const held = await service.sql('select 1 from trigger_chunks where project_id = $1 and held', [project.id])
      assert.equal(held.length, 1)
    })
    assert.equal((await readTrigger(project, id)).counts.pending, 1)
    assert.equal((await change(project, { quiet_hours: null })).json.quiet_hours, null)
    assert.equal((await run(project, users('ana'))).counts.sent, 1)
  })
})
