import { isObject } from '../../platform/fields.ts'
import { shownActions } from '../apns/payload.ts'
import type { WebPushCredential } from '../credentials/credential.ts'
import { bytesOf, digest, type Gateway, jsonOf, refused, tokenDead, tooLarge } from '../gateway.ts'
import type { Notification, Push } from '../push.ts'
import { Bytes } from '../transport/bytes.ts'
import { encrypt, longestPlaintext } from './encryption.ts'
import { isUnlisted, refuseEndpoint } from './push-services.ts'
import { readPushService } from './responses.ts'
import { vapid } from './vapid.ts'

/** Four weeks, the longest that push services keep a message. */
const longestTtlSeconds = 2_419_200

const names = [':method', ':path', 'authorization', 'content-type', 'content-encoding', 'ttl', 'urgency', 'topic']

/**
 * Makes requests by RFC 8030, 8291 and 8292 and reads the responses. docs/reference/payloads.md describes the content
 * that the service worker of a site receives.
 */
export const webpush: Gateway<WebPushCredential> = {
  origin(push, credential) {
    const endpoint = subscriptionOf(push.token)?.endpoint
    if (!endpoint) return refused('TOKEN_INVALID', '', 'The subscription of the browser cannot be read.')
    const why = refuseEndpoint(endpoint, credential)
    if (why === undefined) return placeOf(endpoint, credential)
    return refused(credential.simulated ? 'TOKEN_MISMATCH' : 'TOKEN_INVALID', '', why)
  },

  isUnlisted,

  prepare(push, credential, _providerToken, now) {
    const subscription = subscriptionOf(push.token)
    if (!subscription) return tokenDead('TOKEN_INVALID', '')
    if (push.content.kind !== 'alert') return refused('UNSUPPORTED_PLATFORM')
    if (push.content.notification.silent)
      return refused('UNSUPPORTED_PLATFORM', '', 'Browsers take no silent push: a site must show each one.')
    const plaintext = bytesOf(payloadOf(push, push.content.notification))
    const tooMuch = tooLarge('Web Push', sizeOf(plaintext))
    if (tooMuch) return tooMuch
    const { endpoint, p256dh, auth } = subscription
    const authorization = attempt(() => vapid(credential, placeOf(endpoint, credential), now))
    if (authorization === undefined) return refused('CREDENTIALS_INVALID', '', 'The VAPID keys cannot be read.')
    const body = attempt(() => encrypt(plaintext, p256dh, auth))
    if (!body) return tokenDead('TOKEN_INVALID', '')
    const values = [
      'POST',
      `${endpoint.pathname}${endpoint.search}`,
      authorization,
      'application/octet-stream',
      'aes128gcm',
      String(Math.min(longestTtlSeconds, Math.max(0, Math.ceil((push.notAfter - now) / 1000)))),
      push.priority,
      // A push replaces a waiting one of the same topic. A topic allows few characters, so it is a digest.
      push.collapseId ? digest(push.collapseId, 32) : undefined
    ]
    return { names, values, body: new Bytes(body) }
  },

  /** Browsers have no Live Activities, so a Live Activity has no payload. */
  measure: (push) =>
    sizeOf(push.content.kind === 'alert' ? bytesOf(payloadOf(push, push.content.notification)) : Buffer.alloc(0)),

  read: (_push, status, headers, body) => readPushService(status, headers, jsonOf(body), body)
}

const sizeOf = ({ length: bytes }: Buffer) => ({ bytes, most: longestPlaintext })

/**
 * The subscription of a simulated browser has no address, because each process runs its simulator elsewhere; the
 * credential has the origin.
 */
const placeOf = (endpoint: URL, { simulated, origin }: WebPushCredential) =>
  simulated && origin ? origin : endpoint.origin

/** node:crypto throws for invalid keys. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

interface Subscription {
  endpoint: URL
  p256dh: Buffer
  auth: Buffer
}

/** The token of a browser is the JSON of its PushSubscription. */
function subscriptionOf(token: string): Subscription | undefined {
  const { endpoint, keys } = jsonOf(token)
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint) || !isObject(keys)) return undefined
  if (typeof keys.p256dh !== 'string' || typeof keys.auth !== 'string') return undefined
  const p256dh = Buffer.from(keys.p256dh, 'base64url')
  const auth = Buffer.from(keys.auth, 'base64url')
  return p256dh.length === 65 && auth.length > 0 ? { endpoint: new URL(endpoint), p256dh, auth } : undefined
}

const payloadOf = (
  push: Push,
  { title, body, imageUrl, landingUrl, data, badge, actions, interruptionLevel }: Notification
) => ({
  message_id: push.messageId,
  ...(title && { title }),
  ...(body && { body }),
  ...(imageUrl && { image_url: imageUrl }),
  ...(landingUrl && { landing_url: landingUrl }),
  ...(push.collapseId && { tag: push.collapseId }),
  ...(badge !== undefined && { badge }),
  ...(actions && { actions: shownActions(actions) }),
  ...(interruptionLevel && { interruption_level: interruptionLevel }),
  ...(data && { data })
})
