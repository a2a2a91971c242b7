import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { validator } from '../../src/platform/http/validation.ts'
import { everyone, givenCampaign, givenMany, readTrigger, run, triggered, users } from '../support/campaigns.ts'
import { ios, put as putDevice } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'
import { agentOf } from './agent.ts'
import { skills } from './skills.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

/** Calls a skill, and checks its artifact by the schema that the skill publishes. */
async function call(project: TestProject, data: Json): Promise<{ state: string; says?: string; data?: Json }> {
  const task = await agentOf(service, project, 'plain').send(data)
  const [artifact] = task.artifacts ?? []
  const says = task.status.message?.parts[0].text
  if (!artifact) return { state: task.status.state, says }
  const { output, artifact: described } = skills.get(data.skill)!
  assert.equal(artifact.name, described?.name)
  validator(output, 'invalid_parameter')(artifact.parts[0].data)
  return { state: task.status.state, says, data: artifact.parts[0].data }
}

async function refused(project: TestProject, data: Json, words: RegExp): Promise<void> {
  const { state, says } = await call(project, data)
  assert.deepEqual([state, words.test(says ?? '')], ['rejected', true], says)
}

const putUser = (project: TestProject, id: string, properties: Json) =>
  project.call('POST', '/api/v1/users', { json: { project_user_id: id, properties } })

describe('find-user', () => {
  it('finds a user by its id, with its properties and devices', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'ana-phone')
    await putUser(project, 'ana', { plan: 'premium' })
    for (const field of ['projectUserId', 'project_user_id']) {
      const { state, data } = await call(project, { skill: 'find-user', [field]: 'ana' })
      assert.equal(state, 'completed')
      const [user] = data.users
      assert.deepEqual([data.users.length, data.complete], [1, true])
      assert.deepEqual([user.projectUserId, user.properties], ['ana', { plan: 'premium' }])
      assert.deepEqual(
        user.devices.map(({ deviceId, reachable }: Json) => [deviceId, reachable]),
        [['ana-phone', true]]
      )
    }
  })

  it('finds users by the exact value of a property, and says where the list was cut', async () => {
    const project = await service.project()
    for (let n = 0; n < 12; n += 1) await putUser(project, `user-${n}`, { plan: n < 11 ? 'free' : 'pro', age: n })
    const by = (property: string, value: Json) => call(project, { skill: 'find-user', property, value })
    const ids = ({ data }: Json) => data.users.map(({ projectUserId }: Json) => projectUserId)
    const pro = await by('plan', 'pro')
    assert.deepEqual([ids(pro), pro.data.complete], [['user-11'], true])
    const free = await by('plan', 'free')
    assert.deepEqual([ids(free).length, free.data.complete], [10, false])
    assert.deepEqual(ids(await by('age', 3)), ['user-3'])
    for (const [name, value] of [
      ['age', '3'],
      ['plan', 'fre'],
      ['nothing', 'pro']
    ]) {
      const none = await by(name!, value)
      assert.deepEqual([none.state, ids(none), none.data.complete], ['completed', [], true])
    }
  })

  it('finds the oldest of many users, and knows that it has seen all', async () => {
    const project = await service.project()
    await service.sql(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
       select $1, ('01990000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'user-' || n,
              jsonb_build_object('email', n || '@example.com'), now(), now() from generate_series(1, 12000) n`,
      [project.id]
    )
    const searches = [1, 6_000, 12_000].map(async (n) => {
      const { data } = await call(project, { skill: 'find-user', property: 'email', value: `${n}@example.com` })
      const found = data.users.map(({ projectUserId }: Json) => projectUserId)
      assert.deepEqual([found, data.complete], [[`user-${n}`], true])
    })
    await Promise.all(searches)
  })

  it('refuses an unknown id and two ways at once, and asks for what is missing', async () => {
    const project = await service.project()
    await refused(project, { skill: 'find-user', projectUserId: 'ghost' }, /^No user has this projectUserId\.$/)
    await refused(project, { skill: 'find-user', projectUserId: '' }, /^projectUserId: must not be empty/)
    await refused(project, { skill: 'find-user', projectUserId: 'ana', property: 'a', value: 1 }, /only one of/)
    await refused(project, { skill: 'find-user', property: 'a', value: { b: 1 } }, /^value: /)
    for (const [data, words] of [
      [{ skill: 'find-user' }, /projectUserId or property/],
      [{ skill: 'find-user', property: 'email' }, /missing field: value/]
    ] as const) {
      const { state, says } = await call(project, data)
      assert.equal(state, 'input-required')
      assert.match(says!, words)
    }
  })

  it('leaves out properties that would make the answer too large', async () => {
    const project = await service.project()
    const long = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`p${n}`, 'x'.repeat(4_000)]))
    for (const id of ['one', 'two']) await putUser(project, id, { ...long, of: 'both' })
    const { data } = await call(project, { skill: 'find-user', property: 'of', value: 'both' })
    assert.deepEqual(
      data.users.map(({ properties }: Json) => properties === null),
      [false, true]
    )
  })
})

describe('list-campaigns', () => {
  it('lists campaigns with what a trigger needs to know, and those that contain a text', async () => {
    const project = await service.project()
    await givenCampaign(service, project, {
      campaign_id: 'spring-sale',
      name: 'Spring',
      default_audience: { broadcast: true }
    })
    await givenCampaign(service, project, { campaign_id: 'welcome', name: 'Hello', status: 'paused' })
    const all = await call(project, { skill: 'list-campaigns' })
    assert.deepEqual(
      all.data.campaigns.map((one: Json) => [one.campaignId, one.canBeTriggered, one.defaultAudience, one.version]),
      [
        ['welcome', false, 'none', 1],
        ['spring-sale', true, 'broadcast', 1]
      ]
    )
    for (const [wish, found, complete] of [
      [{ query: 'SALE' }, ['spring-sale'], true],
      [{ query: 'hell' }, ['welcome'], true],
      [{ query: '%' }, [], true],
      [{ page_size: 1 }, ['welcome'], false]
    ] as const) {
      const { data } = await call(project, { skill: 'list-campaigns', ...wish })
      const ids = data.campaigns.map(({ campaignId }: Json) => campaignId)
      assert.deepEqual([ids, data.complete], [found, complete])
    }
    await refused(project, { skill: 'list-campaigns', pageSize: 1_000 }, /^pageSize: /)
  })
})

describe('preview-campaign', () => {
  it('counts the audience, renders samples and sends nothing', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'p-1', 'p-2')
    await givenUser(project, 'bo')
    await givenCampaign(service, project, { message: { title: 'Hi {{ user.id }}', body: '{{ trigger.code }}' } })
    const { state, data } = await call(project, {
      skill: 'preview-campaign',
      campaignId: 'news',
      targets: [{ projectUserId: 'ana' }, { project_user_id: 'bo' }],
      properties: { code: 'X' }
    })
    assert.equal(state, 'completed')
    assert.deepEqual([data.campaignVersion, data.recipients, data.devices, data.complete], [1, 1, 2, true])
    assert.deepEqual([data.skill, data.broadcast, data.excluded], ['trigger-campaign', false, { no_device: 1 }])
    assert.deepEqual(data.sample[0], { projectUserId: 'ana', title: 'Hi ana', body: 'X' })
    assert.equal(sender.to('p-1').length + sender.to('p-2').length, 0)
    assert.deepEqual((await project.call('GET', '/api/v1/triggers')).json.items, [])
  })

  it('says why a trigger would be refused, refuses an unknown campaign, and asks about an unknown field', async () => {
    const project = await service.project()
    await givenCampaign(service, project, { status: 'paused' })
    const preview = { skill: 'preview-campaign', campaignId: 'news', broadcast: true }
    assert.match((await call(project, preview)).data.obstacle, /\w/)
    await refused(project, { ...preview, campaignId: 'other' }, /campaign/)
    assert.equal((await call(project, { ...preview, segment: 'vip' })).state, 'input-required')
  })
})

describe('get-trigger, list-messages and explain-delivery', () => {
  it('show what became of a trigger, for whom, and why not', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'a-1', 'a-2')
    await givenUser(project, 'bo', 'b-1')
    await givenCampaign(service, project, { message: { title: 'Hello', body: 'x'.repeat(900) } })
    const { trigger_id: triggerId } = await run(project, users('ana'))

    const got = await call(project, { skill: 'get-trigger', trigger_id: triggerId })
    assert.deepEqual([got.data.state, got.data.campaignId, got.data.counts.sent], ['completed', 'news', 2])

    for (const wish of [{ projectUserId: 'ana' }, { triggerId }, { projectUserId: 'ana', triggerId }, {}]) {
      const { data } = await call(project, { skill: 'list-messages', ...wish })
      assert.deepEqual([data.messages.length, data.complete], [2, true])
      const [message] = data.messages
      assert.deepEqual(
        [message.projectUserId, message.triggerId, message.state, message.title],
        ['ana', triggerId, 'accepted', 'Hello']
      )
      assert.ok(message.body.length < 600, 'long texts are shortened')
    }
    const one = await call(project, { skill: 'list-messages', pageSize: 1 })
    assert.deepEqual([one.data.messages.length, one.data.complete], [1, false])
    assert.deepEqual((await call(project, { skill: 'list-messages', projectUserId: 'bo' })).data.messages, [])

    const explain = (who: Json) => call(project, { skill: 'explain-delivery', triggerId, ...who })
    const ana = await explain({ projectUserId: 'ana' })
    assert.deepEqual([ana.data.sent, ana.data.devices.length], [true, 2])
    const device = await explain({ deviceId: 'a-2' })
    assert.deepEqual(
      [device.data.sent, device.data.projectUserId, device.data.devices.map(({ deviceId }: Json) => deviceId)],
      [true, 'ana', ['a-2']]
    )
    const bo = await explain({ projectUserId: 'bo' })
    assert.deepEqual(
      [bo.data.sent, bo.data.why],
      [false, 'The audience names neither the user nor a device of the user.']
    )
    const other = await explain({ deviceId: 'b-1' })
    assert.deepEqual([other.data.sent, other.data.projectUserId], [false, 'bo'])
    for (const who of [{ projectUserId: 'ghost' }, { deviceId: 'ghost' }]) {
      const { state, data } = await explain(who)
      assert.deepEqual([state, data.sent], ['completed', false])
      assert.match(JSON.stringify(data.gates), /unknown_(user|device)/)
    }
  })

  it('explain one device of several by its own outcome, and one of an anonymous user', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'one-1', 'one-2')
    // The app of the second one is older; the third has no user of a name.
    for (const [id, app_version] of Object.entries({ 'one-1': '2.0', 'one-2': '1.0', alone: '2.0' }))
      await putDevice(project, {
        ...ios,
        id,
        app_version,
        push_token: `${id}-${project.id}`,
        push_token_type: 'FCM',
        platform: 'ANDROID'
      })
    await givenCampaign(service, project, {
      segment: { attribute: 'device.app_version', operator: 'greater_or_equal', value: '2.0' }
    })
    const { trigger_id: triggerId } = await run(project, everyone)
    const explain = async (deviceId: string) =>
      (await call(project, { skill: 'explain-delivery', triggerId, deviceId })).data
    assert.deepEqual([(await explain('one-1')).sent, (await explain('one-2')).sent], [true, false])
    const alone = await explain('alone')
    assert.deepEqual([alone.sent, alone.projectUserId, alone.devices.length], [true, null, 1])
  })

  it('refuse what does not exist, and ids that are none', async () => {
    const project = await service.project()
    await givenUser(project, 'ana')
    for (const triggerId of [randomUUID(), 'nothing'])
      for (const data of [
        { skill: 'get-trigger' },
        { skill: 'cancel-trigger' },
        { skill: 'list-messages' },
        { skill: 'explain-delivery', projectUserId: 'ana' }
      ])
        await refused(project, { ...data, triggerId }, /^There is no trigger of this id\.$/)
    await refused(project, { skill: 'list-messages', projectUserId: 'ghost' }, /^No user has this projectUserId\.$/)
    await refused(
      project,
      { skill: 'explain-delivery', triggerId: randomUUID(), projectUserId: 'a', deviceId: 'b' },
      /only one of/
    )
  })
})

describe('cancel-trigger', () => {
  it('stops a broadcast, once more changes nothing, and a trigger that has ended is refused', async () => {
    const project = await service.project()
    await givenMany(service, project, 4_000, 'stop')
    await givenCampaign(service, project)
    const triggerId = await triggered(project, everyone)
    await eventually(async () => assert.ok((await readTrigger(project, triggerId)).counts.sent > 100))
    for (let times = 0; times < 2; times += 1) {
      const { state, data } = await call(project, { skill: 'cancel-trigger', triggerId })
      assert.deepEqual([state, data.state, data.counts.pending], ['completed', 'canceled', 0])
      assert.ok(data.counts.sent < 4_000)
    }
    const { trigger_id } = await run(project, { audience: { targets: [] } })
    await refused(project, { skill: 'cancel-trigger', triggerId: trigger_id }, /^The trigger is completed/)
  })
})

describe('the skills that read', () => {
  it('keep tenants apart', async () => {
    const [ours, theirs] = [await service.project(), await service.project()]
    await givenUser(theirs, 'ana', 't-1')
    await putUser(theirs, 'ana', { plan: 'premium' })
    await givenCampaign(service, theirs)
    const { trigger_id: triggerId } = await run(theirs, users('ana'))
    await refused(ours, { skill: 'find-user', projectUserId: 'ana' }, /No user/)
    assert.deepEqual((await call(ours, { skill: 'find-user', property: 'plan', value: 'premium' })).data.users, [])
    assert.deepEqual((await call(ours, { skill: 'list-campaigns' })).data.campaigns, [])
    assert.deepEqual((await call(ours, { skill: 'list-messages' })).data.messages, [])
    await refused(ours, { skill: 'preview-campaign', campaignId: 'news', broadcast: true }, /campaign/)
    for (const skill of ['get-trigger', 'cancel-trigger', 'list-messages', 'explain-delivery'])
      await refused(ours, { skill, triggerId, ...(skill === 'explain-delivery' && { deviceId: 't-1' }) }, /no trigger/)
  })
})
