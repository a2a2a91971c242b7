import { type KeyObject, verify } from 'node:crypto'
import { isObject } from '../platform/fields.ts'

export interface Jwt {
  header: Record<string, unknown>
  claims: Record<string, unknown>
  /** The signed bytes. */
  signed: Buffer
  signature: Buffer
}

/** Parses a compact JWT without verifying it. */
export function readJwt(text: string): Jwt | undefined {
  const [head, body, signature, ...rest] = text.split('.')
  if (!head || !body || !signature || rest.length > 0) return undefined
  const header = readObject(head)
  const claims = readObject(body)
  if (!header || !claims) return undefined
  return { header, claims, signed: Buffer.from(`${head}.${body}`), signature: Buffer.from(signature, 'base64url') }
}

function readObject(part: string): Record<string, unknown> | undefined {
  return jsonObject(Buffer.from(part, 'base64url').toString())
}

/** Parses a JSON object; undefined for anything else. */
export function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** JOSE signatures are r and s side by side, not DER; the real gateways refuse DER too. */
export function isSignedBy(jwt: Jwt, algorithm: 'ES256' | 'RS256', key: KeyObject): boolean {
  if (jwt.header.alg !== algorithm) return false
  const how = algorithm === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' as const } : key
  try {
    return verify('sha256', jwt.signed, how, jwt.signature)
  } catch {
    return false
  }
}

const remembered = 1_000

/** Caches verdicts: one provider token serves thousands of pushes, and checking its signature each time is slow. */
export function rememberVerdicts<Verdict>(judge: (text: string) => Verdict): (text: string) => Verdict {
  const verdicts = new Map<string, Verdict>()
  return (text) => {
    const known = verdicts.get(text)
    if (known !== undefined) return known
    if (verdicts.size >= remembered) verdicts.clear()
    const verdict = judge(text)
    verdicts.set(text, verdict)
    return verdict
  }
}
