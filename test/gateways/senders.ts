import { createSign } from 'node:crypto'
import { once } from 'node:events'
import * as http2 from 'node:http2'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { importPKCS8, SignJWT } from 'jose'
import type {
  ApnsCredential,
  Credential,
  FcmCredential,
  ProviderTokens,
  WebPushCredential
} from '../../src/gateways/credentials/credential.ts'
import type { Outcome, Push } from '../../src/gateways/push.ts'
import {
  createSender,
  type GatewaySender,
  type SenderOptions,
  type SenderSettings
} from '../../src/gateways/sender/sender.ts'
import { framed } from '../../src/gateways/transport/framing/open.ts'
import { nodeHttp2 } from '../../src/gateways/transport/node-http2.ts'
import type { H2Transport } from '../../src/gateways/transport/transport.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { makeCertificates } from '../../src/simulator/server/certificates.ts'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { silentLog } from '../support/log.ts'

/** Faults are tried on both. */
export const transports: [name: string, transport: H2Transport][] = [
  ['own frames', framed],
  ['node:http2', nodeHttp2]
]

export const project = 'p1' as ProjectId
export const topic = 'com.example.app'

/** Valid provider tokens, made here: these tests do not cover how the service obtains them. */
export const providerTokens: ProviderTokens = {
  async of(credential) {
    return credential.gateway === 'fcm' ? accessToken(credential) : apnsToken(credential)
  }
}

const tokens = new Map<string, string>()

/** An access token, exchanged once at the token address with Node's own HTTP client. */
async function accessToken({ clientEmail, privateKeyId, privateKey, tokenUri, ca }: FcmCredential): Promise<string> {
  const known = tokens.get(privateKey)
  if (known) return known
  const now = Math.floor(Date.now() / 1000)
  const scope = 'https://www.googleapis.com/auth/firebase.messaging'
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', kid: privateKeyId })
    .setIssuer(clientEmail)
    .setAudience(tokenUri)
    .setIssuedAt(now)
    .setExpirationTime(now + 3_600)
    .sign(await importPKCS8(privateKey, 'RS256'))
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const text = await new Promise<string>((resolve, reject) => {
    const request = https.request(tokenUri, { method: 'POST', headers, ca }, async (response) => {
      let body = ''
      for await (const chunk of response) body += chunk
      resolve(body)
    })
    request.on('error', reject)
    request.end(form.toString())
  })
  const token = JSON.parse(text).access_token as string
  tokens.set(privateKey, token)
  return token
}

export function apnsToken({ keyId, teamId, privateKey }: ApnsCredential, iat = Math.floor(Date.now() / 1000)): string {
  const key = `${keyId} ${teamId} ${privateKey}`
  const known = tokens.get(key)
  if (known) return known
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'ES256', kid: keyId })}.${part({ iss: teamId, iat })}`
  const signature = createSign('sha256').update(text).sign({ key: privateKey, dsaEncoding: 'ieee-p1363' }, 'base64url')
  tokens.set(key, `${text}.${signature}`)
  return `${text}.${signature}`
}

export const apnsCredential = (sim: Simulator, change: Partial<ApnsCredential> = {}): ApnsCredential => ({
  gateway: 'apns',
  id: 'apns-1',
  version: 1,
  projectId: project,
  origin: sim.apns!.url,
  simulated: true,
  ca: sim.ca,
  environment: 'production',
  keyId: sim.credentials.apns.keyId,
  teamId: sim.credentials.apns.teamId,
  privateKey: sim.credentials.apns.privateKey,
  topic,
  channelsOrigin: sim.apnsChannels?.url ?? '',
  ...change
})

export const fcmCredential = (sim: Simulator, change: Partial<FcmCredential> = {}): FcmCredential => ({
  gateway: 'fcm',
  id: 'fcm-1',
  version: 1,
  projectId: project,
  origin: sim.fcm!.url,
  simulated: true,
  ca: sim.ca,
  firebaseProject: sim.credentials.fcm.project_id,
  clientEmail: sim.credentials.fcm.client_email,
  privateKeyId: sim.credentials.fcm.private_key_id,
  privateKey: sim.credentials.fcm.private_key,
  tokenUri: sim.fcm!.tokenUrl,
  ...change
})

export const webPushCredential = (sim: Simulator, change: Partial<WebPushCredential> = {}): WebPushCredential => ({
  gateway: 'webpush',
  id: 'webpush-1',
  version: 1,
  projectId: project,
  origin: '',
  simulated: true,
  ca: sim.ca,
  subject: 'mailto:ops@example.com',
  publicKey: sim.credentials.vapid.publicKey,
  privateKey: sim.credentials.vapid.privateKey,
  ...change
})

export interface SenderWish extends Partial<Omit<SenderOptions, 'settings'>> {
  settings?: Partial<SenderSettings>
}

/** A sender whose projects all have this credential. */
export function senderFor(
  t: TestContext,
  credential: Credential | null | (() => Credential | null),
  wish: SenderWish = {}
): GatewaySender {
  const find = typeof credential === 'function' ? credential : () => credential
  const sender = createSender({
    credentials: { find: async () => find() },
    providerTokens,
    log: silentLog,
    ...wish
  })
  t.after(() => sender.close(0))
  return sender
}

let number = 0

export function push(change: Partial<Push> = {}): Push {
  number += 1
  return {
    projectId: project,
    messageId: newId(),
    pushId: newId(),
    deviceId: `device-${number}`,
    gateway: 'apns',
    environment: 'production',
    app: null,
    token: number.toString(16).padStart(64, '0'),
    registeredAt: new Date(0),
    content: { kind: 'alert', notification: { title: 'Hello', body: 'World' } },
    collapseId: `collapse-${number}`,
    priority: 'high',
    notAfter: Date.now() + 3_600_000,
    ...change
  }
}

/** Dispatches one push, and waits for room if necessary. */
export async function send(sender: GatewaySender, one: Push): Promise<Outcome> {
  for (;;) {
    let taken = false
    const outcome = new Promise<Outcome>((resolve) => {
      taken = sender.submit(one, resolve)
    })
    if (taken) return outcome
    await sender.ready(one)
  }
}

/** Sends as a campaign does: as fast as the sender accepts pushes. Repeats at no cost are repeated. */
export async function sendAll(sender: GatewaySender, pushes: Iterable<Push>): Promise<Outcome[]> {
  const outcomes: Promise<Outcome>[] = []
  for (const one of pushes) {
    for (;;) {
      let taken = false
      const outcome = new Promise<Outcome>((resolve) => {
        taken = sender.submit(one, resolve)
      })
      if (taken) {
        outcomes.push(outcome)
        break
      }
      await sender.ready(one)
    }
  }
  return Promise.all(outcomes)
}

export const pushes = (count: number, change: Partial<Push> = {}) => Array.from({ length: count }, () => push(change))

export function tally(outcomes: Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) {
    const name = outcome.kind === 'accepted' ? outcome.kind : `${outcome.kind} ${outcome.reason}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

export interface PlainServer {
  origin: string
  ca: string
  sessions: http2.ServerHttp2Session[]
  credential: ApnsCredential
}

/** A gateway made only of node:http2, so that a mistake of our simulators cannot hide one of the sender. */
export async function plainServer(
  t: TestContext,
  onStream: (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders, body: string) => void,
  settings: http2.Settings = {}
): Promise<PlainServer> {
  const { ca, cert, key } = await makeCertificates({ host: '127.0.0.1' })
  const server = http2.createSecureServer({ cert, key, settings })
  const sessions: http2.ServerHttp2Session[] = []
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => {})
  })
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => onStream(stream, headers, String(Buffer.concat(chunks))))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const credential: ApnsCredential = {
    gateway: 'apns',
    id: 'plain-1',
    version: 1,
    projectId: project,
    origin,
    channelsOrigin: origin,
    simulated: true,
    ca,
    environment: 'production',
    keyId: 'KEY',
    teamId: 'TEAM',
    privateKey: '',
    topic
  }
  return { origin, ca, sessions, credential }
}

/** A token for servers that do not check it. */
export const anyToken: ProviderTokens = { of: async () => 'token' }

export const answer = (stream: http2.ServerHttp2Stream, status: number, body?: object, headers: object = {}) => {
  if (stream.destroyed) return
  stream.respond({ ':status': status, ...headers })
  stream.end(body ? JSON.stringify(body) : '')
}
