import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { after, before, describe, it, type TestContext } from 'node:test'
import { importJWK, SignJWT } from 'jose'
import webpush, { type RequestOptions, WebPushError } from 'web-push'
import { createVapidKeys, type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { connect, type Headers, type Reply, request, seconds } from './client.ts'

describe('Web Push', () => {
  let sim: Simulator
  let agent: Agent
  before(async () => {
    sim = await startSimulator({ apns: false, fcm: false })
    agent = new Agent({ ca: sim.ca, keepAlive: true })
  })
  after(async () => {
    agent.destroy()
    await sim.close()
  })

  const options = (change: RequestOptions = {}): RequestOptions => ({
    vapidDetails: { subject: 'mailto:ops@example.com', ...sim.credentials.vapid },
    agent,
    TTL: 60,
    ...change
  })
  const payload = JSON.stringify({
    title: 'Hello',
    body: 'Wörld 🌍',
    image: 'https://example.com/a.png',
    data: { landing_url: 'https://example.com/there', message_id: 'm1' }
  })

  it('accepts and decrypts pushes of an independent library', async () => {
    const subscription = sim.createSubscription()
    const sent = await webpush.sendNotification(subscription, payload, options({ urgency: 'high', topic: 'news' }))
    assert.equal(sent.statusCode, 201)
    assert.match(sent.headers.location!, /^https:\/\/127\.0\.0\.1:\d+\/message\/[0-9a-f-]{36}$/)
    const item = sim.ledger.items().at(-1)!
    assert.deepEqual(item.request.payload, JSON.parse(payload))
    assert.deepEqual(
      [item.title, item.body, item.image_url, item.landing_url, item.message_id],
      ['Hello', 'Wörld 🌍', 'https://example.com/a.png', 'https://example.com/there', 'm1']
    )
    assert.deepEqual([item.request.headers.urgency, item.request.headers.topic], ['high', 'news'])
    assert.equal(item.request.headers.authorization, undefined)
    assert.equal(item.answer.gateway_message_id, sent.headers.location)
  })

  it('accepts a push without a payload, and one of the largest size', async () => {
    const subscription = sim.createSubscription()
    assert.equal((await webpush.sendNotification(subscription, null, options())).statusCode, 201)
    assert.equal((await webpush.sendNotification(subscription, 'x'.repeat(3_993), options())).statusCode, 201)
    assert.equal(sim.ledger.items().at(-1)!.body!.length, 3_993)
  })

  const fails = async (sending: Promise<unknown>): Promise<[number, string]> => {
    const error = await sending.then(
      () => assert.fail('it was accepted'),
      (thrown: unknown) => thrown
    )
    assert.ok(error instanceof WebPushError)
    return [error.statusCode, JSON.parse(error.body).reason]
  }

  it('refuses one byte more with 413', async () => {
    const sending = webpush.sendNotification(sim.createSubscription(), 'x'.repeat(3_994), options())
    assert.deepEqual(await fails(sending), [413, 'PayloadTooLarge'])
  })

  it('refuses another VAPID key than that of the subscription', async () => {
    const subscription = sim.createSubscription({ applicationServerKey: sim.credentials.vapid.publicKey })
    assert.equal((await webpush.sendNotification(subscription, payload, options())).statusCode, 201)
    const vapidDetails = { subject: 'mailto:ops@example.com', ...createVapidKeys() }
    const sending = webpush.sendNotification(subscription, payload, options({ vapidDetails }))
    assert.deepEqual(await fails(sending), [403, 'VapidPkHashMismatch'])
  })

  it('refuses a payload that was encrypted for other keys', async () => {
    const { endpoint } = sim.createSubscription()
    const { keys } = sim.createSubscription()
    assert.deepEqual(await fails(webpush.sendNotification({ endpoint, keys }, payload, options())), [
      400,
      'BadEncryption'
    ])
  })

  it('refuses the encoding of an old draft', async () => {
    const sending = webpush.sendNotification(sim.createSubscription(), payload, options({ contentEncoding: 'aesgcm' }))
    // That draft also has another VAPID header, which is checked first.
    assert.deepEqual(await fails(sending), [401, 'BadJwtToken'])
  })

  it('responds 404 for an unknown subscription, and 410 for an expired one', async () => {
    const { endpoint, keys } = sim.createSubscription()
    const other = { endpoint: `${endpoint.slice(0, -3)}abc`, keys }
    assert.deepEqual(await fails(webpush.sendNotification(other, payload, options())), [404, 'NotFound'])
    const gone = sim.createSubscription({ label: 'sim-410-1' })
    assert.deepEqual(await fails(webpush.sendNotification(gone, payload, options())), [410, 'Gone'])
  })

  it('responds 429 with Retry-After', async () => {
    const subscription = sim.createSubscription({ label: 'sim-429:7-1' })
    const error = await webpush.sendNotification(subscription, payload, options()).catch((thrown) => thrown)
    assert.deepEqual([error.statusCode, error.headers['retry-after']], [429, '7'])
  })

  /** A VAPID header made by jose, valid or invalid as the test needs it. */
  async function vapid(claims: Record<string, unknown> = {}, k = sim.credentials.vapid.publicKey): Promise<string> {
    const point = Buffer.from(sim.credentials.vapid.publicKey, 'base64url')
    const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
    const key = await importJWK({ kty: 'EC', crv: 'P-256', x, y, d: sim.credentials.vapid.privateKey }, 'ES256')
    const full = { aud: sim.webpush!.url, exp: seconds() + 3_600, sub: 'mailto:ops@example.com', ...claims }
    return `vapid t=${await new SignJWT(full).setProtectedHeader({ alg: 'ES256' }).sign(key)}, k=${k}`
  }

  async function raw(t: TestContext, change: Headers, body: string | Buffer = '', method = 'POST'): Promise<Reply> {
    const session = await connect(t, sim.webpush!.url, sim.ca)
    const { pathname } = new URL(sim.createSubscription().endpoint)
    return request(session, pathname, { ttl: '60', authorization: await vapid(), ...change }, body, method)
  }

  it('also speaks HTTP/2', async (t) => {
    assert.equal((await raw(t, {})).status, 201)
    assert.equal((await raw(t, { ttl: '0', urgency: 'very-low', topic: 'x'.repeat(32) })).status, 201)
    assert.equal((await raw(t, {}, 'x', 'PUT')).status, 405)
  })

  const refusals: [name: string, status: number, reason: string, change: Headers, body?: string][] = [
    ['no TTL', 400, 'MissingTtl', { ttl: undefined }],
    ['a TTL that is no number', 400, 'BadTtl', { ttl: '-1' }],
    ['an unknown urgency', 400, 'BadUrgency', { urgency: 'now' }],
    ['a topic of 33 characters', 400, 'BadTopic', { topic: 'x'.repeat(33) }],
    ['a topic that is not base64url', 400, 'BadTopic', { topic: 'a+b' }],
    ['a payload in clear text', 400, 'BadEncoding', {}, 'hello'],
    ['a payload that is no ciphertext', 400, 'BadEncryption', { 'content-encoding': 'aes128gcm' }, 'hello'],
    ['no VAPID', 401, 'BadJwtToken', { authorization: undefined }],
    ['another scheme', 401, 'BadJwtToken', { authorization: 'bearer x' }],
    ['half a VAPID', 401, 'BadJwtToken', { authorization: 'vapid t=a.b.c' }],
    ['a VAPID that is no JWT', 403, 'BadJwtToken', { authorization: 'vapid t=abc, k=abc' }]
  ]
  for (const [name, status, reason, change, body] of refusals) {
    it(`refuses ${name} with ${status} ${reason}`, async (t) => {
      const reply = await raw(t, change, body)
      assert.deepEqual([reply.status, reply.json()], [status, { reason }])
    })
  }

  it('checks audience, end, subject, key and signature of VAPID', async (t) => {
    const wrong: Record<string, unknown>[] = [
      { aud: 'https://example.com' },
      { aud: `${sim.webpush!.url}/` },
      { exp: seconds() - 10 },
      { exp: seconds() + 25 * 3_600 },
      { exp: undefined },
      { sub: 'ops@example.com' }
    ]
    for (const claims of wrong) {
      const reply = await raw(t, { authorization: await vapid(claims) })
      assert.deepEqual([reply.status, reply.json()], [403, { reason: 'BadJwtToken' }], JSON.stringify(claims))
    }
    for (const key of [createVapidKeys().publicKey, 'abc'])
      assert.equal((await raw(t, { authorization: await vapid({}, key) })).status, 403)
    assert.equal((await raw(t, { authorization: await vapid({ exp: seconds() + 24 * 3_600 }) })).status, 201)
  })
})
