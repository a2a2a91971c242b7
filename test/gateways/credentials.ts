import { generateKeyPairSync } from 'node:crypto'
import type { ApnsCredential, FcmCredential } from '../../src/gateways/credentials/credential.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import type { SimulatedGateways } from '../../src/simulator/simulator.ts'
import {
  createApnsCredentials,
  createServiceAccount,
  createVapidKeys,
  type Simulator
} from '../../src/simulator/simulator.ts'

/** Valid bodies of PUT, made by the simulator's tools, which share no code with the parsers. */
export async function apnsBody(change: Record<string, unknown> = {}) {
  const { keyId, teamId, privateKey } = await createApnsCredentials()
  return { key: privateKey, key_id: keyId, team_id: teamId, topic: 'com.example.app', ...change }
}

export async function serviceAccount(change: Record<string, unknown> = {}) {
  const account = await createServiceAccount('shop-4711')
  return { ...account, token_uri: 'https://oauth2.googleapis.com/token', ...change }
}

export function vapidBody(change: Record<string, unknown> = {}) {
  const { publicKey, privateKey } = createVapidKeys()
  return { subject: 'mailto:push@example.com', public_key: publicKey, private_key: privateKey, ...change }
}

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
export const pemOf = {
  ec: (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey.export(pkcs8) as string,
  rsa: (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey.export(pkcs8) as string,
  ed25519: () => generateKeyPairSync('ed25519').privateKey.export(pkcs8) as string,
  sec1: () =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' }) as string,
  publicEc: () =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }) as string,
  locked: () =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      ...pkcs8,
      cipher: 'aes-256-cbc',
      passphrase: 'x'
    }) as string
}

/** The credentials that a project in simulator mode would get, from a simulator of the suite. */
export function standIns({ apns, apnsSandbox, fcm, webpush, ca, credentials }: Simulator): SimulatedGateways {
  const { keyId, teamId, privateKey } = credentials.apns
  return {
    version: 1,
    ca,
    apns: {
      origin: apns?.url ?? '',
      channelsOrigin: '',
      sandbox: { origin: apnsSandbox?.url ?? '', channelsOrigin: '' },
      keyId,
      teamId,
      privateKey,
      topic: 'com.example.app'
    },
    fcm: {
      origin: fcm?.url ?? '',
      tokenUri: fcm?.tokenUrl ?? '',
      firebaseProject: credentials.fcm.project_id,
      clientEmail: credentials.fcm.client_email,
      privateKeyId: credentials.fcm.private_key_id,
      privateKey: credentials.fcm.private_key
    },
    webpush: { origin: webpush?.url ?? '', subject: 'mailto:push@example.com', ...credentials.vapid }
  }
}

const common = { id: 'c1', version: 1, projectId: 'p' as ProjectId, simulated: true }

export const apnsCredential = (gateways: SimulatedGateways): ApnsCredential => ({
  ...common,
  gateway: 'apns',
  environment: 'production',
  ca: gateways.ca,
  ...gateways.apns
})

export const fcmCredential = (gateways: SimulatedGateways): FcmCredential => ({
  ...common,
  gateway: 'fcm',
  ca: gateways.ca,
  ...gateways.fcm
})
