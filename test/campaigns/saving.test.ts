import assert from 'node:assert/strict'
import { it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })

it('campaigns that use a saved segment and name events can be saved at the same time as each other and as the segment', async () => {
  const project = await service.project()
  const path = `/projects/${project.id}`
  const saveSegment = (value: string) =>
    service.manage('PUT', `${path}/segments/town`, {
      json: { name: 'Town', segment: { attribute: 'user.city', operator: 'equals', value } }
    })
  assert.equal((await saveSegment('Rome')).status, 200)
  const campaign = (name: string, event: string) => ({
    name,
    type: 'event_triggered',
    status: 'active',
    segment: { ref: 'town' },
    event_trigger: { event },
    message: { title: 'Hello' }
  })
  for (const name of ['first', 'second']) {
    const replies = await Promise.all([
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) =>
        service.manage('PUT', `${path}/campaigns/${id}`, { json: campaign(name, `event-${id}`) })
      ),
      saveSegment(name)
    ])
    assert.deepEqual(
      replies.map(({ status }) => status),
      replies.map(() => 200)
    )
  }
  const deadlocks = await service.sql('select deadlocks::int from pg_stat_database where datname = current_database()')
  assert.deepEqual(deadlocks, [{ deadlocks: 0 }])
})

it('an exit event ends the steps of a user whom an older version made wait longer than the last one that names it', async () => {
  const project = await service.project()
  await givenUser(project, 'ana', 'older')
  const save = (wait: string, exit?: Json) =>
    givenCampaign(service, project, {
      type: 'event_triggered',
      event_trigger: { event: 'cart' },
      message: undefined,
      steps: [
        { id: 'first', message: { title: 'One' } },
        { id: 'second', wait, message: { title: 'Two' } }
      ],
      ...(exit && { exit })
    })
  const record = async (name: string) =>
    assert.equal((await asApp(project, 'POST', '/events', { events: [{ device_id: 'older', name }] })).status, 200)
  const state = (wanted: string) =>
    eventually(async () => {
      const rows = await service.sql('select state from journeys where project_id = $1', [project.id])
      assert.deepEqual(rows, [{ state: wanted }])
    })
  await save('60d', { event: 'purchase' })
  await record('cart')
  await state('waiting')
  await save('1h', { event: 'purchase' })
  await save('1h')
  const kept = () =>
    service.sql(`select until from wanted_events where project_id = $1 and name = 'purchase'`, [project.id])
  const [{ until }] = (await kept()) as [{ until: Date }]
  const days = (until.getTime() - Date.now()) / 86_400_000
  assert.ok(days > 66.9 && days < 67.1, `${days} days`)
  // Nine days later: the last version alone would have kept the name for a week and an hour.
  await service.sql(`update wanted_events set until = until - interval '9 days' where project_id = $1`, [project.id])
  await service.sql(`insert into wanted_events values ($1, 'over', 'news', now() - interval '1 second')`, [project.id])
  await service.hurry('events.keep')
  await eventually(async () => {
    const over = `select 1 from wanted_events where project_id = $1 and name = 'over'`
    assert.equal((await service.sql(over, [project.id])).length, 0)
  })
  await record('purchase')
  await state('exited')
})
