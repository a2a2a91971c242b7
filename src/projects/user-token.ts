import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../platform/errors.ts'
import { isObject } from '../platform/fields.ts'

export const userTokenHeader = 'X-Service-User-Token'

/** Clocks of backends differ a little. */
const leewayMs = 30_000
const longest = 8_192

const invalid = (message: string) =>
  new Refusal('invalid_user_token', `Invalid user token: it ${message}`, [{ path: userTokenHeader, message }])

/**
 * Reads a JSON Web Token that the backend of a project signed with HS256, and returns its `sub`. Nothing in the token is
 * read before its signature is checked, except the algorithm: only this one is taken.
 */
export function readUserToken(token: string, secrets: readonly string[], nowMs: number): string {
  const parts = token.split('.')
  if (token.length > longest || parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part)))
    throw invalid('is not a JSON Web Token')
  const [header, payload, signature] = parts as [string, string, string]
  const { alg, crit } = objectIn(header) ?? {}
  if (alg !== 'HS256') throw invalid('must be signed with HS256')
  if (crit !== undefined) throw invalid('must not have critical extensions')
  if (!isSigned(`${header}.${payload}`, signature, secrets))
    throw invalid('is not signed with the identity secret of this project')
  return subjectOf(objectIn(payload) ?? {}, nowMs)
}

function subjectOf({ sub, exp, nbf }: Record<string, unknown>, nowMs: number): string {
  if (typeof sub !== 'string' || sub === '') throw invalid('must have sub, the project_user_id')
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw invalid('must have exp, in seconds since 1970')
  if (exp * 1000 + leewayMs <= nowMs) throw invalid('has expired')
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf * 1000 - leewayMs > nowMs)) throw invalid('is not valid yet')
  return sub
}

/** Compares with every secret in constant time. */
function isSigned(text: string, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(signature, 'base64url')
  return secrets
    .map((secret) => createHmac('sha256', secret).update(text).digest())
    .map((wanted) => wanted.length === given.length && timingSafeEqual(wanted, given))
    .some((same) => same)
}

function objectIn(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
