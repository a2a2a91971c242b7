import { createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import { isObject } from '../platform/fields.ts'

/** A JSON Web Signature, detached from the card that it signs. */
export interface CardSignature {
  protected: string
  signature: string
}

export interface CardSigner {
  signaturesOf(card: object, baseUrl: string): CardSignature[]
  /** The public key, with which readers of cards check signatures. */
  jwks: { keys: object[] }
}

export const jwksPath = '/.well-known/jwks.json'
const mostRemembered = 100

/** Signs cards as A2A 1.0 says (its 8.4): a JWS over the canonical JSON of the card without its signatures (RFC 8785). */
export function createCardSigner(key: KeyObject): CardSigner {
  const { kty, crv, x, y } = createPublicKey(key).export({ format: 'jwk' })
  const alg = kty === 'EC' ? 'ES256' : 'EdDSA'
  // RFC 7638: the hash of these members, in this order, names the key.
  const kid = hash('sha256', JSON.stringify({ crv, kty, x, ...(y !== undefined && { y }) }), 'base64url')
  const signOne = (payload: string, jku: string): CardSignature => {
    const header = encoded(JSON.stringify({ alg, typ: 'JOSE', kid, jku }))
    const input = Buffer.from(`${header}.${encoded(payload)}`)
    const signature = sign(kty === 'EC' ? 'sha256' : null, input, { key, dsaEncoding: 'ieee-p1363' })
    return { protected: header, signature: signature.toString('base64url') }
  }
  // An ES256 signature differs each time. A remembered signature keeps the bytes of the card, and so its ETag.
  const remembered = new Map<string, CardSignature[]>()
  return {
    jwks: { keys: [{ kty, crv, x, ...(y !== undefined && { y }), kid, alg, use: 'sig' }] },
    signaturesOf(card, baseUrl) {
      const jku = baseUrl + jwksPath
      const payloads = new Set([withoutEmpty(card, true), withoutEmpty(card, false)].map((form) => canonical(form)))
      const id = [jku, ...payloads].join('\n')
      const known = remembered.get(id)
      if (known) return known
      const made = [...payloads].map((payload) => signOne(payload, jku))
      // The address in a card comes from its reader, so readers can ask for any number of cards; the cache has a limit.
      if (remembered.size >= mostRemembered) remembered.clear()
      remembered.set(id, made)
      return made
    }
  }
}

const encoded = (text: string): string => Buffer.from(text).toString('base64url')

/**
 * The card in the two forms that readers canonicalise. The protocol omits empty lists, empty texts and false, as ProtoJSON
 * does. The official SDKs also omit objects that are empty after that.
 */
function withoutEmpty(value: unknown, objectsToo: boolean): unknown {
  if (Array.isArray(value)) {
    const kept = value.map((one) => withoutEmpty(one, objectsToo)).filter((one) => one !== undefined)
    return kept.length > 0 ? kept : undefined
  }
  if (!isObject(value)) return value === '' || value === false ? undefined : value
  const kept = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpty(inner, objectsToo)] as const)
    .filter(([, inner]) => inner !== undefined)
  return kept.length > 0 || !objectsToo ? Object.fromEntries(kept) : undefined
}

/**
 * RFC 8785: no blanks, and names in the order of their code units. JSON.stringify already writes strings and numbers as
 * the RFC demands.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
  return `{${members.join(',')}}`
}
