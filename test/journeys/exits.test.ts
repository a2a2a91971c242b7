import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, triggered, users } from '../support/campaigns.ts'
import { withClient } from '../support/database.ts'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { accepted, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const titles = (device: string) => sender.to(device).map(({ content }) => (content as Json).notification.title)
const states = async (project: TestProject) =>
  (await service.sql('select state, reason from journeys where project_id = $1 order by id', [project.id])).map(
    ({ state, reason }) => [state, reason]
  )
/** Records an event and waits until it was handled. */
async function record(project: TestProject, event: Json) {
  assert.equal((await asApp(project, 'POST', '/events', { events: [event] })).status, 200)
  await eventually(async () =>
    assert.deepEqual(await service.sql('select 1 from event_queue where project_id = $1', [project.id]), [])
  )
}
/** Makes those who wait due now, and wakes them as the resume of a project does. */
async function due(project: TestProject) {
  await service.sql(
    `update journeys set due_at = date_trunc('second', now()) where project_id = $1 and state = 'waiting'`,
    [project.id]
  )
  await service.manage('POST', `/projects/${project.id}:pause`)
  await service.manage('POST', `/projects/${project.id}:resume`)
}
const steps = [
  { id: 'first', message: { title: 'One' } },
  { id: 'second', wait: '1d', message: { title: 'Two' } }
]
async function given(campaign: Json, ...names: string[]) {
  const project = await service.project()
  for (const name of names) await givenUser(project, name, name)
  await givenCampaign(service, project, campaign)
  return project
}

describe('an event that ends journeys', () => {
  it('counts if it is handled while the batch that begins the journey is being written', async () => {
    const exit = { event: 'bought', where: [{ attribute: 'event.sku', operator: 'matches', value: '^lamp' }] }
    const project = await given({ message: undefined, steps, exit }, 'race-a', 'race-b')
    let first = ''
    await withClient(service.databaseUrl, async (client) => {
      await client.query('begin')
      await client.query('lock table messages in share mode')
      first = await triggered(project, users('race-a', 'race-b'))
      // The transaction has written the journeys, and waits to write the messages.
      const waiting = `select 1 from pg_stat_activity
                        where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into messages%'`
      await eventually(async () => assert.equal((await service.sql(waiting)).length, 1))
      await record(project, { device_id: 'race-a', name: 'bought', properties: { sku: 'chair' } })
      await record(project, { device_id: 'race-b', name: 'bought', properties: { sku: 'lamp-7' } })
      await client.query('rollback')
    })
    await ended(project, first)
    await due(project)
    await eventually(async () => assert.deepEqual(titles('race-a'), ['One', 'Two']))
    assert.deepEqual(titles('race-b'), ['One'])
    assert.deepEqual((await states(project)).sort(), [
      ['completed', null],
      ['exited', 'bought']
    ])
    const { items } = (await service.manage('GET', `/projects/${project.id}/triggers`)).json
    assert.deepEqual((await ended(project, items[0].trigger_id)).skipped, { exited: 1 })
  })

  it('counts if it arrives before the event that it follows', async () => {
    const unless = {
      event: 'cancel',
      where: [{ attribute: 'event.order', operator: 'equals', value: '{{ trigger.order }}' }]
    }
    const project = await given(
      { type: 'event_triggered', event_trigger: { event: 'order', delay: '1h', unless }, message: { title: 'Thanks' } },
      'early'
    )
    await record(project, { device_id: 'early', name: 'cancel', properties: { order: 7 } })
    const at = new Date(Date.now() - 1_000).toISOString()
    await record(project, { device_id: 'early', name: 'order', at, properties: { order: 7 } })
    await due(project)
    await eventually(async () => assert.deepEqual(await states(project), [['exited', 'cancel']]))
    assert.deepEqual(titles('early'), [])
  })
})

describe('an exit event stops a message that waits for another attempt', () => {
  const exit = { event: 'bought', where: [{ attribute: 'event.sku', operator: 'equals', value: '{{ trigger.sku }}' }] }
  const bought = (device: string, sku: string) => ({ device_id: device, name: 'bought', properties: { sku } })
  /** The gateway asks for later attempts with all of these. */
  const postpone = (...names: string[]) => {
    for (const name of names)
      sender.script(name, retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 3_600_000 }), accepted())
  }
  const waiting = (project: TestProject, count: number) =>
    eventually(async () => {
      const rows = `select 1 from messages where project_id = $1 and state = 'queued' and due_at > now() and owner is null`
      assert.equal((await service.sql(rows, [project.id])).length, count)
    })
  const repeat = async (project: TestProject) => {
    await service.sql('update messages set due_at = now() where project_id = $1 and due_at is not null', [project.id])
    await service.sql(`update jobs set run_at = now() where project_id = $1 and name = 'delivery.retry'`, [project.id])
  }

  it('of a first step, with the reason exited', async () => {
    const project = await given({ message: undefined, steps, exit, transactional: true }, 'first-a', 'first-b')
    postpone('first-a', 'first-b')
    const id = await triggered(project, { ...users('first-a', 'first-b'), properties: { sku: 'lamp' } })
    await waiting(project, 2)
    await record(project, bought('first-a', 'chair'))
    await record(project, bought('first-b', 'lamp'))
    await repeat(project)
    const found = await ended(project, id)
    assert.deepEqual([found.counts.sent, found.skipped], [1, { exited: 1 }])
    assert.deepEqual([titles('first-a'), titles('first-b')], [['One', 'One'], ['One']])
    const { json } = await project.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=first-b`)
    assert.deepEqual([json.devices[0].state, json.devices[0].gates[1].reason], ['skipped', 'EXITED'])
  })

  it('of the last step, whose journey has ended, with the values of each user', async () => {
    const started = { type: 'event_triggered', event_trigger: { event: 'viewed' } }
    const project = await given({ message: undefined, steps, exit, ...started }, 'last-a', 'last-b')
    const viewed = ['last-a', 'last-b'].map((device_id) => ({
      device_id,
      name: 'viewed',
      properties: { sku: device_id }
    }))
    assert.equal((await asApp(project, 'POST', '/events', { events: viewed })).status, 200)
    await eventually(() => assert.deepEqual([titles('last-a'), titles('last-b')], [['One'], ['One']]))
    postpone('last-a', 'last-b')
    await due(project)
    await waiting(project, 2)
    assert.deepEqual(await states(project), [
      ['completed', null],
      ['completed', null]
    ])
    await record(project, bought('last-a', 'last-b'))
    await record(project, bought('last-b', 'last-b'))
    await repeat(project)
    const { items } = (await service.manage('GET', `/projects/${project.id}/triggers`)).json
    const found = await ended(project, items[0].trigger_id)
    assert.deepEqual([found.step, found.counts.sent, found.skipped], ['second', 1, { exited: 1 }])
    assert.deepEqual(
      [titles('last-a'), titles('last-b')],
      [
        ['One', 'Two', 'Two'],
        ['One', 'Two']
      ]
    )
  })
})
