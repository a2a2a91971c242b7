import { createPrivateKey, sign } from 'node:crypto'
import type { WebPushCredential } from '../credentials/credential.ts'

const validSeconds = 12 * 3_600
/** A header is reused until two hours before it expires. */
const reusedMs = 10 * 3_600_000
const mostKept = 1_000

const kept = new Map<string, { header: string; madeAt: number }>()

/**
 * The header by which a sender identifies itself (RFC 8292). It depends only on the key and the push service, so one
 * signature serves for hours.
 */
export function vapid(credential: WebPushCredential, origin: string, now: number): string {
  const key = `${credential.publicKey} ${credential.subject} ${origin}`
  const known = kept.get(key)
  // A header issued in the future comes from a clock that was set back since. Push services refuse headers that expire
  // in more than a day.
  if (known && known.madeAt <= now && now < known.madeAt + reusedMs) return known.header
  const header = make(credential, origin, now)
  kept.delete(key)
  kept.set(key, { header, madeAt: now })
  const [oldest] = kept.keys()
  if (kept.size > mostKept) kept.delete(oldest!)
  return header
}

function make({ publicKey, privateKey, subject }: WebPushCredential, origin: string, now: number): string {
  const point = Buffer.from(publicKey, 'base64url')
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: privateKey,
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url')
  }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { aud: origin, exp: Math.floor(now / 1000) + validSeconds, sub: subject }
  const text = `${part({ typ: 'JWT', alg: 'ES256' })}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(text), {
    key: createPrivateKey({ key: jwk, format: 'jwk' }),
    dsaEncoding: 'ieee-p1363'
  })
  return `vapid t=${text}.${signature.toString('base64url')}, k=${publicKey}`
}
