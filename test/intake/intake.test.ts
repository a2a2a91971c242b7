import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Analytics } from '@segment/analytics-node'
import { ask, type Json } from '../support/http.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()

async function open(): Promise<TestProject> {
  const project = await service.project()
  const changed = await service.manage('PATCH', `/projects/${project.id}`, { json: { intake: true } })
  assert.equal(changed.json.intake, true, changed.text)
  return project
}
const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` })
const post = (project: TestProject, path: string, json: Json, headers: Record<string, string> = {}) =>
  ask(service.url, 'POST', `/v1${path}`, { json, headers: { ...basic(project.publicKey), ...headers } })
const manage = async (project: TestProject, path: string) =>
  (await service.manage('GET', `/projects/${project.id}${path}`)).json
const userOf = (project: TestProject, id: string) => manage(project, `/users/${id}`)
const eventsOf = async (project: TestProject, query = ''): Promise<Json[]> =>
  (await manage(project, `/events${query}`)).items
const deviceOf = (project: TestProject, id: string) => manage(project, `/devices/${id}`)

/** Turns the verification of identities on. Returns a token of ana. */
async function verifies(project: TestProject): Promise<string> {
  const path = `/projects/${project.id}`
  const { secret } = (await service.manage('POST', `${path}/identity-secret:rotate`, { json: {} })).json
  await service.manage('PATCH', path, { json: { identity_verification: true } })
  const part = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'HS256' })}.${part({ sub: 'ana', exp: Math.floor(Date.now() / 1000) + 60 })}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

/** A batch as the Swift SDK documents it: its key in the body, its own clock, the phone in the context. */
const phone = (more: Json = {}, context: Json = {}) => ({
  messageId: crypto.randomUUID(),
  anonymousId: 'A1B2',
  timestamp: new Date().toISOString(),
  context: {
    app: { name: 'Shop', version: '2.1', build: '7', namespace: 'com.example.shop' },
    device: { id: 'vendor-1', manufacturer: 'Apple', model: 'iPhone17,1', type: 'ios', token: 'aa'.repeat(32) },
    library: { name: 'analytics-swift', version: '1.9.1' },
    locale: 'pt-BR',
    os: { name: 'iOS', version: '19.0' },
    timezone: 'America/Sao_Paulo',
    ...context
  },
  integrations: {},
  ...more
})

describe('the intake of analytics SDKs', () => {
  it('is off by default, and says where it is turned on', async () => {
    const project = await service.project()
    const refused = await post(project, '/track', { userId: 'ana', event: 'Seen' })
    assert.deepEqual([refused.status, refused.json.code], [403, 'intake_off'])
    assert.match(refused.json.error, /turn intake on/)
  })

  it('refuses a wrong key, a secret key and no key, and keeps projects apart', async () => {
    const [one, other] = [await open(), await open()]
    const track = { userId: 'ana', event: 'Seen' }
    for (const headers of [basic('svc_pk_wrong'), basic(one.secretKey), basic('')])
      assert.equal((await ask(service.url, 'POST', '/v1/track', { json: track, headers })).status, 401)
    assert.equal((await ask(service.url, 'POST', '/v1/track', { json: track })).status, 401)
    assert.equal(
      (await ask(service.url, 'POST', '/v1/track', { json: { ...track, writeKey: 'svc_pk_x' } })).status,
      401
    )
    assert.equal((await post(one, '/track', track)).text, '{"success":true}')
    assert.equal((await eventsOf(one)).length, 1)
    assert.equal((await eventsOf(other)).length, 0)
  })

  it('stores what @segment/analytics-node sends, unmodified', async () => {
    const project = await open()
    const analytics = new Analytics({ writeKey: project.publicKey, host: service.url, maxRetries: 0 })
    const failures: unknown[] = []
    analytics.on('error', (error) => failures.push(error))
    analytics.identify({ userId: 'ana', traits: { plan: 'premium', age: 31, address: { city: 'Rome' }, tags: ['a'] } })
    analytics.track({ userId: 'ana', event: 'Order Completed', properties: { total: 42, items: [{ sku: 'x' }] } })
    analytics.page({ userId: 'ana', name: 'Home', properties: { path: '/' } })
    analytics.screen({ anonymousId: 'visitor', name: 'Start' })
    analytics.group({ userId: 'ana', groupId: 'acme', traits: { seats: 5 } })
    analytics.alias({ userId: 'bo', previousId: 'visitor' })
    await analytics.closeAndFlush()
    assert.deepEqual(failures, [])
    const { properties } = await userOf(project, 'ana')
    assert.deepEqual(properties, { plan: 'premium', age: 31, address_city: 'Rome', group_id: 'acme', group_seats: 5 })
    const events = await eventsOf(project)
    assert.deepEqual(
      events.map(({ name, project_user_id, properties }) => [name, project_user_id, properties]).sort(),
      [
        ['Order Completed', 'ana', { total: 42, items: [{ sku: 'x' }] }],
        ['page', 'ana', { name: 'Home', path: '/' }],
        ['screen', 'bo', { name: 'Start' }]
      ]
    )
  })

  it('registers a phone with its token, and moves its anonymous history to the user who logs in', async () => {
    const project = await open()
    const sentAt = new Date().toISOString()
    const send = (...batch: Json[]) =>
      ask(service.url, 'POST', '/v1/b', { json: { batch, sentAt, writeKey: project.publicKey } })
    assert.equal((await send(phone({ type: 'track', event: 'Opened' }))).text, '{"success":true}')
    const before = await deviceOf(project, 'A1B2')
    assert.equal(before.project_user_id, null)
    assert.deepEqual(
      [before.platform, before.push.type, before.push.app_identifier, before.locale_language, before.locale_region],
      ['IOS', 'APNS', 'com.example.shop', 'pt', 'BR']
    )
    assert.deepEqual(
      [before.timezone, before.os_version, before.app_version, before.sdk_type],
      ['America/Sao_Paulo', '19.0', '2.1', 'analytics-swift']
    )
    await send(phone({ type: 'identify', userId: 'ana', traits: { plan: 'free' } }))
    assert.equal((await deviceOf(project, 'A1B2')).project_user_id, 'ana')
    assert.deepEqual(
      (await eventsOf(project)).map(({ name, project_user_id }) => [name, project_user_id]),
      [['Opened', 'ana']]
    )
    // A log-out gives the phone a new anonymous id; the token goes with it.
    await send(phone({ type: 'track', event: 'Opened', anonymousId: 'C3D4' }))
    assert.equal((await deviceOf(project, 'A1B2')).push, null)
    const after = await deviceOf(project, 'C3D4')
    assert.deepEqual([after.project_user_id, after.push.type], [null, 'APNS'])
  })

  it('reads the compressed batch of the Kotlin SDK', async () => {
    const project = await open()
    const context = {
      device: { id: 'x', manufacturer: 'Google', model: 'Pixel 9', type: 'android', token: 'fcm:token-1' },
      library: { name: 'analytics-kotlin', version: '1.19.0' },
      os: { name: 'Android', version: '16' }
    }
    const batch = [phone({ type: 'screen', name: 'Cart', userId: 'kim', anonymousId: 'k-1' }, context)]
    const reply = await fetch(`${service.url}/v1/b`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip', ...basic(project.publicKey) },
      body: gzipSync(JSON.stringify({ batch, sentAt: new Date().toISOString() }))
    })
    assert.deepEqual([reply.status, await reply.json()], [200, { success: true }])
    const device = await deviceOf(project, 'k-1')
    assert.deepEqual([device.platform, device.push.type, device.project_user_id], ['ANDROID', 'FCM', 'kim'])
  })

  it('stores a message once by its messageId, at its time by our clock', async () => {
    const project = await open()
    const wrongClock = Date.now() + 3_600_000
    const track = {
      messageId: 'm-1',
      userId: 'ana',
      event: 'Paid',
      timestamp: new Date(wrongClock - 60_000).toISOString(),
      sentAt: new Date(wrongClock).toISOString()
    }
    for (let n = 0; n < 3; n++) assert.equal((await post(project, '/t', track)).status, 200)
    const [event, ...more] = await eventsOf(project)
    assert.deepEqual(more, [])
    const age = Date.now() - new Date(event.at).getTime()
    assert.ok(age >= 60_000 && age < 90_000, `the event is ${age} ms old`)
  })

  it('drops bad messages alone, and names them in a header', async () => {
    const project = await open()
    const batch = [
      { type: 'track', userId: 'ana', event: 'Good' },
      { type: 'track', event: 'of no user' },
      { type: 'dance', userId: 'ana' },
      'text',
      null,
      { type: 'track', userId: 'ana' },
      { type: 'track', userId: 'x'.repeat(600), event: 'Long' },
      { type: 'identify', userId: 'ana', traits: { ok: 1, list: [1] } },
      { type: 'alias', userId: 'ana' }
    ]
    const reply = await post(project, '/batch', { batch })
    assert.deepEqual([reply.status, reply.text], [200, '{"success":true}'])
    assert.match(
      reply.headers['x-service-warning'] as string,
      /^8 of 9 not stored in full: \[1\] userId or anonymousId/
    )
    assert.deepEqual(
      (await eventsOf(project)).map(({ name }) => name),
      ['Good']
    )
    assert.deepEqual((await userOf(project, 'ana')).properties, { ok: 1 })
    const scrape = await (await fetch(`${service.url}/metrics`)).text()
    assert.match(scrape, /tidings_intake_messages_total\{outcome="dropped"\} [1-9]/)
    for (const json of [{}, { batch: 'x' }, []]) assert.equal((await post(project, '/batch', json)).status, 400)
  })

  it('merges anonymous users only', async () => {
    const project = await open()
    await post(project, '/identify', { userId: 'ana', anonymousId: 'v1', traits: { a: 1 } })
    const alias = await post(project, '/alias', { userId: 'bo', previousId: 'v1' })
    assert.equal(alias.status, 200)
    assert.match(alias.headers['x-service-warning'] as string, /no anonymous user/)
    assert.equal((await deviceOf(project, 'v1')).project_user_id, 'ana')
  })

  it('takes messages of the proven user and of anonymous ones only, where identities are verified', async () => {
    const project = await open()
    const token = await verifies(project)
    const batch = [
      { type: 'identify', userId: 'ana', traits: { plan: 'free' } },
      { type: 'identify', userId: 'bo', traits: { plan: 'free' } },
      { type: 'identify', anonymousId: 'v', traits: { plan: 'free' } },
      { type: 'track', anonymousId: 'v', event: 'Seen' }
    ]
    const bare = await post(project, '/batch', { batch })
    assert.match(bare.headers['x-service-warning'] as string, /^3 of 4 .*X-Service-User-Token: must be given/)
    const proven = await post(project, '/batch', { batch }, { 'x-service-user-token': token })
    assert.match(proven.headers['x-service-warning'] as string, /^2 of 4 .*belongs to another user/)
    assert.equal((await userOf(project, 'ana')).properties.plan, 'free')
    assert.equal((await service.manage('GET', `/projects/${project.id}/users/bo`)).status, 404)

    // The device decides whose event it is if the message names no user.
    const login = [{ type: 'identify', userId: 'ana', anonymousId: 'phone' }]
    await post(project, '/batch', { batch: login }, { 'x-service-user-token': token })
    await project.call('POST', '/api/v1/devices', { json: { devices: [{ id: 'bos', platform: 'WEB' }] } })
    await project.call('POST', '/api/v1/devices/bos/user/project-user-id', { json: { project_user_id: 'bo' } })
    const events = [
      { type: 'track', anonymousId: 'v', event: 'Anonymous' },
      { type: 'track', anonymousId: 'phone', event: 'Of ana' },
      { type: 'screen', anonymousId: 'bos', name: 'Of bo' }
    ]
    const dropped = await post(project, '/batch', { batch: events })
    assert.match(dropped.headers['x-service-warning'] as string, /^2 of 3 .*\[1\] X-S.*: must be given: .*; \[2\] X-S/)
    const kept = await post(project, '/batch', { batch: events }, { 'x-service-user-token': token })
    assert.match(kept.headers['x-service-warning'] as string, /^1 of 3 .*: \[2\] X-S.* belongs to another user/)
    const names = (await eventsOf(project)).map(({ name, project_user_id }) => [name, project_user_id])
    assert.deepEqual(names.filter(([name]) => name !== 'Seen').sort(), [
      ['Anonymous', null],
      ['Anonymous', null],
      ['Of ana', 'ana']
    ])
  })

  it('changes no device of a user whom the caller did not prove to be, where identities are verified', async () => {
    const project = await open()
    const token = await verifies(project)
    const of = (push: string) => ({ device: { type: 'ios', token: push.repeat(64) } })
    const login = [{ type: 'identify', userId: 'ana', anonymousId: 'phone', context: of('a') }]
    await post(project, '/batch', { batch: login }, { 'x-service-user-token': token })
    const event = { type: 'track', anonymousId: 'phone', event: 'Seen', context: of('b') }
    await post(project, '/batch', { batch: [event] })
    assert.equal((await deviceOf(project, 'phone')).push.token_prefix, 'a'.repeat(12))
    await post(project, '/batch', { batch: [event] }, { 'x-service-user-token': token })
    assert.equal((await deviceOf(project, 'phone')).push.token_prefix, 'b'.repeat(12))
  })

  it('takes what happened before a log-in in the same batch, where identities are verified', async () => {
    const project = await open()
    const token = await verifies(project)
    const batch = [
      { type: 'track', anonymousId: 'v', event: 'Before' },
      { type: 'identify', anonymousId: 'v', userId: 'ana' },
      { type: 'track', anonymousId: 'v', event: 'After' }
    ]
    const reply = await post(project, '/batch', { batch }, { 'x-service-user-token': token })
    assert.equal(reply.headers['x-service-warning'], undefined)
    assert.deepEqual((await eventsOf(project)).map(({ name, project_user_id }) => [name, project_user_id]).sort(), [
      ['After', 'ana'],
      ['Before', 'ana']
    ])
  })

  it('gives SDKs their settings, lets pages of other sites send, and ignores figures about SDKs', async () => {
    const project = await open()
    const settings = await ask(service.url, 'GET', `/v1/projects/${project.publicKey}/settings`)
    const { apiKey, apiHost, protocol } = settings.json.integrations['Segment.io']
    assert.deepEqual([apiKey, `${protocol}://${apiHost}`], [project.publicKey, `${service.url}/v1`])
    assert.equal(settings.headers['access-control-allow-origin'], '*')
    assert.equal((await ask(service.url, 'GET', '/v1/projects/svc_pk_none/settings')).status, 401)
    const preflight = await fetch(`${service.url}/v1/t`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example' }
    })
    assert.match(preflight.headers.get('access-control-allow-headers')!, /Authorization/)
    assert.equal((await ask(service.url, 'POST', '/v1/m', { json: { series: [] } })).status, 200)
    assert.equal((await post(project, '/b', { batch: [], pad: 'x'.repeat(1_100_000) })).status, 413)
    const many = Array.from({ length: 1_001 }, () => ({ type: 'track', userId: 'ana', event: 'x' }))
    assert.equal((await post(project, '/b', { batch: many })).status, 413)
    assert.deepEqual(await eventsOf(project), [])
  })
})
