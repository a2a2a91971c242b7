import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelContent, Outcome } from '../../src/gateways/push.ts'
import { simulator } from '../simulator/client.ts'
import { answer, anyToken, apnsCredential, plainServer, push, send, senderFor, topic } from './senders.ts'

const options = { fcm: false, webpush: false, apns: { channels: {} } } as const
const change = { kind: 'activity-update', activity: { contentState: { home: 1 }, timestamp: 1_763_164_800 } } as const

const about = (content: ChannelContent) => push({ content, app: topic })

test('a channel is created, listed, sent to and deleted at APNs, with the ids that Apple gives', async (t) => {
  const sim = await simulator(t, options)
  const sender = senderFor(t, apnsCredential(sim))
  const made = await send(sender, about({ kind: 'channel-create', stored: true }))
  assert.ok(made.kind === 'accepted')
  const channelId = made.gatewayMessageId
  const listed = await send(sender, about({ kind: 'channel-list' }))
  assert.deepEqual(listed.kind === 'accepted' && listed.channels, [channelId])
  const broadcast = about({ kind: 'channel-broadcast', channelId, stored: true, change })
  assert.deepEqual(await send(sender, broadcast), { kind: 'accepted', gatewayMessageId: broadcast.pushId })
  const [item] = sim.ledger.items()
  const { headers, path, payload } = item!.request
  assert.equal(path, `/4/broadcasts/apps/${topic}`)
  assert.deepEqual(
    [headers['apns-channel-id'], headers['apns-request-id'], headers['apns-topic']],
    [channelId, broadcast.pushId, undefined]
  )
  assert.deepEqual(payload, {
    aps: { timestamp: 1_763_164_800, event: 'update', 'content-state': { home: 1 } },
    message_id: broadcast.messageId
  })
  for (const _ of ['deletes', 'finds none'])
    assert.equal((await send(sender, about({ kind: 'channel-delete', channelId }))).kind, 'accepted')
  const gone = await send(sender, broadcast)
  assert.deepEqual([gone.kind, gone.kind === 'rejected' && gone.reason], ['rejected', 'CHANNEL_NOT_FOUND'])
})

test('the list of as many channels as Apple allows arrives whole', async (t) => {
  const channels = Array.from({ length: 10_000 }, (_, index) => `channel/${index}`.padEnd(24, '='))
  const { credential, ca } = await plainServer(t, (stream) => answer(stream, 200, { channels }))
  const sender = senderFor(t, { ...credential, ca }, { providerTokens: anyToken })
  const listed = await send(sender, about({ kind: 'channel-list' }))
  assert.deepEqual(listed.kind === 'accepted' && listed.channels, channels)
})

test('reasons of Apple that concern channels fail their request, and suspend no push of the credential', async (t) => {
  let reply: [status: number, reason: string] = [200, '']
  const server = await plainServer(t, (stream) => answer(stream, reply[0], { reason: reply[1] }))
  const sender = senderFor(t, server.credential, { providerTokens: anyToken })
  const content = { kind: 'channel-broadcast', channelId: 'AAAA', stored: false, change } as const
  const said = (outcome: Outcome) => (outcome.kind === 'accepted' ? '' : outcome.reason)
  const cases: [status: number, reason: string, kind: Outcome['kind'], code: string][] = [
    [400, 'BadChannelId', 'rejected', 'CHANNEL_NOT_FOUND'],
    [400, 'CannotCreateChannelConfig', 'rejected', 'CHANNEL_LIMIT'],
    [403, 'FeatureNotEnabled', 'rejected', 'CREDENTIALS_INVALID'],
    [400, 'TopicMismatch', 'rejected', 'CREDENTIALS_INVALID'],
    [400, 'BadExpirationDate', 'rejected', 'PAYLOAD_INVALID'],
    [413, 'PayloadTooLarge', 'rejected', 'PAYLOAD_TOO_LARGE'],
    [429, 'TooManyRequests', 'retry', 'PROJECT_RATE_LIMITED']
  ]
  for (const [status, reason, kind, code] of cases)
    for (const _ of ['once', 'twice']) {
      reply = [status, reason]
      const outcome = await send(sender, about(content))
      assert.deepEqual([outcome.kind, said(outcome)], [kind, code], reason)
    }
  reply = [200, '']
  assert.equal((await send(sender, push({}))).kind, 'accepted')
})
