import { createHash } from 'node:crypto'
import { refusing } from '../platform/fields.ts'
import { isStorable } from '../platform/json/storable.ts'
import type { Platform, SentDevice } from './schemas.ts'

export type TokenType = 'APNS' | 'FCM' | 'WEBPUSH'

export interface TokenInput {
  hash: string
  token: string
  type: TokenType
  environment: 'production' | 'sandbox'
  appIdentifier: string | null
}

/**
 * FCM and APNs promise no maximum length. The longest token seen is under 300, and a subscription with its keys under
 * 1,000.
 */
const maxTokenLength = 4096

// Maps, because an object would also have an entry for "constructor".
const types = new Map<string, TokenType>([
  ['APNS', 'APNS'],
  ['APN', 'APNS'],
  ['FCM', 'FCM'],
  ['WEBPUSH', 'WEBPUSH'],
  ['WEB_PUSH', 'WEBPUSH']
])
const environments = new Map<string, TokenInput['environment']>([
  ['production', 'production'],
  ['sandbox', 'sandbox'],
  ['development', 'sandbox'] // As Apple's entitlement calls it.
])

const refuse = refusing('invalid_device')

/** The token of an entry: absent if the entry does not mention one, null if the device no longer has one. */
export function readToken(
  sent: SentDevice,
  platform: Platform,
  path: string,
  appIdentifier: string | undefined
): TokenInput | null | undefined {
  const given = sent.push_token
  if (given === undefined || given === null || given === '') return given === undefined ? undefined : null
  const text = typeof given === 'string' ? given : subscriptionText(given, `${path}.push_token`)
  if (text.length > maxTokenLength) throw refuse(`${path}.push_token`, `must be at most ${maxTokenLength} characters`)
  if (/\p{Cc}/u.test(text)) throw refuse(`${path}.push_token`, 'must not hold control characters')
  const type = sent.push_token_type
    ? types.get(sent.push_token_type.toUpperCase().replace(/^PUSH_TOKEN_TYPE_/, ''))
    : typeByLook(platform, text)
  if (!type) throw refuse(`${path}.push_token_type`, 'must be APNS, FCM or WEBPUSH')
  if (typeof given === 'object' && type !== 'WEBPUSH') throw refuse(`${path}.push_token`, 'must be a string')
  const environment = environments.get((sent.push_environment || 'production').toLowerCase())
  if (!environment) throw refuse(`${path}.push_environment`, 'must be production or sandbox')
  const token = type === 'APNS' && isHex(text) ? text.toLowerCase() : text
  if (type === 'WEBPUSH') subscriptionOf(parsed(token), `${path}.push_token`)
  return {
    hash: hashOfToken(nameOfToken({ type, token })),
    token,
    type,
    environment,
    appIdentifier: sent.app_identifier || appIdentifier || null
  }
}

export const hashOfToken = (name: string): string => createHash('sha256').update(name).digest('hex')

/** A token as `<type>:<token, or endpoint>`: a browser may write one subscription in another order. */
export const nameOfToken = ({ type, token }: Pick<TokenInput, 'type' | 'token'>): string =>
  `${type}:${type === 'WEBPUSH' ? (JSON.parse(token) as Subscription).endpoint : token}`

const isHex = (text: string) => /^[0-9a-f]+$/i.test(text)

/** The type of a token that came without one: iPhones use both kinds, and only Apple's is hexadecimal. */
function typeByLook(platform: Platform, token: string): TokenType {
  if (platform === 'WEB') return 'WEBPUSH'
  return platform === 'IOS' && isHex(token) ? 'APNS' : 'FCM'
}

interface Subscription {
  endpoint: string
  keys: { p256dh: string; auth: string }
}

/** A subscription that came as an object, reduced to known fields. The code does not walk the others. */
function subscriptionText(given: object, path: string): string {
  const { endpoint, keys } = subscriptionOf(given, path)
  return JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } })
}

function subscriptionOf(given: unknown, path: string): Subscription {
  const { endpoint, keys } = (given ?? {}) as { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } }
  const whole = typeof endpoint === 'string' && typeof keys?.p256dh === 'string' && typeof keys.auth === 'string'
  if (!whole || !/^https?:\/\//.test(endpoint)) {
    throw refuse(path, 'must be the JSON of a PushSubscription: endpoint, keys.p256dh and keys.auth')
  }
  const subscription = given as Subscription
  // Escapes in a JSON text stand for characters that the text itself does not hold.
  if (![endpoint, subscription.keys.p256dh, subscription.keys.auth].every(isStorable))
    throw refuse(path, 'must not hold NUL or a lone surrogate')
  return subscription
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
