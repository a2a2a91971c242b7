import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()

/** A project with a phone of `ana`, and the calls of these tests. */
async function withPhone(platform: string, more: Json = {}) {
  const project = await service.project({ mode: 'simulator' })
  return { project, ...(await phoneIn(project, platform, more)) }
}

async function phoneIn(project: TestProject, platform: string, more: Json = {}) {
  const simulator = (method: string, path: string, json?: Json) =>
    service.manage(method, `/projects/${project.id}/simulator${path}`, json === undefined ? {} : { json })
  const json = { platform, project_user_id: 'ana', device_id: 'phone', ...more }
  const made = await simulator('POST', '/devices', json)
  assert.equal(made.status, 201, made.text)
  const id = made.json.id as string
  return {
    simulator,
    change: async (json: Json) => (await simulator('PATCH', `/devices/${id}`, json)).json.phone as Json,
    screen: async () => (await simulator('GET', `/devices/${id}`)).json.phone as Json,
    send: async (item: Json) => {
      const push = { target: { project_user_id: json.project_user_id }, ...item }
      const reply = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } })
      assert.equal(reply.status, 200, reply.text)
      return reply.json.delivery_results[0] as Json
    }
  }
}

const titles = ({ notifications }: Json) => notifications.map(({ title }: Json) => title)

describe('a simulated phone', { concurrency: 4 }, () => {
  it('shows notifications, newest first, and reports each as an app does', async () => {
    const { project, send, screen } = await withPhone('IOS')
    const { message_id } = await send({ title: 'one' })
    await send({ title: 'two', collapse_key: 'c' })
    await send({ title: 'three', collapse_key: 'c' })
    assert.deepEqual(titles(await screen()), ['three', 'one'], 'a push replaces one of the same collapse key')
    await eventually(async () => {
      const { json } = await project.call('GET', `/api/v1/messages/${message_id}`)
      assert.ok(json.devices[0].delivered_at, JSON.stringify(json))
    })
  })

  it('reports a tap and a pressed button, and shows neither any more', async () => {
    const { project, send, screen, simulator } = await withPhone('ANDROID')
    const actions = [{ id: 'later', title: 'Later', landing_url: 'https://shop.example/later' }]
    const { message_id } = await send({ title: 'Sale', landing_url: 'https://shop.example', actions })
    await send({ title: 'News' })
    const [news, sale] = (await screen()).notifications
    assert.deepEqual(sale.buttons, actions)
    const wrong = await simulator('POST', `/inbox/${sale.id}:tap`, { action: 'never' })
    assert.deepEqual([wrong.status, wrong.json.error], [400, 'action: must be one of later'])
    const pressed = await simulator('POST', `/inbox/${sale.id}:tap`, { action: 'later' })
    assert.deepEqual(pressed.json, { landing_url: 'https://shop.example/later', message_id })
    assert.equal((await simulator('POST', `/inbox/${news.id}:dismiss`)).status, 200)
    assert.deepEqual(titles(await screen()), [])
    assert.equal((await simulator('POST', `/inbox/${sale.id}:tap`, {})).status, 409, 'it is no longer shown')
    const { json } = await service.manage('GET', `/projects/${project.id}/events?project_user_id=ana`)
    const taps = json.items.filter(({ name }: Json) => name === 'PUSH_NOTIFICATION_TAPPED')
    assert.deepEqual(
      taps.map(({ message_id, properties }: Json) => [message_id, properties]),
      [[message_id, { action: 'later' }]]
    )
  })

  it('that denies pushes is registered as not reachable; a browser also loses its subscription', async () => {
    const { send, change, simulator } = await withPhone('WEB')
    await change({ push_permission: false })
    assert.match((await send({ title: 'no' })).additional_params.failure_reason, /NO_PUSH_TOKEN/)
    assert.equal((await simulator('GET', '/devices/phone')).json.is_push_permission_granted, false)
    await change({ push_permission: true })
    assert.equal((await send({ title: 'yes' })).status, 'DELIVERY_RESULT_STATUS_SUCCEED')
  })

  it('without its app has dead tokens at the gateway, and new ones when the app is back', async () => {
    for (const platform of ['IOS', 'ANDROID', 'WEB']) {
      const { send, change, screen } = await withPhone(platform)
      await send({ title: 'before' })
      const gone = await change({ installed: false })
      assert.deepEqual([gone.installed, titles(gone)], [false, []], platform)
      assert.match((await send({ title: 'lost' })).additional_params.failure_reason, /UNREGISTERED/, platform)
      assert.equal((await change({ installed: true })).installed, true)
      assert.equal((await send({ title: 'after' })).status, 'DELIVERY_RESULT_STATUS_SUCCEED', platform)
      assert.deepEqual(titles(await screen()), ['after'])
    }
  })

  it('can be removed with its device', async () => {
    const { simulator, send, screen } = await withPhone('IOS')
    await send({ title: 'one' })
    assert.equal((await simulator('DELETE', '/devices/phone')).status, 200)
    assert.equal((await simulator('GET', '/devices/phone')).status, 404)
    await simulator('POST', '/devices', { platform: 'IOS', device_id: 'phone', project_user_id: 'ana' })
    assert.deepEqual(titles(await screen()), [], 'a new phone of the same id starts empty')
  })
})

describe('a simulated phone that is offline', { concurrency: 4 }, () => {
  it('of Apple gets the newest push of the app when it is back, unless it has expired', async () => {
    const { project, send, change, screen } = await withPhone('IOS')
    assert.equal((await change({ online: false })).online, false)
    for (const title of ['one', 'two']) await send({ title })
    const last = await send({ title: 'three' })
    assert.equal(last.status, 'DELIVERY_RESULT_STATUS_SUCCEED', 'a gateway accepts pushes for a phone that is offline')
    const waiting = await screen()
    assert.deepEqual([titles(waiting), waiting.held], [[], 1])
    assert.deepEqual(titles(await change({ online: true })), ['three'])
    await eventually(async () => {
      const { json } = await project.call('GET', `/api/v1/messages/${last.message_id}`)
      assert.ok(json.devices[0].delivered_at)
    })
    await change({ online: false })
    await send({ title: 'short' })
    assert.equal((await screen()).held, 1)
    await service.sql(`update simulator_inbox set held_until = now() where project_id = $1 and phone = 'held'`, [
      project.id
    ])
    assert.deepEqual(titles(await change({ online: true })), ['three'])
  })

  it('of Google gets every push, but of one collapse key the newest, and none of more than a hundred', async () => {
    const { project, send, change, screen } = await withPhone('ANDROID')
    await change({ online: false })
    for (const title of ['one', 'two']) await send({ title })
    for (const title of ['old score', 'new score']) await send({ title, collapse_key: 'score' })
    assert.equal((await screen()).held, 3)
    assert.deepEqual(titles(await change({ online: true })), ['new score', 'two', 'one'])
    await change({ online: false })
    const many = (from: number) =>
      Array.from({ length: 50 }, (_, n) => ({ target: { project_user_id: 'ana' }, title: `push ${from + n}` }))
    for (const push_notifications of [many(0), many(50)])
      await project.call('POST', '/api/v1/messages:send', { json: { push_notifications } })
    await eventually(async () => assert.equal((await screen()).held, 100))
    await send({ title: 'one too many' })
    assert.equal((await screen()).held, 0)
    assert.deepEqual(titles(await change({ online: true })), ['new score', 'two', 'one'])
  })

  it('of a browser gets every push of the time to live, and of one topic the newest', async () => {
    const { send, change } = await withPhone('WEB')
    await change({ online: false })
    await send({ title: 'one' })
    for (const title of ['old', 'new']) await send({ title, collapse_key: 'topic' })
    assert.deepEqual(titles(await change({ online: true })), ['new', 'one'])
  })

  it('cannot report a tap', async () => {
    const { send, change, screen, simulator } = await withPhone('IOS')
    await send({ title: 'here' })
    await change({ online: false })
    const [shown] = (await screen()).notifications
    const refused = await simulator('POST', `/inbox/${shown.id}:tap`, {})
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'])
    assert.equal((await simulator('POST', `/inbox/${shown.id}:dismiss`)).status, 200)
  })
})

describe('a Live Activity on a simulated phone', { concurrency: 4 }, () => {
  const activity = (target: Json) => ({
    target,
    attributes_type: 'DeliveryActivityAttributes',
    attributes: {},
    content_state: { minutes: 20, courier: 'Bo' }
  })
  const act = async (project: TestProject, verb: string, item: Json): Promise<Json> => {
    const reply = await project.call('POST', `/api/v1/live-activities:${verb}`, { json: { live_activities: [item] } })
    assert.equal(reply.status, 200, reply.text)
    return reply.json.delivery_results[0]
  }

  it('starts, is updated with the token that the phone reported, and ends, without a page that watches', async () => {
    const { project, screen, change } = await withPhone('IOS')
    const { message_id } = await act(project, 'start', activity({ project_user_id: 'ana' }))
    const shown = (await screen()).activities
    assert.deepEqual(shown[0].state, { minutes: 20, courier: 'Bo' })
    const update = (minutes: number) => ({ activity_id: message_id, content_state: { minutes } })
    await eventually(async () =>
      assert.equal((await act(project, 'update', update(5))).status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    )
    assert.deepEqual((await screen()).activities[0].state, { minutes: 5, courier: 'Bo' })
    await change({ online: false })
    await act(project, 'update', update(3))
    await act(project, 'update', update(1))
    assert.equal((await screen()).activities[0].state.minutes, 5, 'an offline phone does not change')
    assert.equal((await change({ online: true })).activities[0].state.minutes, 1)
    await act(project, 'end', { activity_id: message_id, content_state: { minutes: 0 } })
    assert.deepEqual((await screen()).activities, [])
  })

  it('that listens to a channel follows broadcasts; an offline phone gets the newest if the channel stores it', async () => {
    for (const [storage, later] of [
      ['most_recent', 2],
      ['none', 0]
    ] as const) {
      const { project, screen, change } = await withPhone('IOS')
      const body = { attributes_type: 'DeliveryActivityAttributes', storage }
      const channel = await project.call('POST', '/api/v1/live-activity-channels', { json: body })
      const { channel_id } = channel.json
      await act(project, 'start', { ...activity({ project_user_id: 'ana' }), content_state: { home: 0 }, channel_id })
      assert.deepEqual((await screen()).activities[0].state, { home: 0 })
      const broadcast = (home: number) =>
        project.call('POST', `/api/v1/live-activity-channels/${channel_id}:update`, {
          json: { content_state: { home } }
        })
      await change({ online: false })
      for (const home of [1, 2]) assert.equal((await broadcast(home)).status, 200)
      assert.equal((await screen()).activities[0].state.home, 0)
      assert.equal((await change({ online: true })).activities[0].state.home, later, storage)
      await broadcast(3)
      assert.equal((await screen()).activities[0].state.home, 3)
      await project.call('POST', `/api/v1/live-activity-channels/${channel_id}:end`, { json: { content_state: {} } })
      assert.deepEqual((await screen()).activities, [])
    }
  })
})

describe('the list of simulated phones', { concurrency: 4 }, () => {
  it('is searched, filtered and paged, and knows which phones something was just sent to', async () => {
    const project = await service.project({ mode: 'simulator' })
    const { simulator, send, change } = await phoneIn(project, 'IOS', { device_id: 'first', project_user_id: 'Zoë' })
    for (let n = 0; n < 5; n++)
      await simulator('POST', '/devices', { platform: 'ANDROID', device_id: `more-${n}`, project_user_id: 'bo' })
    const list = async (query: string) => {
      const { json } = await simulator('GET', `/devices?${query}`)
      return { ids: json.items?.map(({ id }: Json) => id), next: json.next_cursor, json }
    }
    const { ids, next } = await list('limit=4')
    assert.deepEqual(ids, ['more-4', 'more-3', 'more-2', 'more-1'])
    assert.deepEqual((await list(`limit=4&cursor=${next}`)).ids, ['more-0', 'first'])
    assert.deepEqual((await list('search=MORE-1')).ids, ['more-1'])
    assert.deepEqual((await list(`search=${encodeURIComponent('zo')}`)).ids, ['first'])
    assert.deepEqual((await list('platform=IOS')).ids, ['first'])
    assert.equal((await list('project_user_id=bo')).ids.length, 5)
    assert.deepEqual((await list('recent=true')).ids, [])
    await send({ title: 'Hello' })
    const recent = await list('recent=true')
    assert.deepEqual([recent.ids, titles(recent.json.items[0].phone)], [['first'], ['Hello']])
    assert.deepEqual((await list('recent=true&platform=ANDROID')).ids, [])
    await change({ online: false })
    await simulator('PATCH', '/devices/more-0', { push_permission: false })
    await simulator('PATCH', '/devices/more-1', { installed: false })
    assert.deepEqual((await list('state=offline')).ids, ['first'])
    assert.deepEqual((await list('state=denied')).ids, ['more-0'])
    assert.deepEqual((await list('state=uninstalled')).ids, ['more-1'])
    assert.deepEqual((await list('state=reachable')).ids, ['more-4', 'more-3', 'more-2'])
    for (const bad of ['state=asleep', 'platform=TV', 'limit=0', 'search=', 'cursor=x', 'recent=maybe'])
      assert.equal((await list(bad)).json.code, 'invalid_parameter', bad)
  })

  it('belongs to one project; a viewer sees it and changes nothing', async () => {
    const { project, simulator, send, screen } = await withPhone('IOS')
    await send({ title: 'ours' })
    const [shown] = (await screen()).notifications
    const other = await service.project({ mode: 'simulator' })
    const elsewhere = (method: string, path: string, json: Json) =>
      service.manage(method, `/projects/${other.id}/simulator${path}`, { json })
    assert.equal((await elsewhere('PATCH', '/devices/phone', { online: false })).status, 404)
    assert.equal((await elsewhere('POST', `/inbox/${shown.id}:tap`, {})).status, 404)
    await elsewhere('DELETE', '/devices/phone', {})
    assert.deepEqual(titles(await screen()), ['ours'])
    const viewer = await service.manage('POST', '/tokens', {
      json: { name: 'v', role: 'viewer', project_id: project.id }
    })
    const headers = { authorization: `Bearer ${viewer.json.token}` }
    const at = `/manage/v1/projects/${project.id}/simulator`
    assert.equal((await service.ask('GET', `${at}/devices`, { headers })).status, 200)
    assert.equal((await service.ask('PATCH', `${at}/devices/phone`, { headers, json: { online: false } })).status, 403)
    assert.equal((await service.ask('DELETE', `${at}/devices/phone`, { headers })).status, 403)
    assert.equal((await service.ask('POST', `${at}/inbox/${shown.id}:tap`, { headers, json: {} })).status, 403)
    const live = await service.project({ mode: 'live' })
    const refused = await service.manage('GET', `/projects/${live.id}/simulator/devices`)
    assert.deepEqual([refused.status, refused.json.code], [409, 'project_is_live'])
    for (const json of [{}, { online: 'no' }, { color: 'red' }])
      assert.equal((await simulator('PATCH', '/devices/phone', json)).status, 400, JSON.stringify(json))
  })
})

describe('a push at a simulated gateway', () => {
  it('is found by its message, with the response, its time and no token', async () => {
    const { project, simulator, send } = await withPhone('ANDROID')
    const { message_id } = await send({ title: 'one' })
    await send({ title: 'two' })
    const { items } = (await simulator('GET', `/inbox?message_id=${message_id}`)).json
    assert.deepEqual(
      items.map(({ title }: Json) => title),
      ['one']
    )
    const [{ id, answer, request }] = items
    assert.deepEqual((await simulator('GET', `/inbox/${id}`)).json, items[0])
    assert.equal((await simulator('GET', '/inbox/unknown')).status, 404)
    assert.match(answer.body, /projects\/.*\/messages\//)
    assert.ok(answer.took_ms >= 0)
    const [{ token }] = await service.sql('select token from push_tokens where project_id = $1', [project.id])
    assert.ok(!JSON.stringify(items).includes(token))
    assert.equal(request.payload.message.token, `${token.slice(0, 12)}…`)
  })
})
