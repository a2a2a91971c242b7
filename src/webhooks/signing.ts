import { createHmac, randomBytes } from 'node:crypto'

/** A signing secret in the form of Standard Webhooks: 32 random bytes in base64 behind a prefix that scanners know. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/**
 * The headers with which a receiver checks that a call comes from this service, unchanged and recently. While one secret
 * replaces another, both sign, and a receiver needs only one valid signature.
 */
export function signatureOf(secrets: readonly string[], id: string, body: string, now = new Date()) {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
