import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityChange, Outcome, Push } from '../../src/gateways/push.ts'
import { apnsReasons } from '../../src/simulator/apns/reasons.ts'
import { simulator } from '../simulator/client.ts'
import { answer, anyToken, apnsCredential, plainServer, push, send, senderFor, topic } from './senders.ts'

const only = { fcm: false, webpush: false } as const

test('APNs gets the push as the documentation shows it, with the id of this service', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, apnsCredential(sim))
  const one = push({
    collapseId: 'sum-12',
    content: {
      kind: 'alert',
      notification: {
        title: 'Hello',
        body: 'Wörld',
        imageUrl: 'https://example.com/a.png',
        landingUrl: 'app://offers/1',
        data: { order: '7' },
        sound: 'default',
        badge: 0,
        threadId: 'orders'
      }
    }
  })
  assert.deepEqual(await send(sender, one), { kind: 'accepted', gatewayMessageId: one.pushId })
  const [item] = sim.ledger.items()
  assert.deepEqual(item?.request.payload, {
    aps: {
      alert: { title: 'Hello', body: 'Wörld' },
      sound: 'default',
      badge: 0,
      'thread-id': 'orders',
      'mutable-content': 1
    },
    message_id: one.messageId,
    landing_url: 'app://offers/1',
    image_url: 'https://example.com/a.png',
    data: { order: '7' }
  })
  const { headers, path } = item!.request
  assert.equal(path, `/3/device/${one.token}`)
  assert.equal(headers['apns-topic'], topic)
  assert.equal(headers['apns-push-type'], 'alert')
  assert.equal(headers['apns-priority'], '10')
  assert.equal(headers['apns-id'], one.pushId)
  assert.equal(headers['apns-collapse-id'], 'sum-12')
  assert.equal(headers['apns-expiration'], String(Math.floor(one.notAfter / 1000)))
})

test('a Live Activity is started, changed and ended at APNs', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, apnsCredential(sim))
  const token = 'ab'.repeat(80)
  const change: ActivityChange = { contentState: { eta: 3 }, timestamp: 1_763_164_800, staleDate: 1_763_168_400 }
  const contents: Push['content'][] = [
    {
      kind: 'activity-start',
      activity: {
        attributesType: 'RideAttributes',
        attributes: { rideId: 'r1' },
        contentState: { eta: 5 },
        alert: { title: 'Ride', body: 'On its way' }
      }
    },
    { kind: 'activity-update', activity: change },
    { kind: 'activity-end', activity: { ...change, dismissalDate: 1_763_164_900 } }
  ]
  for (const content of contents)
    assert.equal((await send(sender, push({ token, content, priority: 'normal' }))).kind, 'accepted')
  const payloads = sim.ledger.items().map(({ request }) => (request.payload as { aps: Record<string, unknown> }).aps)
  const { timestamp, ...start } = payloads[0]!
  assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 60)
  assert.deepEqual(start, {
    event: 'start',
    'attributes-type': 'RideAttributes',
    attributes: { rideId: 'r1' },
    'content-state': { eta: 5 },
    alert: { title: 'Ride', body: 'On its way' },
    'input-push-token': 1
  })
  assert.deepEqual(payloads.slice(1), [
    { timestamp: 1_763_164_800, event: 'update', 'content-state': { eta: 3 }, 'stale-date': 1_763_168_400 },
    {
      timestamp: 1_763_164_800,
      event: 'end',
      'content-state': { eta: 3 },
      'stale-date': 1_763_168_400,
      'dismissal-date': 1_763_164_900
    }
  ])
  const { headers } = sim.ledger.items()[0]!.request
  assert.equal(headers['apns-push-type'], 'liveactivity')
  assert.equal(headers['apns-topic'], `${topic}.push-type.liveactivity`)
  assert.equal(headers['apns-priority'], '5')
})

/**
 * Every reason of Apple's table: the outcome, and whether the token is dead. Reasons that the sender retries itself are
 * below.
 */
const table: [reason: keyof typeof apnsReasons, outcome: string, dead?: 'dead'][] = [
  ['BadDeviceToken', 'rejected TOKEN_INVALID', 'dead'],
  ['DeviceTokenNotForTopic', 'rejected TOKEN_MISMATCH', 'dead'],
  ['Unregistered', 'rejected TOKEN_UNREGISTERED', 'dead'],
  ['ExpiredToken', 'rejected TOKEN_UNREGISTERED', 'dead'],
  ['BadTopic', 'rejected CREDENTIALS_INVALID'],
  ['MissingTopic', 'rejected CREDENTIALS_INVALID'],
  ['TopicDisallowed', 'rejected CREDENTIALS_INVALID'],
  ['InvalidProviderToken', 'rejected CREDENTIALS_INVALID'],
  ['MissingProviderToken', 'rejected CREDENTIALS_INVALID'],
  ['Forbidden', 'rejected CREDENTIALS_INVALID'],
  ['BadCertificate', 'rejected CREDENTIALS_INVALID'],
  ['BadCertificateEnvironment', 'rejected CREDENTIALS_INVALID'],
  ['BadEnvironmentKeyIdInToken', 'rejected CREDENTIALS_INVALID'],
  ['UnrelatedKeyIdInToken', 'rejected CREDENTIALS_INVALID'],
  ['InvalidPushType', 'rejected PAYLOAD_INVALID'],
  ['BadPriority', 'rejected PAYLOAD_INVALID'],
  ['BadExpirationDate', 'rejected PAYLOAD_INVALID'],
  ['BadCollapseId', 'rejected PAYLOAD_INVALID'],
  ['BadMessageId', 'rejected PAYLOAD_INVALID'],
  ['BadRequestPayload', 'rejected PAYLOAD_INVALID'],
  ['MissingDeviceToken', 'rejected PAYLOAD_INVALID'],
  ['PayloadEmpty', 'rejected PAYLOAD_INVALID'],
  ['PayloadTooLarge', 'rejected PAYLOAD_TOO_LARGE'],
  ['DuplicateHeaders', 'rejected INTERNAL_ERROR'],
  ['BadPath', 'rejected INTERNAL_ERROR'],
  ['MethodNotAllowed', 'rejected INTERNAL_ERROR'],
  ['TooManyRequests', 'retry DEVICE_RATE_LIMITED'],
  ['TooManyProviderTokenUpdates', 'retry PROJECT_RATE_LIMITED'],
  ['IdleTimeout', 'retry GATEWAY_UNAVAILABLE'],
  ['InternalServerError', 'retry GATEWAY_UNAVAILABLE'],
  ['ServiceUnavailable', 'retry GATEWAY_UNAVAILABLE'],
  ['Shutdown', 'retry GATEWAY_UNAVAILABLE'],
  ['ExpiredProviderToken', 'retry GATEWAY_UNAVAILABLE']
]

const named = (outcome: Outcome) => (outcome.kind === 'accepted' ? outcome.kind : `${outcome.kind} ${outcome.reason}`)

test('every reason of Apple has its outcome', async (t) => {
  assert.deepEqual(table.map(([reason]) => reason).sort(), Object.keys(apnsReasons).sort())
  let reason: keyof typeof apnsReasons = 'BadPath'
  const server = await plainServer(t, (stream) => answer(stream, apnsReasons[reason], { reason }))
  let version = 0
  for (const [each, expected, dead] of table) {
    reason = each
    // Each case has its own credential, because gates and circuits must not mix.
    version += 1
    const sender = senderFor(t, { ...server.credential, version }, { providerTokens: anyToken })
    const outcome = await send(sender, push())
    assert.equal(named(outcome), expected, each)
    assert.ok(outcome.kind !== 'accepted' && outcome.kind !== 'unknown')
    assert.equal(outcome.gatewayCode, each)
    assert.equal(outcome.kind === 'rejected' && outcome.tokenDeadAsOf !== undefined, dead === 'dead', each)
    await sender.close(0)
  }
})

test('a dead token is dead since the time that Apple says', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, apnsCredential(sim))
  const outcome = await send(sender, push({ token: 'sim-410:1763164800000-1' }))
  assert.ok(outcome.kind === 'rejected')
  assert.equal(outcome.tokenDeadAsOf?.getTime(), 1_763_164_800_000)
  const before = Date.now()
  // In microseconds, far ahead, before all time: no time of PostgreSQL, or none at which a token can have ended.
  for (const odd of ['1763164800000000', '4102444800000', '-99999999999999']) {
    const other = await send(sender, push({ token: `sim-410:${odd}-1` }))
    const asOf = other.kind === 'rejected' ? other.tokenDeadAsOf?.getTime() : undefined
    assert.ok(asOf !== undefined && asOf >= before && asOf <= Date.now(), odd)
  }
  const unknown = await send(sender, push({ token: 'sim-badtoken-1' }))
  assert.ok(unknown.kind === 'rejected' && unknown.tokenDeadAsOf)
  assert.ok(unknown.tokenDeadAsOf.getTime() >= before && unknown.tokenDeadAsOf.getTime() <= Date.now())
})

test('responses that are not JSON, and unknown reasons, are judged by their status', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, apnsCredential(sim))
  assert.equal(named(await send(sender, push({ token: 'sim-html502-1' }))), 'retry GATEWAY_UNAVAILABLE')
  const odd = await send(sender, push({ token: 'sim-400:SomethingNew-1' }))
  assert.equal(named(odd), 'rejected PAYLOAD_INVALID')
  assert.ok(odd.kind === 'rejected' && odd.gatewayCode === 'SomethingNew' && odd.tokenDeadAsOf === undefined)
})

function nestedDeeply(): Push['content'] {
  let contentState = {}
  for (let depth = 0; depth < 200_000; depth += 1) contentState = { contentState }
  return { kind: 'activity-update', activity: { contentState, timestamp: 1 } }
}

test('a collapse id that no header can carry is sent as a digest, the same for the same id', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, apnsCredential(sim))
  for (const collapseId of ['a\r\nb', 'a\r\nb', 'ü'.repeat(40), ' x', 'y'.repeat(64)])
    assert.equal((await send(sender, push({ collapseId }))).kind, 'accepted')
  const ids = sim.ledger.items().map(({ request }) => request.headers['apns-collapse-id'])
  assert.equal(ids[0], ids[1])
  assert.equal(new Set(ids).size, 4)
  assert.equal(ids[4], 'y'.repeat(64))
})

test('a push with an invalid token or too large a payload is refused before it is sent', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, apnsCredential(sim))
  const large = { title: 'x'.repeat(4_096) }
  const cases: [Partial<Push>, string][] = [
    [{ content: { kind: 'alert', notification: large } }, 'rejected PAYLOAD_TOO_LARGE'],
    [{ content: nestedDeeply() }, 'rejected PAYLOAD_INVALID'],
    [{ token: '../../1/apps' }, 'rejected TOKEN_INVALID'],
    [{ token: 'ab?x=1' }, 'rejected TOKEN_INVALID'],
    [{ notAfter: Date.now() - 1 }, 'rejected EXPIRED']
  ]
  for (const [change, expected] of cases) assert.equal(named(await send(sender, push(change))), expected)
  assert.deepEqual(sim.ledger.items(), [])
  // The exact size that Apple accepts is sent.
  const empty = Buffer.byteLength(JSON.stringify({ aps: { alert: { title: '' } }, message_id: push().messageId }))
  const fits = { title: 'x'.repeat(4_096 - empty) }
  assert.equal((await send(sender, push({ content: { kind: 'alert', notification: fits } }))).kind, 'accepted')
})

test('a push of a project without a credential is rejected with CREDENTIALS_MISSING', async (t) => {
  const sender = senderFor(t, null)
  assert.equal(named(await send(sender, push())), 'rejected CREDENTIALS_MISSING')
})

test('an expired provider token is renewed once for all pushes, and none is lost', async (t) => {
  const asked: (string | undefined)[] = []
  const seen: string[] = []
  const server = await plainServer(t, (stream, headers) => {
    seen.push(String(headers.authorization))
    if (headers.authorization === 'bearer new') answer(stream, 200)
    else answer(stream, 403, { reason: 'ExpiredProviderToken' })
  })
  const providerTokens = {
    async of(_credential: unknown, refused?: string) {
      if (refused) asked.push(refused)
      return asked.length > 0 ? 'new' : 'old'
    }
  }
  const sender = senderFor(t, server.credential, { providerTokens })
  const outcomes = await Promise.all(Array.from({ length: 40 }, () => send(sender, push())))
  assert.deepEqual(new Set(outcomes.map(named)), new Set(['accepted']))
  assert.deepEqual(asked, ['old'])
  assert.ok(seen.filter((value) => value === 'bearer old').length <= 40)
})
