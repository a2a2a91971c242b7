import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, createManagement, createPublicClient, TidingsError } from '../../src/client/client.ts'
import { operations } from '../../src/client/operations.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()

/** The operations that were called, by name. */
const called = new Set<string>()
const patterns = Object.entries(operations).map(([name, [method, path]]) => {
  const pattern = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+?')
  return { name, method, pattern: new RegExp(`^${pattern}$`), isFixed: !path.includes('{') }
})
const recording: typeof fetch = (input, init) => {
  const path = new URL(String(input)).pathname
  const found = patterns.filter(({ method, pattern }) => method === init?.method && pattern.test(path))
  called.add((found.find(({ isFixed }) => isFixed) ?? found[0])!.name)
  return fetch(input, init)
}
const clientOf = ({ id, secretKey }: TestProject) =>
  createClient({ url: service.url, projectId: id, apiKey: secretKey, fetch: recording })

const management = createManagement({ url: service.url, token: service.adminToken })

/** A project of mode simulator with a user, its phone and a campaign. */
async function furnished() {
  const project = await service.project({ mode: 'simulator' })
  const path = { project_id: project.id }
  await management.call('createProjectSimulatorDevice', {
    path,
    body: { platform: 'IOS', device_id: 'phone', project_user_id: 'ana', attributes_types: ['Match'] }
  })
  await management.call('saveProjectCampaign', {
    path: { ...path, campaign_id: 'news' },
    body: { name: 'News', status: 'active', default_audience: { broadcast: true }, message: { title: 'Hello' } }
  })
  return { project, tidings: clientOf(project) }
}

describe('the client', async () => {
  const { project, tidings } = await furnished()
  const app = createPublicClient({
    url: `${service.url}/`,
    projectId: project.id,
    publicKey: project.publicKey,
    fetch: recording
  })

  it('keeps users', async () => {
    const { users } = tidings
    assert.deepEqual(await users.create('a/b ü', { plan: 'free', age: 3 }), { plan: 'free', age: 3 })
    assert.deepEqual(await users.update('a/b ü', { plan: 'premium' }), { plan: 'premium', age: 3 })
    assert.deepEqual(await users.removeProperties('a/b ü', ['age']), { plan: 'premium' })
    assert.deepEqual(await users.get('a/b ü'), { plan: 'premium' })
    assert.equal((await users.changePreferences('a/b ü', { opted_out: true })).opted_out, true)
    assert.equal((await users.preferences('a/b ü')).opted_out, true)
    await users.changePreferences('a/b ü', { opted_out: true, consent: { source: 'call center' } })
    assert.equal((await users.consents('a/b ü'))[0]?.source, 'call center')
    await users.delete('a/b ü')
    await assert.rejects(users.get('a/b ü'), { kind: 'not_found', status: 404, operation: 'getUser' })
  })

  it('saves any number of users, and names those that were refused by their place', async () => {
    const many = Array.from({ length: 1_002 }, (_, number) => ({
      project_user_id: number === 1_001 ? '' : `u${number}`
    }))
    const refused = await tidings.users.save(many)
    assert.deepEqual(
      refused.map(({ index, code }) => [index, code]),
      [[1_001, 'invalid_project_user_id']]
    )
    assert.deepEqual(await tidings.users.get('u1000'), {})
  })

  it('imports users with their devices', async () => {
    const phones = [{ id: 'cy-phone', platform: 'IOS', push_token: 'c0ffee' }, { id: 'cy-pad' }]
    const imported = await tidings.users.import([{ project_user_id: 'cy', devices: phones }])
    assert.deepEqual([imported.users, imported.devices, imported.errors.length], [1, 1, 1])
    assert.equal(imported.errors[0]!.path, 'devices[1].platform')
    await tidings.users.delete('cy')
  })

  it('registers devices and tracks events, with a public key', async () => {
    const [device] = await app.devices.register([{ id: 'browser', platform: 'WEB' }])
    assert.equal(device!.platform, 'WEB')
    await app.devices.logIn('browser', 'ana')
    await app.devices.setUserProperties('browser', { plan: 'free', age: 3 })
    await app.devices.removeUserProperties('browser', ['age'])
    assert.deepEqual(await tidings.users.get('ana'), { plan: 'free' })
    const [first] = await app.events.track([{ device_id: 'browser', name: 'open' }])
    assert.match(first!.id!, /^[0-9a-f]{32}$/)
    assert.equal((await app.devices.changePreferences('browser', { opted_out: false })).opted_out, false)
    assert.equal((await app.devices.preferences('browser')).opted_out, false)
    const token = { attributes_type: 'Match', push_to_start_token: 'a1' }
    await app.devices.registerLiveActivityStartToken('browser', token)
    const running = { attributes_type: 'Match', activity_id: '1', push_token: 'a1' }
    await app.devices.registerLiveActivityUpdateToken('browser', running)
    assert.match(await app.devices.webPushPublicKey(), /^[\w-]{80,}$/)
    await app.devices.logOut('browser')
    await tidings.devices.delete('browser')
  })

  it('sends messages and Live Activities, and repeats none under the same key', async () => {
    const notification = { target: { project_user_id: 'ana' }, title: 'Hello' }
    const options = { idempotencyKey: 'order-1', expandDevices: true }
    const [sent] = await tidings.messages.send([notification], options)
    assert.equal(sent!.status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    assert.equal(sent!.additional_params.devices![0]!.device_id, 'phone')
    const [again] = await tidings.messages.send([notification], options)
    assert.equal(again!.message_id, sent!.message_id)
    await assert.rejects(tidings.messages.send([{ ...notification, title: 'Bye' }], options), {
      kind: 'conflict',
      code: 'idempotency_key_reused',
      advice: 'Use another idempotency key, or send exactly the body of the first call.'
    })
    assert.equal((await tidings.messages.get(sent!.message_id)).devices.length, 1)
    const send_at = new Date(Date.now() + 60_000).toISOString()
    const [later] = await tidings.messages.send([{ ...notification, send_at }])
    assert.equal((await tidings.messages.cancel(later!.message_id)).status, 'DELIVERY_RESULT_STATUS_FAILED')

    const { liveActivities } = tidings
    const target = { project_user_id: 'ana' }
    const start = { target, attributes_type: 'Match', attributes: {}, content_state: { home: 0 } }
    assert.equal((await liveActivities.start([start]))[0]!.status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    const change = { target, attributes_type: 'Match', content_state: { home: 1 } }
    assert.equal((await liveActivities.update([change])).length, 1)
    assert.equal((await liveActivities.end([change])).length, 1)
    const { channels } = liveActivities
    const made = await channels.create({ attributes_type: 'Match', storage: 'none', app: 'com.example.app' })
    assert.equal((await channels.list().toArray()).length, 1)
    assert.ok((await channels.update(made.channel_id, { content_state: { home: 1 } })).message_id)
    assert.ok((await channels.end(made.channel_id, { content_state: { home: 1 } })).message_id)
    assert.equal((await channels.get(made.channel_id)).last_change!.event, 'end')
    await channels.delete(made.channel_id)
  })

  it('triggers campaigns and watches them to their end', async () => {
    const { campaigns, triggers } = tidings
    assert.equal((await campaigns.get('news')).status, 'active')
    assert.deepEqual((await campaigns.list({}).toArray()).length, 1)
    assert.equal((await campaigns.preview('news')).audience.users, 1)
    const id = await campaigns.trigger('news', { audience: { targets: [{ project_user_id: 'ana' }] } })
    const states: string[] = []
    for await (const { state } of triggers.watch(id)) states.push(state)
    assert.equal(states.at(-1), 'completed')
    assert.equal((await triggers.ended(id)).counts.sent, 1)
    assert.equal((await triggers.get(id)).trigger_id, id)
    assert.equal((await triggers.explain(id, 'ana')).devices[0]!.state, 'accepted')
    const soon = new Date(Date.now() + 60_000)
    const scheduled = await campaigns.trigger('news', { send_at: soon.toISOString() })
    assert.equal((await triggers.reschedule(scheduled, new Date(soon.getTime() + 60_000))).state, 'scheduled')
    assert.equal((await triggers.cancel(scheduled)).state, 'canceled')
    assert.equal((await campaigns.stats('news')).totals.sent, 1)
    assert.ok((await tidings.stats()).totals.sent >= 1)
    await assert.rejects(triggers.ended('none'), { kind: 'not_found', operation: 'streamTrigger' })
    await assert.rejects(campaigns.trigger('none'), { code: 'campaign_not_found', kind: 'request', attempts: 1 })
  })

  it('reads lists page by page, as they are iterated', async () => {
    const all = await tidings.messages.list().toArray()
    assert.ok(all.length > 2)
    const ids: string[] = []
    for await (const { message_id } of tidings.messages.list({ limit: 1 })) ids.push(message_id)
    assert.deepEqual(
      ids,
      all.map(({ message_id }) => message_id)
    )
    assert.equal((await tidings.messages.list({ limit: 1 }).toArray(2)).length, 2)
    const page = await tidings.messages.list({ limit: 2 }).page()
    const next = await tidings.messages.list({ limit: 2, cursor: page.next_cursor! }).page()
    assert.deepEqual(
      [...page.items, ...next.items].map((one) => one.message_id),
      ids.slice(0, 4)
    )
    const pages = []
    for await (const one of tidings.triggers.list({ limit: 1 }).pages()) pages.push(one)
    assert.equal(pages.length, 2)
  })

  it('has a method for every endpoint of /api/v1', async () => {
    await tidings.call('getHealth')
    const public_ = Object.entries(operations).filter(([, [, path]]) => path.startsWith('/api/v1/'))
    assert.deepEqual(
      public_.map(([name]) => name).filter((name) => !called.has(name)),
      []
    )
  })
})

describe('a client with a management token', () => {
  it('does the same for any project that the token may see, and every operation by its name', async () => {
    const { project } = await furnished()
    const tidings = createClient({ url: service.url, projectId: project.id, token: service.adminToken })
    assert.deepEqual(await tidings.users.create('bo', { plan: 'free' }), { plan: 'free' })
    const id = await tidings.campaigns.trigger('news')
    assert.equal((await tidings.triggers.ended(id)).state, 'completed')
    const keys = await management.list('listProjectKeys', { path: { project_id: project.id } }).toArray()
    assert.deepEqual(keys.map(({ kind }) => kind).sort(), ['public', 'secret'])
    const names: string[] = []
    for await (const { name } of management.list('listProjects', { query: { limit: 1 } })) names.push(name)
    assert.ok(names.length >= 2)
  })

  it('exports and imports users as text, one to a line', async () => {
    const { project } = await furnished()
    const path = { project_id: project.id }
    const done = await management.call('importProjectUsers', { path, body: '{"project_user_id":"cy"}\n' })
    assert.equal(done.imported, 1)
    assert.match(await management.call('exportProjectUsers', { path }), /"project_user_id":"cy"/)
  })
})

describe('a refusal', () => {
  it('says what was wrong, where, and what to do', async () => {
    const { project } = await furnished()
    const tidings = clientOf(project)
    const error = await tidings.messages.send([{ target: {}, title: 'Hello' }]).catch((reason: unknown) => reason)
    assert.ok(error instanceof TidingsError)
    assert.deepEqual([error.kind, error.status, error.code], ['request', 400, 'invalid_push_notification'])
    assert.match(error.message, /^sendMessages: Invalid push notification parameters: push_notifications\[0\]/)
    assert.match(error.requestId!, /./)
    const message = 'must have exactly one of project_user_id, device_id and user_id'
    assert.deepEqual(error.details, [{ path: 'push_notifications[0].target', message }])
    const wrong = createClient({ url: service.url, projectId: project.id, apiKey: 'svc_sk_wrong' })
    await assert.rejects(wrong.users.get('ana'), {
      kind: 'authentication',
      status: 401,
      message: 'getUser: Invalid API key. Check the project id and the key or token.'
    })
    const app = createClient({ url: service.url, projectId: project.id, apiKey: project.publicKey })
    await assert.rejects(app.users.get('ana'), { kind: 'authentication' })
    const details = management.call('createProject', { body: { name: '' } })
    await assert.rejects(details, (failure: TidingsError) => failure.details[0]?.path === 'name')
  })

  it('names the wrong fields also where the contract fixes the body', async () => {
    const { project, tidings } = await furnished()
    const failed = (call: Promise<unknown>): Promise<TidingsError> =>
      call.then(
        () => assert.fail('it is refused'),
        (error: TidingsError) => error
      )
    const wrong = [{ target: {} }, { target: { project_user_id: 'ana' }, title: 1 }] as never
    const sent = await failed(tidings.messages.send(wrong))
    assert.deepEqual(
      sent.details.map(({ path }) => path),
      ['push_notifications[0].target', 'push_notifications[1].title']
    )
    const created = await failed(tidings.users.create('ana', { größe: [] } as never))
    assert.equal(created.details[0]?.path, 'properties.größe')
    const triggered = await failed(tidings.campaigns.trigger('news', { audience: { targets: [1] } } as never))
    assert.equal(triggered.details[0]?.path, 'audience.targets[0]')
    const unknown = await failed(tidings.campaigns.trigger('none'))
    assert.deepEqual(unknown.details, [], 'a sentence about the whole request names no field')
    const app = createClient({ url: service.url, projectId: project.id, apiKey: project.publicKey })
    const refused = await failed(app.messages.send([{ target: { project_user_id: 'ana' }, title: 'Hi' }]))
    assert.deepEqual(refused.details, [
      { path: 'X-Service-API-Key', message: 'a public key was given; this endpoint needs a secret key' }
    ])
  })

  it('of a name that no operation has names it, and sends nothing', async () => {
    const expected = {
      name: 'TidingsError',
      kind: 'request',
      operation: 'createWebhook',
      attempts: 0,
      message: /^createWebhook: "createWebhook" is not an operation\. \/openapi\.json lists the names\. /
    }
    await assert.rejects(management.call('createWebhook' as never, {} as never), expected)
    await assert.rejects(management.list('createWebhook' as never, {} as never).toArray(), expected)
    await assert.rejects(management.call('toString' as never, {} as never), { name: 'TidingsError' })
  })

  it('of wrong settings comes where they are given', () => {
    const url = 'http://127.0.0.1:1'
    assert.throws(() => createClient({ url: 'localhost', projectId: 'a', apiKey: 'b' }), /url: must be the address/)
    assert.throws(
      () => createClient({ url, projectId: 'a', apiKey: undefined as never }),
      /^TypeError: apiKey or token: must be given, as text\.$/
    )
    assert.throws(() => createClient({ url, projectId: 'a', apiKey: '' }), /^TypeError: apiKey: must be given/)
    assert.throws(() => createClient({ url, projectId: 'a', token: '' }), /^TypeError: token: must be given/)
    assert.throws(() => createPublicClient({ url, projectId: 'a', publicKey: 'svc_sk_1' }), /is a secret key/)
  })
})
