import { createDecipheriv, createECDH, createHmac, hkdfSync } from 'node:crypto'

/** The host in stored subscriptions, in place of the current address of a simulator. It can never be a real host. */
export const simulatedHost = 'simulator.invalid'

/** A subscription as a browser returns it. */
export interface Subscription {
  endpoint: string
  keys: { p256dh: string; auth: string }
}

interface Keys {
  privateKey: Buffer
  publicKey: Buffer
  auth: Buffer
}

const derive = (secret: Buffer, salt: Buffer, info: Buffer | string, length: number) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, length))

const bytes = (seed: string, info: string, length: number) =>
  derive(Buffer.from(seed), Buffer.alloc(0), `tidings simulator ${info}`, length)

/**
 * Derives the keys of a subscription from the seed and its id. So nothing is stored, and a subscription in the database
 * of a service stays valid over restarts of the simulator.
 */
export function keysOf(seed: string, id: string): Keys {
  const pair = createECDH('prime256v1')
  const privateKey = bytes(seed, `key ${id}`, 32)
  pair.setPrivateKey(privateKey)
  return { privateKey, publicKey: pair.getPublicKey(), auth: bytes(seed, `auth ${id}`, 16) }
}

const fingerprint = (seed: string, text: string) =>
  createHmac('sha256', seed).update(text).digest('base64url').slice(0, 16)

/** `<label>.<fingerprint of the VAPID key, or nothing>.<proof that this simulator made it>` */
export function makeId(seed: string, label: string, vapidKey: string | undefined): string {
  const start = `${label}.${vapidKey ? fingerprint(seed, vapidKey) : ''}`
  return `${start}.${fingerprint(seed, start)}`
}

/** Whether this simulator made the subscription, and whether it is for this VAPID key. */
export function recogniseId(seed: string, id: string): { accepts: (vapidKey: string) => boolean } | undefined {
  const [, start, key, proof] = /^(.+\.([\w-]*))\.([\w-]+)$/.exec(id) ?? []
  if (!start || fingerprint(seed, start) !== proof) return undefined
  return { accepts: (vapidKey) => key === '' || key === fingerprint(seed, vapidKey) }
}

const headLength = 16 + 4 + 1
const tagLength = 16

/** Decrypts RFC 8291 with its single record. Undefined if it is for other keys or was altered. */
export function decrypt(body: Buffer, { privateKey, publicKey, auth }: Keys): Buffer | undefined {
  const idLength = body[headLength - 1]
  const start = headLength + 65
  if (idLength !== 65 || body.length < start + tagLength + 1) return undefined
  const salt = body.subarray(0, 16)
  if (body.length - start > body.readUInt32BE(16)) return undefined
  const sender = body.subarray(headLength, start)
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(privateKey)
  try {
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender])
    const input = derive(pair.computeSecret(sender), auth, info, 32)
    const key = derive(input, salt, 'Content-Encoding: aes128gcm\0', 16)
    const nonce = derive(input, salt, 'Content-Encoding: nonce\0', 12)
    const cipher = createDecipheriv('aes-128-gcm', key, nonce)
    cipher.setAuthTag(body.subarray(-tagLength))
    const padded = Buffer.concat([cipher.update(body.subarray(start, -tagLength)), cipher.final()])
    // A 2 after the text marks the last record; zeros follow.
    let end = padded.length - 1
    while (end >= 0 && padded[end] === 0) end -= 1
    return end >= 0 && padded[end] === 2 ? padded.subarray(0, end) : undefined
  } catch {
    return undefined
  }
}
