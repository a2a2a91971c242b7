import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, givenMany, readTrigger, triggered, users } from '../support/campaigns.ts'
import { asApp, link, put } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const titles = (device: string) => sender.to(device).map(({ content }) => (content as Json).notification.title)
const triggersOf = async (project: TestProject): Promise<Json[]> =>
  (await service.manage('GET', `/projects/${project.id}/triggers`)).json.items
const journeys = (project: TestProject) =>
  service.sql('select * from journeys where project_id = $1 order by user_id', [project.id])
const record = async (project: TestProject, name: string, device: string, properties: Json = {}) =>
  assert.equal(
    (await asApp(project, 'POST', '/events', { events: [{ device_id: device, name, properties }] })).status,
    200
  )
/** Makes those who wait due now, and wakes them as the resume of a project does. */
async function due(project: TestProject) {
  await service.sql(
    `update journeys set due_at = date_trunc('second', now()) where project_id = $1 and state = 'waiting'`,
    [project.id]
  )
  await service.manage('POST', `/projects/${project.id}:pause`)
  await service.manage('POST', `/projects/${project.id}:resume`)
}
const series = {
  steps: [
    { id: 'first', message: { title: 'Welcome {{ trigger.name }}' } },
    { id: 'second', wait: '2d', message: { title: 'Still there, {{ trigger.name }}?' } },
    { id: 'third', wait: '1d', message: { title: 'Bye' } }
  ],
  message: undefined
}
async function given(campaign: Json, ...names: string[]) {
  const project = await service.project()
  for (const name of names) await givenUser(project, name, name)
  await givenCampaign(service, project, { ...series, ...campaign })
  return project
}

describe('a campaign with steps', () => {
  it('sends them one after another to the audience of a trigger, and users who are due together share a trigger', async () => {
    const project = await given({}, 'one-a', 'one-b')
    const first = await triggered(project, { ...users('one-a'), properties: { name: 'Ana' } })
    const other = await triggered(project, { ...users('one-b'), properties: { name: 'Bo' } })
    for (const id of [first, other]) assert.equal((await ended(project, id)).step, 'first')
    assert.deepEqual([titles('one-a'), titles('one-b')], [['Welcome Ana'], ['Welcome Bo']])
    const waiting = await journeys(project)
    assert.ok(
      waiting.every(
        ({ due_at }) => due_at.getTime() % 60_000 === 0 && due_at.getTime() - Date.now() >= 2 * 86_400_000 - 5_000
      )
    )
    await due(project)
    await eventually(async () => assert.deepEqual(titles('one-b').slice(1), ['Still there, Bo?']))
    await eventually(async () => assert.deepEqual(titles('one-a').slice(1), ['Still there, Ana?']))
    const [second] = await triggersOf(project)
    assert.deepEqual([second!.source.kind, second!.step, second!.counts.targeted], ['step', 'second', 2])
    await due(project)
    await eventually(async () => assert.deepEqual(titles('one-a').slice(2), ['Bye']))
    await eventually(async () =>
      assert.deepEqual(
        (await journeys(project)).map(({ state }) => state),
        ['completed', 'completed']
      )
    )
    assert.equal((await triggersOf(project)).length, 4)
  })

  it('goes on for a whole broadcast with the properties of its trigger', async () => {
    const project = await service.project()
    await givenMany(service, project, 250, 'all')
    await givenCampaign(service, project, { ...series, steps: series.steps.slice(0, 2) })
    await ended(project, await triggered(project, { ...everyone, properties: { name: 'all' } }))
    await due(project)
    await eventually(async () => {
      const reached = sender.pushes.filter(
        ({ content }) => (content as Json).notification.title === 'Still there, all?'
      )
      assert.equal(new Set(reached.map(({ deviceId }) => deviceId)).size, 250)
      assert.equal(reached.length, 250)
    })
  })

  it('ends for users whose first trigger was canceled on its way', async () => {
    const names = ['stop-a', 'stop-b', 'stop-c', 'stop-d']
    const project = await given({ throttle_per_second: 1 }, ...names)
    const first = await triggered(project, users(...names))
    await eventually(async () => assert.ok(names.some((name) => titles(name).length > 0)))
    assert.equal((await project.call('POST', `/api/v1/triggers/${first}:cancel`)).status, 200)
    assert.equal((await ended(project, first)).state, 'canceled')
    await due(project)
    await eventually(async () =>
      assert.deepEqual(
        new Set((await journeys(project)).map(({ state, reason }) => `${state}: ${reason}`)),
        new Set(['stopped: trigger_canceled'])
      )
    )
    assert.equal((await triggersOf(project)).length, 1)
  })

  it('is left by its exit event, which the next step counts, and a user is in it once', async () => {
    const exit = { event: 'bought', where: [{ attribute: 'event.plan', operator: 'equals', value: 'pro' }] }
    const project = await given({ exit }, 'exit-a', 'exit-b')
    const first = await triggered(project, users('exit-a', 'exit-b'))
    await ended(project, first)
    const again = await ended(project, await triggered(project, users('exit-a')))
    assert.deepEqual(again.skipped, { not_entered_again: 1 })
    const shown = (await service.manage('GET', `/projects/${project.id}/users/exit-a/journeys`)).json.items
    assert.deepEqual(
      shown.map(({ state, step, source, not_entered_again }: Json) => [
        state,
        step,
        source.trigger_id,
        not_entered_again
      ]),
      [['waiting', 'second', first, 0]]
    )
    assert.match(shown[0].message, /^Waiting for the step second until 20/)
    const counted = (await service.manage('GET', `/projects/${project.id}/campaigns/news/journeys`)).json
    assert.deepEqual([counted.waiting, counted.steps[0].step, counted.steps[0].waiting], [2, 'second', 2])
    await service.sql(
      `update journeys set due_at = (select max(due_at) from journeys where project_id = $1) where project_id = $1`,
      [project.id]
    )
    await record(project, 'bought', 'exit-a', { plan: 'free' })
    await record(project, 'bought', 'exit-b', { plan: 'pro' })
    await eventually(async () =>
      assert.deepEqual((await journeys(project)).map(({ state }) => state).sort(), ['exited', 'waiting'])
    )
    await service.sql(`update journeys set due_at = date_trunc('second', now()) where project_id = $1`, [project.id])
    await due(project)
    await eventually(async () => assert.equal(titles('exit-a').length, 2))
    const [second] = await triggersOf(project)
    const found = await ended(project, second!.trigger_id)
    assert.deepEqual([found.skipped, found.source.of], [{ exited: 1 }, first])
    assert.equal(titles('exit-b').length, 1)
    const { json } = await project.call('GET', `/api/v1/triggers/${found.trigger_id}/explain?project_user_id=exit-b`)
    assert.equal(json.gates.find(({ passed }: Json) => !passed).reason, 'exited', JSON.stringify(json))
  })

  it('is finished in the version with which it was entered, and stops for those who are due while it is not active', async () => {
    const project = await given({}, 'old-a')
    await ended(project, await triggered(project, users('old-a')))
    const steps = [series.steps[0], { id: 'new', message: { title: 'New' } }]
    await givenCampaign(service, project, { ...series, steps })
    await due(project)
    await eventually(async () => assert.deepEqual(titles('old-a').slice(1), ['Still there, ?']))
    await givenCampaign(service, project, { ...series, steps, status: 'paused' })
    await due(project)
    await eventually(async () =>
      assert.deepEqual(
        (await journeys(project)).map(({ state, reason }) => [state, reason]),
        [['stopped', 'campaign_not_active']]
      )
    )
    assert.equal(titles('old-a').length, 2)
  })

  it('starts with an event, and its holdout gets no step', async () => {
    const started = { type: 'event_triggered', event_trigger: { event: 'signed_up' } }
    const project = await given(started, 'event-a')
    await record(project, 'signed_up', 'event-a', { name: 'Ana' })
    await eventually(async () => assert.deepEqual(titles('event-a'), ['Welcome Ana']))
    await record(project, 'signed_up', 'event-a', { name: 'Again' })
    await due(project)
    await eventually(async () => assert.deepEqual(titles('event-a').slice(1), ['Still there, Ana?']))
    const other = await given({ ...started, holdout: 100 }, 'event-b')
    await record(other, 'signed_up', 'event-b')
    await eventually(async () => {
      const [found] = await triggersOf(other)
      assert.deepEqual((await readTrigger(other, found!.trigger_id)).skipped, { holdout: 1 })
    })
    assert.deepEqual([titles('event-b'), await journeys(other)], [[], []])
  })

  it('goes on for all who got its first step, whatever id a login gives them: the holdout is decided once', async () => {
    const project = await given({ type: 'event_triggered', event_trigger: { event: 'joined' }, holdout: 50 })
    const names = Array.from({ length: 24 }, (_, index) => `anon-${index}`)
    for (const id of names) await put(project, { id, platform: 'IOS', push_token: id, push_token_type: 'APNS' })
    const events = names.map((device_id) => ({ device_id, name: 'joined' }))
    assert.equal((await asApp(project, 'POST', '/events', { events })).status, 200)
    await eventually(async () => {
      const [found] = await triggersOf(project)
      assert.equal(found!.counts.sent + found!.counts.skipped, names.length)
    })
    const entered = names.filter((name) => titles(name).length === 1)
    for (const name of entered) assert.equal((await link(project, name, `user-${name}`)).status, 200)
    await due(project)
    await eventually(async () => assert.ok(entered.every((name) => titles(name).length === 2)))
  })

  it('is entered again by an event that follows its exit event, in one upload too', async () => {
    const started = { type: 'event_triggered', event_trigger: { event: 'joined' }, exit: { event: 'left' } }
    const project = await given(started, 'back')
    await record(project, 'joined', 'back', { name: '1' })
    await eventually(async () => assert.deepEqual(titles('back'), ['Welcome 1']))
    const events = ['left', 'joined'].map((name) => ({ device_id: 'back', name, properties: { name: '2' } }))
    assert.equal((await asApp(project, 'POST', '/events', { events })).status, 200)
    await eventually(async () => assert.deepEqual(titles('back'), ['Welcome 1', 'Welcome 2']))
    const states = (await journeys(project)).map(({ state }) => state)
    assert.deepEqual(states.sort(), ['exited', 'waiting'])
  })

  it('starts with each time of a schedule, for its default audience', async () => {
    const schedule = { cron: '*/20 * * * *', late: '1h' }
    const default_audience = { targets: [{ project_user_id: 'plan-a' }] }
    const project = await given({ type: 'scheduled', schedule, default_audience }, 'plan-a')
    const since = new Date(Date.now() - 30 * 60_000)
    await service.sql('update schedules set done_until = $2, next_at = $2 where project_id = $1', [project.id, since])
    await service.hurry('schedules.sweep')
    await eventually(async () => assert.equal(titles('plan-a').length, 1))
    await due(project)
    await eventually(async () => assert.deepEqual(titles('plan-a').slice(1), ['Still there, ?']))
    const [second] = await triggersOf(project)
    assert.deepEqual([second!.source.kind, second!.step], ['step', 'second'])
  })

  it('goes on once for a user who was in it twice before a login', async () => {
    const project = await given({ type: 'event_triggered', event_trigger: { event: 'joined' } }, 'twice')
    await asApp(project, 'POST', '/devices', {
      devices: [{ id: 'twice-anon', platform: 'IOS', push_token: 'twice-anon', push_token_type: 'APNS' }]
    })
    for (const device of ['twice', 'twice-anon']) await record(project, 'joined', device)
    await eventually(async () => assert.equal((await journeys(project)).length, 2))
    assert.equal((await link(project, 'twice-anon', 'twice')).status, 200)
    const states = (await journeys(project)).map(({ state, reason, user_id }) => [state, reason, user_id])
    assert.equal(new Set(states.map(([, , userId]) => userId)).size, 1)
    assert.deepEqual(states.map(([state, reason]) => `${state} ${reason}`).sort(), ['stopped merged', 'waiting null'])
  })

  it('sends a user no first message again who entered before journeys that have ended', async () => {
    const started = { type: 'event_triggered', event_trigger: { event: 'joined' }, exit: { event: 'left' } }
    const project = await given(started, 'older')
    await put(project, { id: 'older-phone', platform: 'IOS', push_token: 'older-phone', push_token_type: 'APNS' })
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    const handled = async (device_id: string, name: string, more: Json = {}) => {
      const events = [{ device_id, name, ...more }]
      assert.equal((await asApp(project, 'POST', '/events', { events })).status, 200)
      await eventually(async () =>
        assert.deepEqual(await service.sql('select 1 from event_queue where project_id = $1', [project.id]), [])
      )
    }
    await handled('older-phone', 'joined', { at: at(30) })
    await handled('older', 'joined', { at: at(20) })
    await handled('older', 'left', { at: at(19) })
    assert.equal((await link(project, 'older-phone', 'older')).status, 200)
    await handled('older', 'joined')
    const states = (await journeys(project)).map(({ state, again }) => [state, again])
    assert.deepEqual(states.sort(), [
      ['exited', 0],
      ['waiting', 1]
    ])
  })

  it('is refused with steps that cannot be followed', async () => {
    const project = await service.project()
    const steps = [{ id: 'a', wait: '1d', message: { title: 'A' } }, { id: 'a' }]
    const json = { name: 'X', steps, live_activity: { attributes_type: 'x', attributes: {}, content_state: {} } }
    const reply = await service.manage('PUT', `/projects/${project.id}/campaigns/x`, { json })
    assert.deepEqual(
      reply.json.details.map(({ path }: Json) => path),
      ['live_activity', 'steps[0].wait', 'steps[1].id', 'steps[1].message']
    )
  })
})
