// One client of bench/push.ts in a process of its own: sends a number of pushes and prints the time they took.
import apn from '@parse/node-apn'
import { ApnsClient, Notification } from 'apns2'
import pino from 'pino'
import type { Push } from '../../src/gateways/push.ts'
import { createSender } from '../../src/gateways/sender/sender.ts'
import { nodeHttp2 } from '../../src/gateways/transport/node-http2.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'

export interface Setup {
  client: 'tidings' | 'node:http2' | 'apns2' | 'node-apn'
  origin: string
  ca: string
  key: string
  sends: number
}

type SendAll = (count: number) => Promise<void>

const topic = 'com.example.app'
const content = { title: 'Hello', body: 'x'.repeat(150) }
const inFlight = 100
let number = 0
const nextToken = () => (number++).toString(16).padStart(64, '0')

/** Limits concurrency, as callers of a library without a limit must do. */
async function closedLoop(count: number, send: () => Promise<void>): Promise<void> {
  let left = count
  const worker = async () => {
    while (left-- > 0) await send()
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
}

function tidings({ client, origin, ca, key }: Setup): SendAll {
  const projectId = 'bench' as ProjectId
  const common = { id: 'bench', version: 1, projectId, origin, channelsOrigin: origin, simulated: true, ca }
  const apns = { gateway: 'apns', environment: 'production', keyId: 'K', teamId: 'T', privateKey: key, topic } as const
  const sender = createSender({
    credentials: { find: async () => ({ ...common, ...apns }) },
    providerTokens: { of: async () => 'x'.repeat(184) },
    ...(client === 'node:http2' && { transport: nodeHttp2 }),
    log: pino({ level: 'silent' })
  })
  const push = (): Push => ({
    projectId,
    messageId: newId(),
    pushId: newId(),
    deviceId: 'd',
    gateway: 'apns',
    environment: 'production',
    app: null,
    token: nextToken(),
    registeredAt: new Date(0),
    content: { kind: 'alert', notification: content },
    collapseId: 'bench',
    priority: 'high',
    notAfter: Date.now() + 3_600_000
  })
  return async (count) => {
    let ended = 0
    let failed = 0
    await new Promise<void>((resolve, reject) => {
      const feed = async () => {
        for (let sent = 0; sent < count; sent += 1) {
          const one = push()
          while (
            !sender.submit(one, (outcome) => {
              if (outcome.kind !== 'accepted') failed += 1
              ended += 1
              if (ended === count) resolve()
            })
          )
            await sender.ready(one)
        }
      }
      feed().catch(reject)
    })
    if (failed > 0) throw new Error(`${failed} failed`)
  }
}

function apns2({ origin, key }: Setup): SendAll {
  const client = new ApnsClient({ team: 'TEAM000000', keyId: 'KEY0000000', signingKey: key, defaultTopic: topic })
  // The library supports port 443 only: this is the same pool with the same settings at another address.
  const Pool = client.client.constructor as new (origin: string, options: object) => typeof client.client
  const settings = { connections: 32, pipelining: 1, allowH2: true, maxConcurrentStreams: 100 }
  Object.assign(client, { client: new Pool(origin, settings) })
  return (count) =>
    closedLoop(count, async () => {
      const expiration = Math.floor(Date.now() / 1000) + 3_600
      await client.send(new Notification(nextToken(), { alert: content, collapseId: 'bench', expiration }))
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
  return (count) =>
    closedLoop(count, async () => {
      // The same headers as ours, where the library supports them.
      const note = new apn.Notification({ alert: content, topic, collapseId: 'bench', priority: 10, pushType: 'alert' })
      note.id = newId()
      note.expiry = Math.floor(Date.now() / 1000) + 3_600
      const { failed } = await provider.send(note, nextToken())
      if (failed.length > 0) throw new Error(JSON.stringify(failed[0]))
    })
}

const setup = JSON.parse(process.argv[2]!) as Setup
const clients = { tidings, 'node:http2': tidings, apns2, 'node-apn': nodeApn }
const sendAll = clients[setup.client](setup)
await sendAll(20_000)
const cpu = process.cpuUsage()
const began = performance.now()
await sendAll(setup.sends)
const seconds = (performance.now() - began) / 1000
const { user, system } = process.cpuUsage(cpu)
console.log(JSON.stringify({ perSecond: setup.sends / seconds, cpuMicros: (user + system) / setup.sends }))
process.exit(0)
