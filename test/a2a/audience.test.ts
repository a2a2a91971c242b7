import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'
import { agentOf } from './agent.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const project = await service.project()
for (const name of ['ana', 'bo', 'cy']) await givenUser(project, name, `${name}-phone`)
await givenCampaign(service, project, { default_audience: { broadcast: true } })
const agent = agentOf(service, project, 'plain')

const skill = 'trigger-campaign'
const ana = [{ project_user_id: 'ana' }]
const bo = [{ projectUserId: 'bo' }]

/**
 * The number of devices that a request reaches, or the state in which it stops. Three devices are everyone, also by
 * default.
 */
async function reached(data: Json, ...more: Json[]): Promise<number | string> {
  let task = await agent.send({ skill, campaignId: 'news', ...data })
  for (const next of more) {
    assert.equal(task.status.state, 'input-required', JSON.stringify(task.status))
    task = await agent.send(next, { taskId: task.id })
  }
  if (task.status.state !== 'completed') return task.status.state
  const { triggerId } = task.artifacts[0].parts[0].data
  return (await ended(project, triggerId)).counts.targeted
}
const question = (task: Json) => task.status.message.parts[0].text as string

describe('B.9: trigger-campaign by agents takes the audience of 2.4', () => {
  it('as REST spells it and as agents do, beside or instead of its flat fields', async () => {
    for (const audience of [{ targets: ana }, { broadcast: false, targets: bo }, { broadcast: null, targets: ana }])
      assert.equal(await reached({ audience }), 1, JSON.stringify(audience))
    assert.equal(await reached({ audience: { targets: [...ana, ...bo, { device_id: 'cy-phone' }] } }), 3)
    assert.equal(await reached({ audience: { broadcast: true, targets: 'ignored' } }), 3)
    assert.equal(await reached({ targets: ana }), 1)
    assert.equal(await reached({ targets: [{ project_user_id: 'ana', projectUserId: 'ana', device_id: null }] }), 1)
    assert.equal(await reached({ target: { project_user_id: 'ana' } }), 1)
    assert.equal(
      await reached({ audience: { targets: ana }, targets: [{ projectUserId: 'ana' }], broadcast: false }),
      1
    )
    assert.equal(await reached({ campaignId: undefined, campaign_id: 'news', audience: { targets: ana } }), 1)
  })

  it('with properties of each target, in both spellings', async () => {
    await givenCampaign(service, project, { campaign_id: 'codes', message: { title: '{{ trigger.code }}' } })
    const targets = [
      { ...ana[0], properties: { code: 'A1' } },
      { ...bo[0], properties: null }
    ]
    assert.equal(await reached({ campaignId: 'codes', targets, properties: { code: 'none' } }), 2)
    assert.deepEqual(
      ['ana-phone', 'bo-phone'].map((id) => (sender.to(id).at(-1)!.content as Json).notification.title),
      ['A1', 'none']
    )
  })

  it('an audience that is absent or null is the default audience', async () => {
    assert.equal(await reached({}), 3)
    assert.equal(await reached({ audience: null, properties: null }), 3)
  })

  it('an audience that is empty or contradicts itself reaches no user, and never the default audience', async () => {
    for (const data of [
      { broadcast: false },
      { audience: {} },
      { audience: { broadcast: false } },
      { audience: { targets: null } },
      { audience: { targets: [] } },
      { targets: [] },
      { targets: ana, audience: { targets: bo } },
      { broadcast: true, audience: { targets: ana } },
      { broadcast: true, audience: { broadcast: false } },
      { broadcast: false, audience: { broadcast: true } },
      { broadcast: true, audience: {} },
      { targets: ana, audience: {} },
      { target: ana[0], targets: bo }
    ])
      assert.equal(await reached(data), 0, JSON.stringify(data))
  })

  it('a malformed audience is rejected', async () => {
    for (const data of [
      { audience: [] },
      { audience: 'ana' },
      { audience: true },
      { audience: { targets: {} } },
      { audience: { targets: ['ana'] } },
      { audience: { broadcast: 'true' } },
      { audience: { targets: [{}] } },
      { targets: [{ projectUserId: 'ana', project_user_id: 'bo' }] },
      { targets: [{ project_user_id: 'ana', device_id: 'bo-phone' }] },
      { target: 'ana' }
    ])
      assert.equal(await reached(data), 'rejected', JSON.stringify(data))
    const twice = agent.message({ skill, campaignId: 'news', campaign_id: 'other' })
    assert.equal((await agent.error('send', { message: twice })).code, -32602)
  })

  it('a field that it does not know is asked about by name, and nothing is triggered', async () => {
    const count = async () => (await project.call('GET', '/api/v1/triggers?limit=200')).json.items.length
    const before = await count()
    for (const [name, shown = name] of [
      ['recipients'],
      ['Audience'],
      ['projectUserId'],
      ['title'],
      ['users'],
      ['campaign_ids'],
      ['x'.repeat(5_000), 'x'.repeat(64)]
    ] as [string, string?][]) {
      const task = await agent.send({ skill, campaignId: 'news', [name]: ['ana'] })
      assert.equal(task.status.state, 'input-required', name)
      assert.match(question(task), new RegExp(`does not know the field "${shown}"`))
    }
    const inner = await agent.send({ skill, campaignId: 'news', audience: { users: ['ana'] } })
    assert.match(question(inner), /"audience\.users"/)
    const beside = await agent.send({ skill, campaignId: 'news', targets: ana, only: 'premium', to: 'ana' })
    assert.match(question(beside), /the fields "only", "to"/)
    assert.equal(await count(), before)
  })

  it('goes on once an audience is named, or the request is said again without the field', async () => {
    const odd = { recipients: ['ana'] }
    assert.equal(await reached(odd, { targets: ana }), 1)
    assert.equal(await reached(odd, { audience: { targets: bo } }), 1)
    assert.equal(await reached(odd, { skill, campaignId: 'news' }), 3, 'the default audience, asked for knowingly')
    assert.equal(await reached(odd, 'for user ana'), 1)
    assert.equal(await reached({ title: 'Hi' }, { skill, campaignId: 'news', targets: ana }), 1)
    for (const word of ['yes', 'go on', 'ok', { campaignId: 'news' }, { properties: { a: 1 } }, { confirm: true }])
      assert.equal(await reached(odd, word), 'input-required', JSON.stringify(word))
  })

  it('unknown fields from before the skill was named are asked about, too', async () => {
    const first = await agent.send({ campaignId: 'news', recipients: ['ana'] })
    assert.equal(first.status.state, 'input-required')
    const second = await agent.send({ skill }, { taskId: first.id })
    assert.equal(second.status.state, 'input-required')
    assert.match(question(second), /"recipients"/)
  })

  it('an audience of a later message replaces the one before it', async () => {
    const first = await agent.send({ skill, broadcast: true })
    const second = await agent.send({ campaign_id: 'news', audience: { targets: ana } }, { taskId: first.id })
    assert.equal((await ended(project, second.artifacts[0].parts[0].data.triggerId)).counts.targeted, 1)
  })
})
