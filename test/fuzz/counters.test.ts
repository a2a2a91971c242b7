import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ended, everyone, givenCampaign, givenMany, readTrigger, trigger } from '../support/campaigns.ts'
import { link } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { lost, rejected, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

// TIDINGS_LONG=1 takes ten histories of three hundred steps each instead of one of sixty.
const [histories, steps] = process.env.TIDINGS_LONG ? [10, 300] : [1, 60]
const people = 40

const pick = (most: number) => Math.floor(Math.random() * most)
const numbers = ['targeted', 'sent', 'failed', 'skipped', 'delivered', 'tapped'] as const
const message = (title: string) => ({ title, language: 'en', translations: { de: { title: `${title} auf Deutsch` } } })
const variants = ['a', 'b', 'c'].map((id, n) => ({ id, weight: n + 1, message: message(id) }))
const allDay = { from: '00:00', to: '23:59', timezone: 'UTC', action: 'hold' }
const conversion = { event: 'purchase', within: '1d', value_property: 'amount' }
const campaigns: Record<string, Json> = {
  plain: { conversion },
  odd: { segment: { attribute: 'user.odd', operator: 'equals', value: true } },
  split: { message: undefined, variants, holdout: 20, conversion },
  german: { message: message('Hello {{ user.n }}') },
  capped: { message: undefined, variants, frequency_cap: { count: 2, within: '1d' } },
  slow: { throttle_per_second: 60, message: undefined, variants },
  quiet: { quiet_hours: allDay },
  series: {
    type: 'event_triggered',
    event_trigger: { event: 'purchase' },
    message: undefined,
    steps: [
      { id: 'first', message: message('Thanks') },
      { id: 'second', wait: '1s', variants }
    ],
    exit: { event: 'refund' },
    holdout: 20
  }
}
const ids = Object.keys(campaigns)
/** Campaigns that calls trigger; the last one runs by events. */
const called = ids.slice(0, -1)

const statsOf = async (project: TestProject, campaign: string, by: string): Promise<Json> => {
  const reply = await project.call('GET', `/api/v1/campaigns/${campaign}/stats?by=${by}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
const pendingOf = ({ targeted, sent, failed, skipped }: Json): number => targeted - sent - failed - skipped

/** Checks what holds at any time, and returns the totals. */
async function check(project: TestProject, campaign: string): Promise<Json> {
  let last: Json = {}
  for (const by of ['variant', 'language', 'step']) {
    const { totals, series, groups } = await statsOf(project, campaign, by)
    for (const one of [totals, ...series, ...groups.map(({ totals: own }: Json) => own)])
      for (const [name, value] of Object.entries(one))
        if (name !== 'at') assert.ok((value as number) >= 0, `${campaign} ${by} ${name}: ${value}`)
    for (const { key, totals: own } of groups) assert.ok(pendingOf(own) >= 0, `${campaign} ${by} ${key}`)
    const sum = (rows: Json[], name: string) => rows.reduce((all, row) => all + row[name], 0)
    const own = groups.map((group: Json) => group.totals)
    for (const name of numbers) {
      assert.equal(sum(own, name), totals[name], `${campaign}: ${name} over each ${by}`)
      assert.equal(sum(series, name), totals[name], `${campaign}: ${name} over time`)
    }
    assert.ok(totals.converted <= totals.users, campaign)
    last = totals
  }
  return last
}

async function live(): Promise<void> {
  const sender = scriptedSender()
  const service = await startService({}, { sender })
  const project = await service.project({ limits: { requests_per_second: 0, triggers_per_second: 0 } })
  await givenMany(service, project, people, 'c')
  await service.sql(
    `update users set properties = properties || '{"language": "de"}' where project_id = $1 and (properties ->> 'n')::int % 3 = 0`,
    [project.id]
  )
  for (let n = 1; n <= people; n += 3) {
    const odd = [lost(), retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + pick(300) }), rejected('TOKEN_INVALID')]
    sender.script(`c-${n}`, ...Array.from({ length: 4 }, () => odd[pick(3)]!), rejected('PAYLOAD_INVALID'))
  }
  for (const [campaign_id, wish] of Object.entries(campaigns))
    await givenCampaign(service, project, { campaign_id, ...wish })
  const triggers = new Map<string, string>()
  const person = () => 1 + pick(people + 3)
  const target = () => (pick(2) ? { project_user_id: `c-user-${person()}` } : { device_id: `c-${person()}` })
  const fine = async (method: string, path: string, json?: Json) => {
    const reply = await project.call(method, `/api/v1${path}`, json && { json })
    assert.ok(reply.status < 500, reply.text)
    return reply
  }
  const actions = {
    async trigger() {
      const campaign = called[pick(called.length)]!
      const audience = pick(4) === 0 ? everyone.audience : { targets: Array.from({ length: 1 + pick(30) }, target) }
      const reply = await trigger(project, { audience }, campaign)
      assert.equal(reply.status, 200, reply.text)
      triggers.set(reply.json.trigger_id, campaign)
    },
    async cancel() {
      const all = [...triggers.keys()]
      if (all.length > 0) await fine('POST', `/triggers/${all[pick(all.length)]}:cancel`)
    },
    removeUser: () => fine('DELETE', `/users/c-user-${1 + pick(people)}`),
    linkDevice: () => link(project, `c-${1 + pick(people)}`, `c-user-${1 + pick(people)}`),
    async report() {
      const [found] = await service.sql(
        `select message_id, device_id from messages where project_id = $1 order by md5(message_id::text || $2) limit 1`,
        [project.id, String(pick(1e9))]
      )
      if (!found) return
      const name = pick(2) ? 'PUSH_NOTIFICATION_RECEIVED' : 'PUSH_NOTIFICATION_TAPPED'
      const event = { device_id: found.device_id, name, event_property: { message_id: found.message_id } }
      await fine('POST', '/events', { events: [event] })
    },
    buy: () => fine('POST', '/events', { events: [{ device_id: `c-${1 + pick(people)}`, name: 'purchase' }] }),
    giveBack: () => fine('POST', '/events', { events: [{ device_id: `c-${1 + pick(people)}`, name: 'refund' }] }),
    read: () => check(project, ids[pick(ids.length)]!)
  }
  const { trigger: start, report, ...others } = actions
  const chosen = [start, start, start, start, report, report, ...Object.values(others)]
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let n = 0; n < steps / 4; n += 1) await chosen[pick(chosen.length)]!()
    })
  )
  // Messages that wait for the end of quiet hours would wait for a day.
  for (const [id, campaign] of triggers) if (campaign === 'quiet') await fine('POST', `/triggers/${id}:cancel`)
  await eventually(async () => {
    const waiting = await service.sql(
      "select 1 from event_queue where project_id = $1 union all select 1 from journeys where project_id = $1 and state = 'waiting'",
      [project.id]
    )
    assert.deepEqual(waiting, [])
  }, 30_000)
  for (const { id } of await service.sql(`select id from triggers where project_id = $1 and campaign_id = 'series'`, [
    project.id
  ]))
    triggers.set(id, 'series')
  for (const id of triggers.keys()) await ended(project, id, 60_000)
  for (const campaign of ids) {
    const totals = await check(project, campaign)
    assert.equal(pendingOf(totals), 0, campaign)
    const own = [...triggers].filter(([, name]) => name === campaign)
    const counts = await Promise.all(own.map(async ([id]) => (await readTrigger(project, id)).counts))
    const sums = numbers.map((name) => counts.reduce((sum, one) => sum + one[name], 0))
    assert.deepEqual(
      numbers.map((name) => totals[name]),
      sums,
      `${campaign}: as its triggers counted`
    )
  }
  await service.close()
}

it('counters of triggers, variants, languages and steps always add up', async () => {
  for (let n = 0; n < histories; n += 1) await live()
})
