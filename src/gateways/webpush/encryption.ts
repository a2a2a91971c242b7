import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

const recordSize = 4_096
const headLength = 16 + 4 + 1 + 65
const tagLength = 16

/** The bytes that fit into the one record that push services take. */
export const longestPlaintext = recordSize - headLength - tagLength - 1

const derive = (secret: Buffer, salt: Buffer, info: Buffer | string, length: number) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, length))

/**
 * RFC 8291: only the browser with the private key of `p256dh` can read the content. The sender's key pair is new for
 * every message, as the RFC demands. Throws if the browser's key is not a point of the curve.
 */
export function encrypt(plaintext: Buffer, p256dh: Buffer, auth: Buffer): Buffer {
  const pair = createECDH('prime256v1')
  const sender = pair.generateKeys()
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, sender])
  const input = derive(pair.computeSecret(p256dh), auth, info, 32)
  const salt = randomBytes(16)
  const key = derive(input, salt, 'Content-Encoding: aes128gcm\0', 16)
  const nonce = derive(input, salt, 'Content-Encoding: nonce\0', 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(recordSize)
  head[4] = sender.length
  // The 2 marks the last record; nothing is padded.
  const sealed = [cipher.update(plaintext), cipher.update(Buffer.from([2])), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat([salt, head, sender, ...sealed])
}
