import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'
import { agentOf, names } from './agent.ts'

const service = await startService({}, { sender: scriptedSender() })

/** A project with this many users, each with a phone, and the campaign `news`. */
async function given(people: number, campaign: Json = {}) {
  const project = await service.project()
  await more(project, 0, people)
  await givenCampaign(service, project, {
    message: { title: 'Hello', body: 'Sale' },
    ...campaign
  })
  return { project, agent: agentOf(service, project, 'plain') }
}

async function more(project: TestProject, from: number, to: number): Promise<void> {
  const added = Array.from({ length: to - from }, (_, index) => `user-${String(from + index).padStart(3, '0')}`)
  for (let at = 0; at < added.length; at += 20)
    await Promise.all(added.slice(at, at + 20).map((name) => givenUser(project, name, `${name}-phone`)))
}

const triggersOf = async ({ id }: TestProject) =>
  (await service.sql('select id, campaign_version from triggers where project_id = $1 order by id', [id])) as Json[]
const textOf = (task: Json): string => task.status.message.parts[0].text
const shownBy = (task: Json): Json => task.status.message.parts[1].data
const triggerIn = (task: Json): string => task.artifacts[0].parts[0].data.triggerId
/** Triggers that a test has seen already. */
const known: string[] = []
const broadcast = 'Trigger campaign news for all users'
/** All texts of a task, for a failed assertion. */
const said = (task: Json) => JSON.stringify(task.status)

async function asked(agent: ReturnType<typeof agentOf>, content: Json = broadcast): Promise<Json> {
  const task = await agent.send(content)
  assert.equal(task.status.state, 'input-required', said(task))
  return task
}

describe('a question about a broadcast', () => {
  it('says and shows campaign, version, recipients, devices, exclusions and a message', async () => {
    for (const name of names) {
      const { project } = await given(2)
      await givenUser(project, 'mute', { id: 'mute-phone', push_token: null, push_token_type: null })
      const agent = agentOf(service, project, name)
      const task = await agent.send(broadcast)
      assert.equal(task.status.state, agent.state('input-required'), said(task))
      assert.match(
        textOf(task),
        /“News” \(version 1\) would reach 2 people on 2 devices; 1 is left out \(no_push_token: 1\)\. For example to user-00\d: “Hello” “Sale”\. Shall I\?/
      )
      const { confirmationId, ...shown } = shownBy(task)
      assert.match(confirmationId, /^[0-9a-f-]{36}$/)
      assert.deepEqual(
        { ...shown, sample: shown.sample.length },
        {
          skill: 'trigger-campaign',
          campaignId: 'news',
          campaignVersion: 1,
          recipients: 2,
          devices: 2,
          excluded: { no_push_token: 1 },
          sample: 2
        }
      )
      assert.deepEqual(Object.keys(shown.sample[0]), ['projectUserId', 'title', 'body'])
      assert.deepEqual(await triggersOf(project), [])
      const done = await agent.send('yes', { taskId: task.id })
      assert.equal(done.status.state, agent.state('completed'), said(done))
      assert.deepEqual((await triggersOf(project)).length, 1)
    }
  })

  it('an audience left out is judged by what it would reach', async () => {
    const { project, agent } = await given(3, { default_audience: { broadcast: true } })
    const task = await asked(agent, 'Trigger campaign news for the default audience')
    assert.match(textOf(task), /would reach 3 people/)
    assert.equal(triggerIn(await agent.send('yes', { taskId: task.id })), (await triggersOf(project))[0]!.id)
  })

  it('is not asked where the trigger would be refused anyway: the cause ends the task', async () => {
    const { project, agent } = await given(1)
    for (const [campaign_id, wish] of [
      ['paused', { status: 'paused' }],
      ['nightly', { type: 'scheduled', status: 'draft' }]
    ] as const)
      await givenCampaign(service, project, { campaign_id, ...wish })
    for (const [campaign, cause] of [
      ['missing', /There is no campaign "missing"\.$/],
      ['paused', /is paused, not active/],
      ['nightly', /is scheduled, not api_triggered: only its schedule starts it/]
    ] as const) {
      const task = await agent.send(`Trigger campaign ${campaign} for all users`)
      assert.equal(task.status.state, 'rejected', said(task))
      assert.match(textOf(task), cause)
    }
    const task = await agent.send('Trigger campaign news for the default audience')
    assert.equal(task.status.state, 'rejected', said(task))
    assert.match(textOf(task), /no default audience/)
  })

  it('shows the alert of a Live Activity', async () => {
    const live_activity = {
      attributes_type: 'Delivery',
      attributes: {},
      content_state: {},
      alert: { title: 'On its way', body: 'Soon' }
    }
    const { project, agent } = await given(0, { message: undefined, live_activity })
    await givenUser(project, 'ana', 'ana-phone')
    const token = { attributes_type: 'Delivery', push_to_start_token: 'c1' }
    await asApp(project, 'POST', '/devices/ana-phone/live-activity-start-tokens', token)
    const task = await asked(agent)
    assert.deepEqual(shownBy(task).sample, [{ projectUserId: 'ana', title: 'On its way', body: 'Soon' }])
  })

  it('stays open, with the same id, when a text is no answer', async () => {
    const { project, agent } = await given(2)
    const task = await asked(agent)
    const again = await agent.send('What is the weather?', { taskId: task.id })
    assert.equal(again.status.state, 'input-required')
    assert.match(textOf(again), /would reach 2 people on 2 devices/)
    assert.equal(shownBy(again).confirmationId, shownBy(task).confirmationId)
    assert.equal((await agent.send('yes', { taskId: task.id })).status.state, 'completed')
    assert.equal((await triggersOf(project)).length, 1)
  })
})

describe('a yes to a broadcast', () => {
  it('may be data with the id: in the task, as a new message, with the skill, in snake_case', async () => {
    const { project, agent } = await given(2)
    const answers: ((id: string, task: Json) => Promise<Json>)[] = [
      (confirmationId, task) => agent.send({ confirmationId, confirm: true }, { taskId: task.id }),
      (confirmationId) => agent.send({ confirmationId, confirm: true }),
      (confirmationId) => agent.send({ skill: 'trigger-campaign', confirmationId, confirm: true }),
      (confirmation_id) => agent.send({ confirmation_id, confirm: true }),
      (confirmationId) => agent.send({ skill: 'trigger-campaign', campaignId: 'news', broadcast: true, confirmationId })
    ]
    for (const [index, answer] of answers.entries()) {
      const task = await asked(agent)
      const done = await answer(shownBy(task).confirmationId, task)
      assert.equal(done.status.state, 'completed', said(done))
      const triggers = await triggersOf(project)
      assert.equal(triggers.length, index + 1)
      assert.equal(triggerIn(done), triggers.at(-1)!.id)
    }
  })

  it('with a field of a wrong type is rejected, names the field and leaves the question open', async () => {
    const { project, agent } = await given(1)
    const task = await asked(agent)
    const { confirmationId } = shownBy(task)
    for (const [answer, sentence] of [
      [{ confirmationId, confirm: 'yes' }, 'confirm: must be a boolean.'],
      [{ confirmationId: 1, confirm: true }, 'confirmationId: must be a string.'],
      [{ skill: 'trigger-campaign', confirmation_id: [], confirm: false }, 'confirmationId: must be a string.'],
      [{ confirmationId: {}, confirm: 0 }, 'confirmationId: must be a string; confirm: must be a boolean.']
    ] as const) {
      const refused = await agent.send(answer)
      assert.deepEqual([refused.status.state, textOf(refused)], ['rejected', sentence])
    }
    const again = await agent.send({ confirmationId, confirm: 'yes' }, { taskId: task.id })
    assert.equal(again.status.state, 'input-required', said(again))
    assert.deepEqual(await triggersOf(project), [])
    assert.equal((await agent.send('yes', { taskId: task.id })).status.state, 'completed')
  })

  it('that is only an id is told what it agreed to, in its task and in the account of it', async () => {
    const { project, agent } = await given(2)
    const { confirmationId } = shownBy(await asked(agent))
    const task = await agent.send({ confirmationId, confirm: true })
    assert.equal(textOf(task), 'Done: Trigger the campaign "news" for everyone.')
    const { json } = await service.manage('GET', `/projects/${project.id}/agent-tasks/${task.id}`)
    assert.equal(json.request, `confirm ${confirmationId}`)
    assert.match(json.steps.at(-1).text, /^Done: Trigger the campaign "news" for everyone\./)
  })

  it('in a context with several questions answers the one that its id names', async () => {
    const { project, agent } = await given(2)
    const first = await asked(agent)
    const { contextId } = first
    const second = await agent.send({ skill: 'create-user' }, { contextId })
    const yes = { confirmationId: shownBy(first).confirmationId, confirm: true }
    const done = await agent.send(yes, { contextId })
    assert.deepEqual([done.id, done.status.state], [first.id, 'completed'])
    const repeat = await agent.send(yes, { contextId })
    assert.equal(triggerIn(repeat), triggerIn(done))
    assert.ok(repeat.id !== first.id && repeat.id !== second.id, 'a task of its own')
    assert.equal((await agent.get(second.id)).status.state, 'input-required')
    assert.equal((await triggersOf(project)).length, 1)
  })

  it('after the campaign was changed asks again, with a new id and the new facts', async () => {
    const { project, agent } = await given(2)
    const task = await asked(agent)
    await givenCampaign(service, project, { message: { title: 'Changed' } })
    const again = await agent.send('yes', { taskId: task.id })
    assert.equal(again.status.state, 'input-required', said(again))
    assert.match(textOf(again), /The campaign was changed meanwhile: it has version 2, not 1\./)
    assert.equal(shownBy(again).campaignVersion, 2)
    assert.equal(shownBy(again).sample[0].title, 'Changed')
    assert.notEqual(shownBy(again).confirmationId, shownBy(task).confirmationId)
    assert.deepEqual(await triggersOf(project), [])
    const done = await agent.send('yes', { taskId: task.id })
    assert.deepEqual(await triggersOf(project), [{ id: triggerIn(done), campaign_version: 2 }])
  })

  it('holds for an audience that grows by 4 %, and asks again where it grows by 10 %', async () => {
    const { project, agent } = await given(50)
    const first = await asked(agent)
    await more(project, 50, 52)
    assert.equal((await agent.send('yes', { taskId: first.id })).status.state, 'completed')
    const second = await asked(agent)
    await more(project, 52, 58)
    const again = await agent.send('yes', { taskId: second.id })
    assert.equal(again.status.state, 'input-required', said(again))
    assert.match(textOf(again), /58 instead of 52 recipients\..*would reach 58 people/)
    assert.equal((await triggersOf(project)).length, 1)
  })

  it('repeated in any way returns the first trigger, also after the campaign was changed', async () => {
    const { project, agent } = await given(2)
    const task = await asked(agent)
    const { confirmationId } = shownBy(task)
    const first = triggerIn(await agent.send('yes', { taskId: task.id }))
    assert.equal(triggerIn(await agent.send({ confirmationId, confirm: true })), first)
    await givenCampaign(service, project, { message: { title: 'Changed' } })
    assert.equal(triggerIn(await agent.send({ confirmationId, confirm: true })), first)
    assert.equal((await triggersOf(project)).length, 1)
  })

  it('given many times at once, in words and as data, is one trigger', async () => {
    const { project, agent } = await given(2)
    for (let round = 1; round <= 5; round++) {
      const task = await asked(agent)
      const { confirmationId } = shownBy(task)
      const replies = await Promise.all([
        ...[1, 2].map(() => agent.call('send', { message: agent.message('yes', { taskId: task.id }) })),
        ...[1, 2, 3, 4].map(() => agent.call('send', { message: agent.message({ confirmationId, confirm: true }) }))
      ])
      const done = replies.flatMap(({ json }) => (json.result ? [triggerIn(json.result.task)] : []))
      assert.ok(done.length >= 4, JSON.stringify(replies.map(({ json }) => json.error)))
      assert.equal(new Set(done).size, 1)
      assert.equal((await triggersOf(project)).length, round)
    }
  })

  it('that meets a cancel is either done or canceled, and says which', async () => {
    const { project, agent } = await given(1)
    for (let round = 0; round < 12; round++) {
      const task = await asked(agent)
      const { confirmationId } = shownBy(task)
      const yes = agent.call('send', { message: agent.message({ confirmationId, confirm: true }, { taskId: task.id }) })
      await new Promise((resolve) => setTimeout(resolve, round))
      await agent.call('cancel', { id: task.id })
      await yes
      const { status, artifacts = [] } = await agent.get(task.id)
      const rows = await service.sql(
        `select t.id, t.state, t.sent::int from triggers t where t.project_id = $1 and t.id not in (
           select unnest($2::uuid[]))`,
        [project.id, known]
      )
      known.push(...rows.map(({ id }) => id as string))
      const undone = rows.every(({ state, sent }) => state === 'canceled' && sent === 0)
      if (status.state === 'canceled') assert.ok(undone, JSON.stringify(rows))
      else assert.deepEqual([artifacts.length, rows.length], [1, 1], JSON.stringify(status))
      // After a cancel the id confirms nothing; after a yes it returns the trigger again.
      const again = await agent.send({ confirmationId, confirm: true })
      if (rows.length === 1) assert.equal(triggerIn(again), rows[0]!.id)
      const late = await service.sql('select count(*)::int as n from triggers where project_id = $1', [project.id])
      assert.equal(late[0]!.n, known.length + (again.status.state === 'completed' && rows.length === 0 ? 1 : 0))
      if (late[0]!.n > known.length) known.push(triggerIn(again))
    }
  })

  it('of another key, another project or for an unknown id does nothing', async () => {
    const { project, agent } = await given(2)
    const task = await asked(agent)
    const { confirmationId } = shownBy(task)
    const path = `/projects/${project.id}/keys`
    const { key } = (await service.manage('POST', path, { json: { kind: 'secret', name: 'other' } })).json
    const stranger = agentOf(service, { secretKey: key }, 'plain')
    const neighbor = (await given(1)).agent
    for (const other of [stranger, neighbor]) {
      const refused = await other.send({ confirmationId, confirm: true })
      assert.equal(refused.status.state, 'rejected', said(refused))
      assert.match(textOf(refused), /not known/)
    }
    for (const id of ['nonsense', '00000000-0000-7000-8000-000000000000', '']) {
      const refused = await agent.send({ confirmationId: id, confirm: true })
      assert.equal(refused.status.state, 'rejected', said(refused))
    }
    // The other key may know the task. Its yes does not count for the key that was asked, so it gets its own question.
    const again = await stranger.send('yes', { taskId: task.id })
    assert.equal(again.status.state, 'input-required', said(again))
    assert.notEqual(shownBy(again).confirmationId, confirmationId)
    assert.deepEqual(await triggersOf(project), [])
  })

  it('with another id in the task of a question asks that question again', async () => {
    const { project, agent } = await given(2)
    const task = await asked(agent)
    const again = await agent.send({ confirmationId: 'nonsense', confirm: true }, { taskId: task.id })
    assert.equal(again.status.state, 'input-required', said(again))
    assert.match(textOf(again), /not known.*would reach 2 people/)
    assert.deepEqual(await triggersOf(project), [])
  })

  it('more than 15 minutes later asks again', async () => {
    const { project, agent } = await given(2)
    for (const late of ['in the task', 'as a new message']) {
      const task = await asked(agent)
      await service.sql(`update confirmations set expires_at = now() - interval '1 second' where project_id = $1`, [
        project.id
      ])
      const yes = { confirmationId: shownBy(task).confirmationId, confirm: true }
      const again = await (late === 'in the task' ? agent.send('yes', { taskId: task.id }) : agent.send(yes))
      assert.equal(again.status.state, 'input-required', said(again))
      assert.match(textOf(again), /more than 15 minutes ago.*would reach 2 people/)
      assert.deepEqual(await triggersOf(project), [])
    }
  })

  it('works on another node, after a restart of the first', async () => {
    const { project, agent } = await given(2)
    const task = await asked(agent)
    const node = await service.another({}, { sender: scriptedSender() })
    const done = await agentOf(node, project, 'plain').send('yes', { taskId: task.id })
    assert.equal(done.status.state, 'completed', said(done))
    assert.equal((await triggersOf(project)).length, 1)
  })
})

describe('data of trigger-campaign', () => {
  it('acts at once, for a broadcast too', async () => {
    const { project, agent } = await given(2)
    const done = await agent.send({ skill: 'trigger-campaign', campaignId: 'news', broadcast: true })
    assert.equal(done.status.state, 'completed', said(done))
    assert.equal((await triggersOf(project)).length, 1)
  })

  it('with an id that was shown for something else asks about what it says', async () => {
    const { project, agent } = await given(2)
    const { confirmationId } = shownBy(await asked(agent))
    for (const other of [
      { broadcast: true, properties: { code: 'X' } },
      { targets: [{ projectUserId: 'user-000' }] },
      { broadcast: true, campaignVersion: 7 }
    ]) {
      const again = await agent.send({ skill: 'trigger-campaign', campaignId: 'news', confirmationId, ...other })
      assert.equal(again.status.state, 'input-required', said(again))
      assert.match(textOf(again), /about something else/)
    }
    assert.deepEqual(await triggersOf(project), [])
  })

  it('for a version that the campaign no longer has is rejected', async () => {
    const { project, agent } = await given(1)
    const request = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
    const wrong = await agent.send({ ...request, campaignVersion: 2 })
    assert.equal(wrong.status.state, 'rejected')
    assert.match(textOf(wrong), /has version 1 now, not 2/)
    assert.equal((await agent.send({ ...request, campaign_version: 1 })).status.state, 'completed')
    assert.equal((await triggersOf(project)).length, 1)
  })
})

describe('a preview', () => {
  it('carries an id with which its caller triggers what it shows', async () => {
    const { project, agent } = await given(2)
    const preview = { skill: 'preview-campaign', campaignId: 'news', broadcast: true, properties: { code: 'X' } }
    const { confirmationId, recipients, campaignVersion } = (await agent.send(preview)).artifacts[0].parts[0].data
    assert.deepEqual([recipients, campaignVersion], [2, 1])
    const done = await agent.send({ confirmationId, confirm: true })
    assert.equal(done.status.state, 'completed', said(done))
    const [row] = await service.sql('select id, audience, properties from triggers where project_id = $1', [project.id])
    assert.deepEqual(row, { id: triggerIn(done), audience: { broadcast: true }, properties: { code: 'X' } })
  })

  it('of what cannot be triggered has none', async () => {
    const { project, agent } = await given(1)
    await givenCampaign(service, project, { campaign_id: 'draft', status: 'draft' })
    const task = await agent.send({ skill: 'preview-campaign', campaignId: 'draft', broadcast: true })
    assert.equal(task.artifacts[0].parts[0].data.confirmationId, null)
  })
})
