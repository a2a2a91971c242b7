// One client of bench/push.ts in a process of its own: warms up, sends pushes for a while, and prints what they cost.
import apn from '@parse/node-apn'
import { ApnsClient, Notification } from 'apns2'
import pino from 'pino'
import type { Credential } from '../../src/gateways/credentials/credential.ts'
import type { Push } from '../../src/gateways/push.ts'
import { createSender } from '../../src/gateways/sender/sender.ts'
import { nodeHttp2 } from '../../src/gateways/transport/node-http2.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { tlsAlone } from './tls-alone.ts'

export interface Setup {
  /** `personal`: our sender, with a title of its own for each push; else all have the same content. */
  client: 'tidings' | 'personal' | 'fcm' | 'node:http2' | 'apns2' | 'node-apn' | 'tls'
  origin: string
  ca: string
  key: string
  warmMs: number
  /** For so long, or for so many pushes at several sizes. */
  runMs: number
  sizes?: number[]
}

export interface Measured {
  perSecond: number
  cpuMicros: number
  /** The CPU of a push for each size. */
  bySize: number[]
}

/** Sends until it may not. Resolves with the number of pushes when all have their outcome. */
export type SendAll = (may: (sent: number) => boolean) => Promise<number>

const topic = 'com.example.app'
const content = { title: 'Hello', body: 'x'.repeat(150) }
const inFlight = 100
let number = 0
const nextToken = () => (number++).toString(16).padStart(64, '0')

/** Limits concurrency, as callers of a library without a limit must do. */
async function closedLoop(may: (sent: number) => boolean, send: () => Promise<void>): Promise<number> {
  let sent = 0
  const worker = async () => {
    while (may(sent)) {
      sent += 1
      await send()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return sent
}

const projectId = 'bench' as ProjectId

function credentialOf({ client, origin, ca, key: privateKey }: Setup): Credential {
  const common = { id: 'bench', version: 1, projectId, origin, simulated: true, ca, privateKey }
  if (client === 'fcm')
    return { ...common, gateway: 'fcm', firebaseProject: 'app-1', clientEmail: 'e', privateKeyId: 'k', tokenUri: 'u' }
  const apns = { gateway: 'apns', environment: 'production', keyId: 'K', teamId: 'T', topic } as const
  return { ...common, ...apns, channelsOrigin: origin }
}

function tidings(setup: Setup): SendAll {
  const credential = credentialOf(setup)
  const { gateway } = credential
  const isPersonal = setup.client === 'personal'
  const sender = createSender({
    credentials: { find: async () => credential },
    providerTokens: { of: async () => 'x'.repeat(184) },
    ...(setup.client === 'node:http2' && { transport: nodeHttp2 }),
    log: pino({ level: 'silent' })
  })
  const push = (): Push => {
    const messageId = newId()
    return {
      projectId,
      messageId,
      pushId: newId(),
      deviceId: 'd',
      gateway,
      environment: 'production',
      app: null,
      // A token of Firebase has 163 letters.
      token: gateway === 'fcm' ? nextToken().padEnd(163, ':APA91b') : nextToken(),
      registeredAt: new Date(0),
      content: { kind: 'alert', notification: isPersonal ? { ...content, title: `Hello ${number}` } : content },
      collapseId: messageId,
      priority: 'high',
      notAfter: Date.now() + 3_600_000
    }
  }
  return async (may) => {
    const all = Promise.withResolvers<void>()
    let sent = 0
    let ended = 0
    let failed = 0
    let fed = false
    const done = ({ kind }: { kind: string }) => {
      if (kind !== 'accepted') failed += 1
      ended += 1
      if (fed && ended === sent) all.resolve()
    }
    for (; may(sent); sent += 1) {
      const one = push()
      while (!sender.submit(one, done)) await sender.ready(one)
    }
    fed = true
    if (ended < sent) await all.promise
    if (failed > 0) throw new Error(`${failed} failed`)
    return sent
  }
}

function apns2({ origin, key }: Setup): SendAll {
  const client = new ApnsClient({ team: 'TEAM000000', keyId: 'KEY0000000', signingKey: key, defaultTopic: topic })
  // The library supports port 443 only: this is the same pool with the same settings at another address.
  const Pool = client.client.constructor as new (origin: string, options: object) => typeof client.client
  const settings = { connections: 32, pipelining: 1, allowH2: true, maxConcurrentStreams: 100 }
  Object.assign(client, { client: new Pool(origin, settings) })
  return (may) =>
    closedLoop(may, async () => {
      const expiration = Math.floor(Date.now() / 1000) + 3_600
      await client.send(new Notification(nextToken(), { alert: content, collapseId: newId(), expiration }))
    })
}

function nodeApn({ origin, ca, key }: Setup): SendAll {
  const { hostname, port } = new URL(origin)
  const provider = new apn.Provider({
    token: { key, keyId: 'KEY0000000', teamId: 'TEAM000000' },
    address: hostname,
    port: Number(port),
    ca: [ca],
    production: true
  })
  return (may) =>
    closedLoop(may, async () => {
      // The same headers as ours, where the library supports them.
      const id = newId()
      const note = new apn.Notification({ alert: content, topic, collapseId: id, priority: 10, pushType: 'alert' })
      note.id = newId()
      note.payload = { message_id: id }
      note.expiry = Math.floor(Date.now() / 1000) + 3_600
      const { failed } = await provider.send(note, nextToken())
      if (failed.length > 0) throw new Error(JSON.stringify(failed[0]))
    })
}

/** Looks at the clock now and then: each look costs a hundredth of a push. */
function during(ms: number): (sent: number) => boolean {
  const end = performance.now() + ms
  return (sent) => sent % 64 !== 0 || performance.now() < end
}

async function measure(sendAll: SendAll, may: (sent: number) => boolean) {
  const cpu = process.cpuUsage()
  const began = performance.now()
  const sent = await sendAll(may)
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: sent / seconds, cpuMicros: (user + system) / sent }
}

const setup = JSON.parse(process.argv[2]!) as Setup
const clients = {
  tidings,
  personal: tidings,
  fcm: tidings,
  'node:http2': tidings,
  apns2,
  'node-apn': nodeApn,
  tls: tlsAlone
}
const sendAll = await clients[setup.client](setup)
await sendAll(during(setup.warmMs))
const bySize: number[] = []
for (const size of setup.sizes ?? []) bySize.push((await measure(sendAll, (sent) => sent < size)).cpuMicros)
const measured: Measured = { ...(await measure(sendAll, during(setup.runMs))), bySize }
console.log(JSON.stringify(measured))
process.exit(0)
