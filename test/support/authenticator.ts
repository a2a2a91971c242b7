import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Json } from './http.ts'

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest()
const b64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64url')

/** What a test changes about what an authenticator signs. */
export interface Bent {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  /** Without: the person was present, and not verified. */
  verified?: boolean
  counter?: number
  userHandle?: string
}

/** An authenticator in software, with one passkey (ES256, no attestation). */
export function createAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  const state = { counter: 0, handle: '' }

  const clientData = (type: string, challenge: string, bent: Bent) =>
    Buffer.from(
      JSON.stringify({
        type: bent.type ?? type,
        challenge: bent.challenge ?? challenge,
        origin: bent.origin ?? origin,
        crossOrigin: false
      })
    )

  function authData(
    flags: number,
    { rpId = new URL(origin).hostname, verified = true, counter }: Bent,
    more: Buffer[]
  ) {
    const head = Buffer.alloc(5)
    head.writeUInt8(flags | (verified ? 0x04 : 0) | 0x01)
    head.writeUInt32BE(counter ?? ++state.counter, 1)
    return Buffer.concat([sha256(rpId), head, ...more])
  }

  return {
    id: b64(id),
    /** The response to `navigator.credentials.create`. */
    create(options: Json, bent: Bent = {}): Json {
      state.handle = options.user.id
      const { x, y } = publicKey.export({ format: 'jwk' })
      const [xBytes, yBytes] = [x!, y!].map((part) => Buffer.from(part, 'base64url'))
      const cose = [Buffer.from('a5010203262001215820', 'hex'), xBytes!, Buffer.from('225820', 'hex'), yBytes!]
      const data = authData(0x40, bent, [Buffer.alloc(16), Buffer.from([0, id.length]), id, ...cose])
      const attestation = Buffer.concat([
        Buffer.from([0xa3, 0x63]),
        Buffer.from('fmt'),
        Buffer.from([0x64]),
        Buffer.from('none'),
        Buffer.from([0x67]),
        Buffer.from('attStmt'),
        Buffer.from([0xa0, 0x68]),
        Buffer.from('authData'),
        Buffer.from([0x58, data.length]),
        data
      ])
      const response = {
        clientDataJSON: b64(clientData('webauthn.create', options.challenge, bent)),
        attestationObject: b64(attestation),
        transports: ['internal']
      }
      return { id: b64(id), rawId: b64(id), type: 'public-key', clientExtensionResults: {}, response }
    },
    /** The response to `navigator.credentials.get`. */
    get(options: Json, bent: Bent = {}): Json {
      const data = authData(0, bent, [])
      const client = clientData('webauthn.get', options.challenge, bent)
      const response = {
        clientDataJSON: b64(client),
        authenticatorData: b64(data),
        signature: b64(sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)),
        userHandle: bent.userHandle ?? state.handle
      }
      return { id: b64(id), rawId: b64(id), type: 'public-key', clientExtensionResults: {}, response }
    }
  }
}
