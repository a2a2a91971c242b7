import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, it, type TestContext, test } from 'node:test'
import apn from '@parse/node-apn'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import {
  alert,
  apnsHeaders,
  connect,
  type Headers,
  hexToken,
  providerToken,
  request,
  seconds,
  simulator
} from './client.ts'

const device = (token = hexToken) => `/3/device/${token}`

describe('APNs', () => {
  let sim: Simulator
  before(async () => {
    sim = await startSimulator({ fcm: false, webpush: false, apns: { topics: ['com.example.app'] } })
  })
  after(() => sim.close())

  const send = async (t: TestContext, change: Headers = {}, body: string | Buffer = alert, path = device()) =>
    request(await connect(t, sim.apns!.url, sim.ca), path, await apnsHeaders(sim, change), body)

  it('accepts a push from an independent client over TLS that trusts its authority', async (t) => {
    const { keyId, teamId, privateKey } = sim.credentials.apns
    const provider = new apn.Provider({
      token: { key: privateKey, keyId, teamId },
      address: '127.0.0.1',
      port: sim.apns!.port,
      ca: [sim.ca],
      production: false
    })
    t.after(() => provider.shutdown())
    const note = new apn.Notification({ topic: 'com.example.app', alert: { title: 'From', body: 'afar' } })
    note.pushType = 'alert'
    note.collapseId = 'c1'
    note.payload = { landing_url: 'app://there', message_id: 'm1', image_url: 'https://example.com/a.png' }
    const { sent, failed } = await provider.send(note, hexToken)
    assert.deepEqual([sent.length, failed], [1, []])
    const item = sim.ledger.items().at(-1)!
    assert.deepEqual(
      [item.gateway, item.token, item.title, item.body, item.landing_url, item.message_id, item.image_url],
      ['apns', hexToken, 'From', 'afar', 'app://there', 'm1', 'https://example.com/a.png']
    )
    assert.equal(item.request.headers['apns-collapse-id'], 'c1')
    assert.ok(!JSON.stringify(item).toLowerCase().includes('bearer'), 'no secret is kept')

    const gone = await provider.send(note, 'sim-410-1')
    assert.equal(gone.failed[0]?.response?.reason, 'Unregistered')
  })

  it('responds 200 with the id of the request, or a new one', async (t) => {
    const id = '0190f3a0-0000-7000-8000-000000000001'
    const given = await send(t, { 'apns-id': id })
    assert.deepEqual([given.status, given.body, given.headers['apns-id']], [200, '', id])
    assert.equal(sim.ledger.items().at(-1)!.answer.gateway_message_id, id)
    assert.match(String((await send(t)).headers['apns-id']), /^[0-9a-f-]{36}$/)
  })

  it('speaks cleartext HTTP/2 on the same port, and no HTTP/1.1', async (t) => {
    const session = await connect(t, sim.apns!.clearUrl)
    assert.equal((await request(session, device(), await apnsHeaders(sim), alert)).status, 200)
    await assert.rejects(fetch(`${sim.apns!.clearUrl}${device()}`, { method: 'POST' }))
  })

  const big = (bytes: number) => {
    const frame = JSON.stringify({ aps: { alert: '' } })
    return JSON.stringify({ aps: { alert: 'x'.repeat(bytes - frame.length) } })
  }
  const refusals: [name: string, status: number, reason: string, change: Headers, body?: string, path?: string][] = [
    ['another path', 404, 'BadPath', {}, alert, '/3/devices/ab'],
    ['no token', 400, 'MissingDeviceToken', {}, alert, '/3/device/'],
    ['a token that is not hexadecimal', 400, 'BadDeviceToken', {}, alert, device('xyz')],
    ['a token of odd length', 400, 'BadDeviceToken', {}, alert, device('abc')],
    ['a header twice', 400, 'DuplicateHeaders', { 'apns-custom': ['a', 'b'] }],
    ['no provider token', 403, 'MissingProviderToken', { authorization: undefined }],
    ['a provider token that is none', 403, 'InvalidProviderToken', { authorization: 'bearer a.b.c' }],
    ['no topic', 400, 'MissingTopic', { 'apns-topic': undefined }],
    ['a topic that is none', 400, 'BadTopic', { 'apns-topic': 'what is this' }],
    ['a topic of another app', 400, 'TopicDisallowed', { 'apns-topic': 'com.example.other' }],
    ['a topic without the suffix', 400, 'BadTopic', { 'apns-push-type': 'liveactivity' }],
    ['an unknown push type', 400, 'InvalidPushType', { 'apns-push-type': 'loud' }],
    ['an unknown priority', 400, 'BadPriority', { 'apns-priority': '7' }],
    ['a background push at priority 10', 400, 'BadPriority', { 'apns-push-type': 'background' }],
    ['an expiration that is no time', 400, 'BadExpirationDate', { 'apns-expiration': 'soon' }],
    ['a collapse id of 65 bytes', 400, 'BadCollapseId', { 'apns-collapse-id': 'x'.repeat(65) }],
    ['an id that is no UUID', 400, 'BadMessageId', { 'apns-id': '17' }],
    ['an empty payload', 400, 'PayloadEmpty', {}, ''],
    ['a payload without aps', 400, 'PayloadEmpty', {}, '{"a":1}'],
    ['a payload that is no JSON', 400, 'BadRequestPayload', {}, '{'],
    ['4,097 bytes', 413, 'PayloadTooLarge', {}, big(4_097)],
    [
      '5,121 bytes by VoIP',
      413,
      'PayloadTooLarge',
      { 'apns-push-type': 'voip', 'apns-topic': 'com.example.app.voip' },
      big(5_121)
    ]
  ]
  for (const [name, status, reason, change, body, path] of refusals) {
    it(`refuses ${name} with ${status} ${reason}`, async (t) => {
      const reply = await send(t, change, body, path)
      assert.deepEqual([reply.status, reply.json()], [status, { reason }])
      assert.deepEqual([sim.ledger.items().at(-1)!.answer.reason], [reason])
    })
  }

  it('accepts pushes at the limits', async (t) => {
    assert.equal((await send(t, {}, big(4_096))).status, 200)
    const voip = { 'apns-push-type': 'voip', 'apns-topic': 'com.example.app.voip' }
    assert.equal((await send(t, voip, big(5_120))).status, 200)
    assert.equal((await send(t, { 'apns-collapse-id': 'x'.repeat(64), 'apns-expiration': '0' })).status, 200)
    assert.equal((await send(t, {}, alert, device('ab'.repeat(80)))).status, 200)
  })

  it('refuses another method with 405', async (t) => {
    const session = await connect(t, sim.apns!.url, sim.ca)
    const reply = await request(session, device(), await apnsHeaders(sim), alert, 'PUT')
    assert.deepEqual([reply.status, reply.json()], [405, { reason: 'MethodNotAllowed' }])
  })

  it('checks key, team, age and signature of the provider token', async (t) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const strange = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const cases: [reason: string, change: Parameters<typeof providerToken>[1]][] = [
      ['InvalidProviderToken', { kid: 'OTHERKEY00' }],
      ['InvalidProviderToken', { kid: undefined }],
      ['InvalidProviderToken', { iss: 'OTHERTEAM0' }],
      ['InvalidProviderToken', { key: strange }],
      ['InvalidProviderToken', { iat: seconds() + 600 }],
      ['ExpiredProviderToken', { iat: seconds() - 3_610 }]
    ]
    for (const [reason, change] of cases) {
      const reply = await send(t, { authorization: `bearer ${await providerToken(sim, change)}` })
      assert.deepEqual([reply.status, reply.json()], [403, { reason }], JSON.stringify(change))
    }
    const old = await send(t, { authorization: `bearer ${await providerToken(sim, { iat: seconds() - 3_500 })}` })
    assert.equal(old.status, 200)
  })

  it('refuses a second provider token on a connection within 20 minutes', async (t) => {
    const session = await connect(t, sim.apns!.url, sim.ca)
    const push = async (iat: number) =>
      request(
        session,
        device(),
        await apnsHeaders(sim, { authorization: `bearer ${await providerToken(sim, { iat })}` }),
        alert
      )
    assert.equal((await push(seconds() - 5)).status, 200)
    assert.deepEqual((await push(seconds())).json(), { reason: 'TooManyProviderTokenUpdates' })
  })

  describe('Live Activities', () => {
    const headers = { 'apns-push-type': 'liveactivity', 'apns-topic': 'com.example.app.push-type.liveactivity' }
    const start = {
      timestamp: seconds(),
      event: 'start',
      'attributes-type': 'RideAttributes',
      attributes: { rideId: 'r1' },
      'content-state': { eta: 5 },
      alert: { title: 'Ride', body: 'On its way' }
    }
    const push = (t: TestContext, aps: Record<string, unknown>) => send(t, headers, JSON.stringify({ aps }))

    it('can be started, updated and ended', async (t) => {
      assert.equal((await push(t, start)).status, 200)
      assert.deepEqual([sim.ledger.items().at(-1)!.title, sim.ledger.items().at(-1)!.body], ['Ride', 'On its way'])
      const { timestamp } = start
      assert.equal((await push(t, { timestamp, event: 'update', 'content-state': {} })).status, 200)
      assert.equal((await push(t, { timestamp, event: 'end', 'dismissal-date': timestamp })).status, 200)
    })

    const wrong: [name: string, change: Record<string, unknown>][] = [
      ['no event', { event: undefined }],
      ['no timestamp', { timestamp: undefined }],
      ['a timestamp in milliseconds', { timestamp: Date.now() }],
      ['no state', { 'content-state': undefined }],
      ['no type of attributes', { 'attributes-type': undefined }],
      ['no attributes', { attributes: undefined }],
      ['no alert', { alert: undefined }],
      ['a stale date that is no number', { 'stale-date': 'x' }],
      ['a dismissal date', { 'dismissal-date': 1 }]
    ]
    for (const [name, change] of wrong) {
      it(`refuse a start with ${name}, with the reason`, async (t) => {
        const reply = await push(t, { ...start, ...change })
        assert.deepEqual([reply.status, reply.json()], [400, { reason: 'BadRequestPayload' }])
        assert.match(String(reply.headers['simulator-detail']), /^aps\./)
      })
    }
  })
})

test('APNs allows one stream until it has accepted a push, and one again after a refusal', async (t) => {
  const sim = await simulator(t, { fcm: false, webpush: false })
  const session = await connect(t, sim.apns!.url, sim.ca)
  const limit = () => session.remoteSettings.maxConcurrentStreams
  const changed = () => new Promise((resolve) => session.once('remoteSettings', resolve))
  const headers = await apnsHeaders(sim)
  assert.equal(limit(), 1)
  let next = changed()
  await request(session, device(), headers, alert)
  await next
  assert.equal(limit(), 1_000)
  next = changed()
  await request(session, device('xyz'), headers, alert)
  await next
  assert.equal(limit(), 1)
})

test('a thousand pushes at once are all accepted, and each is in the ledger once', async (t) => {
  const sim = await simulator(t, { fcm: false, webpush: false })
  const session = await connect(t, sim.apns!.url, sim.ca)
  const headers = await apnsHeaders(sim)
  const settings = new Promise((resolve) => session.once('remoteSettings', resolve))
  await request(session, device(), headers, alert)
  await settings
  sim.ledger.clear()
  const tokens = Array.from({ length: 1_000 }, (_, index) => index.toString(16).padStart(64, '0'))
  const replies = await Promise.all(tokens.map((token) => request(session, device(token), headers, alert)))
  assert.ok(replies.every(({ status }) => status === 200))
  assert.deepEqual(
    sim.ledger
      .items()
      .map(({ token }) => token)
      .sort(),
    tokens
  )
})
