import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** What a challenge is for: one made for a sign-in cannot register a passkey, nor the reverse, nor for another member. */
export type Purpose = 'sign-in' | `register ${string}`

/** Time to confirm at the authenticator. */
export const challengeSeconds = 5 * 60

/**
 * A challenge is random bytes, its end and a signature of both. The service recognises its own without a row, so callers
 * it does not know cannot fill a table; used ones are written down until they end, so each works once.
 */
export function newChallenge(key: Buffer, purpose: Purpose): string {
  const head = Buffer.alloc(22)
  randomBytes(16).copy(head)
  head.writeUIntBE(Date.now() + challengeSeconds * 1_000, 16, 6)
  return Buffer.concat([head, signatureOf(key, purpose, head)]).toString('base64url')
}

/** When a challenge ends; undefined if it is not one of ours for this purpose, or has ended. */
export function challengeEnd(key: Buffer, purpose: Purpose, challenge: string): Date | undefined {
  const bytes = Buffer.from(challenge, 'base64url')
  if (bytes.length !== 54) return undefined
  const head = bytes.subarray(0, 22)
  if (!timingSafeEqual(signatureOf(key, purpose, head), bytes.subarray(22))) return undefined
  const end = head.readUIntBE(16, 6)
  return end > Date.now() ? new Date(end) : undefined
}

const signatureOf = (key: Buffer, purpose: Purpose, head: Buffer): Buffer =>
  createHmac('sha256', key).update('passkey challenge\0').update(`${purpose}\0`).update(head).digest()
