import { createPublicKey, type KeyObject } from 'node:crypto'
import { isSignedBy, readJwt, rememberVerdicts } from '../jwt.ts'
import type { Incoming } from '../server/gateway.ts'

export interface VapidRefusal {
  status: 401 | 403
  reason: string
  detail: string
}

interface Vapid {
  key: string
  audience: unknown
  expiresAt: number
}

const longestSeconds = 24 * 3_600

const refuse = (detail: string, status: 401 | 403 = 403): VapidRefusal => ({ status, reason: 'BadJwtToken', detail })

const read = rememberVerdicts((authorization: string): Vapid | VapidRefusal => {
  const [, scheme, parameters = ''] = /^(\w+)\s+(.*)$/.exec(authorization) ?? []
  if (scheme?.toLowerCase() !== 'vapid') return refuse('The scheme of authorization is vapid.', 401)
  const given = new Map(parameters.split(',').map((part) => [part.trim()[0], part.trim().slice(2)] as const))
  const [t, k] = [given.get('t'), given.get('k')]
  if (!t || !k) return refuse('authorization needs t and k.', 401)
  const jwt = readJwt(t)
  const key = publicKey(k)
  if (!jwt) return refuse('t is no JWT.')
  if (!key) return refuse('k is no public key of P-256, uncompressed, in base64url.')
  if (!isSignedBy(jwt, 'ES256', key)) return refuse('The signature is not ES256 by k.')
  const { aud, exp, sub } = jwt.claims
  if (typeof exp !== 'number') return refuse('exp is missing.')
  if (sub !== undefined && !/^(mailto:|https:)/.test(String(sub))) return refuse('sub begins with mailto: or https:.')
  return { key: k.replace(/=+$/, ''), audience: aud, expiresAt: exp }
})

/** RFC 8292: verifies the sender and returns its public key. */
export function checkVapid(incoming: Incoming): { key: string } | VapidRefusal {
  const { authorization } = incoming.headers
  if (!authorization) return refuse('authorization is missing.', 401)
  const vapid = read(authorization)
  if ('reason' in vapid) return vapid
  const left = vapid.expiresAt - Date.now() / 1000
  if (left <= 0) return refuse('exp is past.')
  // A minute for clocks that differ, since senders use the full day.
  if (left > longestSeconds + 60) return refuse('exp is more than 24 hours ahead.')
  if (vapid.audience !== incoming.origin) return refuse(`aud must be ${incoming.origin}.`)
  return { key: vapid.key }
}

function publicKey(text: string): KeyObject | undefined {
  const point = Buffer.from(text, 'base64url')
  if (point.length !== 65 || point[0] !== 4) return undefined
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' })
  } catch {
    return undefined
  }
}
