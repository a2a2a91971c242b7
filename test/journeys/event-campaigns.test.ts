import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign, readTrigger } from '../support/campaigns.ts'
import { withClient } from '../support/database.ts'
import { asApp, link } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const titles = (device: string) => sender.to(device).map(({ content }) => (content as Json).notification.title)
const record = async (project: TestProject, ...events: Json[]) => {
  const reply = await asApp(project, 'POST', '/events', { events })
  assert.equal(reply.status, 200, reply.text)
}
const triggersOf = async (project: TestProject, campaign = 'news'): Promise<Json[]> =>
  (await service.manage('GET', `/projects/${project.id}/triggers?campaign_id=${campaign}`)).json.items
const journeysOf = (project: TestProject) =>
  service.sql('select * from journeys where project_id = $1 order by id', [project.id])
const settled = (project: TestProject) =>
  eventually(async () => {
    const [{ n }] = await service.sql('select count(*)::int as n from event_queue where project_id = $1', [project.id])
    assert.equal(n, 0)
  })
/** Makes everything that waits due. */
const hurry = async (project: TestProject) => {
  await service.sql(
    `update journeys set due_at = date_trunc('second', now()) where project_id = $1 and state = 'waiting'`,
    [project.id]
  )
  await service.sql(`delete from jobs where project_id = $1 and name = 'journeys.step' and claim is null`, [project.id])
  await service.manage('POST', `/projects/${project.id}:pause`)
  await service.manage('POST', `/projects/${project.id}:resume`)
}

async function given(campaign: Json, ...names: string[]) {
  const project = await service.project()
  for (const name of names) await givenUser(project, name, name)
  await givenCampaign(service, project, { type: 'event_triggered', ...campaign })
  return project
}
const order = (amount: number, device: string, more: Json = {}) => ({
  device_id: device,
  name: 'order',
  properties: { amount },
  ...more
})

describe('an event_triggered campaign', () => {
  it('goes to the user of an event that matches, once, with the properties of the event', async () => {
    const trigger = { event: 'order', where: [{ attribute: 'event.amount', operator: 'greater_than', value: 50 }] }
    const project = await given(
      { event_trigger: trigger, message: { title: 'Thanks for {{ event.amount }}' } },
      'match-a',
      'match-b'
    )
    await record(project, order(70, 'match-a', { id: 'o-1' }), order(20, 'match-b'))
    await record(project, order(70, 'match-a', { id: 'o-1' }))
    await eventually(async () => assert.deepEqual(titles('match-a'), ['Thanks for 70']))
    await settled(project)
    assert.deepEqual(titles('match-b'), [])
    const [found] = await triggersOf(project)
    assert.equal(found!.source.kind, 'event')
    assert.equal(found!.source.event, 'order')
    // The message is counted a moment after it has left.
    await eventually(async () => assert.equal((await readTrigger(project, found!.trigger_id)).counts.sent, 1))
  })

  it('sends each of several events of a user, and events of many users share a trigger', async () => {
    const project = await given(
      { event_trigger: { event: 'order' }, message: { title: '{{ trigger.amount }}' } },
      'many-a',
      'many-b'
    )
    await record(project, order(1, 'many-a'), order(2, 'many-a'), order(3, 'many-b'))
    await eventually(async () => assert.deepEqual([titles('many-a').sort(), titles('many-b')], [['1', '2'], ['3']]))
    const sources = (await triggersOf(project)).map(({ source }) => source.events ?? source.event)
    assert.deepEqual(sources.sort(), [2, 'order'])
  })

  it('checks the segment when it is sent, and counts who is not in it', async () => {
    const segment = { attribute: 'user.plan', operator: 'equals', value: 'pro' }
    const project = await given({ event_trigger: { event: 'order' }, segment }, 'seg-a')
    await record(project, order(1, 'seg-a'))
    await eventually(async () => {
      const [found] = await triggersOf(project)
      assert.deepEqual([found?.state, found?.skipped], ['completed', { not_in_segment: 1 }])
    })
    assert.deepEqual(titles('seg-a'), [])
  })

  it('sends several delayed messages of a user together, and no event waits for those that it cannot end', async () => {
    const project = await given(
      { event_trigger: { event: 'order', delay: '1h' }, message: { title: '{{ trigger.amount }}' } },
      'often'
    )
    await record(project, order(1, 'often'), order(2, 'often'))
    await settled(project)
    await withClient(service.databaseUrl, async (client) => {
      await client.query('begin')
      await client.query('select 1 from journeys where project_id = $1 for update', [project.id])
      await record(project, order(3, 'often'))
      await settled(project)
      await client.query('rollback')
    })
    await hurry(project)
    await eventually(async () => assert.deepEqual(titles('often').sort(), ['1', '2', '3']))
    const ended = await service.sql(
      `select count(*)::int as journeys, count(distinct xmin::text)::int as transactions from journeys
        where project_id = $1 and state = 'completed'`,
      [project.id]
    )
    assert.deepEqual(ended, [{ journeys: 3, transactions: 1 }])
  })

  it('waits for its delay, and is not sent if the other event comes before', async () => {
    const unless = {
      event: 'cancel',
      where: [{ attribute: 'event.order', operator: 'equals', value: '{{ trigger.order }}' }]
    }
    const project = await given(
      { event_trigger: { event: 'order', delay: '2s', unless }, message: { title: '{{ trigger.order }}' } },
      'delay-a'
    )
    const placed = (number: string) => ({ device_id: 'delay-a', name: 'order', properties: { order: number } })
    await record(project, placed('one'), placed('two'))
    await record(project, { device_id: 'delay-a', name: 'cancel', properties: { order: 'one' } })
    await settled(project)
    const states = (await journeysOf(project)).map(({ properties, state, reason }) => [properties.order, state, reason])
    assert.deepEqual(states, [
      [undefined, 'exited', 'cancel'],
      ['two', 'waiting', null]
    ])
    await eventually(async () => assert.deepEqual(titles('delay-a'), ['two']), 8_000)
    const [found] = await triggersOf(project)
    assert.deepEqual(found!.skipped, { exited: 1 })
  })

  it('lets a user in again only as its reentry says', async () => {
    const project = await given(
      { event_trigger: { event: 'order', reentry: 'once' }, message: { title: '{{ trigger.amount }}' } },
      'once-a'
    )
    await givenCampaign(service, project, {
      campaign_id: 'week',
      type: 'event_triggered',
      event_trigger: { event: 'order', reentry: '7d' },
      message: { title: 'week {{ trigger.amount }}' }
    })
    await record(project, order(1, 'once-a', { at: new Date(Date.now() - 6 * 86_400_000).toISOString() }))
    await record(project, order(2, 'once-a', { at: new Date(Date.now() - 86_400_000).toISOString() }))
    await settled(project)
    await service.sql(
      `update journeys set entered_at = (entered_at at time zone 'UTC' - interval '2 days') at time zone 'UTC' where project_id = $1`,
      [project.id]
    )
    await record(project, order(3, 'once-a'))
    await settled(project)
    await eventually(async () => assert.deepEqual(titles('once-a').sort(), ['1', 'week 1', 'week 3']))
    const again = (await journeysOf(project)).map(({ campaign_id, again }) => [campaign_id, again])
    assert.deepEqual(again.sort(), [
      ['news', 2],
      ['week', 0],
      ['week', 1]
    ])
  })

  it('lets a user in again who got nothing, because it was paused when its message was due', async () => {
    const campaign = {
      type: 'event_triggered',
      event_trigger: { event: 'order', delay: '1h', reentry: 'once' },
      message: { title: 'order {{ event.amount }}' }
    }
    const project = await given(campaign, 'paused-a')
    await record(project, order(1, 'paused-a'))
    await settled(project)
    await givenCampaign(service, project, { ...campaign, status: 'paused' })
    await hurry(project)
    await eventually(async () =>
      assert.deepEqual(
        (await journeysOf(project)).map(({ state }) => state),
        ['stopped']
      )
    )
    assert.ok((await journeysOf(project))[0]!.keep_until, 'nothing about the user must be remembered for ever')
    await givenCampaign(service, project, campaign)
    await record(project, order(2, 'paused-a'))
    await settled(project)
    await hurry(project)
    await eventually(async () => assert.deepEqual(titles('paused-a'), ['order 2']))
    await record(project, order(3, 'paused-a'))
    await settled(project)
    assert.deepEqual(
      (await journeysOf(project)).map(({ state }) => state),
      ['stopped', 'completed']
    )
  })

  it('lets a user in again who got nothing, because the other event came during the delay', async () => {
    const project = await given(
      {
        event_trigger: { event: 'order', delay: '1h', unless: { event: 'cancel' }, reentry: 'once' },
        message: { title: 'order {{ event.amount }}' }
      },
      'unless-a'
    )
    const states = async () => (await journeysOf(project)).map(({ state }) => state)
    const cancel = { device_id: 'unless-a', name: 'cancel' }
    await record(project, order(1, 'unless-a'))
    await settled(project)
    await record(project, cancel)
    await settled(project)
    assert.deepEqual(await states(), ['exited'])
    // The second journey is ended by an event of the same batch.
    await record(project, order(2, 'unless-a'), cancel, order(3, 'unless-a'), order(4, 'unless-a'))
    await settled(project)
    assert.deepEqual(await states(), ['exited', 'exited', 'waiting'])
    await hurry(project)
    await eventually(async () => assert.deepEqual(titles('unless-a'), ['order 3']))
    await record(project, order(5, 'unless-a'))
    await settled(project)
    assert.deepEqual(await states(), ['exited', 'exited', 'completed'])
    assert.deepEqual(
      (await journeysOf(project)).map(({ again }) => again),
      [0, 0, 2]
    )
  })

  it('is not sent to users of other projects, nor while it is paused', async () => {
    const campaign = { event_trigger: { event: 'order' } }
    const [one, other] = [await given(campaign, 'apart-a'), await given(campaign, 'apart-b')]
    await givenCampaign(service, other, { type: 'event_triggered', status: 'paused', ...campaign })
    await record(one, order(1, 'apart-a'))
    await record(other, order(1, 'apart-b'))
    await eventually(async () => assert.equal(titles('apart-a').length, 1))
    await settled(other)
    assert.deepEqual([titles('apart-b'), await triggersOf(other)], [[], []])
  })

  it('follows an anonymous user who logs in during the delay, and ends with a deleted one', async () => {
    const project = await given({ event_trigger: { event: 'order', delay: '1h' } }, 'known')
    for (const id of ['anon-a', 'anon-b'])
      await asApp(project, 'POST', '/devices', {
        devices: [{ id, platform: 'IOS', push_token: id, push_token_type: 'APNS' }]
      })
    await record(project, order(1, 'anon-a'), order(2, 'anon-b'))
    await settled(project)
    await link(project, 'anon-a', 'known')
    await service.sql(
      `delete from users u using devices d where d.project_id = $1 and d.id = 'anon-b' and u.project_id = $1 and u.id = d.user_id`,
      [project.id]
    )
    await hurry(project)
    await eventually(async () => assert.equal(titles('anon-a').length, 1))
    const [journey, ...others] = await journeysOf(project)
    assert.deepEqual([journey!.state, others], ['completed', []])
  })

  it('reaches an anonymous user who logs in after the event, before the trigger starts', async () => {
    const project = await given({ event_trigger: { event: 'order' } }, 'named')
    for (const id of ['early-a', 'early-b'])
      await asApp(project, 'POST', '/devices', {
        devices: [{ id, platform: 'IOS', push_token: id, push_token_type: 'APNS' }]
      })
    await service.manage('POST', `/projects/${project.id}:pause`)
    await record(project, order(1, 'early-a'), order(2, 'early-b'))
    await settled(project)
    for (const id of ['early-a', 'early-b']) assert.equal((await link(project, id, `user-of-${id}`)).status, 200)
    await service.manage('POST', `/projects/${project.id}:resume`)
    await eventually(async () => assert.deepEqual([titles('early-a').length, titles('early-b').length], [1, 1]))
  })

  it('is refused with all its faults, and cannot be active without an event', async () => {
    const project = await service.project()
    const save = (campaign: Json) =>
      service.manage('PUT', `/projects/${project.id}/campaigns/x`, {
        json: { name: 'X', message: { title: 'x' }, type: 'event_triggered', ...campaign }
      })
    const faults = await save({
      event_trigger: {
        event: 'order',
        where: [
          { attribute: 'user.a', operator: 'equals', value: 1 },
          { attribute: 'event.a', operator: 'is', value: 1 }
        ],
        unless: { event: 'cancel', where: [{ attribute: 'event.a', operator: 'matches', value: '(' }] }
      },
      exit: { event: 'x' }
    })
    assert.equal(faults.status, 400)
    assert.deepEqual(
      faults.json.details.map(({ path }: Json) => path),
      ['event_trigger.where[0].attribute', 'event_trigger.where[1].operator', 'event_trigger.unless', 'exit']
    )
    const pattern = { where: [{ attribute: 'event.a', operator: 'matches', value: '(' }] }
    assert.equal((await save({ event_trigger: { event: 'order', ...pattern } })).json.code, 'invalid_segment')
    assert.equal((await save({ status: 'active' })).json.code, 'campaign_cannot_run')
  })
})

describe('a user who is due without a job', () => {
  it('is found also while many are due in a paused project', async () => {
    const delayed = { event_trigger: { event: 'order', delay: '1h' }, message: { title: 'Later' } }
    const [paused, other] = [await given(delayed, 'crowd'), await given(delayed, 'lost')]
    await record(paused, order(1, 'crowd'))
    await record(other, order(1, 'lost'))
    for (const project of [paused, other]) await settled(project)
    await service.manage('POST', `/projects/${paused.id}:pause`)
    const [row] = await journeysOf(paused)
    await service.sql(
      `insert into journeys select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid()))).*
         from journeys j cross join generate_series(1, 20000) where j.project_id = $1 and j.id = $2`,
      [paused.id, row!.id]
    )
    await service.sql(
      `update journeys set due_at = date_trunc('second', now()) - case when project_id = $1 then interval '1 day' else interval '1 hour' end
        where project_id = any($2)`,
      [paused.id, [paused.id, other.id]]
    )
    await service.sql(`delete from jobs where project_id = any($1) and name = 'journeys.step'`, [[paused.id, other.id]])
    await service.hurry('journeys.sweep')
    await eventually(async () => assert.deepEqual(titles('lost'), ['Later']))
    assert.deepEqual(titles('crowd'), [])
  })
})
