import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, readTrigger, run, triggered, users } from '../support/campaigns.ts'
import { asApp, ios, link, put } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

const topic = (project: TestProject, id: string, fields: Json = {}) =>
  service.manage('PUT', `/projects/${project.id}/topics/${id}`, { json: { name: id, ...fields } })
const choose = (project: TestProject, user: string, json: Json) =>
  project.call('PATCH', `/api/v1/users/${user}/preferences`, { json })
const chosen = (project: TestProject, user: string) => project.call('GET', `/api/v1/users/${user}/preferences`)

describe('topics', () => {
  it('are created, changed, listed and deleted, and each change is in the audit log', async () => {
    const project = await service.project()
    const made = await topic(project, 'offers', { description: 'Sales' })
    assert.equal(made.status, 200, made.text)
    const { created_at, updated_at, ...fields } = made.json
    assert.deepEqual(fields, { topic: 'offers', name: 'offers', description: 'Sales', default: 'subscribed' })
    await topic(project, 'digest', { default: 'unsubscribed' })
    const path = `/projects/${project.id}/topics`
    const list = (await service.manage('GET', path)).json
    assert.deepEqual(
      [list.items.map((one: Json) => [one.topic, one.default]), list.next_cursor],
      [
        [
          ['digest', 'unsubscribed'],
          ['offers', 'subscribed']
        ],
        null
      ]
    )
    const first = (await service.manage('GET', `${path}?limit=1`)).json
    const second = (await service.manage('GET', `${path}?limit=1&cursor=${first.next_cursor}`)).json
    assert.deepEqual([first.items[0].topic, second.items[0].topic, second.next_cursor], ['digest', 'offers', null])
    assert.equal((await service.manage('DELETE', `${path}/digest`)).text, '{}')
    assert.equal((await service.manage('GET', `${path}/digest`)).status, 404)
    const audit = (await service.manage('GET', `/projects/${project.id}/audit`)).json.items
    assert.deepEqual(
      audit
        .filter(({ action }: Json) => action.startsWith('topic.'))
        .map(({ action, target }: Json) => [action, target]),
      [
        ['topic.delete', 'digest'],
        ['topic.create', 'digest'],
        ['topic.create', 'offers']
      ]
    )
  })

  it('are at most 200 in a project, also where several are added at the same moment', async () => {
    const project = await service.project()
    await service.sql(
      `insert into topics (project_id, id, name, description, subscribed, created_at, updated_at)
       select $1, 'topic-' || i, 'Topic', '', true, now(), now() from generate_series(1, 198) i`,
      [project.id]
    )
    const replies = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => topic(project, id)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409])
  })

  it('have ids of few characters', async () => {
    const project = await service.project()
    for (const id of ['Offers', 'a.b', 'x'.repeat(65)]) {
      const reply = await topic(project, id)
      assert.deepEqual([reply.status, reply.json.code, reply.json.details[0].path], [400, 'invalid_parameter', 'topic'])
    }
  })

  it('must exist when a campaign names them, and stay while one does', async () => {
    const project = await service.project()
    const save = (fields: Json) =>
      service.manage('PUT', `/projects/${project.id}/campaigns/sale`, {
        json: { name: 'Sale', status: 'active', message: { title: 'Sale' }, ...fields }
      })
    const unknown = await save({ topic: 'offers' })
    assert.deepEqual(
      [unknown.status, unknown.json.code, unknown.json.details[0].path],
      [400, 'invalid_campaign', 'topic']
    )
    await topic(project, 'offers')
    const both = await save({ topic: 'offers', transactional: true })
    assert.deepEqual([both.status, both.json.code, both.json.details[0].path], [400, 'invalid_campaign', 'topic'])
    assert.equal((await save({ topic: 'offers' })).status, 200)
    assert.equal((await project.call('GET', '/api/v1/campaigns/sale')).json.topic, 'offers')
    const path = `/projects/${project.id}/topics/offers`
    const refused = await service.manage('DELETE', path)
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'])
    assert.match(refused.json.error, /sale/)
    assert.equal((await service.manage('DELETE', `/projects/${project.id}/campaigns/sale`)).status, 200)
    assert.equal((await service.manage('DELETE', path)).status, 200, 'an archived campaign does not count')
  })
})

describe('preferences', () => {
  it('show every topic with its default until the user chooses, and null restores it', async () => {
    const project = await service.project()
    await topic(project, 'offers')
    await topic(project, 'digest', { default: 'unsubscribed' })
    await topic(project, 'constructor', { default: 'unsubscribed' })
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const defaults = { constructor: false, digest: false, offers: true }
    assert.deepEqual((await chosen(project, 'ana')).json, { opted_out: false, topics: defaults })
    const no = await choose(project, 'ana', { topics: { offers: false, digest: true } })
    assert.deepEqual(no.json, { opted_out: false, topics: { ...defaults, digest: true, offers: false } })
    await choose(project, 'ana', { opted_out: true })
    const both = { opted_out: true, topics: { ...defaults, digest: true, offers: false } }
    assert.deepEqual((await chosen(project, 'ana')).json, both, 'a change keeps the other choices')
    const back = await choose(project, 'ana', { opted_out: null, topics: { offers: null, digest: null } })
    assert.deepEqual(back.json, { opted_out: false, topics: defaults })
  })

  it('of an unknown user are a 404 without a body, and unknown topics are refused with all their names', async () => {
    const project = await service.project()
    for (const reply of [await chosen(project, 'nobody'), await choose(project, 'nobody', { opted_out: true })])
      assert.deepEqual([reply.status, reply.text], [404, ''])
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const refused = await choose(project, 'ana', { opted_out: true, topics: { offers: false, sales: true } })
    assert.deepEqual(
      [refused.status, refused.json.details.map(({ path }: Json) => path)],
      [400, ['topics.offers', 'topics.sales']]
    )
    assert.equal((await chosen(project, 'ana')).json.opted_out, false, 'nothing was changed')
    assert.equal((await choose(project, 'ana', { opted_out: 'yes' })).status, 400)
  })

  it('keep evidence of the latest yes and the latest no: when, where, to which text and by whom', async () => {
    const project = await service.project()
    await topic(project, 'offers')
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const consents = async () =>
      (await project.call('GET', '/api/v1/users/ana/consents')).json.consents.map(
        ({ recorded_at: _, actor, ...rest }: Json) => ({ ...rest, actor: actor.split(' ')[0] })
      )
    assert.deepEqual(await consents(), [])
    const given = { source: 'checkout', text: '2026-03', at: '2026-11-01T09:30:00Z' }
    const shown = await choose(project, 'ana', { topics: { offers: true }, consent: given })
    assert.deepEqual(shown.json, { opted_out: false, topics: { offers: true } }, 'preferences stay as they are')
    const yes = { topic: 'offers', granted: true, ...given, at: '2026-11-01T09:30:00.000Z' }
    assert.deepEqual(await consents(), [{ ...yes, via: 'secret_key', actor: 'key' }])
    await choose(project, 'ana', { topics: { offers: true } })
    assert.equal((await consents())[0].source, 'checkout', 'a repeated choice without evidence replaces none')
    const older = { source: 'old file', at: '2001-01-01T00:00:00Z' }
    await choose(project, 'ana', { topics: { offers: true }, consent: older })
    assert.equal((await consents())[0].source, 'checkout', 'an older choice that is reported late replaces none')

    await put(project, ios)
    await link(project, 'phone', 'ana')
    await asApp(project, 'PATCH', '/devices/phone/preferences', { topics: { offers: false } })
    await service.manage('PATCH', `/projects/${project.id}/api/v1/users/ana/preferences`, {
      json: { opted_out: true, consent: { source: 'phone call' } }
    })
    assert.deepEqual(
      (await consents()).map(({ topic, granted, source, via, actor }: Json) => [topic, granted, source, via, actor]),
      [
        [null, false, 'phone call', 'token', 'token'],
        ['offers', false, null, 'public_key', 'key'],
        ['offers', true, 'checkout', 'secret_key', 'key']
      ]
    )
    assert.equal((await asApp(project, 'GET', '/users/ana/consents')).status, 401, 'a secret key is needed')
    assert.equal((await project.call('GET', '/api/v1/users/nobody/consents')).status, 404)
    await project.call('DELETE', '/api/v1/users/ana')
    assert.deepEqual(await service.sql('select 1 from consents where project_id = $1', [project.id]), [])
  })

  it('of an anonymous user bring their evidence along at the log-in', async () => {
    const project = await service.project()
    await topic(project, 'offers')
    await put(project, ios)
    const consent = { source: 'banner' }
    await asApp(project, 'PATCH', '/devices/phone/preferences', { topics: { offers: true }, consent })
    await link(project, 'phone', 'ana')
    // Neither a yes that is the default nor a choice that was restored leaves more than its evidence.
    await put(project, { ...ios, id: 'tablet', push_token: 'b2' })
    const start = { source: 'first start', text: '2026-03' }
    await asApp(project, 'PATCH', '/devices/tablet/preferences', { opted_out: false, consent: start })
    await asApp(project, 'PATCH', '/devices/tablet/preferences', { topics: { offers: false }, consent })
    await asApp(project, 'PATCH', '/devices/tablet/preferences', { topics: { offers: null } })
    await link(project, 'tablet', 'ana')
    const { consents } = (await project.call('GET', '/api/v1/users/ana/consents')).json
    assert.deepEqual(
      consents.map(({ topic, granted, source, text }: Json) => [topic, granted, source, text]),
      [
        [null, true, 'first start', '2026-03'],
        ['offers', false, 'banner', null],
        ['offers', true, 'banner', null]
      ]
    )
    assert.equal((await chosen(project, 'ana')).json.topics.offers, true)
  })

  it('refuse evidence that is too long, of the future, or of no choice, and change nothing', async () => {
    const project = await service.project()
    await topic(project, 'offers')
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const yes = { topics: { offers: false } }
    const bad: [Json, string][] = [
      [{ ...yes, consent: {} }, 'consent.source'],
      [{ ...yes, consent: { source: '' } }, 'consent.source'],
      [{ ...yes, consent: { source: 'x'.repeat(201) } }, 'consent.source'],
      [{ ...yes, consent: { source: 'a\nb' } }, 'consent.source'],
      [{ ...yes, consent: { source: 'web', text: 'x'.repeat(2_001) } }, 'consent.text'],
      [{ ...yes, consent: { source: 'web', at: 'yesterday' } }, 'consent.at'],
      [{ ...yes, consent: { source: 'web', at: '2999-01-01T00:00:00Z' } }, 'consent.at'],
      [{ ...yes, consent: 'web' }, 'consent'],
      [{ topics: { offers: null }, consent: { source: 'web' } }, 'consent']
    ]
    for (const [json, path] of bad) {
      const reply = await choose(project, 'ana', json)
      assert.deepEqual([reply.status, reply.json.details?.[0]?.path], [400, path], reply.text)
    }
    assert.deepEqual((await chosen(project, 'ana')).json.topics, { offers: true })
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana/consents')).json, { consents: [] })
  })

  it('belong to one project', async () => {
    const [one, other] = [await service.project(), await service.project()]
    for (const project of [one, other])
      await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    await topic(one, 'offers')
    await choose(one, 'ana', { opted_out: true })
    assert.deepEqual((await chosen(other, 'ana')).json, { opted_out: false, topics: {} })
    assert.equal((await service.manage('GET', `/projects/${other.id}/topics/offers`)).status, 404)
  })

  it('are set by an app for the user of its device, and either no survives the log-in', async () => {
    const project = await service.project()
    for (const id of ['a', 'b', 'c']) await topic(project, id)
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    await choose(project, 'ana', { topics: { a: false, b: true } })
    await put(project, ios)
    const app = await asApp(project, 'PATCH', '/devices/phone/preferences', { topics: { a: true, b: false, c: true } })
    assert.deepEqual(app.json, { opted_out: false, topics: { a: true, b: false, c: true } })
    await link(project, 'phone', 'ana')
    const merged = { opted_out: false, topics: { a: false, b: false, c: true } }
    assert.deepEqual((await chosen(project, 'ana')).json, merged)
    assert.deepEqual((await asApp(project, 'GET', '/devices/phone/preferences')).json, merged)
    await put(project, { ...ios, id: 'tablet', push_token: 'b2' })
    await asApp(project, 'PATCH', '/devices/tablet/preferences', { opted_out: true })
    await link(project, 'tablet', 'ana')
    assert.deepEqual((await chosen(project, 'ana')).json, { ...merged, opted_out: true })
    assert.equal((await asApp(project, 'GET', '/devices/unknown/preferences')).json.code, 'device_not_found')
    assert.equal((await asApp(project, 'GET', '/users/ana/preferences')).status, 401, 'a public key names no user')
  })
})

describe('preferences', () => {
  it('are exported with their user, imported again, and deleted with the user', async () => {
    const [one, copy] = [await service.project(), await service.project()]
    await topic(one, 'offers')
    await topic(copy, 'offers')
    for (const name of ['ana', 'bo']) await one.call('POST', '/api/v1/users', { json: { project_user_id: name } })
    await choose(one, 'ana', { opted_out: true, topics: { offers: true } })
    const exported = (await service.manage('GET', `/projects/${one.id}/users:export`)).text
    const lines = exported
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ project_user_id, preferences }) => [project_user_id, preferences]),
      [
        ['ana', { opted_out: true, topics: { offers: true } }],
        ['bo', undefined]
      ]
    )
    await copy.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    await choose(copy, 'ana', { topics: { offers: false } })
    const bad = '{"project_user_id":"cy","preferences":{"topics":{"offers":"no"}}}'
    const imported = await service.manage('POST', `/projects/${copy.id}/users:import`, {
      body: `${exported}${bad}\n`,
      headers: { 'content-type': 'application/x-ndjson' }
    })
    assert.deepEqual([imported.json.imported, imported.json.failed], [2, 1])
    assert.match(imported.json.errors[0].error, /^preferences: /)
    assert.deepEqual((await chosen(copy, 'ana')).json, { opted_out: true, topics: { offers: false } }, 'a no survives')
    await one.call('DELETE', '/api/v1/users/ana')
    await one.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    assert.deepEqual((await chosen(one, 'ana')).json, { opted_out: false, topics: { offers: true } })
  })
})

describe('a no', () => {
  it('is skipped, counted and explained, on the path of a few targets and in a broadcast', async () => {
    const project = await service.project()
    await topic(project, 'offers')
    for (const [user, device] of [
      ['ana', 'n-1'],
      ['bo', 'n-2'],
      ['cy', 'n-3']
    ] as const)
      await givenUser(project, user, device)
    await choose(project, 'ana', { opted_out: true })
    await choose(project, 'bo', { topics: { offers: false } })
    await givenCampaign(service, project, { topic: 'offers' })
    await givenCampaign(service, project, { campaign_id: 'plain' })
    await givenCampaign(service, project, { campaign_id: 'receipt', transactional: true })
    for (const audience of [users('ana', 'bo', 'cy'), everyone]) {
      const preview = async (id: string) => {
        const { audience: found, sample } = (
          await project.call('POST', `/api/v1/campaigns/${id}:preview`, { json: audience })
        ).json
        return [found.users, found.devices, found.skipped, sample.map(({ reason }: Json) => reason)]
      }
      const nos = { opted_out: 1, topic_opted_out: 1 }
      assert.deepEqual(await preview('news'), [1, 1, nos, [null, 'opted_out', 'topic_opted_out']])
      assert.deepEqual(await preview('plain'), [2, 2, { opted_out: 1 }, [null, null, 'opted_out']])
      assert.deepEqual(await preview('receipt'), [3, 3, {}, [null, null, null]])
      const offers = await run(project, audience)
      assert.deepEqual([offers.counts.sent, offers.skipped], [1, { opted_out: 1, topic_opted_out: 1 }])
      const plain = await run(project, audience, 'plain')
      assert.deepEqual([plain.counts.sent, plain.skipped], [2, { opted_out: 1 }])
      const receipt = await run(project, audience, 'receipt')
      assert.deepEqual([receipt.counts.sent, receipt.skipped], [3, {}])
      const why = await project.call('GET', `/api/v1/triggers/${offers.trigger_id}/explain?project_user_id=bo`)
      assert.deepEqual(
        why.json.devices.map(({ state, gates }: Json) => [state, gates[0].reason]),
        [['skipped', 'topic_opted_out']]
      )
    }
  })

  it('counts also when it is given after the batch was planned', async () => {
    const project = await service.project()
    for (const name of ['ana', 'bo', 'cy']) await givenUser(project, name, `p-${name}`)
    await givenCampaign(service, project, { throttle_per_second: 1 })
    const id = await triggered(project, everyone)
    await eventually(async () => assert.equal((await readTrigger(project, id)).counts.targeted, 3))
    await choose(project, 'cy', { opted_out: true })
    const { counts, skipped } = await ended(project, id)
    assert.deepEqual([counts.sent, skipped], [2, { opted_out: 1 }])
  })

  it('to everything is told to webhooks once, also when a log-in or an import brings it along', async () => {
    const project = await service.project()
    const json = { url: 'https://hook.invalid/', events: ['user.opted_out'] }
    assert.equal((await service.manage('POST', `/projects/${project.id}/webhooks`, { json })).status, 201)
    for (const name of ['ana', 'bo']) await project.call('POST', '/api/v1/users', { json: { project_user_id: name } })
    for (const opted_out of [true, true, false]) await choose(project, 'ana', { opted_out })
    await put(project, ios)
    await asApp(project, 'PATCH', '/devices/phone/preferences', { opted_out: true })
    await link(project, 'phone', 'bo')
    const users = ['bo', 'cy'].map((project_user_id) => ({ project_user_id, preferences: { opted_out: true } }))
    for (const _ of ['first', 'again']) {
      await project.call('POST', '/api/v1/users:import', { json: { users } })
      await service.manage('POST', `/projects/${project.id}/users:import`, {
        body: '{"project_user_id":"di","preferences":{"opted_out":true}}\n',
        headers: { 'content-type': 'application/x-ndjson' }
      })
    }
    await service.hurry('webhooks.batch')
    await eventually(async () => {
      const calls = await service.sql('select body from webhook_calls where project_id = $1', [project.id])
      const told = calls.flatMap(({ body }) => JSON.parse(body).events)
      assert.deepEqual(
        told.map(({ type, project_user_id }) => [type, project_user_id]),
        [
          ['user.opted_out', 'ana'],
          ['user.opted_out', null],
          ['user.opted_out', 'bo'],
          ['user.opted_out', 'cy'],
          ['user.opted_out', 'di']
        ]
      )
    })
  })

  it('is erased with its project', async () => {
    const project = await service.project()
    await topic(project, 'offers')
    await service.manage('POST', `/projects/${project.id}/identity-secret:rotate`)
    await service.manage('DELETE', `/projects/${project.id}`)
    await eventually(async () => {
      for (const table of ['projects', 'topics', 'identity_secrets']) {
        const rows = await service.sql(`select 1 from ${table} where project_id = $1`, [project.id])
        assert.equal(rows.length, 0, table)
      }
    })
  })

  it('is the default of a topic that users must ask for', async () => {
    const project = await service.project()
    await topic(project, 'digest', { default: 'unsubscribed' })
    await givenUser(project, 'ana', 'd-1')
    await givenUser(project, 'bo', 'd-2')
    await choose(project, 'bo', { topics: { digest: true } })
    await givenCampaign(service, project, { topic: 'digest' })
    const { counts, skipped } = await run(project, users('ana', 'bo'))
    assert.deepEqual([counts.sent, skipped], [1, { topic_opted_out: 1 }])
  })
})
