import { createHash, createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Faults } from './faults.ts'
import { type Algorithm, signText } from './jwt.ts'

/** The limit of a file: keys of these kinds are shorter. */
const longest = 20_000

/** Files that people send by mistake, and their names. */
const lookalikes: [pattern: RegExp, what: string][] = [
  [/-----BEGIN (TRUSTED )?CERTIFICATE-----/, 'this is a certificate, not the private key'],
  [/-----BEGIN CERTIFICATE REQUEST-----/, 'this is a certificate request, not the private key'],
  [/-----BEGIN (RSA )?PUBLIC KEY-----/, 'this is a public key, not the private key'],
  [/-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/, 'the key is locked with a passphrase'],
  [/-----BEGIN (EC|RSA|DSA) PRIVATE KEY-----/, 'the key is not in PKCS 8; convert it: openssl pkcs8 -topk8 -nocrypt'],
  [/-----BEGIN OPENSSH PRIVATE KEY-----/, 'this is a key for SSH']
]

/** Parses a private key in PKCS 8 PEM and signs with it once. `what` describes the right file. */
export function readPrivateKey(
  value: unknown,
  path: string,
  algorithm: Algorithm,
  what: string,
  faults: Faults
): KeyObject | undefined {
  if (value === undefined || value === null || value === '') return faults.add(path, `is missing; it must be ${what}`)
  if (typeof value !== 'string') return faults.add(path, `must be a string: ${what}`)
  if (value.length > longest) return faults.add(path, `is longer than any key; it must be ${what}`)
  // A key that passed through a shell or a JSON file twice has its line breaks escaped.
  const pem = value.replaceAll('\\n', '\n').trim()
  const lookalike = lookalikes.find(([pattern]) => pattern.test(pem))
  if (lookalike) return faults.add(path, `${lookalike[1]}; it must be ${what}`)
  if (!/^-----BEGIN PRIVATE KEY-----\s[\s\S]+\s-----END PRIVATE KEY-----$/.test(pem))
    return faults.add(path, `is not a key; it must be ${what}, with its lines BEGIN and END PRIVATE KEY`)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    return faults.add(path, 'cannot be read: the text is damaged or cut off')
  }
  const wrong = algorithm === 'ES256' ? notP256(key) : notRsa(key)
  if (wrong) return faults.add(path, `${wrong}; it must be ${what}`)
  if (!signsWell(algorithm, key)) return faults.add(path, 'does not sign: the key is damaged')
  return key
}

function notP256({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  if (asymmetricKeyType !== 'ec') return `this is a key of type ${asymmetricKeyType}, not of type EC`
  const curve = asymmetricKeyDetails?.namedCurve
  return curve === 'prime256v1' ? undefined : `the key is on the curve ${curve}, not on P-256`
}

function notRsa({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  if (asymmetricKeyType !== 'rsa') return `this is a key of type ${asymmetricKeyType}, not of type RSA`
  const bits = asymmetricKeyDetails?.modulusLength ?? 0
  return bits >= 2048 && bits <= 4096 ? undefined : `the key has ${bits} bits, not 2048 to 4096`
}

/** Signs once and verifies the signature with the public key that follows from the private one. */
export function signsWell(algorithm: Algorithm, key: KeyObject): boolean {
  try {
    const text = 'signed once before it is stored'
    const signature = signText(algorithm, key, text)
    const publicKey = createPublicKey(key)
    const how = algorithm === 'ES256' ? { key: publicKey, dsaEncoding: 'ieee-p1363' as const } : publicKey
    return verify('sha256', Buffer.from(text), how, signature)
  } catch {
    return false
  }
}

export const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string

/** A fingerprint that identifies a key without showing it: SHA-256 of the public half. */
export const fingerprintOf = (key: KeyObject): string =>
  `sha256:${createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')}`
