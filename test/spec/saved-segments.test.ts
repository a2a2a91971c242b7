import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, givenMany, put, run, triggered } from '../support/campaigns.ts'
import { withClient } from '../support/database.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const at = (project: TestProject, id = '', rest = '') =>
  `/projects/${project.id}/segments${id && `/${encodeURIComponent(id)}`}${rest}`
const save = (project: TestProject, id: string, segment: Json, name = id) =>
  service.manage('PUT', at(project, id), { json: { name, segment } })
const above = (value: unknown) => ({ attribute: 'user.n', operator: 'greater_than', value })
const indexOdd = async (project: TestProject) => {
  await service.manage('PUT', `/projects/${project.id}/indexed-properties/odd`)
  await eventually(async () => {
    const { json } = await service.manage('GET', `/projects/${project.id}/indexed-properties`)
    assert.equal(json.items[0].state, 'ready')
  }, 20_000)
}
const campaign = (project: TestProject, wish: Json) =>
  service.manage('PUT', `/projects/${project.id}/campaigns/${wish.campaign_id ?? 'news'}`, {
    json: { name: 'News', status: 'active', message: { title: 'Hello' }, ...wish }
  })

describe('saved segments', () => {
  it('are created, read, listed, changed and deleted, each with an audit entry', async () => {
    const project = await service.project()
    const made = await save(project, 'big spenders', above(10), 'Big spenders')
    assert.deepEqual([made.status, made.json.result, made.json.version], [200, 'created', 1], made.text)
    assert.equal((await save(project, 'big spenders', above(10), 'Big spenders')).json.result, 'unchanged')
    assert.deepEqual((await save(project, 'big spenders', above(20), 'Big spenders')).json.version, 2)
    const { json: found } = await service.manage('GET', at(project, 'big spenders'))
    assert.deepEqual([found.segment_id, found.segment, found.campaigns], ['big spenders', above(20), []])
    await save(project, 'second', above(1))
    const first = await service.manage('GET', `${at(project)}?limit=1`)
    assert.deepEqual([first.json.items[0].segment_id, first.json.items.length], ['second', 1])
    const next = await service.manage('GET', `${at(project)}?limit=1&cursor=${first.json.next_cursor}`)
    assert.deepEqual([next.json.items[0].segment_id, next.json.next_cursor], ['big spenders', null])
    assert.equal((await service.manage('DELETE', at(project, 'second'))).status, 200)
    assert.equal((await service.manage('GET', at(project, 'second'))).status, 404)
    const audit = await service.manage('GET', `/projects/${project.id}/audit`)
    const actions = audit.json.items
      .map(({ action }: Json) => action)
      .filter((one: string) => one.startsWith('segment'))
    assert.deepEqual(actions, ['segment.delete', 'segment.create', 'segment.update', 'segment.create'])
  })

  it('can be counted before they are saved', async () => {
    const project = await service.project()
    await givenMany(service, project, 30, 'draft')
    await save(project, 'large', above(20))
    const count = (segment: Json) => service.manage('POST', `${at(project)}:count`, { json: { segment } })
    const { json } = await count({
      all: [{ ref: 'large' }, { attribute: 'user.odd', operator: 'equals', value: true }]
    })
    assert.deepEqual(json, { users: 5, reachable_users: 5, devices: 5, complete: true, reason: null })
    assert.equal((await count(above('{{ trigger.n }}'))).json.reason, 'missing_trigger_property')
    for (const wrong of [{ ref: 'none' }, { attribute: 'user.n' }, above({})])
      assert.deepEqual([(await count(wrong)).status, (await count(wrong)).json.code], [400, 'invalid_segment'])
  })

  it('are counted as far as the turns of the project allow, beside others that take long', async () => {
    const project = await service.project()
    await givenUser(project, 'slow', 'phone')
    const text = `${'ab'.repeat(5_000)}c`
    await project.call('PATCH', '/api/v1/users/slow', { json: { properties: { text } } })
    const count = (segment: Json) => service.manage('POST', `${at(project)}:count`, { json: { segment } })
    // Both turns of the project are taken until the limit of a statement, which is later than that of a count.
    const long = count({ attribute: 'user.text', operator: 'matches', value: '^(.+)(.+)(.+)\\1\\2\\3$' })
    const taken = `select 1 from pg_stat_activity
      where datname = current_database() and state = 'active' and query like 'select%count(%as users%' and pid <> pg_backend_pid()`
    await eventually(async () => assert.equal((await service.sql(taken)).length, 2))
    const { status, json } = await count(above(1))
    const { reason, users, complete } = json
    assert.deepEqual({ status, reason, users, complete }, { status: 200, reason: 'busy', users: 0, complete: false })
    assert.equal((await long).json.reason, 'segment_too_slow')
  })

  it('have the same size whether an index finds their users or all are compared', async () => {
    const project = await service.project()
    await givenMany(service, project, 30, 'indexed')
    const people = [true, 'true', null, 1].map((odd, n) => ({ project_user_id: `odd-${n}`, properties: { odd } }))
    const added = await project.call('POST', '/api/v1/users:batch', { json: { users: people } })
    assert.equal(added.status, 200, added.text)
    // Users without a device, with two, and with one that has no token.
    await service.sql(`delete from push_tokens where project_id = $1 and device_id = 'indexed-3'`, [project.id])
    await service.sql(`delete from devices where project_id = $1 and id = 'indexed-5'`, [project.id])
    await service.sql(
      `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
       select project_id, 'second', user_id, 'ANDROID', true, '{}', now(), now(), now() from devices
        where project_id = $1 and id = 'indexed-7'`,
      [project.id]
    )
    const odd = (value: unknown) => ({ attribute: 'user.odd', operator: 'equals', value })
    const among = (...value: unknown[]) => ({ attribute: 'user.odd', operator: 'in', value })
    const on = (platform: string) => ({ attribute: 'device.platform', operator: 'equals', value: platform })
    const segments = [
      odd(true),
      odd('true'),
      odd(1),
      { all: [odd(true), above(20)] },
      { all: [on('ANDROID'), odd(true)] },
      { all: [{ not: on('IOS') }, { event: 'open', operator: 'at_most', count: 0 }, odd(true)] },
      { any: [odd(true), above(29)] },
      among(true),
      among(true, 1),
      { all: [odd(true), odd('true')] }
    ]
    const count = async (segment: Json) =>
      (await service.manage('POST', `${at(project)}:count`, { json: { segment } })).json
    const sizes = () => Promise.all(segments.map(count))
    const compared = await sizes()
    assert.deepEqual(compared[0], { users: 16, reachable_users: 13, devices: 13, complete: true, reason: null })
    await indexOdd(project)
    assert.deepEqual(await sizes(), compared)
    // An index of an earlier version may name users who lost the value.
    await service.sql('update indexed_properties set exact = false where project_id = $1', [project.id])
    await service.sql(
      `update indexed_values v set value = (
         select value from indexed_values join users u using (project_id) where u.id = user_id and project_user_id = 'odd-0')
         from users u where v.project_id = $1 and u.project_id = $1 and u.id = v.user_id and u.properties @> '{"odd":false}'`,
      [project.id]
    )
    assert.deepEqual(await sizes(), compared)
    // What the index names is all that is counted.
    await service.sql('delete from indexed_values where project_id = $1', [project.id])
    const left = [odd(true), among(true), odd(1), among(true, 1)].map(async (segment) => (await count(segment)).users)
    assert.deepEqual(await Promise.all(left), [0, 0, 1, 17])
  })

  it('count all users again where the index that named them is removed meanwhile', async () => {
    const project = await service.project()
    await givenMany(service, project, 30, 'unindexed')
    await indexOdd(project)
    const segment = { attribute: 'user.odd', operator: 'equals', value: true }
    const { json } = await withClient(service.databaseUrl, async (client) => {
      await client.query('begin')
      await client.query('lock table devices')
      const asked = service.manage('POST', `${at(project)}:count`, { json: { segment } })
      const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await eventually(async () => assert.notEqual((await service.sql(waits)).length, 0))
      await service.manage('DELETE', `/projects/${project.id}/indexed-properties/odd`)
      const rows = 'select 1 from indexed_values where project_id = $1'
      await eventually(async () => assert.equal((await service.sql(rows, [project.id])).length, 0))
      await client.query('rollback')
      return asked
    })
    assert.deepEqual(json, { users: 15, reachable_users: 15, devices: 15, complete: true, reason: null })
  })

  it('limit the campaigns that refer to them, alone and inside groups, also by way of others', async () => {
    const project = await service.project()
    await givenMany(service, project, 30, 'ref')
    await save(project, 'large', above(20))
    await save(project, 'odd-large', {
      all: [{ ref: 'large' }, { attribute: 'user.odd', operator: 'equals', value: true }]
    })
    const reached = async (segment: Json) => {
      const saved = await campaign(project, { segment })
      assert.deepEqual([saved.status, saved.json.segment], [200, segment], saved.text)
      const { json } = await project.call('POST', '/api/v1/campaigns/news:preview', { json: everyone })
      const { counts } = await run(project, everyone)
      assert.equal(json.audience.devices, counts.sent)
      return counts.sent
    }
    assert.equal(await reached({ ref: 'large' }), 10)
    assert.equal(await reached({ not: { ref: 'large' } }), 20)
    assert.equal(await reached({ any: [{ ref: 'odd-large' }, above(29)] }), 6)
  })

  it('that are missing, circular or too large are refused with the path', async () => {
    const project = await service.project()
    const refused = async (reply: Promise<{ status: number; json: Json }>) => {
      const { status, json } = await reply
      return [status, json.code, json.details?.[0]?.path, json.details?.[0]?.message]
    }
    const missing = [400, 'invalid_segment', 'segment.all[1].not.ref', 'there is no saved segment "gone"']
    const segment = { all: [above(1), { not: { ref: 'gone' } }] }
    assert.deepEqual(await refused(campaign(project, { segment })), missing)
    assert.deepEqual(await refused(save(project, 'one', segment)), missing)
    await save(project, 'a', above(1))
    await save(project, 'b', { ref: 'a' })
    const circle = await refused(save(project, 'a', { ref: 'b' }))
    assert.deepEqual(circle.slice(0, 2), [400, 'invalid_segment'])
    assert.match(circle[3], /must not lead back to itself/)
    for (const [id, of] of [
      ['c', 'b'],
      ['d', 'c'],
      ['e', 'd']
    ] as const)
      await save(project, id, { ref: of })
    assert.match((await refused(save(project, 'f', { ref: 'e' })))[3], /more than 5 levels/)
    await save(project, 'wide', { any: Array.from({ length: 150 }, (_, n) => above(n)) })
    assert.match(
      (await refused(campaign(project, { segment: { all: [{ ref: 'wide' }, { ref: 'wide' }] } })))[3],
      /at most 200/
    )
    // A change counts for those who use the segment too.
    await campaign(project, { segment: { all: [{ ref: 'a' }, { ref: 'wide' }] } })
    const wider = await refused(save(project, 'a', { any: Array.from({ length: 60 }, (_, n) => above(n)) }))
    assert.match(wider[3], /at most 200 conditions \(in the campaign "news"\)/)
    assert.equal((await service.manage('GET', at(project, 'a'))).json.version, 1)
    assert.equal((await refused(save(project, 'x', { ref: 7 })))[2], 'segment.ref')
  })

  it('that are in use are not deleted; the refusal names the campaigns', async () => {
    const project = await service.project()
    await save(project, 'used', above(1))
    await save(project, 'outer', { ref: 'used' })
    await campaign(project, { segment: { not: { ref: 'outer' } } })
    const reply = await service.manage('DELETE', at(project, 'used'))
    assert.deepEqual(
      [reply.status, reply.json.error],
      [409, 'The saved segment "used" is used by the campaigns "news" and the saved segments "outer".']
    )
    await service.manage('DELETE', `/projects/${project.id}/campaigns/news`)
    assert.equal((await service.manage('DELETE', at(project, 'outer'))).status, 200)
    assert.equal((await service.manage('DELETE', at(project, 'used'))).status, 200)
  })

  it('change the campaigns that use them from the next trigger on: a running one keeps its meaning', async () => {
    const project = await service.project()
    await givenMany(service, project, 300, 'keep')
    await save(project, 'large', above(0))
    await givenCampaign(service, project, { segment: { ref: 'large' } })
    sender.shut()
    try {
      const id = await triggered(project, everyone)
      await eventually(async () =>
        assert.ok((await service.sql('select 1 from trigger_chunks where trigger_id = $1', [id])).length > 0)
      )
      const changed = await save(project, 'large', above(290))
      assert.deepEqual([changed.status, changed.json.campaigns], [200, ['news']])
      const { json } = await service.manage('GET', `/projects/${project.id}/campaigns/news`)
      assert.deepEqual([json.version, json.segment], [2, { ref: 'large' }])
      sender.open()
      assert.equal((await ended(project, id)).counts.sent, 300)
      assert.equal((await run(project, everyone)).counts.sent, 10)
    } finally {
      sender.open()
    }
  })

  it('are counted now and once a day', async () => {
    const project = await service.project()
    await givenMany(service, project, 30, 'size')
    await put(project, 'without-device', { n: 100 })
    await save(project, 'large', above(20))
    await save(project, 'by-trigger', above('{{ trigger.n }}'))
    const count = async (id: string) => (await service.manage('POST', at(project, id, ':count'))).json
    const size = { users: 11, reachable_users: 10, devices: 10, complete: true }
    assert.deepEqual(await count('large'), { ...size, reason: null })
    assert.deepEqual((await count('by-trigger')).reason, 'missing_trigger_property')
    await service.hurry('segments.sizes')
    const sizes = await eventually(async () => {
      const { json } = await service.manage('GET', at(project, 'large', '/sizes'))
      assert.equal(json.items.length, 1)
      return json.items
    })
    const { day, counted_at: _, ...counted } = sizes[0]
    assert.deepEqual([day, counted], [new Date().toISOString().slice(0, 10), size])
  })

  it('belong to their project, and are erased with it', async () => {
    const [one, other] = [await service.project(), await service.project()]
    await givenUser(one, 'ana', 'apart')
    await save(one, 'mine', above(1))
    assert.equal((await campaign(other, { segment: { ref: 'mine' } })).status, 400)
    assert.equal((await service.manage('GET', at(other, 'mine'))).status, 404)
    await service.manage('DELETE', `/projects/${one.id}`)
    await eventually(async () =>
      assert.deepEqual(await service.sql('select id from saved_segments where project_id = $1', [one.id]), [])
    )
  })
})
