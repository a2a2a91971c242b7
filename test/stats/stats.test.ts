import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { everyone, givenCampaign, givenMany, run, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { rejected, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

const statsOf = async (project: TestProject, query = '', campaign = 'news'): Promise<Json> => {
  const reply = await project.call('GET', `/api/v1/campaigns/${campaign}/stats${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
const none = {
  targeted: 0,
  sent: 0,
  failed: 0,
  skipped: 0,
  delivered: 0,
  tapped: 0,
  users: 0,
  converted: 0,
  conversion_value: 0
}

describe('GET /api/v1/campaigns/{campaign_id}/stats', () => {
  it('counts what was sent, failed, skipped, delivered and tapped, in all and for each point', async () => {
    const project = await service.project()
    await givenMany(service, project, 4, 'p')
    await givenCampaign(service, project)
    sender.script('p-2', rejected('PAYLOAD_INVALID'))
    await run(project, users('p-user-1', 'p-user-2', 'nobody'))
    await run(project, everyone)
    const [{ id }] = await service.sql(
      `select message_id as id from messages where project_id = $1 and device_id = 'p-1' and state = 'accepted' limit 1`,
      [project.id]
    )
    const event = { device_id: 'p-1', name: 'PUSH_NOTIFICATION_TAPPED', event_property: { message_id: id } }
    assert.equal((await project.call('POST', '/api/v1/events', { json: { events: [event] } })).status, 200)
    const { totals, series, groups } = await statsOf(project)
    const counts = { targeted: 7, sent: 4, failed: 2, skipped: 1, delivered: 1, tapped: 1, users: 6 }
    assert.deepEqual(totals, { ...none, ...counts })
    assert.equal(series.length, 30)
    const { at, ...today } = series.at(-1)
    assert.deepEqual(today, totals)
    assert.equal(at, `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`)
    assert.deepEqual(series[0], { at: series[0].at, ...none })
    assert.deepEqual(groups, [])
    const hours = await statsOf(project, '?interval=hour')
    assert.equal(hours.series.length, 48)
    assert.deepEqual(hours.totals, totals)
  })

  it('counts a user once for each trigger, however the devices fall into batches', async () => {
    const project = await service.project()
    await givenMany(service, project, 12, 'm')
    // Four users with three devices each.
    await service.sql(
      `update devices set user_id = ('00000000-0000-7000-8000-' || lpad(to_hex((substr(id, 3)::int - 1) / 3 + 1), 12, '0'))::uuid
        where project_id = $1`,
      [project.id]
    )
    const variants = ['a', 'b'].map((id) => ({ id, weight: 1, message: { title: id } }))
    await givenCampaign(service, project, { message: undefined, variants, holdout: 40, throttle_per_second: 5 })
    const [{ counts }] = [await run(project, everyone), await run(project, users('m-user-2', 'm-user-1'))]
    assert.deepEqual([counts.targeted, counts.pending], [12, 0])
    const { totals, groups } = await statsOf(project, '?by=variant')
    const held = groups.find(({ key }: Json) => key === 'holdout')?.totals ?? none
    assert.equal(totals.users + held.users, 6)
    assert.equal(totals.users * 3, totals.sent)
    for (const { key, totals: own } of groups) assert.equal(own.users * 3, own.targeted, key)
  })

  it('sums slots of an hour, and a job folds them without changing the sums', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    const row = (slot: number, ago: string) =>
      service.sql(
        `insert into campaign_stats values ($1, 'news', date_trunc('hour', now() - $3::interval), 'a', 'en', '', $2,
           5, 3, 1, 1, 2, 1, 4, 1, 0.1)`,
        [project.id, slot, ago]
      )
    for (const slot of [0, 1, 7]) await row(slot, '5 hours')
    await row(3, '410 days')
    const before = await statsOf(project, '?by=variant&interval=hour')
    assert.deepEqual(before.groups, [{ key: 'a', totals: before.totals }])
    assert.equal(before.totals.targeted, 15)
    assert.equal(before.totals.conversion_value, 0.3)
    await service.hurry('stats.keep')
    await eventually(async () => {
      const rows = await service.sql('select slot, targeted from campaign_stats where project_id = $1', [project.id])
      assert.deepEqual(rows, [{ slot: 0, targeted: '15' }])
    })
    assert.deepEqual(await statsOf(project, '?by=variant&interval=hour'), before)
  })

  it('returns groups by variant, language and step, where the holdout is a group of its own', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    const add = (variant: string, language: string, step: string, converted: number) =>
      service.sql(
        `insert into campaign_stats values ($1, 'news', date_trunc('hour', now()), $2, $3, $4, 0,
           10, 9, 1, 0, 5, 2, 8, $5::int, $5::int * 1.25)`,
        [project.id, variant, language, step, converted]
      )
    await add('a', 'en', 'one', 4)
    await add('b', 'de', 'one', 2)
    await add('b', '', 'two', 1)
    await service.sql(
      `insert into campaign_stats values ($1, 'news', date_trunc('hour', now()), 'holdout', '', 'one', 0,
         6, 0, 0, 6, 0, 0, 5, 1, 9)`,
      [project.id]
    )
    const keys = async (by: string) =>
      (await statsOf(project, `?by=${by}`)).groups.map(({ key, totals }: Json) => [key, totals.users, totals.converted])
    assert.deepEqual(await keys('variant'), [
      ['a', 8, 4],
      ['b', 16, 3],
      ['holdout', 5, 1]
    ])
    assert.deepEqual(await keys('language'), [
      [null, 8, 1],
      ['de', 8, 2],
      ['en', 8, 4],
      ['holdout', 5, 1]
    ])
    assert.deepEqual(await keys('step'), [
      ['holdout', 5, 1],
      ['one', 16, 6],
      ['two', 8, 1]
    ])
    const { totals } = await statsOf(project)
    // Nothing was sent to the holdout: its users and their conversions are not a result of the campaign.
    assert.deepEqual([totals.targeted, totals.skipped, totals.users], [36, 6, 24])
    assert.deepEqual([totals.converted, totals.conversion_value], [7, 8.75])
    const csv = await project.call('GET', '/api/v1/campaigns/news/stats?by=step&format=csv')
    assert.match(String(csv.headers['content-type']), /^text\/csv/)
    const [head, ...lines] = csv.text.trimEnd().split('\r\n')
    assert.equal(head, 'at,step,targeted,sent,failed,skipped,delivered,tapped,users,converted,conversion_value')
    assert.deepEqual(
      lines.map((line) => line.slice(25)),
      ['holdout,6,0,0,6,0,0,5,1,9', 'one,20,18,2,0,10,4,16,6,7.5', 'two,10,9,1,0,5,2,8,1,1.25']
    )
    const accepted = await project.call('GET', '/api/v1/campaigns/news/stats', { headers: { accept: 'text/csv' } })
    assert.equal(accepted.text.trimEnd().split('\r\n').length, 31)
  })

  it('refuses times that are none, empty periods and too many points, and keeps tenants apart', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await givenCampaign(service, project)
    const refusal = async (query: string) => {
      const { status, json } = await project.call('GET', `/api/v1/campaigns/news/stats${query}`)
      return [status, json.code, (json.details ?? []).map(({ path }: Json) => path)]
    }
    assert.deepEqual(await refusal('?from=yesterday&to=soon'), [400, 'invalid_parameter', ['from', 'to']])
    assert.deepEqual(await refusal('?from=2026-02-02&to=2026-02-02'), [400, 'invalid_parameter', ['from']])
    assert.deepEqual(await refusal('?from=2020-01-01&to=2026-02-02'), [400, 'invalid_parameter', ['from']])
    assert.deepEqual(await refusal('?from=2026-01-01&to=2026-02-02&interval=hour'), [
      400,
      'invalid_parameter',
      ['from']
    ])
    assert.equal((await refusal('?by=country'))[0], 400)
    assert.equal((await statsOf(project, '?from=2026-01-01&to=2026-02-01&interval=hour')).series.length, 744)
    assert.equal((await other.call('GET', '/api/v1/campaigns/news/stats')).status, 404)
  })
})

describe('GET /api/v1/stats', () => {
  it('adds up all campaigns and direct sends of the project, in all, over time and by campaign', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await givenMany(service, project, 4, 'q')
    await givenCampaign(service, project)
    await givenCampaign(service, project, { campaign_id: 'quiet' })
    await run(project, users('q-user-1', 'q-user-2', 'nobody'))
    const push = { target: { project_user_id: 'q-user-3' }, title: 'Hello' }
    const sent = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } })
    assert.equal(sent.status, 200)
    const direct = { ...none, targeted: 1, sent: 1 }
    const ofCampaign = { ...none, targeted: 3, sent: 2, skipped: 1, users: 2 }
    await eventually(async () => {
      const { json } = await project.call('GET', '/api/v1/stats?interval=hour')
      assert.deepEqual(json.totals, { ...none, targeted: 4, sent: 3, skipped: 1, users: 2 })
      assert.deepEqual(json.direct, direct)
      assert.deepEqual(json.campaigns, [{ campaign_id: 'news', name: 'News', totals: ofCampaign }])
      assert.equal(json.series.length, 48)
      assert.equal(
        json.series.reduce((sum: number, point: Json) => sum + point.sent, 0),
        3
      )
    })
    const table = await project.call('GET', '/api/v1/stats?format=csv')
    assert.match(table.text, /^at,targeted,sent,failed,.*\r\n/)
    assert.deepEqual((await other.call('GET', '/api/v1/stats')).json.totals, none)
    const refused = await project.call('GET', '/api/v1/stats?from=never&to=2026-13-01')
    assert.deepEqual([refused.status, refused.json.details.length], [400, 2])
  })

  it('keeps direct sends of past days when their minutes become hours', async () => {
    const project = await service.project()
    // An hour more than whole days: a minute that is two days old becomes part of an hour, at any minute of this hour.
    await service.sql(
      `insert into message_minutes
       select $1, date_trunc('hour', now() - n * interval '1 day' - interval '1 hour') + interval '7 minutes', 5, 1, 3, 2
         from generate_series(1, 5) n`,
      [project.id]
    )
    const before = (await project.call('GET', '/api/v1/stats')).json
    assert.deepEqual(before.totals, { ...none, targeted: 30, sent: 25, failed: 5, delivered: 15, tapped: 10 })
    await service.hurry('messages.keep')
    await eventually(async () => {
      const [{ n }] = await service.sql('select count(*)::int as n from message_hours where project_id = $1', [
        project.id
      ])
      assert.equal(n, 4)
    })
    const after = (await project.call('GET', '/api/v1/stats')).json
    assert.deepEqual(after, before)
  })
})
