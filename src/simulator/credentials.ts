import { createECDH, generateKeyPair, randomBytes, randomInt } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { OperatorError } from '../platform/errors.ts'
import { makeFolders } from '../platform/folders.ts'
import { jsonObject } from './jwt.ts'

/** A key as Apple issues it: an AuthKey_….p8 with its two ids. */
export interface ApnsCredentials {
  keyId: string
  teamId: string
  /** PEM, PKCS 8. */
  privateKey: string
  publicKey: string
}

/** The file that Google issues, with its field names. */
export interface ServiceAccount {
  type: 'service_account'
  project_id: string
  private_key_id: string
  private_key: string
  client_email: string
  client_id: string
  token_uri: string
}

export interface VapidKeys {
  publicKey: string
  privateKey: string
}

export interface Credentials {
  apns: ApnsCredentials
  fcm: ServiceAccount
  vapid: VapidKeys
  /** Derives the keys of subscriptions, so that the same folder opens those of earlier starts. */
  seed: string
}

const makeKeys = promisify(generateKeyPair)
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const tenCharacters = () => Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join('')

export async function createApnsCredentials(): Promise<ApnsCredentials> {
  const { publicKey, privateKey } = await makeKeys('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' }
  })
  return { keyId: tenCharacters(), teamId: tenCharacters(), privateKey, publicKey }
}

export async function createServiceAccount(projectId = 'simulated'): Promise<ServiceAccount> {
  const { privateKey } = await makeKeys('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' }
  })
  return {
    type: 'service_account',
    project_id: projectId,
    private_key_id: randomBytes(20).toString('hex'),
    private_key: privateKey,
    client_email: `simulator@${projectId}.iam.gserviceaccount.com`,
    client_id: String(randomInt(2 ** 47)),
    token_uri: ''
  }
}

export function createVapidKeys(): VapidKeys {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys('base64url')
  // Node drops leading zeros, and other libraries insist on 32 bytes.
  const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()])
    .subarray(-32)
    .toString('base64url')
  return { publicKey, privateKey }
}

export async function createCredentials(): Promise<Credentials> {
  const [apns, fcm] = await Promise.all([createApnsCredentials(), createServiceAccount()])
  return { apns, fcm, vapid: createVapidKeys(), seed: randomBytes(32).toString('base64url') }
}

/** Reads the credentials of a folder, or creates them there. */
export async function keepCredentials(folder: string): Promise<Credentials> {
  await makeFolders(folder)
  const file = join(folder, 'simulator.json')
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (kept !== undefined) {
    const read = jsonObject(kept)
    if (!read?.apns || !read.fcm || !read.vapid || !read.seed)
      throw new OperatorError(`${file} is damaged. Remove it to get new credentials.`)
    return read as unknown as Credentials
  }
  const credentials = await createCredentials()
  await writeFile(file, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  return credentials
}

/** Writes the credentials as Apple and Google issue them, and returns the paths. */
export async function writeCredentials(folder: string, { apns, fcm, vapid }: Credentials): Promise<string[]> {
  const files: [name: string, text: string][] = [
    [`AuthKey_${apns.keyId}.p8`, apns.privateKey],
    ['apns.json', json({ key_id: apns.keyId, team_id: apns.teamId, key_file: `AuthKey_${apns.keyId}.p8` })],
    ['service-account.json', json(fcm)],
    ['vapid.json', json({ public_key: vapid.publicKey, private_key: vapid.privateKey })]
  ]
  for (const [name, text] of files) await writeFile(join(folder, name), text, { mode: 0o600 })
  return files.map(([name]) => join(folder, name))
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
