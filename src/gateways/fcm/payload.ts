import { activityAps, isActivity } from '../activity.ts'
import { alertAps, shownActions } from '../apns/payload.ts'
import { createBodies } from '../bodies.ts'
import type { FcmCredential } from '../credentials/credential.ts'
import { collapseHeader, createAuthorization, expiration, type Gateway, jsonOf, refused, tooLarge } from '../gateway.ts'
import type { InterruptionLevel, Notification, Push } from '../push.ts'
import { readFcmError } from './responses.ts'

const longestPayload = 4_096
/** Four weeks, the longest that Firebase keeps a message. */
const longestTtlSeconds = 2_419_200

const names = [':method', ':path', 'authorization', 'content-type']
const authorization = createAuthorization('Bearer')
const bodyOf = createBodies(
  (push, now) => ({ message: messageOf(push, now) }),
  ({ message }) => sizeOf(message)
)

/**
 * Makes payloads for FCM HTTP v1 (Android, and iOS and web apps with Firebase) and reads its responses.
 * docs/reference/payloads.md describes the payloads.
 */
export const fcm: Gateway<FcmCredential> = {
  origin: (_push, credential) => credential.origin,

  prepare(push, credential, providerToken, now) {
    if (push.content.kind !== 'alert' && !push.activityToken) return refused('NO_LIVE_ACTIVITY_TOKEN')
    const { body, size } = bodyOf(push, now)
    const tooMuch = tooLarge('FCM', size)
    if (tooMuch) return tooMuch
    const path = `/v1/projects/${encodeURIComponent(credential.firebaseProject)}/messages:send`
    return { names, values: ['POST', path, authorization(providerToken), 'application/json'], body, isBare: true }
  },

  measure: (push, now) => sizeOf(messageOf(push, now)),

  read(_push, status, headers, body) {
    const answer = jsonOf(body)
    if (status === 200)
      return { kind: 'accepted', gatewayMessageId: typeof answer.name === 'string' ? answer.name : '' }
    return readFcmError(status, headers, answer)
  }
}

interface Message {
  token: string
  data?: Record<string, string>
  notification?: object
  android?: { notification?: object } & Record<string, unknown>
  apns?: { payload?: object } & Record<string, unknown>
  webpush?: { notification?: object } & Record<string, unknown>
}

const secondsLeft = ({ notAfter }: Push, now: number) =>
  Math.min(longestTtlSeconds, Math.max(0, Math.ceil((notAfter - now) / 1000)))

const apnsHeaders = (push: Push, silent = false) => ({
  ...(silent && { 'apns-push-type': 'background' }),
  'apns-priority': push.priority === 'high' && !silent ? '10' : '5',
  'apns-expiration': expiration(push),
  ...(push.collapseId && { 'apns-collapse-id': collapseHeader(push.collapseId) })
})

const messageOf = (push: Push, now: number): Message =>
  push.content.kind !== 'alert'
    ? activity(push, now)
    : push.content.notification.silent
      ? background(push, push.content.notification, now)
      : alert(push, push.content.notification, now)

/** Without `notification` the system shows nothing, and hands the data to the app. */
const background = (push: Push, { data, collapseKey }: Notification, now: number): Message => ({
  token: push.token,
  data: { ...data, message_id: push.messageId },
  android: {
    priority: push.priority === 'high' ? 'HIGH' : 'NORMAL',
    ttl: `${secondsLeft(push, now)}s`,
    ...(collapseKey && { collapse_key: collapseKey })
  },
  apns: { headers: apnsHeaders(push, true), payload: { aps: { 'content-available': 1 } } }
})

/** Below Android 8. Newer phones obey the importance of the channel. */
const androidPriority = {
  passive: 'PRIORITY_LOW',
  active: 'PRIORITY_DEFAULT',
  'time-sensitive': 'PRIORITY_HIGH',
  critical: 'PRIORITY_MAX'
} as const

function alert(push: Push, notification: Notification, now: number): Message {
  const { title, body, imageUrl, landingUrl, data, sound, badge, channelId, collapseKey } = notification
  const { category, actions, interruptionLevel: level } = notification
  const { alert: _, ...aps } = { alert: undefined, ...alertAps(notification) }
  const tag = push.collapseId && { tag: push.collapseId }
  const seconds = secondsLeft(push, now)
  return {
    token: push.token,
    // The fields of the service come last: no field of the caller's `data` may hide them.
    data: {
      ...data,
      message_id: push.messageId,
      ...(landingUrl && { landing_url: landingUrl }),
      ...(imageUrl && { image_url: imageUrl }),
      // Android shows no buttons by itself: the app makes them from these.
      ...(category && { category }),
      ...(actions && { actions: JSON.stringify(shownActions(actions)) })
    },
    notification: { ...(title && { title }), ...(body && { body }), ...(imageUrl && { image: imageUrl }) },
    android: {
      priority: push.priority === 'high' ? 'HIGH' : 'NORMAL',
      ttl: `${seconds}s`,
      // Firebase keeps at most four collapse keys per device and drops the others, so the service sends one only if the
      // caller gives it.
      ...(collapseKey && { collapse_key: collapseKey }),
      notification: {
        ...tag,
        ...(channelId && { channel_id: channelId }),
        ...(sound && { sound }),
        ...(badge !== undefined && { notification_count: badge }),
        ...(level && { notification_priority: androidPriority[level] })
      }
    },
    apns: {
      headers: apnsHeaders(push),
      payload: { aps },
      ...(imageUrl && { fcm_options: { image: imageUrl } })
    },
    webpush: {
      headers: { TTL: String(seconds), Urgency: push.priority },
      notification: {
        ...tag,
        ...(imageUrl && { image: imageUrl }),
        ...(actions && { actions: actions.map(({ id, title }) => ({ action: id, title })) }),
        ...(level && quietness(level))
      },
      // Firebase accepts only https here; the app finds the address in `data` in any case.
      ...(landingUrl?.startsWith('https://') && { fcm_options: { link: landingUrl } })
    }
  }
}

/** The options of a browser's notification that come nearest to a level. */
const quietness = (level: InterruptionLevel) => {
  if (level === 'passive') return { silent: true }
  return level === 'active' ? {} : { requireInteraction: true }
}

function activity(push: Push, now: number): Message {
  if (!isActivity(push.content)) throw new Error('not a Live Activity')
  return {
    token: push.token,
    apns: {
      live_activity_token: push.activityToken!,
      headers: apnsHeaders(push),
      payload: { aps: activityAps(push.content, now), message_id: push.messageId }
    }
  }
}

const sizeOf = (message: Message) => ({ bytes: contentSize(message), most: longestPayload })

/** Routing fields do not count. Each platform gets only its own part, so the largest part counts. */
function contentSize({ data, notification, android, apns, webpush }: Message): number {
  const size = (part: unknown) => (part === undefined ? 0 : Buffer.byteLength(JSON.stringify(part)))
  const largest = Math.max(size(android?.notification), size(apns?.payload), size(webpush?.notification))
  return size(data) + size(notification) + largest
}
