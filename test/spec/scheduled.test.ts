import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { wallOf, wallText } from '../../src/campaigns/schedule/wall-time.ts'
import { ended, givenCampaign, readTrigger } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const second = await service.another(
  {
    MASTER_KEY: service.config.MASTER_KEY!.toString('base64'),
    DATABASE_URL: service.databaseUrl,
    BOOTSTRAP_ADMIN_TOKEN: service.adminToken
  },
  { sender }
)
const minute = 60_000
/** What a clock in the zone shows in a while, to the second. */
const local = (inMs: number, zone = 'UTC') => wallText(wallOf(zone, Math.ceil((Date.now() + inMs) / 1000) * 1000))

const campaign = (schedule: Json, wish: Json = {}): Json => ({
  type: 'scheduled',
  default_audience: { broadcast: true },
  schedule,
  ...wish
})
const triggersOf = async (project: TestProject): Promise<Json[]> =>
  (await project.call('GET', '/api/v1/triggers')).json.items
const given = async (schedule: Json, wish: Json = {}) => {
  const project = await service.project()
  await givenUser(project, 'ana', `${project.id}-ana`)
  return { project, saved: await givenCampaign(service, project, campaign(schedule, wish)) }
}
/** Saves the campaign with a time that is still ahead when it is saved, however busy the machine is. */
async function soon(project: TestProject, zone: string, schedule: Json = {}, wish: Json = {}): Promise<Json> {
  for (const inMs of [700, 3_000, 12_000]) {
    const at = local(inMs, zone)
    const saved = await givenCampaign(service, project, campaign({ at, ...schedule }, wish))
    const [row] = await service.sql('select next_at from schedules where project_id = $1', [project.id])
    if (row!.next_at !== null || (await triggersOf(project)).length > 0) return saved
  }
  return assert.fail('the campaign was never saved in time')
}
const givenSoon = async (wish: Json = {}) => {
  const project = await service.project()
  await givenUser(project, 'ana', `${project.id}-ana`)
  return { project, saved: await soon(project, 'UTC', {}, wish) }
}
const put = (project: TestProject, json: Json) =>
  service.manage('PUT', `/projects/${project.id}/campaigns/news`, { json: { name: 'News', ...json } })

/** As if the service had not run since then. */
async function missSince(project: TestProject, ago: number): Promise<void> {
  const since = new Date(Date.now() - ago)
  await service.sql('update schedules set done_until = $2, next_at = $2 where project_id = $1', [project.id, since])
  await service.hurry('schedules.sweep')
  await eventually(async () => {
    const rows = await service.sql('select 1 from schedules where project_id = $1 and done_until = $2', [
      project.id,
      since
    ])
    assert.equal(rows.length, 0)
  })
}

describe('a scheduled campaign', () => {
  it('is sent once at its time, on however many nodes, and its trigger names the schedule', async () => {
    const { project, saved } = await givenSoon()
    const at = new Date(`${saved.schedule.at}Z`).toISOString()
    assert.deepEqual(saved.next_at, [at])
    const [trigger] = await eventually(async () => {
      const found = await triggersOf(project)
      assert.equal(found.length, 1)
      return found
    })
    assert.deepEqual(trigger!.source, { kind: 'schedule', at })
    assert.equal((await ended(project, trigger!.trigger_id)).counts.sent, 1)
    assert.ok(Date.now() >= Date.parse(at))
    const again = await service.manage('GET', `/projects/${project.id}/campaigns/news`)
    assert.deepEqual([again.json.next_at, again.json.warnings.length], [[], 1])
    assert.match(again.json.warnings[0], /no occurrence ahead/)
  })

  it('what was missed is sent late within the window that it says, once, and skipped beyond it', async () => {
    const { project } = await given({ cron: '*/20 * * * *', late: '1h' })
    await missSince(project, 300 * minute)
    const found = await triggersOf(project)
    assert.equal(found.length, 3)
    for (const { trigger_id } of found) assert.equal((await ended(project, trigger_id)).counts.sent, 1)
    // The clock was set back, or a backup was restored: the ids of the occurrences exist.
    await missSince(project, 59 * minute)
    assert.equal((await triggersOf(project)).length, 3)
  })

  it('a paused or archived campaign makes no occurrences, and does not make up for them', async () => {
    const { project } = await given({ cron: '*/20 * * * *' })
    await givenCampaign(service, project, campaign({ cron: '*/20 * * * *' }, { status: 'paused' }))
    assert.deepEqual(await service.sql('select 1 from schedules where project_id = $1', [project.id]), [])
    await givenCampaign(service, project, campaign({ cron: '*/20 * * * *' }))
    const [row] = await service.sql('select done_until, next_at from schedules where project_id = $1', [project.id])
    assert.ok(Date.now() - row!.done_until.getTime() < 5_000 && row!.next_at > row!.done_until)
    await service.manage('DELETE', `/projects/${project.id}/campaigns/news`)
    assert.deepEqual(await service.sql('select 1 from schedules where project_id = $1', [project.id]), [])
    assert.deepEqual(await triggersOf(project), [])
  })

  it('a change of the text keeps what is due, and is sent with it; a changed schedule counts from now on', async () => {
    const { project } = await given({ cron: '*/30 * * * *', late: '1h' })
    const since = new Date(Date.now() - 45 * minute)
    await service.sql('update schedules set done_until = $2 where project_id = $1', [project.id, since])
    await givenCampaign(service, project, campaign({ cron: '*/30 * * * *', late: '1h' }, { message: { title: 'New' } }))
    await eventually(async () => {
      const found = await triggersOf(project)
      assert.ok(found.length >= 1 && found.every((one) => one.campaign_version === 2), JSON.stringify(found))
    })
    const before = (await triggersOf(project)).length
    await service.sql('update schedules set done_until = $2 where project_id = $1', [project.id, since])
    await givenCampaign(service, project, campaign({ cron: '*/5 * * * *', late: '1h' }))
    const [row] = await service.sql('select done_until from schedules where project_id = $1', [project.id])
    assert.ok(row!.done_until > since)
    assert.equal((await triggersOf(project)).length, before)
  })

  it('waits while its project is paused, and is sent late after the resume', async () => {
    const { project, saved } = await givenSoon()
    await service.manage('POST', `/projects/${project.id}:pause`)
    const early = (await triggersOf(project)).length
    await new Promise((done) => setTimeout(done, Math.max(0, Date.parse(saved.next_at[0]) - Date.now()) + 500))
    assert.equal((await triggersOf(project)).length, early, 'nothing while it is paused')
    await service.manage('POST', `/projects/${project.id}:resume`)
    await service.sql(
      `update schedules set next_at = (next_at at time zone 'UTC' - interval '10 s') at time zone 'UTC' where project_id = $1`,
      [project.id]
    )
    await service.hurry('schedules.sweep')
    const [trigger] = await eventually(async () => {
      const found = await triggersOf(project)
      assert.equal(found.length, 1)
      return found
    })
    assert.equal((await ended(project, trigger!.trigger_id)).counts.sent, 1)
  })

  it('its occurrences can be canceled and explained like all other triggers', async () => {
    const { project } = await givenSoon({
      segment: { attribute: 'user.vip', operator: 'exists' }
    })
    const id = await eventually(async () => (await triggersOf(project))[0]!.trigger_id as string)
    await ended(project, id)
    const { json } = await project.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=ana`)
    assert.deepEqual(
      json.gates.flatMap((one: Json) => one.reason ?? []),
      ['not_in_segment']
    )
    assert.equal((await project.call('POST', `/api/v1/triggers/${id}:cancel`)).json.state, 'completed')
  })

  it('goes with its project', async () => {
    const { project } = await given({ cron: '0 9 * * 1' })
    await service.manage('DELETE', `/projects/${project.id}`)
    await eventually(async () =>
      assert.deepEqual(await service.sql('select 1 from schedules where project_id = $1', [project.id]), [])
    )
  })
})

describe('a scheduled campaign at the local time of users', () => {
  const zone = 'Asia/Kolkata'

  it('reaches users by their property, else the device that was seen last, else the fallback', async () => {
    const project = await service.project()
    const device = (name: string, timezone?: string) => ({ id: `${project.id}-${name}`, ...(timezone && { timezone }) })
    const put = (name: string, timezone: unknown) =>
      project.call('PATCH', `/api/v1/users/${name}`, { json: { properties: { timezone } } })
    await givenUser(project, 'ana', device('ana', 'Europe/Berlin'))
    await put('ana', zone)
    await givenUser(project, 'bo', device('bo', 'asia/calcutta'))
    await givenUser(project, 'cy', device('cy'))
    await put('cy', 'nowhere')
    await givenUser(project, 'di', device('di', zone))
    await put('di', 'UTC')
    const { schedule } = await soon(project, zone, { timezone: 'user', fallback_timezone: zone })
    const [trigger] = await eventually(async () => {
      const found = await triggersOf(project)
      assert.equal(found.length, 1)
      return found
    })
    assert.equal(trigger!.source.local, schedule.at)
    const { counts } = await ended(project, trigger!.trigger_id)
    assert.deepEqual([counts.targeted, counts.sent], [3, 3])
    assert.deepEqual(
      ['ana', 'bo', 'cy', 'di'].map((name) => sender.to(`${project.id}-${name}`).length),
      [1, 1, 1, 0]
    )
    const { json } = await project.call('GET', `/api/v1/triggers/${trigger!.trigger_id}/explain?project_user_id=di`)
    assert.match(JSON.stringify(json.gates), /time zone/)
  })

  it('a user who changes zone gets an occurrence once', async () => {
    const project = await service.project()
    for (const [name, timezone] of [
      ['ana', zone],
      ['eve', 'Asia/Kathmandu']
    ] as const) {
      await givenUser(project, name, `${project.id}-${name}`)
      await project.call('PATCH', `/api/v1/users/${name}`, { json: { properties: { timezone } } })
    }
    // Kathmandu is 15 minutes ahead of Kolkata.
    const schedule = { at: local(-10 * minute, zone), timezone: 'user', late: '1h' }
    await givenCampaign(service, project, campaign(schedule))
    await missSince(project, 12 * minute)
    const [first] = await triggersOf(project)
    assert.equal((await ended(project, first!.trigger_id)).counts.sent, 1)
    await project.call('PATCH', '/api/v1/users/ana', { json: { properties: { timezone: 'Asia/Kathmandu' } } })
    await missSince(project, 30 * minute)
    const found = await eventually(async () => {
      const all = await triggersOf(project)
      assert.equal(all.length, 2)
      return all.find(({ trigger_id }) => trigger_id !== first!.trigger_id)!
    })
    const { counts, skipped } = await ended(project, found.trigger_id)
    assert.deepEqual([counts.targeted, counts.sent, skipped], [2, 1, { already_sent: 1 }])
    assert.deepEqual([sender.to(`${project.id}-ana`).length, sender.to(`${project.id}-eve`).length], [1, 1])
  })

  it('named targets of other zones leave no trace', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', `${project.id}-ana`)
    await givenUser(project, 'bo', `${project.id}-bo`)
    await project.call('PATCH', '/api/v1/users/ana', { json: { properties: { timezone: zone } } })
    const targets = [{ project_user_id: 'ana' }, { project_user_id: 'bo' }]
    await soon(project, zone, { timezone: 'user' }, { default_audience: { targets } })
    const id = await eventually(async () => (await triggersOf(project))[0]!.trigger_id as string)
    const { counts } = await ended(project, id)
    assert.deepEqual([counts.targeted, counts.sent], [1, 1])
  })
})

describe('a scheduled campaign is refused', () => {
  it('when it is activated without a schedule and an audience, and saved as a draft', async () => {
    const project = await service.project()
    const bare = { type: 'scheduled', message: { title: 'Hello' } }
    const reply = await put(project, { ...bare, status: 'active' })
    assert.deepEqual([reply.status, reply.json.code], [400, 'campaign_cannot_run'])
    assert.deepEqual(
      reply.json.details.map((one: Json) => one.path),
      ['schedule', 'default_audience']
    )
    assert.equal((await put(project, bare)).status, 200)
  })

  it('for every fault of its schedule at once', async () => {
    const project = await service.project()
    const faults = async (schedule: Json) => {
      const reply = await put(project, { type: 'scheduled', message: { title: 'Hello' }, schedule })
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_campaign'], JSON.stringify(schedule))
      return reply.json.details.map((one: Json) => one.path)
    }
    assert.deepEqual(await faults({}), ['schedule'])
    assert.deepEqual(await faults({ at: '2026-12-24T18:00', cron: '* * * * *' }), ['schedule'])
    assert.deepEqual(
      await faults({ cron: '@daily', timezone: 'Mars', fallback_timezone: 'user', starts_at: 'now', late: '8d' }),
      ['schedule.cron', 'schedule.timezone', 'schedule.fallback_timezone', 'schedule.starts_at', 'schedule.late']
    )
    for (const at of ['2026-12-24', '2026-12-24T18:00Z', '2026-02-30T10:00', '2026-12-24T25:00'])
      assert.deepEqual(await faults({ at }), ['schedule.at'])
    for (const cron of [
      '0 9 * *',
      '0 9 * * * *',
      '? * * * *',
      '61 * * * *',
      '0 9 * * 8',
      ' 0 9 * * 1',
      '0 0 31 4,6,9,11 *',
      '0 0 30 2 *'
    ])
      assert.deepEqual(await faults({ cron }), ['schedule.cron'], cron)
    assert.deepEqual(await faults({ at: '2026-12-24T18:00', ends_at: '2026-12-25T18:00Z' }), ['schedule.ends_at'])
  })

  it('and cannot be triggered by a call', async () => {
    const { project } = await given({ cron: '0 9 * * 1' })
    assert.equal((await project.call('POST', '/api/v1/campaigns/news:trigger')).status, 400)
    assert.equal((await readTriggers(project)).length, 0)
  })
})

const readTriggers = async (project: TestProject) =>
  Promise.all((await triggersOf(project)).map(({ trigger_id }) => readTrigger(project, trigger_id)))

void second
