import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const path = (project: TestProject, rest = '') => `/projects/${project.id}/campaigns${rest}`
const news = { campaign_id: 'news', name: 'News', status: 'active', message: { title: 'Hello' } }
const save = (project: TestProject, json: Json, ifMatch?: string, id = 'news') =>
  service.manage('PUT', path(project, `/${id}`), {
    json,
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } })
  })

describe('/manage/v1/projects/{id}/campaigns does it', () => {
  it('creates, reads, lists, replaces and archives a campaign, a version each', async () => {
    const project = await service.project()
    const created = await service.manage('POST', path(project), { json: news })
    assert.deepEqual([created.status, created.json.version, created.json.result], [201, 1, 'created'])
    assert.equal(created.headers.etag, '"1"')
    assert.deepEqual(created.json.warnings, [])
    const changed = await save(project, { ...news, name: 'Newer' })
    assert.deepEqual([changed.status, changed.json.version, changed.json.result], [200, 2, 'updated'])
    const read = await service.manage('GET', path(project, '/news'))
    assert.deepEqual([read.json.name, read.json.version, read.headers.etag], ['Newer', 2, '"2"'])
    const archived = await service.manage('DELETE', path(project, '/news'))
    assert.deepEqual([archived.json.status, archived.json.version], ['archived', 3])
    const versions = (await service.manage('GET', path(project, '/news/versions'))).json.items
    assert.deepEqual(
      versions.map(({ version, campaign }: Json) => [version, campaign.name, campaign.status]),
      [
        [3, 'Newer', 'archived'],
        [2, 'Newer', 'active'],
        [1, 'News', 'active']
      ]
    )
    const first = await service.manage('GET', path(project, '/news/versions/1'))
    assert.deepEqual([first.json.version, first.json.campaign], [1, versions[2].campaign])
    for (const none of ['4', '0', '-1', '1.0', '01', 'x', '9'.repeat(30)])
      assert.equal((await service.manage('GET', path(project, `/news/versions/${none}`))).status, 404, none)
    assert.equal((await service.manage('GET', path(project, '/who/versions/1'))).status, 404)
    const again = await save(project, news)
    assert.deepEqual([again.json.status, again.json.version], ['active', 4], 'an archived one can come back')
  })

  it('warns of parts that it saves but that probably do not do what was meant', async () => {
    const project = await service.project()
    const saved = await save(project, {
      ...news,
      statsu: 'active',
      message: { title: 'Hi {{ first_name }}', text: 'x' }
    })
    assert.deepEqual(saved.json.warnings, [
      'message.title refers to first_name, which is always empty: there are trigger, event, user, device, campaign.',
      'message.text is not a field of a campaign, and is ignored.',
      'statsu is not a field of a campaign, and is ignored.'
    ])
    const read = await service.manage('GET', path(project, '/news'))
    assert.deepEqual(read.json.warnings, saved.json.warnings.slice(0, 1))
    assert.deepEqual((await save(project, { ...read.json, message: news.message })).json.warnings, [])
    const activity = { attributes_type: 'Order', attributes: {}, content_state: { step: '{{ trigger.step }}' } }
    const both = await save(project, { ...news, live_activity: activity })
    assert.deepEqual(both.json.warnings, ['message is not sent: the campaign starts a Live Activity instead.'])
  })

  it('saves nothing that is already there, whatever the order of its fields', async () => {
    const project = await service.project()
    await save(project, news)
    const same = await save(project, Object.fromEntries(Object.entries(news).reverse()))
    assert.deepEqual([same.json.result, same.json.version], ['unchanged', 1])
    await service.manage('DELETE', path(project, '/news'))
    const twice = await service.manage('DELETE', path(project, '/news'))
    assert.deepEqual([twice.json.result, twice.json.version], ['unchanged', 2])
  })

  it('saves only over the version that If-Match names', async () => {
    const project = await service.project()
    assert.equal((await save(project, news, '*')).status, 409, 'there is none yet')
    assert.equal((await save(project, news)).json.version, 1)
    assert.equal((await save(project, { ...news, name: 'B' }, '"1"')).json.version, 2)
    for (const stale of ['"1"', '1', 'W/"1"', '"7"', 'xyz', '']) {
      const reply = await save(project, { ...news, name: 'C' }, stale)
      assert.deepEqual([reply.status, reply.json.code], [409, 'conflict'], stale)
    }
    assert.equal((await save(project, { ...news, name: 'C' }, '2')).json.version, 3)
    assert.equal((await save(project, { ...news, name: 'D' }, '*')).json.version, 4)
    const stale = await service.manage('DELETE', path(project, '/news'), { headers: { 'if-match': '"1"' } })
    assert.equal(stale.status, 409)
  })

  it('of many who save over the same version one wins', async () => {
    const project = await service.project()
    await save(project, news)
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => save(project, { ...news, name: `N${index}` }, '"1"'))
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
  })

  it('creates an id where none is given, and fills in defaults', async () => {
    const project = await service.project()
    const { campaign_id, type, status, segment } = (
      await service.manage('POST', path(project), { json: { name: 'N', message: { body: 'b' } } })
    ).json
    assert.match(campaign_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    assert.deepEqual([type, status, segment], ['api_triggered', 'draft', { all: [] }])
  })

  it('lists newest first, page by page, and by status', async () => {
    const project = await service.project()
    for (const id of ['a', 'b', 'c']) await givenCampaign(service, project, { campaign_id: id })
    await service.manage('DELETE', path(project, '/b'))
    const first = (await service.manage('GET', path(project, '?limit=2'))).json
    assert.deepEqual(
      first.items.map(({ campaign_id }: Json) => campaign_id),
      ['c', 'b']
    )
    const second = (await service.manage('GET', path(project, `?limit=2&cursor=${first.next_cursor}`))).json
    assert.deepEqual([second.items.map((one: Json) => one.campaign_id), second.next_cursor], [['a'], null])
    const active = (await service.manage('GET', path(project, '?status=active'))).json.items
    assert.deepEqual(
      active.map(({ campaign_id }: Json) => campaign_id),
      ['c', 'a']
    )
  })

  it('writes down who changed what', async () => {
    const project = await service.project()
    await save(project, news)
    await save(project, { ...news, name: 'B' })
    await save(project, { ...news, name: 'B' })
    await service.manage('DELETE', path(project, '/news'))
    const entries = (await service.manage('GET', `/projects/${project.id}/audit`)).json.items
    assert.deepEqual(
      entries
        .filter(({ action }: Json) => action.startsWith('campaign.'))
        .map(({ action, target, details }: Json) => [action, target, details.version]),
      [
        ['campaign.archive', 'news', 3],
        ['campaign.update', 'news', 2],
        ['campaign.create', 'news', 1]
      ]
    )
  })
})

describe('/manage/v1/projects/{id}/campaigns refuses', () => {
  const wrong: [string, Json, string, string][] = [
    ['no name', { name: undefined }, 'invalid_campaign', 'name'],
    ['an unknown type', { type: 'weekly' }, 'invalid_campaign', 'type'],
    ['no message', { message: undefined }, 'invalid_campaign', 'message'],
    [
      'a segment of an unknown operator',
      { segment: { attribute: 'user.a', operator: 'like', value: 1 } },
      'invalid_segment',
      'segment.operator'
    ],
    [
      'a regular expression PostgreSQL refuses',
      { segment: { attribute: 'user.a', operator: 'matches', value: '(' } },
      'invalid_segment',
      'segment.value'
    ],
    ['a template that cannot be read', { message: { title: '{% if %}' } }, 'invalid_template', 'message.title'],
    [
      'a default audience with a bad target',
      { default_audience: { targets: [{ device_id: 'x'.repeat(300) }] } },
      'invalid_campaign',
      'default_audience.targets[0].device_id'
    ],
    ['an id that is not the one of the path', { campaign_id: 'other' }, 'invalid_campaign_id', 'campaign_id'],
    [
      'quiet hours in no time zone',
      { quiet_hours: { from: '22:00', to: '08:00', timezone: 'Mars/Base' } },
      'invalid_campaign',
      'quiet_hours.timezone'
    ]
  ]
  for (const [name, change, code, place] of wrong) {
    it(`${name}, and names the place`, async () => {
      const project = await service.project()
      const reply = await save(project, { ...news, ...change })
      assert.equal(reply.status, 400, reply.text)
      assert.equal(reply.json.code, code, reply.text)
      assert.equal(reply.json.details[0].path, place)
      assert.equal((await service.manage('GET', path(project, '/news'))).status, 404)
    })
  }

  it('bodies that are no object, ids that are none, a campaign that is there already, and viewers', async () => {
    const project = await service.project()
    for (const body of ['[]', '"x"', 'null', '{', '']) {
      const reply = await service.manage('POST', path(project), {
        body,
        headers: { 'content-type': 'application/json' }
      })
      assert.equal(reply.status, 400, body)
    }
    assert.equal((await save(project, news, undefined, '%20')).status, 400)
    await save(project, news)
    assert.equal((await service.manage('POST', path(project), { json: news })).status, 409)
    const { token } = (
      await service.manage('POST', '/tokens', { json: { name: 'v', role: 'viewer', project_id: project.id } })
    ).json
    const asViewer = (method: string, rest: string, json?: Json) =>
      service.ask(method, `/manage/v1${path(project, rest)}`, {
        headers: { authorization: `Bearer ${token}` },
        ...(json && { json })
      })
    assert.equal((await asViewer('GET', '/news')).status, 200)
    assert.equal((await asViewer('PUT', '/news', news)).status, 403)
    assert.equal((await asViewer('DELETE', '/news')).status, 403)
  })

  it('keeps tenants apart', async () => {
    const [one, two] = [await service.project(), await service.project()]
    await save(one, news)
    assert.equal((await service.manage('GET', path(two, '/news'))).status, 404)
    assert.equal((await service.manage('DELETE', path(two, '/news'))).status, 404)
    assert.equal((await save(two, { ...news, name: 'Mine' })).json.version, 1)
    assert.equal((await service.manage('GET', path(one, '/news'))).json.name, 'News')
  })
})
