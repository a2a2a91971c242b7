import { isObject } from '../../platform/fields.ts'
import type { LedgerItem } from '../server/ledger.ts'

/** How a gateway holds a push for a phone that is offline. */
export interface Holding {
  /** Undefined: the gateway does not keep the push. */
  until?: Date
  /** A newer push of the same key replaces it; null: it does not replace any. */
  key: string | null
}

const dayMs = 24 * 3_600_000
/** Apple keeps a push without `apns-expiration` for up to 30 days. */
const apnsMs = 30 * dayMs
/** Four weeks, the default and the most of FCM. */
const fcmMs = 28 * dayMs

/** FCM keeps this many pushes without a collapse key for a phone. One more, and it discards all of them. */
export const mostWithoutKey = 100
/** FCM keeps pushes of this many collapse keys for a phone. */
export const mostKeys = 4

export function holdingOf(item: LedgerItem, now: Date): Holding {
  if (item.gateway === 'fcm') return ofFcm(item, now)
  return item.gateway === 'apns' ? ofApns(item, now) : ofWebPush(item, now)
}

/** Apple keeps one push of an app for a phone, and one of each Live Activity. */
function ofApns({ request: { headers }, token }: LedgerItem, now: Date): Holding {
  const activity = headers['apns-push-type'] === 'liveactivity'
  const key = activity ? `activity ${token}` : `app ${headers['apns-topic']}`
  const until = expirationOf(headers['apns-expiration'], now)
  return until && until > now ? { until, key } : { key }
}

/** Undefined for `0`, which asks for one attempt and no storage. */
export function expirationOf(header: string | undefined, now: Date): Date | undefined {
  if (header === undefined) return new Date(now.getTime() + apnsMs)
  return Number(header) === 0 ? undefined : new Date(Number(header) * 1000)
}

function ofFcm({ request: { payload } }: LedgerItem, now: Date): Holding {
  const message = isObject(payload) && isObject(payload.message) ? payload.message : {}
  const android = isObject(message.android) ? message.android : {}
  const key = typeof android.collapse_key === 'string' ? android.collapse_key : null
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(String(android.ttl ?? '')) ?? []
  const ms = seconds === undefined ? fcmMs : Math.min(Number(seconds) * 1000, fcmMs)
  return ms > 0 ? { until: new Date(now.getTime() + ms), key } : { key }
}

/** RFC 8030: a message is kept for its TTL, and replaces one of the same topic. */
function ofWebPush({ request: { headers } }: LedgerItem, now: Date): Holding {
  const seconds = Math.min(Number(headers.ttl) || 0, fcmMs / 1000)
  const key = headers.topic ?? null
  return seconds > 0 ? { until: new Date(now.getTime() + seconds * 1000), key } : { key }
}
