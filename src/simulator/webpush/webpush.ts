import { randomUUID } from 'node:crypto'
import { type Answer, decoded, type Gateway, html502, type Incoming, type Judgement } from '../server/gateway.ts'
import { nothing, readWebPush } from '../server/reading.ts'
import { decrypt, keysOf, makeId, recogniseId, type Subscription } from './crypto.ts'
import { checkVapid } from './vapid.ts'

export interface WebPushGateway extends Gateway {
  /** `label` may carry a fault (`sim-410-…`); with `applicationServerKey` only that VAPID key may send to it. */
  subscribe(origin: string, wanted?: SubscriptionRequest): Subscription
}

export interface SubscriptionRequest {
  label?: string
  applicationServerKey?: string
}

/** RFC 8030 requires 4096 bytes, and push services allow no more. */
const longestBody = 4_096
const urgencies = ['very-low', 'low', 'normal', 'high']
const reasons: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'BadJwtToken',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'TooManyRequests',
  410: 'Gone',
  413: 'PayloadTooLarge',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable'
}

/** Keys and ids of all subscriptions derive from the seed. */
export function createWebPush(seed: string): WebPushGateway {
  function judge(incoming: Incoming): Judgement {
    const part = /^\/push\/([^/?]+)$/.exec(incoming.path)?.[1]
    const id = part === undefined ? undefined : decoded(part)
    const made = id === undefined ? undefined : recogniseId(seed, id)
    const text = id && made && incoming.body.length > 0 ? decrypt(incoming.body, keysOf(seed, id)) : undefined
    const payload = text === undefined ? null : readable(text)
    const refused = check(incoming, made, text)
    return {
      token: id ?? null,
      payload,
      push: payload === null ? nothing : readWebPush(payload),
      answer: refused ?? accept(incoming)
    }
  }

  function check(
    incoming: Incoming,
    made: ReturnType<typeof recogniseId>,
    text: Buffer | undefined
  ): Answer | undefined {
    const { headers, body, method } = incoming
    if (!made) return refuse(404, 'This simulator did not make the subscription.')
    if (method !== 'POST') return { ...refuse(405), headers: { allow: 'POST' } }
    const vapid = checkVapid(incoming)
    if ('reason' in vapid) return refuse(vapid.status, vapid.detail, vapid.reason)
    if (!made.accepts(vapid.key))
      return refuse(403, 'The subscription is for another VAPID key.', 'VapidPkHashMismatch')
    if (headers.ttl === undefined) return refuse(400, 'TTL is missing.', 'MissingTtl')
    if (!/^\d{1,10}$/.test(headers.ttl)) return refuse(400, 'TTL is a whole number of seconds.', 'BadTtl')
    if (headers.urgency !== undefined && !urgencies.includes(headers.urgency))
      return refuse(400, `Urgency is one of ${urgencies.join(', ')}.`, 'BadUrgency')
    if (headers.topic !== undefined && !/^[\w-]{1,32}$/.test(headers.topic))
      return refuse(400, 'Topic is 1 to 32 characters of base64url.', 'BadTopic')
    if (body.length > longestBody) return refuse(413, `More than ${longestBody} bytes.`)
    if (body.length === 0) return undefined
    if (headers['content-encoding'] !== 'aes128gcm')
      return refuse(400, 'Content-Encoding must be aes128gcm.', 'BadEncoding')
    // A real push service cannot decrypt it, and the browser would drop it silently.
    return text === undefined
      ? refuse(400, 'The body cannot be decrypted with the keys of the subscription.', 'BadEncryption')
      : undefined
  }

  return {
    name: 'webpush',
    judge,
    refuse(fault) {
      if (fault.kind === 'html') return html502
      const status = fault.kind === 'badtoken' ? 404 : fault.status!
      const wait = status === 429 || status === 406 || status === 503
      const named = fault.argument && /^[A-Za-z]+$/.test(fault.argument) ? fault.argument : undefined
      return {
        ...refuse(status, undefined, named),
        ...(wait && { headers: { 'retry-after': String(Number(fault.argument) || 1) } })
      }
    },
    subscribe(origin, { label = randomUUID(), applicationServerKey } = {}) {
      const id = makeId(seed, label, applicationServerKey)
      const { publicKey, auth } = keysOf(seed, id)
      return {
        endpoint: `${origin}/push/${encodeURIComponent(id)}`,
        keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') }
      }
    }
  }
}

function accept({ origin, headers }: Incoming): Answer {
  const location = `${origin}/message/${randomUUID()}`
  return { status: 201, headers: { location, ttl: headers.ttl! }, reason: null, gatewayMessageId: location }
}

function refuse(status: number, detail?: string, reason = reasons[status] ?? 'InternalServerError'): Answer {
  return {
    status,
    body: JSON.stringify({ reason }),
    reason,
    ...(detail && { detail }),
    gatewayMessageId: null
  }
}

/** Sites usually send JSON, but may send anything. */
function readable(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return text.toString()
  }
}
