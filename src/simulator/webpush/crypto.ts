import { createDecipheriv, createECDH, createHmac, hkdfSync } from 'node:crypto'

/** Stands in stored subscriptions for whichever address a simulator has at the moment. It can never be a real one. */
export const simulatedHost = 'simulator.invalid'

/** What a browser hands to a site when the user says yes. */
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
 * The keys of a subscription follow from the seed and its id. So nothing has to be stored, and a subscription that a
 * service keeps in its database still opens after the simulator was started again.
 */
export function keysOf(seed: string, id: string): Keys {
  const pair = createECDH('prime256v1')
  const privateKey = bytes(seed, `key ${id}`, 32)
  pair.setPrivateKey(privateKey)
  return { privateKey, publicKey: pair.getPublicKey(), auth: bytes(seed, `auth ${id}`, 16) }
}

const fingerprint = (seed: string, text: string) =>
  createHmac('sha256', seed).update(text).digest('base64url').slice(0, 16)

/** `<label>.<fingerprint of the VAPID key, or nothing>.<proof that we made it>` */
export function makeId(seed: string, label: string, vapidKey: string | undefined): string {
  const start = `${label}.${vapidKey ? fingerprint(seed, vapidKey) : ''}`
  return `${start}.${fingerprint(seed, start)}`
}

/** Whether we made this subscription, and whether it was made for this VAPID key. */
export function recogniseId(seed: string, id: string): { accepts: (vapidKey: string) => boolean } | undefined {
  const [, start, key, proof] = /^(.+\.([\w-]*))\.([\w-]+)$/.exec(id) ?? []
  if (!start || fingerprint(seed, start) !== proof) return undefined
  return { accepts: (vapidKey) => key === '' || key === fingerprint(seed, vapidKey) }
}

const headLength = 16 + 4 + 1
const tagLength = 16

/** RFC 8291 with the one record it allows. Undefined if it is not for these keys or was changed on the way. */
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
    // After the text comes a 2, which marks the last record, and then zeros.
    let end = padded.length - 1
    while (end >= 0 && padded[end] === 0) end -= 1
    return end >= 0 && padded[end] === 2 ? padded.subarray(0, end) : undefined
  } catch {
    return undefined
  }
}
