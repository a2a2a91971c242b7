import { type KeyObject, sign } from 'node:crypto'

export type Algorithm = 'ES256' | 'RS256'

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A compact JWT. The signature of ES256 is r and s side by side (JOSE), not DER. */
export function signJwt(algorithm: Algorithm, key: KeyObject, header: object, claims: object): string {
  const text = `${part({ alg: algorithm, ...header })}.${part(claims)}`
  return `${text}.${signText(algorithm, key, text).toString('base64url')}`
}

export const signText = (algorithm: Algorithm, key: KeyObject, text: string): Buffer =>
  sign('sha256', Buffer.from(text), algorithm === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : key)
