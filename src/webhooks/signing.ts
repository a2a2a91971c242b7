import { createHmac, randomBytes } from 'node:crypto'

/** A signing secret in the form of Standard Webhooks: 32 random bytes in base64 behind a prefix that scanners know. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/**
 * The headers by which a receiver knows that a call is ours, whole and recent. Several secrets, while one replaces
 * another, give several signatures of which a receiver needs one.
 */
export function signatureOf(secrets: readonly string[], id: string, body: string, now = new Date()) {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
