import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { WebPushCredential } from '../../src/gateways/credentials/credential.ts'
import type { Outcome, Push } from '../../src/gateways/push.ts'
import { framed } from '../../src/gateways/transport/framing/open.ts'
import { nodeHttp2 } from '../../src/gateways/transport/node-http2.ts'
import { encrypt } from '../../src/gateways/webpush/encryption.ts'
import { refuseEndpoint } from '../../src/gateways/webpush/push-services.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createVapidKeys, type Simulator } from '../../src/simulator/simulator.ts'
import { simulator } from '../simulator/client.ts'
import {
  answer,
  apnsCredential,
  plainServer,
  push,
  send,
  sendAll,
  senderFor,
  tally,
  webPushCredential
} from './senders.ts'

const only = { apns: false, fcm: false } as const
const named = (outcome: Outcome) => (outcome.kind === 'accepted' ? outcome.kind : `${outcome.kind} ${outcome.reason}`)
const { decrypt } = createRequire(createRequire(import.meta.url).resolve('web-push'))('http_ece')

const toBrowser = (sim: Simulator, change: Partial<Push> & { label?: string; key?: string } = {}) => {
  const { label, key, ...rest } = change
  const wish = { ...(label && { label }), ...(key && { applicationServerKey: key }) }
  return push({ gateway: 'webpush', token: JSON.stringify(sim.createSubscription(wish)), ...rest })
}

/** A browser independent of our code: keys made here, opened by a library that browser makers test with. */
function browser() {
  const keys = createECDH('prime256v1')
  const p256dh = keys.generateKeys()
  const auth = randomBytes(16)
  const open = (body: Buffer): Buffer =>
    decrypt(body, { version: 'aes128gcm', privateKey: keys, dh: p256dh, authSecret: auth.toString('base64url') })
  const token = (endpoint: string) =>
    JSON.stringify({
      endpoint,
      keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') }
    })
  return { p256dh, auth, open, token }
}

test('another implementation decrypts every payload, from empty to the largest', () => {
  const { p256dh, auth, open } = browser()
  for (const length of [0, 1, 100, 3_992, 3_993]) {
    const text = randomBytes(length)
    const body = encrypt(text, p256dh, auth)
    assert.ok(body.length <= 4_096)
    assert.deepEqual(open(body), text)
  }
  const [one, other] = [encrypt(Buffer.from('a'), p256dh, auth), encrypt(Buffer.from('a'), p256dh, auth)]
  assert.notDeepEqual(one.subarray(21, 86), other.subarray(21, 86), 'every message has a key of its own')
})

test('a browser gets the push as the documentation shows it', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, webPushCredential(sim))
  const one = toBrowser(sim, {
    collapseId: 'sum-12',
    notAfter: Date.now() + 30 * 86_400_000,
    content: {
      kind: 'alert',
      notification: {
        title: 'Hello',
        body: 'Wörld',
        imageUrl: 'https://example.com/a.png',
        landingUrl: 'https://example.com/offers/1',
        data: { order: '7' },
        badge: 2
      }
    }
  })
  const outcome = await send(sender, one)
  assert.ok(outcome.kind === 'accepted')
  assert.match(outcome.gatewayMessageId, /^https:\/\/127\.0\.0\.1:\d+\/message\//)
  const { payload, headers } = sim.ledger.items()[0]!.request
  assert.deepEqual(payload, {
    message_id: one.messageId,
    title: 'Hello',
    body: 'Wörld',
    image_url: 'https://example.com/a.png',
    landing_url: 'https://example.com/offers/1',
    tag: 'sum-12',
    badge: 2,
    data: { order: '7' }
  })
  assert.equal(headers.ttl, '2419200')
  assert.equal(headers.urgency, 'high')
  assert.match(headers.topic!, /^[\w-]{32}$/)
})

test('one signature serves for all pushes to one push service', async (t) => {
  const seen = new Set<string>()
  const server = await plainServer(t, (stream, { authorization }) => {
    seen.add(String(authorization))
    answer(stream, 201, undefined, { location: `${server.origin}/m/1` })
  })
  const keys = createVapidKeys()
  const credential = webPushCredential({ ca: server.ca, credentials: { vapid: keys } } as unknown as Simulator)
  const sender = senderFor(t, credential)
  const token = browser().token(`${server.origin}/push/1`)
  assert.deepEqual(
    tally(
      await sendAll(
        sender,
        Array.from({ length: 30 }, () => push({ gateway: 'webpush', token }))
      )
    ),
    { accepted: 30 }
  )
  assert.equal(seen.size, 1)
})

test('every response of a push service has its outcome', async (t) => {
  const table: [status: number, body: object | undefined, outcome: string, dead?: 'dead'][] = [
    [201, undefined, 'accepted'],
    [202, undefined, 'accepted'],
    [200, undefined, 'accepted'],
    [400, { reason: 'BadTtl' }, 'rejected PAYLOAD_INVALID'],
    [400, { reason: 'UnauthorizedRegistration' }, 'rejected CREDENTIALS_INVALID'],
    [401, { reason: 'Unauthorized' }, 'rejected CREDENTIALS_INVALID'],
    [403, { reason: 'BadJwtToken' }, 'rejected CREDENTIALS_INVALID'],
    [403, { reason: 'VapidPkHashMismatch' }, 'rejected TOKEN_MISMATCH', 'dead'],
    [404, undefined, 'rejected TOKEN_INVALID', 'dead'],
    [410, undefined, 'rejected TOKEN_UNREGISTERED', 'dead'],
    [413, undefined, 'rejected PAYLOAD_TOO_LARGE'],
    [429, undefined, 'retry PROJECT_RATE_LIMITED'],
    [406, undefined, 'retry PROJECT_RATE_LIMITED'],
    [500, undefined, 'retry GATEWAY_UNAVAILABLE'],
    [503, undefined, 'retry GATEWAY_UNAVAILABLE'],
    [308, undefined, 'rejected TOKEN_INVALID']
  ]
  let row = table[0]!
  let requests = 0
  const server = await plainServer(t, (stream) => {
    requests += 1
    answer(stream, row[0], row[1], { location: `${server.origin}/elsewhere` })
  })
  const credential = webPushCredential({
    ca: server.ca,
    credentials: { vapid: createVapidKeys() }
  } as unknown as Simulator)
  for (const [index, each] of table.entries()) {
    row = each
    const sender = senderFor(t, { ...credential, version: index })
    const outcome = await send(sender, push({ gateway: 'webpush', token: browser().token(`${server.origin}/p`) }))
    assert.equal(named(outcome), each[2], String(each[0]))
    assert.equal(
      outcome.kind === 'rejected' && outcome.tokenDeadAsOf !== undefined,
      each[3] === 'dead',
      String(each[0])
    )
    await sender.close(0)
  }
  assert.equal(requests, table.length, 'no redirect is followed')
})

test('a subscription made with another key of the project is dead; one with invalid keys is too', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, webPushCredential(sim))
  const other = toBrowser(sim, { key: createVapidKeys().publicKey })
  assert.equal(named(await send(sender, other)), 'rejected TOKEN_MISMATCH')
  const { endpoint } = sim.createSubscription()
  const p256dh = Buffer.alloc(65, 4).toString('base64url')
  const offCurve = push({ gateway: 'webpush', token: JSON.stringify({ endpoint, keys: { p256dh, auth: 'AAAA' } }) })
  const outcome = await send(sender, offCurve)
  assert.ok(outcome.kind === 'rejected' && outcome.reason === 'TOKEN_INVALID' && outcome.tokenDeadAsOf)
  for (const token of ['', 'x', '{}', '{"endpoint":"https://x","keys":3}', '{"endpoint":7,"keys":{}}'])
    assert.equal(named(await send(sender, push({ gateway: 'webpush', token }))), 'rejected TOKEN_INVALID')
})

test('a payload over the limit is not sent, and a Live Activity is not for browsers', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, webPushCredential(sim))
  const sized = (length: number) => ({ kind: 'alert', notification: { body: 'x'.repeat(length) } }) as const
  assert.equal(named(await send(sender, toBrowser(sim, { content: sized(3_993) }))), 'rejected PAYLOAD_TOO_LARGE')
  const content = { kind: 'activity-update', activity: { contentState: {}, timestamp: 1 } } as const
  assert.equal(named(await send(sender, toBrowser(sim, { content }))), 'rejected UNSUPPORTED_PLATFORM')
  assert.equal(sim.ledger.items().length, 0)
})

test('one push service that limits the project does not stop the others', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, webPushCredential(sim))
  // The same machine under two names is two push services.
  const elsewhere = (one: Push) => ({ ...one, token: one.token.replace('127.0.0.1', 'localhost') })
  assert.equal(named(await send(sender, toBrowser(sim, { label: 'sim-429:60-1' }))), 'retry PROJECT_RATE_LIMITED')
  assert.equal(named(await send(sender, toBrowser(sim))), 'retry PROJECT_RATE_LIMITED')
  assert.equal(named(await send(sender, elsewhere(toBrowser(sim)))), 'accepted')
  assert.equal(sim.ledger.items().length, 2)
})

test('made-up push services of a project take few pools and sockets, and hold up no other push', async (t) => {
  const sim = await simulator(t, { fcm: false })
  const { token } = browser()
  const attacked = 'attacked' as ProjectId
  const other = 'other' as ProjectId
  const to = (host: string) => push({ gateway: 'webpush', projectId: attacked, token: token(`https://${host}/x`) })
  const madeUp = (index: number) => to(`a${index}.notify.windows.com`)
  const called: string[] = []
  let fail = () => {}
  const nowhere = new Promise<never>((_resolve, reject) => {
    fail = () => reject(new Error('ENOTFOUND'))
  })
  const sender = senderFor(t, null, {
    credentials: {
      find: async (projectId, gateway) =>
        gateway === 'apns'
          ? apnsCredential(sim, { projectId })
          : webPushCredential(sim, { projectId, simulated: false })
    },
    transport: {
      open(origin, tls, events, timeoutMs) {
        called.push(origin)
        return origin.endsWith('.com') ? nowhere : framed.open(origin, tls, events, timeoutMs)
      }
    },
    settings: { maxSockets: 20, maxOrigins: 10, unreachableMs: 100 }
  })
  const first = send(sender, madeUp(0))
  await sender.ready(madeUp(0))
  const sent = Array.from({ length: 500 }, (_, index) => send(sender, madeUp(index)))
  const toChrome = send(sender, to('fcm.googleapis.com'))
  assert.equal(named(await send(sender, push({ projectId: other }))), 'accepted')
  const ofOther = ({ projectId }: { projectId: string }) => projectId === other
  const { pools, sockets } = sender.stats()
  assert.deepEqual([pools.length, pools.filter(ofOther).length, sockets], [12, 1, 12])
  assert.ok(called.includes('https://fcm.googleapis.com'), 'a host that is known by name needs none of the few places')

  fail()
  const outcomes = await Promise.all([first, toChrome, ...sent])
  assert.deepEqual(tally(outcomes), { 'retry GATEWAY_UNAVAILABLE': 502 })
  assert.ok(outcomes.every((outcome) => outcome.kind === 'retry' && outcome.free))
  await send(sender, madeUp(500))
  assert.ok(called.includes('https://a500.notify.windows.com'), 'a pool without pushes has made room')
  assert.equal(sender.stats().pools.length, 12)
  assert.equal(sender.stats().sockets, 1)
})

test('endpoints are known push services, or the simulator, and nothing else', async (t) => {
  const sim = await simulator(t, only)
  const simulated = webPushCredential(sim)
  const live: WebPushCredential = { ...simulated, simulated: false }
  const allowed = (credential: WebPushCredential, url: string) => refuseEndpoint(new URL(url), credential) === undefined
  for (const url of [
    'https://fcm.googleapis.com/fcm/send/x',
    'https://updates.push.services.mozilla.com/wpush/v2/x',
    'https://web.push.apple.com/x',
    'https://wns2-by3p.notify.windows.com/w/?token=x'
  ]) {
    assert.ok(allowed(live, url), url)
    assert.ok(!allowed(simulated, url), `${url} in simulator mode`)
  }
  for (const url of [
    'http://fcm.googleapis.com/x',
    'https://fcm.googleapis.com:8443/x',
    'https://user@fcm.googleapis.com/x',
    'https://fcm.googleapis.com.example.com/x',
    'https://evilnotify.windows.com.example/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://169.254.169.254/latest',
    'https://2130706433/x',
    sim.webpush!.url
  ])
    assert.ok(!allowed(live, url), url)
  assert.ok(allowed(simulated, sim.webpush!.url))
  assert.ok(!allowed({ ...simulated, origin: 'https://127.0.0.1:1' }, sim.webpush!.url))

  const sender = senderFor(t, live)
  const outcome = await send(sender, toBrowser(sim))
  assert.ok(outcome.kind === 'rejected' && /not a known push service/.test(outcome.message) && !outcome.tokenDeadAsOf)
})

test('a host name with a private address gets no connection', async () => {
  const events = { onDraining() {}, onClosed() {}, onLimit() {} }
  for (const origin of ['https://localhost:1', 'https://127.0.0.1:1', 'https://[::1]:1'])
    await assert.rejects(nodeHttp2.open(origin, { publicOnly: true }, events, 1_000), /public|not be called|refused/i)
})
