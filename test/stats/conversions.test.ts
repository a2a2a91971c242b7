import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { devices, everyone, givenCampaign, givenMany, readTrigger, run, users } from '../support/campaigns.ts'
import { asApp, ios, link } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { startReceiver } from '../support/receiver.ts'
import { rejected, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const minuteMs = 60_000
const conversion = { event: 'purchase', within: '7d', value_property: 'amount' }

const track = async (project: TestProject, ...events: Json[]) => {
  const reply = await project.call('POST', '/api/v1/events', { json: { events } })
  assert.equal(reply.status, 200, reply.text)
}
const purchase = (device: string, amount?: unknown, more: Json = {}): Json => ({
  device_id: device,
  name: 'purchase',
  properties: { custom_properties: amount === undefined ? {} : { amount } },
  ...more
})
const statsOf = async (project: TestProject, query = ''): Promise<Json> => {
  const reply = await project.call('GET', `/api/v1/campaigns/news/stats${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
/** Waits until the queue of events is empty, and returns converted users and their value. */
const counted = (project: TestProject): Promise<[number, number]> =>
  eventually(async () => {
    const [{ waiting }] = await service.sql('select count(*)::int as waiting from event_queue where project_id = $1', [
      project.id
    ])
    assert.equal(waiting, 0)
    const { totals } = await statsOf(project)
    return [totals.converted, totals.conversion_value]
  })
const given = async (prefix: string, wish: Json = {}) => {
  const project = await service.project({ mode: 'simulator' })
  await givenMany(service, project, 3, prefix)
  await givenCampaign(service, project, { conversion, ...wish })
  return project
}
/** As if the messages of a trigger had been sent earlier. */
const sentAgo = (triggerId: string, ms: number) =>
  service.sql(`update messages set handed_at = now() - $2::float8 * interval '1 ms' where trigger_id = $1`, [
    triggerId,
    ms
  ])

describe('conversions', () => {
  it('count each user once for each trigger, and sum the values of all events exactly', async () => {
    const project = await given('a')
    const { trigger_id } = await run(project, users('a-user-1', 'a-user-2'))
    await track(project, purchase('a-1', 0.1), purchase('a-1', 0.2), purchase('a-2', 5), purchase('a-3', 100))
    assert.deepEqual(await counted(project), [2, 5.3])
    const { conversions } = await readTrigger(project, trigger_id)
    assert.deepEqual(conversions, { converted: 2, value: 5.3 })
    await run(project, users('a-user-1'))
    await track(project, purchase('a-1', 1))
    assert.deepEqual(await counted(project), [3, 6.3])
  })

  it('count an event with an id once, however often it is sent', async () => {
    const project = await given('b')
    await run(project, users('b-user-1'))
    for (let n = 0; n < 3; n += 1) await track(project, purchase('b-1', 7, { id: 'order-1' }))
    assert.deepEqual(await counted(project), [1, 7])
  })

  it('take numbers only: texts, huge numbers and absent values convert without a value', async () => {
    const project = await given('c')
    await run(project, users('c-user-1', 'c-user-2', 'c-user-3'))
    await track(project, purchase('c-1', '12'), purchase('c-2', 1e300), purchase('c-3'))
    assert.deepEqual(await counted(project), [3, 0])
  })

  it('are credited to the last message before the time of the event, however late it arrives', async () => {
    const project = await given('d')
    const ids: string[] = []
    for (let n = 0; n < 2; n += 1) ids.push((await run(project, users('d-user-1'))).trigger_id)
    await sentAgo(ids[0]!, 100 * minuteMs)
    await sentAgo(ids[1]!, 50 * minuteMs)
    const ago = (minutes: number) => ({ at: new Date(Date.now() - minutes * minuteMs).toISOString() })
    await track(project, purchase('d-1', 1, ago(120)), purchase('d-1', 2, ago(60)), purchase('d-1', 4, ago(10)))
    assert.deepEqual(await counted(project), [2, 6])
    const values = await Promise.all(ids.map(async (id) => (await readTrigger(project, id)).conversions.value))
    assert.deepEqual(values, [2, 4])
    const { series } = await statsOf(project, '?interval=hour')
    const points = series.filter((point: Json) => point.converted > 0)
    const hourOf = (minutes: number) => `${ago(minutes).at.slice(0, 13)}:00:00.000Z`
    assert.deepEqual(new Set(points.map(({ at }: Json) => at)), new Set([hourOf(60), hourOf(10)]))
  })

  it('count only within the window, and only for messages that a gateway accepted', async () => {
    const project = await given('e', { conversion: { event: 'purchase', within: '30m' } })
    sender.script('e-2', rejected('PAYLOAD_INVALID'))
    const { trigger_id } = await run(project, users('e-user-1', 'e-user-2'))
    await sentAgo(trigger_id, 31 * minuteMs)
    await track(project, purchase('e-1', 1), purchase('e-2', 1))
    assert.deepEqual(await counted(project), [0, 0])
    // A longer window holds for events from now on.
    await givenCampaign(service, project, { conversion: { ...conversion, within: '1h' } })
    await track(project, purchase('e-1', 3))
    assert.deepEqual(await counted(project), [1, 3])
    // Without a conversion nothing is counted, and events from that time are not counted later.
    await givenCampaign(service, project, { campaign_id: 'news' })
    await track(project, purchase('e-1', 9))
    assert.deepEqual(await counted(project), [1, 3])
  })

  it('of a campaign that is paused since are counted', async () => {
    const project = await given('f')
    await run(project, users('f-user-1'))
    await givenCampaign(service, project, { conversion, status: 'paused' })
    await track(project, purchase('f-1', 2))
    assert.deepEqual(await counted(project), [1, 2])
  })

  it('are credited after an anonymous user is linked, once for the trigger', async () => {
    const project = await given('l')
    await asApp(project, 'POST', '/devices', { devices: [ios] })
    await run(project, devices('phone'))
    await track(project, purchase('phone', 1))
    assert.deepEqual(await counted(project), [1, 1])
    assert.equal((await link(project, 'phone', 'ana')).status, 200)
    await track(project, purchase('phone', 2))
    assert.deepEqual(await counted(project), [1, 3])
  })

  it('stay counted when the user is deleted, and name the user no more', async () => {
    const project = await given('g')
    const { trigger_id } = await run(project, users('g-user-1', 'g-user-2'))
    await track(project, purchase('g-1', 2))
    assert.deepEqual(await counted(project), [1, 2])
    assert.equal((await project.call('DELETE', '/api/v1/users/g-user-1')).status, 200)
    const rows = await service.sql('select 1 from conversions where trigger_id = $1', [trigger_id])
    assert.deepEqual([rows.length, ...(await counted(project))], [0, 1, 2])
  })

  it('count by variant and language, and those of held-out users for the holdout and not in all', async () => {
    const project = await service.project()
    await givenMany(service, project, 40, 'h')
    const message = (title: string) => ({ title, language: 'en', translations: { de: { title: `${title}, deutsch` } } })
    const variants = ['a', 'b'].map((id) => ({ id, weight: 1, message: message(id) }))
    await givenCampaign(service, project, { message: undefined, variants, holdout: 40, conversion })
    await service.sql(
      `update users set properties = '{"language": "de"}' where project_id = $1 and id::text ~ '[05a]$'`,
      [project.id]
    )
    const { counts } = await run(project, everyone)
    assert.ok(counts.skipped > 5 && counts.sent > 5, JSON.stringify(counts))
    await track(project, ...Array.from({ length: 40 }, (_, n) => purchase(`h-${n + 1}`, 0.1)))
    const tenth = (count: number) => Math.round(count) / 10
    assert.deepEqual(await counted(project), [counts.sent, tenth(counts.sent)])
    for (const by of ['variant', 'language']) {
      const { groups, totals } = await statsOf(project, `?by=${by}`)
      const names = by === 'variant' ? ['a', 'b', 'holdout'] : ['de', 'en', 'holdout']
      assert.deepEqual(
        groups.map(({ key }: Json) => key),
        names
      )
      for (const { key, totals: own } of groups) {
        const { sent, skipped, users: all, converted, conversion_value } = own
        assert.deepEqual(
          [all, converted, conversion_value],
          [sent + skipped, sent + skipped, tenth(sent + skipped)],
          key
        )
      }
      assert.deepEqual([totals.users, groups.at(-1).totals.users], [counts.sent, counts.skipped])
    }
  })

  it('tell webhooks once: campaign.converted', async () => {
    const receiver = await startReceiver({ secure: false })
    after(receiver.close)
    const project = await given('i')
    const json = { url: `${receiver.url}/hook`, events: ['campaign.converted'] }
    assert.equal((await service.manage('POST', `/projects/${project.id}/webhooks`, { json })).status, 201)
    const { trigger_id } = await run(project, users('i-user-1'))
    await track(project, purchase('i-1', 2), purchase('i-1', 3))
    await counted(project)
    await service.hurry('webhooks.batch')
    await eventually(() => {
      const events = receiver.received.flatMap(({ body }) => JSON.parse(body).events as Json[])
      const shown = events.map((one) => [one.type, one.campaign_id, one.trigger_id, one.project_user_id, one.value])
      assert.deepEqual(shown, [['campaign.converted', 'news', trigger_id, 'i-user-1', 2]])
    })
  })

  it('are erased with their project', async () => {
    const project = await given('j')
    await run(project, users('j-user-1'))
    await track(project, purchase('j-1', 2))
    await counted(project)
    assert.equal((await service.manage('DELETE', `/projects/${project.id}`)).status, 200)
    await eventually(async () => {
      const [{ left }] = await service.sql(
        `select (select count(*) from conversions where project_id = $1)
              + (select count(*) from campaign_stats where project_id = $1) as left`,
        [project.id]
      )
      assert.equal(left, '0')
    })
  })
})
