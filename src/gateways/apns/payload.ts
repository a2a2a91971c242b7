import type { IncomingHttpHeaders } from 'node:http2'
import { activityAps, isActivity } from '../activity.ts'
import { createBodies, isPlain } from '../bodies.ts'
import type { ApnsCredential } from '../credentials/credential.ts'
import {
  collapseHeader,
  createAuthorization,
  expiration,
  type Gateway,
  jsonOf,
  refused,
  type Size,
  tooLarge
} from '../gateway.ts'
import type { Action, ChannelContent, Content, Notification, Push } from '../push.ts'
import { isChannelRequest, isManagement, prepareChannel, readChannel, sizeOfBroadcast } from './channels.ts'
import { readReason } from './responses.ts'

const longestPayload = 4_096
const longestToken = 400

const names = [
  ':method',
  ':path',
  'authorization',
  'apns-topic',
  'apns-push-type',
  'apns-priority',
  'apns-expiration',
  'apns-id',
  'apns-collapse-id'
]
const authorization = createAuthorization('bearer')
const bodyOf = createBodies(payloadOf, (_payload, bytes) => sizeOf(bytes))

/** Makes payloads for APNs, which docs/reference/payloads.md describes for app developers, and reads its responses. */
export const apns: Gateway<ApnsCredential> = {
  origin: ({ content }, credential) => (isManagement(content) ? credential.channelsOrigin : credential.origin),

  prepare(push, credential, providerToken, now) {
    const { content } = push
    if (isChannelRequest(content)) return prepareChannel(push, content, credential, providerToken)
    const activity = content.kind !== 'alert'
    const silent = isSilent(content)
    // A token is hexadecimal of any length, or made by a simulator. Any other text is refused, because it could change
    // the path.
    const { token } = push
    if (token === '' || token.length > longestToken || !isPlain(token))
      return refused('TOKEN_INVALID', '', 'The token is not one of Apple.')
    const { body, size } = bodyOf(push, now)
    const tooMuch = tooLarge('APNs', size)
    if (tooMuch) return tooMuch
    const values = [
      'POST',
      `/3/device/${token}`,
      authorization(providerToken),
      activity ? `${credential.topic}.push-type.liveactivity` : credential.topic,
      activity ? 'liveactivity' : silent ? 'background' : 'alert',
      // Apple refuses a background push of another priority.
      push.priority === 'high' && !silent ? '10' : '5',
      expiration(push),
      push.pushId,
      push.collapseId ? collapseHeader(push.collapseId) : undefined
    ]
    return { names, values, body, isBare: true }
  },

  measure: (push, now) =>
    isChannelRequest(push.content) ? sizeOfBroadcast(push, push.content) : bodyOf(push, now).size,

  read(push, status, headers: IncomingHttpHeaders, body) {
    if (isChannelRequest(push.content)) return readChannel(push, push.content, status, headers, body)
    // Apple returns the id that it was sent.
    if (status === 200) return { kind: 'accepted', gatewayMessageId: push.pushId }
    const { reason, timestamp } = jsonOf(body)
    return readReason(
      status,
      typeof reason === 'string' ? reason : '',
      typeof timestamp === 'number' ? timestamp : undefined,
      headers
    )
  }
}

const sizeOf = (bytes: number): Size => ({ bytes, most: longestPayload })

function payloadOf(push: Push, now: number): object {
  const { content } = push
  if (isActivity(content)) return { aps: activityAps(content, now), message_id: push.messageId }
  if (content.kind !== 'alert') throw new Error('not a push to a device')
  const { notification } = content
  return {
    aps: alertAps(notification),
    message_id: push.messageId,
    landing_url: notification.landingUrl || undefined,
    image_url: notification.imageUrl || undefined,
    // Apple shows the buttons of the category; the app finds their addresses here.
    actions: notification.actions && shownActions(notification.actions),
    data: notification.data
  }
}

export const isSilent = (content: Content | ChannelContent): boolean =>
  content.kind === 'alert' && content.notification.silent === true

/** The buttons as apps and service workers read them. */
export const shownActions = (actions: Action[]) =>
  actions.map(({ id, title, landingUrl }) => ({ id, title, ...(landingUrl && { landing_url: landingUrl }) }))

/** JSON leaves undefined fields out. */
export function alertAps(notification: Notification) {
  const { title, body, imageUrl, badge, threadId, category, interruptionLevel, relevanceScore } = notification
  if (notification.silent) return { 'content-available': 1 }
  return {
    alert: { title: title || undefined, body: body || undefined },
    sound: soundOf(notification),
    badge,
    'thread-id': threadId || undefined,
    category,
    'interruption-level': interruptionLevel,
    'relevance-score': relevanceScore,
    // The app's extension fetches the picture. iOS runs the extension only for pushes with this field.
    'mutable-content': imageUrl ? 1 : undefined
  }
}

/** A critical alert sounds although the phone is muted, if Apple has allowed that to the app. */
const soundOf = ({ sound, interruptionLevel }: Notification) =>
  interruptionLevel === 'critical' ? { critical: 1, name: sound || 'default', volume: 1 } : sound || undefined
