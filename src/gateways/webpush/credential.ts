import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto'
import type { Saved } from '../credentials/credential.ts'
import { createFaults, type Faults } from '../credentials/faults.ts'
import { fingerprintOf, signsWell } from '../credentials/pem.ts'

export interface WebPushSecret {
  subject: string
  publicKey: string
  privateKey: string
}

/**
 * Reads a subject, and a key pair if the caller sends one. Otherwise the pair in use stays, because browsers that
 * subscribed with it would refuse pushes signed with another. A new pair is made only if there is none.
 */
export function parseWebPush(body: Record<string, unknown>, inUse: WebPushSecret | undefined): Saved<WebPushSecret>[] {
  const faults = createFaults()
  const subject = faults.text(
    body.subject,
    'subject',
    /^(mailto:[^\s@<>,"]+@[^\s@<>,"]+\.[^\s@<>,"]+|https:\/\/[^\s<>"]+)$/,
    'must be mailto: with an address, or an https: address, where a push service can reach you'
  )
  if (subject && subject.length > 255) faults.add('subject', 'must be at most 255 characters')
  if (subject?.startsWith('https:') && !isPublicAddress(subject))
    faults.add('subject', 'must be an address with a public host name')
  const given = present(body.public_key) || present(body.private_key)
  const pair = given ? readPair(body, faults) : undefined
  faults.refuse()
  const { publicKey, privateKey } = pair ?? inUse ?? newPair()
  const key = asKey(publicKey, privateKey)
  return [
    {
      environment: '',
      app: '',
      secret: { subject: subject!, publicKey, privateKey },
      facts: { subject: subject!, public_key: publicKey, fingerprint: fingerprintOf(key) }
    }
  ]
}

const present = (value: unknown) => value !== undefined && value !== null && value !== ''

function isPublicAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && !url.username && !url.password && /[a-z0-9]\.[a-z]/i.test(url.hostname)
}

interface Pair {
  publicKey: string
  privateKey: string
}

function readPair(body: Record<string, unknown>, faults: Faults): Pair | undefined {
  const rule = 'must be given with the other key of the pair, or neither'
  if (!present(body.public_key)) return faults.add('public_key', `is missing; it ${rule}`)
  if (!present(body.private_key)) return faults.add('private_key', `is missing; it ${rule}`)
  const shown = bytesOf(body.public_key)
  if (shown?.length !== 65 || shown[0] !== 4)
    faults.add('public_key', 'must be 65 bytes in base64url: an uncompressed point of P-256')
  const hidden = bytesOf(body.private_key)
  if (hidden?.length !== 32) faults.add('private_key', 'must be 32 bytes in base64url')
  if (!faults.none()) return undefined
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(hidden!)
  } catch {
    return faults.add('private_key', 'is not a private key of P-256')
  }
  if (!pair.getPublicKey().equals(shown!)) return faults.add('private_key', 'does not belong to public_key')
  const keys = { publicKey: shown!.toString('base64url'), privateKey: hidden!.toString('base64url') }
  if (!signsWell('ES256', asKey(keys.publicKey, keys.privateKey))) return faults.add('private_key', 'does not sign')
  return keys
}

/** Base64url or base64, with or without its padding. */
function bytesOf(value: unknown): Buffer | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]{1,200}={0,2}$/.test(value.trim())) return undefined
  return Buffer.from(value.trim(), 'base64')
}

function newPair(): Pair {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys('base64url')
  // A key with leading zeros is shorter when exported.
  const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()]).subarray(-32)
  return { publicKey, privateKey: privateKey.toString('base64url') }
}

function asKey(publicKey: string, privateKey: string): KeyObject {
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((each) => each.toString('base64url'))
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: privateKey }, format: 'jwk' })
}
