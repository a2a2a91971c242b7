import type { IncomingHttpHeaders } from 'node:http2'
import { activityAps } from '../activity.ts'
import { jsonBody } from '../bodies.ts'
import type { ApnsCredential } from '../credentials/credential.ts'
import {
  expiration,
  jsonOf,
  later,
  type Prepared,
  type Refused,
  requestOf,
  type Size,
  tooLarge,
  type Verdict
} from '../gateway.ts'
import type { ChannelContent, Push } from '../push.ts'
import { noBody } from '../transport/bytes.ts'
import type { Body } from '../transport/transport.ts'
import { readReason } from './responses.ts'

// Broadcast channels of Live Activities, from iOS 18 on. One host manages them; a broadcast goes to the host of all
// pushes and reaches every activity that subscribed to the channel.

type Broadcast = Extract<ChannelContent, { kind: 'channel-broadcast' }>

/** A broadcast may be larger than a push to one device. */
const longestBroadcast = 5_120

export const isChannelRequest = (content: Push['content']): content is ChannelContent =>
  content.kind.startsWith('channel-')

/** Whether the request goes to the host that manages channels. */
export const isManagement = (content: Push['content']): boolean =>
  isChannelRequest(content) && content.kind !== 'channel-broadcast'

export function prepareChannel(
  push: Push,
  content: ChannelContent,
  credential: ApnsCredential,
  providerToken: string
): Prepared | Refused {
  const bundle = encodeURIComponent(push.app ?? credential.topic)
  const common = { authorization: `bearer ${providerToken}`, 'apns-request-id': push.pushId }
  const path = `/1/apps/${bundle}/channels`
  switch (content.kind) {
    case 'channel-list':
      return {
        ...requestOf({ ':method': 'GET', ':path': `/1/apps/${bundle}/all-channels`, ...common }, noBody),
        wantsList: true
      }
    case 'channel-create':
      return requestOf(
        { ':method': 'POST', ':path': path, ...common, 'content-type': 'application/json' },
        jsonBody({ 'message-storage-policy': content.stored ? 1 : 0, 'push-type': 'LiveActivity' })
      )
    case 'channel-delete':
      return requestOf({ ':method': 'DELETE', ':path': path, ...common, 'apns-channel-id': content.channelId }, noBody)
    case 'channel-broadcast':
      return prepareBroadcast(push, content, bundle, common)
  }
}

function prepareBroadcast(push: Push, content: Broadcast, bundle: string, common: object): Prepared | Refused {
  const body = bodyOf(push, content)
  return (
    tooLarge('an APNs channel', sizeOf(body)) ??
    requestOf(
      {
        ':method': 'POST',
        ':path': `/4/broadcasts/apps/${bundle}`,
        ...common,
        'apns-channel-id': content.channelId,
        'apns-push-type': 'liveactivity',
        'apns-priority': push.priority === 'high' ? '10' : '5',
        // Apple refuses any other time for a channel that stores nothing.
        'apns-expiration': content.stored ? expiration(push) : '0'
      },
      body
    )
  )
}

const bodyOf = ({ messageId }: Push, { change }: Broadcast) =>
  jsonBody({ aps: activityAps(change, 0), message_id: messageId })

const sizeOf = ({ length: bytes }: Body): Size => ({ bytes, most: longestBroadcast })

export const sizeOfBroadcast = (push: Push, content: ChannelContent): Size =>
  sizeOf(content.kind === 'channel-broadcast' ? bodyOf(push, content) : noBody)

/** A created channel has its id in a header; Apple returns the id of any other request as it was sent. */
export function readChannel(
  push: Push,
  content: ChannelContent,
  status: number,
  headers: IncomingHttpHeaders,
  body: string
): Verdict {
  if (status >= 200 && status < 300) return readSuccess(push, content, headers, body)
  const { reason } = jsonOf(body)
  const verdict = readReason(status, typeof reason === 'string' ? reason : '', undefined, headers)
  // Apple no longer has the channel, as wanted.
  if (content.kind === 'channel-delete' && verdict.kind === 'rejected' && verdict.reason === 'CHANNEL_NOT_FOUND')
    return { kind: 'accepted', gatewayMessageId: push.pushId }
  // The limit concerns this channel, and no device.
  if (verdict.kind === 'retry' && verdict.reason === 'DEVICE_RATE_LIMITED')
    return later('PROJECT_RATE_LIMITED', verdict.gatewayCode, verdict.afterMs, { scope: 'device' })
  return verdict
}

function readSuccess(push: Push, content: ChannelContent, headers: IncomingHttpHeaders, body: string): Verdict {
  const accepted = { kind: 'accepted' as const, gatewayMessageId: push.pushId }
  if (content.kind === 'channel-create') {
    const id = headers['apns-channel-id']
    // Without its id the channel is of no use. The caller finds it among all channels.
    if (typeof id !== 'string' || id === '') return later('GATEWAY_UNAVAILABLE', 'no apns-channel-id', 1_000)
    return { ...accepted, gatewayMessageId: id }
  }
  if (content.kind !== 'channel-list') return accepted
  const { channels } = jsonOf(body)
  if (!Array.isArray(channels)) return later('GATEWAY_UNAVAILABLE', 'no list of channels', 1_000)
  return { ...accepted, channels: channels.filter((id): id is string => typeof id === 'string') }
}
