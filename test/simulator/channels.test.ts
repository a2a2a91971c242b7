import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import apn from '@parse/node-apn'
import { createApnsCredentials, type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { alert, apnsHeaders, connect, type Headers, hexToken, providerToken, request, seconds } from './client.ts'

const app = 'com.example.app'
const update = JSON.stringify({
  aps: { event: 'update', timestamp: seconds(), 'content-state': { score: 1 } }
})

describe('the two environments of APNs', () => {
  let sim: Simulator
  const sandboxOnly = createApnsCredentials()
  before(async () => {
    const { keyId, teamId, publicKey } = await sandboxOnly
    const keys = [{ keyId, teamId, publicKey, environment: 'sandbox' as const }]
    sim = await startSimulator({ fcm: false, webpush: false, apns: { keys } })
  })
  after(() => sim.close())

  const send = async (t: TestContext, host: 'apns' | 'apnsSandbox', token: string, change: Headers = {}) =>
    request(await connect(t, sim[host]!.url, sim.ca), `/3/device/${token}`, await apnsHeaders(sim, change), alert)

  it('are two hosts, and a token of one is invalid at the other', async (t) => {
    assert.notEqual(sim.apns!.url, sim.apnsSandbox!.url)
    const answers = []
    for (const host of ['apns', 'apnsSandbox'] as const)
      for (const token of ['sim-production-1', 'sim-sandbox-1', hexToken]) {
        const { status, body } = await send(t, host, token)
        answers.push([host, token.slice(0, 8), status, body && JSON.parse(body).reason])
      }
    assert.deepEqual(answers, [
      ['apns', 'sim-prod', 200, ''],
      ['apns', 'sim-sand', 400, 'BadDeviceToken'],
      ['apns', 'abababab', 200, ''],
      ['apnsSandbox', 'sim-prod', 400, 'BadDeviceToken'],
      ['apnsSandbox', 'sim-sand', 200, ''],
      ['apnsSandbox', 'abababab', 200, '']
    ])
  })

  it('refuse a key of the other environment', async (t) => {
    const { keyId: kid, teamId: iss, privateKey: key } = await sandboxOnly
    const authorization = `bearer ${await providerToken(sim, { kid, iss, key })}`
    assert.equal((await send(t, 'apnsSandbox', hexToken, { authorization })).status, 200)
    const refused = await send(t, 'apns', hexToken, { authorization })
    assert.deepEqual([refused.status, refused.json().reason], [403, 'BadEnvironmentKeyIdInToken'])
  })

  it('differ in one header: only the sandbox returns the id of its delivery log', async (t) => {
    assert.equal((await send(t, 'apns', hexToken)).headers['apns-unique-id'], undefined)
    assert.match(String((await send(t, 'apnsSandbox', hexToken)).headers['apns-unique-id']), /^[0-9a-f-]{36}$/)
  })
})

describe('channels of Live Activities', () => {
  let sim: Simulator
  before(async () => {
    sim = await startSimulator({ fcm: false, webpush: false, apns: { topics: [app], channels: {} } })
  })
  after(() => sim.close())

  const manage = async (t: TestContext, method: string, headers: Headers = {}, body?: object, path = 'channels') =>
    request(
      await connect(t, sim.apnsChannels!.url, sim.ca),
      `/1/apps/${app}/${path}`,
      { authorization: `bearer ${await providerToken(sim)}`, ...headers },
      body ? JSON.stringify(body) : '',
      method
    )
  const create = async (t: TestContext, storage = 1) =>
    String(
      (await manage(t, 'POST', {}, { 'message-storage-policy': storage, 'push-type': 'LiveActivity' })).headers[
        'apns-channel-id'
      ]
    )
  const broadcast = async (t: TestContext, headers: Headers, body = update, bundle = app) =>
    request(
      await connect(t, sim.apns!.url, sim.ca),
      `/4/broadcasts/apps/${bundle}`,
      { authorization: `bearer ${await providerToken(sim)}`, 'apns-push-type': 'liveactivity', ...headers },
      body
    )

  it('are created, sent to, read and deleted by an independent client', async (t) => {
    const { keyId, teamId, privateKey } = sim.credentials.apns
    const provider = new apn.Provider({
      token: { key: privateKey, keyId, teamId },
      address: '127.0.0.1',
      port: sim.apns!.port,
      manageChannelsAddress: '127.0.0.1',
      manageChannelsPort: sim.apnsChannels!.port,
      ca: [sim.ca],
      production: true
    } as apn.ProviderOptions)
    t.after(() => provider.shutdown())
    const note = (change: object) => Object.assign(new apn.Notification(), change) as apn.Notification
    const made = await provider.manageChannels(
      note({ rawPayload: { 'message-storage-policy': 1, 'push-type': 'LiveActivity' } }),
      app,
      'create'
    )
    assert.deepEqual(made.failed, [])
    const channelId = (made.sent[0] as unknown as Record<string, string>)['apns-channel-id']!
    const all = await provider.manageChannels(note({}), app, 'readAll')
    assert.deepEqual((all.sent[0] as unknown as Record<string, unknown>).channels, [channelId])
    const sent = await provider.broadcast(
      note({ channelId, pushType: 'liveactivity', expiry: seconds() + 60, rawPayload: JSON.parse(update) }),
      app
    )
    assert.deepEqual(sent.failed, [])
    assert.equal(sim.ledger.items().at(-1)!.request.path, `/4/broadcasts/apps/${app}`)
    assert.deepEqual((await provider.manageChannels(note({ channelId }), app, 'delete')).failed, [])
    assert.deepEqual((await manage(t, 'GET', {}, undefined, 'all-channels')).json(), { channels: [] })
  })

  it('belong to one environment', async (t) => {
    const id = await create(t)
    assert.deepEqual((await manage(t, 'GET', { 'apns-channel-id': id })).json(), {
      'message-storage-policy': 1,
      'push-type': 'LiveActivity'
    })
    const session = await connect(t, sim.apnsSandboxChannels!.url, sim.ca)
    const headers = { authorization: `bearer ${await providerToken(sim)}`, 'apns-channel-id': id }
    const reply = await request(session, `/1/apps/${app}/channels`, headers, '', 'GET')
    assert.deepEqual([reply.status, reply.json()], [400, { reason: 'ChannelNotRegistered' }])
    assert.equal((await manage(t, 'DELETE', { 'apns-channel-id': id })).status, 204)
  })

  it('are refused with the reasons of Apple', async (t) => {
    const body = { 'message-storage-policy': 1, 'push-type': 'LiveActivity' }
    const managed: [reason: string, status: number, reply: ReturnType<typeof manage>][] = [
      ['BadPath', 404, manage(t, 'POST', {}, body, 'canals')],
      ['MethodNotAllowed', 405, manage(t, 'PUT', {}, body)],
      ['InvalidProviderToken', 403, manage(t, 'POST', { authorization: 'bearer x' }, body)],
      ['MissingPushType', 400, manage(t, 'POST', {}, { 'message-storage-policy': 1 })],
      ['InvalidPushType', 400, manage(t, 'POST', {}, { ...body, 'push-type': 'alert' })],
      ['BadRequestParams', 400, manage(t, 'POST', {}, { ...body, 'message-storage-policy': 2 })],
      ['BadRequestPayload', 400, manage(t, 'POST')],
      ['MissingChannelId', 400, manage(t, 'GET')],
      ['BadChannelId', 400, manage(t, 'GET', { 'apns-channel-id': '?' })],
      ['ChannelNotRegistered', 400, manage(t, 'DELETE', { 'apns-channel-id': 'AAAA' })]
    ]
    const id = await create(t)
    const kept = await create(t, 0)
    const start = JSON.stringify({
      aps: { ...JSON.parse(update).aps, event: 'start', 'attributes-type': 'A', attributes: {}, alert: { title: 'x' } }
    })
    const big = JSON.stringify({ ...JSON.parse(update), x: 'x'.repeat(5_000) })
    const later = String(seconds() + 60)
    const sent: typeof managed = [
      ['MissingChannelId', 400, broadcast(t, {})],
      ['ChannelNotRegistered', 400, broadcast(t, { 'apns-channel-id': 'AAAA' })],
      ['MissingPushType', 400, broadcast(t, { 'apns-channel-id': id, 'apns-push-type': undefined })],
      ['InvalidPushType', 400, broadcast(t, { 'apns-channel-id': id, 'apns-push-type': 'alert' })],
      ['BadRequestPayload', 400, broadcast(t, { 'apns-channel-id': id }, start)],
      ['PayloadTooLarge', 413, broadcast(t, { 'apns-channel-id': id }, big + ' '.repeat(200))],
      ['TopicDisallowed', 400, broadcast(t, { 'apns-channel-id': id }, update, 'com.example.other')],
      ['BadExpirationDate', 400, broadcast(t, { 'apns-channel-id': kept, 'apns-expiration': later })]
    ]
    for (const [reason, status, reply] of [...managed, ...sent]) {
      const got = await reply
      assert.deepEqual([got.status, got.json().reason], [status, reason], reason)
    }
    const long = JSON.stringify({ ...JSON.parse(update), x: 'x'.repeat(4_500) })
    assert.equal((await broadcast(t, { 'apns-channel-id': id, 'apns-expiration': later }, long)).status, 200)
  })
})
