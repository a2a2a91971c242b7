// Payloads that are copied from parts are the payloads that JSON would make.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apns } from '../../src/gateways/apns/payload.ts'
import type { ApnsCredential, Credential, FcmCredential } from '../../src/gateways/credentials/credential.ts'
import { fcm } from '../../src/gateways/fcm/payload.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { Notification, Push } from '../../src/gateways/push.ts'
import { bytesOfBody } from '../../src/gateways/transport/bytes.ts'
import { push } from './senders.ts'

const apnsCredential = { gateway: 'apns', topic: 'com.example' } as ApnsCredential
const fcmCredential = { gateway: 'fcm', firebaseProject: 'p' } as FcmCredential
const now = 1_700_000_000_000

/** The body and the size, or the refusal, after pushes that the gateway may remember. */
function made<C extends Credential>(gateway: Gateway<C>, credential: C, one: Push, before: Push[] = []) {
  // A Live Activity resembles no alert: it makes the gateway forget what came before.
  const content = { kind: 'activity-end', activity: { contentState: {}, timestamp: 1 } } as const
  for (const each of [push({ content, activityToken: 'a' }), ...before]) gateway.prepare(each, credential, 't', now)
  const prepared = gateway.prepare(one, credential, 't', now)
  if ('kind' in prepared) return prepared
  const bytes = bytesOfBody(prepared.body)
  assert.equal(bytes.length, prepared.body.length)
  return { payload: JSON.parse(bytes.toString()), size: gateway.measure(one, now) }
}

const contents: Notification[] = [
  { title: 'Hello', body: 'World' },
  {
    title: '中文 "quoted" \\ \n',
    body: 'x',
    imageUrl: 'https://example.com/a.png',
    landingUrl: 'https://example.com/'
  },
  { title: 'T', data: { message_id: 'mine', token: 'mine' }, badge: 0, collapseKey: 'k', channelId: 'c' },
  { silent: true, data: { a: '1' } },
  { title: 'T', actions: [{ id: 'a', title: 'A' }], category: 'c', interruptionLevel: 'critical' }
]
const changes: Partial<Push>[] = [
  {},
  { token: 'other-token_1:x.y' },
  { token: '"' },
  { messageId: 'm"1' },
  { messageId: 'short' },
  { collapseId: '' },
  { collapseId: 'a "b"' },
  { collapseId: '中' },
  { collapseId: 'c'.repeat(65) },
  { priority: 'normal' },
  { notAfter: now + 1_000 },
  { content: { kind: 'alert', notification: { title: 'Other' } } },
  { content: { kind: 'alert', notification: { title: 'Hello', body: 'World', badge: 1 } } }
]

test('a payload is the same whatever pushes came before it', () => {
  for (const notification of contents) {
    const notAfter = now + 3_600_000
    const alike = () =>
      push({ content: { kind: 'alert', notification: { ...notification } }, notAfter, collapseId: '1' })
    for (const change of changes) {
      const one = { ...alike(), ...change }
      for (const before of [[alike()], [alike(), alike()], [alike(), one, one], [one, alike(), one]]) {
        assert.deepEqual(made(apns, apnsCredential, one, before), made(apns, apnsCredential, one))
        assert.deepEqual(made(fcm, fcmCredential, one, before), made(fcm, fcmCredential, one))
      }
    }
  }
})

test('a payload that is too large stays so when it is sent again', () => {
  const notification = { title: 'T', body: 'x'.repeat(5_000) }
  for (let time = 0; time < 3; time += 1) {
    const one = push({ content: { kind: 'alert', notification }, notAfter: now + 1 })
    const refused = apns.prepare(one, apnsCredential, 't', now)
    assert.ok('kind' in refused && refused.reason === 'PAYLOAD_TOO_LARGE')
    const also = fcm.prepare(one, fcmCredential, 't', now)
    assert.ok('kind' in also && also.reason === 'PAYLOAD_TOO_LARGE')
  }
})
