import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, readTrigger, triggered, users } from '../support/campaigns.ts'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const titles = (device: string) => sender.to(device).map(({ content }) => (content as Json).notification.title)
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const clock = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString().slice(11, 16)
const journeys = (project: TestProject) =>
  service.sql('select * from journeys where project_id = $1 order by user_id', [project.id])
const held = (project: TestProject) =>
  service.sql('select due_at from trigger_chunks where project_id = $1 and held order by due_at', [project.id])
/** Looks at all that waits in the project, as after a pause. */
async function wake(project: TestProject) {
  await service.manage('POST', `/projects/${project.id}:pause`)
  await service.manage('POST', `/projects/${project.id}:resume`)
}
const makeDue = (project: TestProject) =>
  service.sql(`update journeys set due_at = date_trunc('second', now()) where project_id = $1 and state = 'waiting'`, [
    project.id
  ])
/** Ends the quiet hours, which are those of a time zone: the clock cannot be set, so the devices move. */
async function endQuietHours(project: TestProject) {
  await service.sql(`update devices set facts = facts || '{"timezone":"Pacific/Kiritimati"}' where project_id = $1`, [
    project.id
  ])
  await service.sql('update trigger_chunks set due_at = now() where project_id = $1', [project.id])
  await service.sql('update jobs set run_at = now() where project_id = $1', [project.id])
}
/** A campaign with steps in quiet hours of two more hours, and users with a phone each. */
async function given(campaign: Json, ...names: string[]) {
  const project = await service.project()
  for (const name of names) await givenUser(project, name, name)
  await givenCampaign(service, project, {
    message: undefined,
    steps: [
      { id: 'first', message: { title: 'One' } },
      { id: 'second', wait: '1d', message: { title: 'Two' } }
    ],
    quiet_hours: { from: clock(-1), to: clock(2), timezone: 'device' },
    ...campaign
  })
  return project
}

describe('a step that quiet hours hold', () => {
  it('lets the next one wait from the end of the quiet hours, and from when it was sent', async () => {
    const project = await given({}, 'wait')
    const id = await triggered(project, users('wait'))
    const [batch] = await eventually(async () => {
      const found = await held(project)
      assert.equal(found.length, 1)
      return found
    })
    const [waiting] = await journeys(project)
    assert.ok(waiting!.due_at - batch!.due_at >= dayMs, 'the wait begins when the quiet hours end')
    await service.sql(`update journeys set due_at = now() + interval '1 hour' where project_id = $1`, [project.id])
    const before = Date.now()
    await endQuietHours(project)
    await ended(project, id)
    assert.deepEqual(titles('wait'), ['One'])
    const [sent] = await journeys(project)
    assert.ok(sent!.due_at.getTime() - before >= dayMs, 'the wait begins when the step is sent')
  })

  it('is not overtaken by the next one, and follows after it', async () => {
    const project = await given({}, 'order')
    const id = await triggered(project, users('order'))
    await eventually(async () => assert.equal((await held(project)).length, 1))
    await makeDue(project)
    await wake(project)
    await eventually(async () => {
      const [journey] = await journeys(project)
      assert.ok(journey!.due_at.getTime() > Date.now() + dayMs, 'the second step waits again')
    })
    assert.equal((await readTrigger(project, id)).counts.pending, 1)
    await endQuietHours(project)
    await ended(project, id)
    assert.deepEqual(titles('order'), ['One'])
    await makeDue(project)
    await wake(project)
    await eventually(async () => assert.deepEqual(titles('order'), ['One', 'Two']))
  })
})

describe('an exit event stops a step that quiet hours hold', () => {
  const exit = { event: 'bought', where: [{ attribute: 'event.sku', operator: 'matches', value: '^lamp' }] }
  const record = async (project: TestProject, device: string, sku: string) => {
    const events = [{ device_id: device, name: 'bought', properties: { sku } }]
    assert.equal((await asApp(project, 'POST', '/events', { events })).status, 200)
  }
  const handled = (project: TestProject) =>
    eventually(async () =>
      assert.deepEqual(await service.sql('select 1 from event_queue where project_id = $1', [project.id]), [])
    )

  it('a first one, for the user who left, with the reason exited', async () => {
    const project = await given({ exit }, 'first-a', 'first-b')
    const id = await triggered(project, users('first-a', 'first-b'))
    await eventually(async () => assert.equal((await held(project)).length, 1))
    await record(project, 'first-a', 'chair')
    await record(project, 'first-b', 'lamp-7')
    await handled(project)
    await endQuietHours(project)
    const found = await ended(project, id)
    assert.deepEqual([found.counts.sent, found.skipped], [1, { exited: 1 }])
    assert.deepEqual([titles('first-a'), titles('first-b')], [['One'], []])
  })

  it('the last one, whose journey has ended', async () => {
    const project = await given({ exit }, 'last-a', 'last-b')
    const id = await triggered(project, users('last-a', 'last-b'))
    await eventually(async () => assert.equal((await held(project)).length, 1))
    await endQuietHours(project)
    await ended(project, id)
    await service.sql(`update devices set facts = facts - 'timezone' where project_id = $1`, [project.id])
    await makeDue(project)
    await wake(project)
    await eventually(async () => assert.equal((await held(project)).length, 1))
    assert.deepEqual(
      (await journeys(project)).map(({ state }) => state),
      ['completed', 'completed']
    )
    await record(project, 'last-a', 'chair')
    await record(project, 'last-b', 'lamp-7')
    await handled(project)
    await endQuietHours(project)
    await eventually(async () => assert.deepEqual(titles('last-a'), ['One', 'Two']))
    assert.deepEqual(titles('last-b'), ['One'])
  })

  it('the only one', async () => {
    const steps = [{ id: 'only', message: { title: 'Only' } }]
    const started = { type: 'event_triggered', event_trigger: { event: 'viewed' } }
    const project = await given({ exit, steps, ...started }, 'only')
    const events = [{ device_id: 'only', name: 'viewed' }]
    assert.equal((await asApp(project, 'POST', '/events', { events })).status, 200)
    await eventually(async () => assert.equal((await held(project)).length, 1))
    // At one moment, and more than are read at once.
    const skus = [...Array.from({ length: 50 }, () => 'chair'), 'lamp-7']
    const bought = skus.map((sku) => ({ device_id: 'only', name: 'bought', properties: { sku } }))
    assert.equal((await asApp(project, 'POST', '/events', { events: bought })).status, 200)
    await endQuietHours(project)
    const { items } = (await service.manage('GET', `/projects/${project.id}/triggers`)).json
    assert.deepEqual((await ended(project, items[0].trigger_id)).skipped, { exited: 1 })
    assert.deepEqual(titles('only'), [])
  })
})
