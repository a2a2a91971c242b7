import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payloadSize } from '../../src/channels/channels.ts'
import type { Content, GatewayName, Outcome } from '../../src/gateways/push.ts'
import { newId } from '../../src/platform/ids.ts'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { simulator } from '../simulator/client.ts'
import { apnsCredential, fcmCredential, push, send, senderFor, webPushCredential } from './senders.ts'

const named = (outcome: Outcome) => (outcome.kind === 'accepted' ? outcome.kind : `${outcome.kind} ${outcome.reason}`)
const titled = (length: number): Content => ({ kind: 'alert', notification: { title: 'x'.repeat(length), body: 'ü' } })

const credentialOf = { apns: apnsCredential, fcm: fcmCredential, webpush: webPushCredential }
const tokenOf = (sim: Simulator, gateway: GatewayName) =>
  gateway === 'webpush' ? { token: JSON.stringify(sim.createSubscription({})) } : gateway === 'fcm' && { token: 'abc' }

test('a payload is measured as each gateway measures it, to the byte', async (t) => {
  const sim = await simulator(t)
  const sizes = new Set<number>()
  for (const gateway of ['apns', 'fcm', 'webpush'] as const) {
    const sender = senderFor(t, credentialOf[gateway](sim))
    const { bytes, most } = payloadSize(gateway, titled(0))
    // An empty title is omitted, so the first letter also adds the field's name.
    const first = payloadSize(gateway, titled(1)).bytes
    assert.ok(first > bytes)
    sizes.add(first)
    const longest = most - first + 1
    assert.deepEqual(payloadSize(gateway, titled(longest)), { bytes: most, most })
    const trial = (length: number) => {
      const messageId = newId()
      const ids = { messageId, collapseId: messageId }
      return send(sender, push({ gateway, ...tokenOf(sim, gateway), ...ids, content: titled(length) }))
    }
    assert.equal(named(await trial(longest)), 'accepted', gateway)
    assert.equal(named(await trial(longest + 1)), 'rejected PAYLOAD_TOO_LARGE', gateway)
  }
  assert.equal(sizes.size, 3, 'no two gateways get the same')
})
