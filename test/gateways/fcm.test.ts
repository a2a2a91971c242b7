import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ProviderTokenFailed } from '../../src/gateways/credentials/credential.ts'
import type { Outcome, Push } from '../../src/gateways/push.ts'
import { simulator } from '../simulator/client.ts'
import {
  answer,
  anyToken,
  fcmCredential,
  type PlainServer,
  plainServer,
  project,
  push,
  pushes,
  send,
  sendAll,
  senderFor,
  tally
} from './senders.ts'

const only = { apns: false, webpush: false } as const
const toFcm = (change: Partial<Push> = {}) => push({ gateway: 'fcm', token: 'registration-token', ...change })
const named = (outcome: Outcome) => (outcome.kind === 'accepted' ? outcome.kind : `${outcome.kind} ${outcome.reason}`)

const plainCredential = ({ credential: { ca, origin } }: PlainServer, version = 1) =>
  ({
    gateway: 'fcm',
    id: 'plain',
    version,
    projectId: project,
    origin,
    simulated: true,
    ca: ca!,
    firebaseProject: 'shop',
    clientEmail: '',
    privateKeyId: '',
    privateKey: '',
    tokenUri: ''
  }) as const

test('FCM gets the push as the documentation shows it, and the name in its response is kept', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, fcmCredential(sim))
  const one = toFcm({
    collapseId: 'sum-12',
    // Longer than Firebase keeps a message.
    notAfter: Date.now() + 30 * 86_400_000,
    content: {
      kind: 'alert',
      notification: {
        title: 'Hello',
        body: 'World',
        imageUrl: 'https://example.com/a.png',
        landingUrl: 'https://example.com/offers/1',
        data: { order: '7', message_id: 'not yours' },
        sound: 'default',
        badge: 3,
        channelId: 'offers',
        threadId: 'orders',
        collapseKey: 'mine'
      }
    }
  })
  const outcome = await send(sender, one)
  assert.ok(outcome.kind === 'accepted')
  assert.match(outcome.gatewayMessageId, /^projects\/simulated\/messages\/[\w-]+$/)
  const { message } = sim.ledger.items()[0]!.request.payload as { message: Record<string, unknown> }
  assert.deepEqual(message, {
    token: 'registration-token',
    data: {
      order: '7',
      message_id: one.messageId,
      landing_url: 'https://example.com/offers/1',
      image_url: 'https://example.com/a.png'
    },
    notification: { title: 'Hello', body: 'World', image: 'https://example.com/a.png' },
    android: {
      priority: 'HIGH',
      ttl: '2419200s',
      collapse_key: 'mine',
      notification: { tag: 'sum-12', channel_id: 'offers', sound: 'default', notification_count: 3 }
    },
    apns: {
      headers: {
        'apns-priority': '10',
        'apns-expiration': String(Math.floor(one.notAfter / 1000)),
        'apns-collapse-id': 'sum-12'
      },
      payload: { aps: { sound: 'default', badge: 3, 'thread-id': 'orders', 'mutable-content': 1 } },
      fcm_options: { image: 'https://example.com/a.png' }
    },
    webpush: {
      headers: { TTL: '2419200', Urgency: 'high' },
      notification: { tag: 'sum-12', image: 'https://example.com/a.png' },
      fcm_options: { link: 'https://example.com/offers/1' }
    }
  })
})

test('without a key of the caller there is no collapse_key, and an address that is not https is no link', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, fcmCredential(sim))
  const content = { kind: 'alert', notification: { body: 'World', landingUrl: 'app://x' } } as const
  assert.equal((await send(sender, toFcm({ content, priority: 'normal' }))).kind, 'accepted')
  const { message } = sim.ledger.items()[0]!.request.payload as { message: Record<string, Record<string, unknown>> }
  assert.equal('collapse_key' in message.android!, false)
  assert.equal('fcm_options' in message.webpush!, false)
  assert.equal(message.android!.priority, 'NORMAL')
  const seconds = Number.parseInt(String(message.android!.ttl), 10)
  assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds}`)
})

test('a Live Activity goes through FCM with the token of Apple beside its own', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, fcmCredential(sim))
  const content = {
    kind: 'activity-start',
    activity: {
      attributesType: 'RideAttributes',
      attributes: { rideId: 'r1' },
      contentState: { eta: 5 },
      alert: { title: 'Ride', body: 'On its way' }
    }
  } as const
  const one = toFcm({ content, activityToken: 'abcdef', collapseId: 'c1' })
  assert.equal((await send(sender, one)).kind, 'accepted')
  const { message } = sim.ledger.items()[0]!.request.payload as {
    message: { token: string; apns: { live_activity_token: string; payload: { aps: Record<string, unknown> } } }
  }
  assert.equal(message.token, 'registration-token')
  assert.equal(message.apns.live_activity_token, 'abcdef')
  assert.equal(message.apns.payload.aps.event, 'start')
  assert.equal(message.apns.payload.aps['attributes-type'], 'RideAttributes')
  assert.equal(named(await send(sender, toFcm({ content }))), 'rejected NO_LIVE_ACTIVITY_TOKEN')
})

const fcmError = (errorCode: string) => ({ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode })
const badField = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'wrong' }]
})
const quotaOf = (subject: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ subject, description: 'exceeded' }]
})

/** Each row of Firebase's table, and the responses of proxies. */
const table: [http: number, status: string, details: object[] | string, outcome: string, dead?: 'dead'][] = [
  [
    400,
    'INVALID_ARGUMENT',
    [fcmError('INVALID_ARGUMENT'), badField('message.token')],
    'rejected TOKEN_INVALID',
    'dead'
  ],
  [400, 'INVALID_ARGUMENT', [badField('message.data')], 'rejected PAYLOAD_INVALID'],
  [
    400,
    'INVALID_ARGUMENT',
    'The registration token is not a valid FCM registration token',
    'rejected TOKEN_INVALID',
    'dead'
  ],
  [400, 'INVALID_ARGUMENT', 'Android message is too big', 'rejected PAYLOAD_TOO_LARGE'],
  [404, 'NOT_FOUND', [fcmError('UNREGISTERED')], 'rejected TOKEN_UNREGISTERED', 'dead'],
  [403, 'PERMISSION_DENIED', [fcmError('SENDER_ID_MISMATCH')], 'rejected TOKEN_MISMATCH', 'dead'],
  [401, 'UNAUTHENTICATED', [fcmError('THIRD_PARTY_AUTH_ERROR')], 'rejected CREDENTIALS_INVALID'],
  [403, 'PERMISSION_DENIED', [], 'rejected CREDENTIALS_INVALID'],
  [429, 'RESOURCE_EXHAUSTED', [fcmError('QUOTA_EXCEEDED')], 'retry PROJECT_RATE_LIMITED'],
  [429, 'RESOURCE_EXHAUSTED', [fcmError('QUOTA_EXCEEDED'), quotaOf('device:abc')], 'retry DEVICE_RATE_LIMITED'],
  [500, 'INTERNAL', [fcmError('INTERNAL')], 'retry GATEWAY_UNAVAILABLE'],
  [503, 'UNAVAILABLE', [fcmError('UNAVAILABLE')], 'retry GATEWAY_UNAVAILABLE'],
  [404, 'NOT_FOUND', [], 'rejected INTERNAL_ERROR']
]

test('every error of FCM has its outcome', async (t) => {
  let row = table[0]!
  const server = await plainServer(t, (stream) => {
    const [code, status, told] = row
    const message = typeof told === 'string' ? told : 'words'
    answer(stream, code, { error: { code, status, message, ...(Array.isArray(told) && { details: told }) } })
  })
  for (const [index, each] of table.entries()) {
    row = each
    const sender = senderFor(t, plainCredential(server, index), { providerTokens: anyToken })
    const outcome = await send(sender, toFcm())
    assert.equal(named(outcome), each[3], JSON.stringify(each))
    assert.equal(outcome.kind === 'rejected' && outcome.tokenDeadAsOf !== undefined, each[4] === 'dead')
    await sender.close(0)
  }
})

test('a response in HTML of a proxy leads to a retry', async (t) => {
  const server = await plainServer(t, (stream) => {
    stream.respond({ ':status': 502, 'content-type': 'text/html' })
    stream.end('<html>')
  })
  const sender = senderFor(t, plainCredential(server), { providerTokens: anyToken })
  const outcome = await send(sender, toFcm())
  assert.ok(outcome.kind === 'retry' && outcome.gatewayCode === '502')
})

test('a nonsensical response ends its own push and no other', async (t) => {
  const odd = [
    '{"error":{"details":[{"@type":{"toString":1}}],"status":{"toString":1}}}',
    '{"error":[]}',
    '{"error":{"details":7,"message":{},"status":[]}}',
    `{"error":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    '{',
    '\u0000'
  ]
  let turn = 0
  const server = await plainServer(t, (stream) => {
    stream.respond({ ':status': 418 })
    stream.end(odd[turn++])
  })
  const sender = senderFor(t, plainCredential(server), { providerTokens: anyToken })
  for (const body of odd) assert.equal(named(await send(sender, toFcm())), 'rejected INTERNAL_ERROR', body.slice(0, 80))
})

test('an access token that is refused is exchanged once; refused again, the credential is wrong', async (t) => {
  const asked: (string | undefined)[] = []
  let good = 'second'
  const server = await plainServer(t, (stream, { authorization }) =>
    authorization === `Bearer ${good}`
      ? answer(stream, 200, { name: 'projects/shop/messages/1' })
      : answer(stream, 401, { error: { code: 401, status: 'UNAUTHENTICATED', message: '' } })
  )
  const providerTokens = {
    async of(_credential: unknown, refused?: string) {
      asked.push(refused)
      return asked.some((each) => each === 'first') ? 'second' : 'first'
    }
  }
  const sender = senderFor(t, plainCredential(server), { providerTokens })
  assert.deepEqual(
    tally(
      await sendAll(
        sender,
        Array.from({ length: 50 }, () => toFcm())
      )
    ),
    { accepted: 50 }
  )
  assert.equal(asked.filter((each) => each === 'first').length, 1)
  good = 'none'
  const outcome = await send(sender, toFcm())
  // The same token is returned: its owner has no newer one, which proves nothing against the credential.
  assert.ok(outcome.kind === 'retry' && outcome.gatewayCode === 'UNAUTHENTICATED')
})

test('the outcome quotes Google where it refuses the service account; an unreachable Google leads to a retry', async (t) => {
  const server = await plainServer(t, (stream) => answer(stream, 200, { name: 'n' }))
  const refusing = { of: async () => Promise.reject(new ProviderTokenFailed('refused', 'The key was revoked.')) }
  const refused = await send(senderFor(t, plainCredential(server), { providerTokens: refusing }), toFcm())
  assert.deepEqual(
    [named(refused), 'message' in refused && refused.message],
    ['rejected CREDENTIALS_INVALID', 'The key was revoked.']
  )
  const away = { of: async () => Promise.reject(new ProviderTokenFailed('unavailable', 'connect ECONNREFUSED')) }
  const later = await send(senderFor(t, plainCredential(server), { providerTokens: away }), toFcm())
  assert.equal(named(later), 'retry GATEWAY_UNAVAILABLE')
})

test('a used-up quota holds back the pushes of the project, and all leave when it opens', async (t) => {
  let limited = true
  let requests = 0
  const server = await plainServer(t, (stream) => {
    requests += 1
    if (!limited) return answer(stream, 200, { name: 'n' })
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: '', details: [fcmError('QUOTA_EXCEEDED')] }
    answer(stream, 429, { error }, { 'retry-after': '1' })
  })
  const sender = senderFor(t, plainCredential(server), { providerTokens: anyToken })
  const first = await sendAll(sender, pushes(500, { gateway: 'fcm' }))
  assert.deepEqual(tally(first), { 'retry PROJECT_RATE_LIMITED': 500 })
  assert.ok(requests < 100, `${requests} requests`)
  assert.ok(first.every((outcome) => outcome.kind === 'retry' && outcome.notBefore > Date.now() - 2_000))
  limited = false
  const until = Date.now() + 20_000
  let outcome = first[0]!
  while (outcome.kind === 'retry' && Date.now() < until) {
    await delay(Math.max(0, outcome.notBefore - Date.now()))
    outcome = await send(sender, toFcm())
  }
  // The window grows again.
  const low = sender.stats().pools[0]!.window
  while (sender.stats().pools[0]!.window <= low)
    assert.deepEqual(tally(await sendAll(sender, pushes(100, { gateway: 'fcm' }))), { accepted: 100 })
})

test('what is larger than Firebase takes is not sent; what fits is', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, fcmCredential(sim))
  const sized = (length: number) => toFcm({ content: { kind: 'alert', notification: { body: 'x'.repeat(length) } } })
  assert.equal(named(await send(sender, sized(4_096))), 'rejected PAYLOAD_TOO_LARGE')
  assert.equal(sim.ledger.items().length, 0)
  assert.equal(named(await send(sender, sized(3_900))), 'accepted')
})
