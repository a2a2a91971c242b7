import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apns } from '../../src/gateways/apns/payload.ts'
import { fcm } from '../../src/gateways/fcm/payload.ts'
import type { Notification } from '../../src/gateways/push.ts'
import { bytesOfBody } from '../../src/gateways/transport/bytes.ts'
import { simulator } from '../simulator/client.ts'
import type { Json } from '../support/http.ts'
import { apnsCredential, fcmCredential, push, send, senderFor, webPushCredential } from './senders.ts'

const rich: Notification = {
  title: 'Ride',
  category: 'ride',
  actions: [
    { id: 'call', title: 'Call', landingUrl: 'app://call/7' },
    { id: 'stop', title: 'Stop' }
  ],
  interruptionLevel: 'time-sensitive',
  relevanceScore: 0.5,
  sound: 'horn.caf',
  badge: 0
}
const shown = [
  { id: 'call', title: 'Call', landing_url: 'app://call/7' },
  { id: 'stop', title: 'Stop' }
]
const prepared = (gateway: Json, content: Notification, credential: Json, more: Json = {}) => {
  const made = gateway.prepare(
    push({ content: { kind: 'alert', notification: content }, ...more }),
    credential,
    'token',
    Date.now()
  )
  const headers = Object.fromEntries(made.names.map((name: string, index: number) => [name, made.values[index]]))
  return { headers, body: JSON.parse(bytesOfBody(made.body).toString()) as Json }
}
const credential = { topic: 'com.example', origin: 'https://x', firebaseProject: 'p' }

test('category, buttons, level, relevance, sound and badge reach Apple', () => {
  const { body } = prepared(apns, rich, credential)
  assert.deepEqual(body.aps, {
    alert: { title: 'Ride' },
    sound: 'horn.caf',
    badge: 0,
    category: 'ride',
    'interruption-level': 'time-sensitive',
    'relevance-score': 0.5
  })
  assert.deepEqual(body.actions, shown)
  const critical = prepared(apns, { title: 'Fire', interruptionLevel: 'critical' }, credential)
  assert.deepEqual(critical.body.aps.sound, { critical: 1, name: 'default', volume: 1 })
})

test('Firebase gets the same for each platform', () => {
  const { message } = prepared(fcm, rich, credential, { gateway: 'fcm', token: 'abc' }).body
  assert.deepEqual([message.data.category, JSON.parse(message.data.actions)], ['ride', shown])
  assert.equal(message.android.notification.notification_priority, 'PRIORITY_HIGH')
  assert.deepEqual([message.apns.payload.aps.category, message.apns.payload.aps['relevance-score']], ['ride', 0.5])
  const { actions, requireInteraction } = message.webpush.notification
  assert.deepEqual(actions, [
    { action: 'call', title: 'Call' },
    { action: 'stop', title: 'Stop' }
  ])
  assert.equal(requireInteraction, true)
})

test('a silent push wakes the app and shows nothing; the simulators take it as the gateways do', async (t) => {
  const silent: Notification = { silent: true, data: { sync: 'inbox' } }
  const apple = prepared(apns, silent, credential, { priority: 'high' })
  assert.deepEqual([apple.headers['apns-push-type'], apple.headers['apns-priority']], ['background', '5'])
  assert.deepEqual([apple.body.aps, apple.body.data], [{ 'content-available': 1 }, { sync: 'inbox' }])
  const { message } = prepared(fcm, silent, credential, { gateway: 'fcm', token: 'abc' }).body
  assert.deepEqual([message.notification, message.data.sync], [undefined, 'inbox'])
  assert.equal(message.apns.headers['apns-priority'], '5')
  const sim = await simulator(t)
  const content = { kind: 'alert' as const, notification: silent }
  const outcomes = [
    await send(senderFor(t, apnsCredential(sim)), push({ content })),
    await send(senderFor(t, fcmCredential(sim)), push({ gateway: 'fcm', token: 'abc', content })),
    await send(
      senderFor(t, webPushCredential(sim)),
      push({ gateway: 'webpush', token: JSON.stringify(sim.createSubscription({})), content })
    )
  ]
  assert.deepEqual(
    outcomes.map((one) => (one.kind === 'rejected' ? one.reason : one.kind)),
    ['accepted', 'accepted', 'UNSUPPORTED_PLATFORM']
  )
})
