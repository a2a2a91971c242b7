// The sender against nghttpd, an HTTP/2 server in C that shares no line with Node's. It needs Debian's nghttp2-server.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ApnsCredential } from '../../src/gateways/credentials/credential.ts'
import { makeCertificates } from '../../src/simulator/server/certificates.ts'
import {
  anyToken,
  project,
  push,
  pushes,
  send,
  sendAll,
  senderFor,
  tally,
  topic,
  transports
} from '../gateways/senders.ts'

interface Nghttpd {
  credential: ApnsCredential
  /** The device tokens that it reports as received, in order. */
  received: string[]
  stop(): Promise<void>
  start(): Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const [event] = await Promise.race([
    once(socket, 'connect').then(() => ['connect']),
    once(socket, 'error').then(() => ['error'])
  ]).catch(() => ['error'])
  socket.destroy()
  return event === 'connect'
}

async function nghttpd(t: TestContext, ...options: string[]): Promise<Nghttpd> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-nghttpd-'))
  const { ca, cert, key } = await makeCertificates({ host: '127.0.0.1' })
  await writeFile(join(folder, 'key.pem'), key)
  await writeFile(join(folder, 'cert.pem'), cert)
  const port = await freePort()
  const received: string[] = []
  let running: ChildProcess | undefined

  async function start() {
    const files = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const all = ['-v', '-a', '127.0.0.1', '-d', folder, ...options, String(port), ...files]
    running = spawn('nghttpd', all, { stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface({ input: running.stdout! }).on('line', (line) => {
      const [, token] = /:path: \/3\/device\/(\w+)/.exec(line) ?? []
      if (token) received.push(token)
    })
    const until = Date.now() + 10_000
    while (!(await answers(port))) {
      assert.ok(Date.now() < until, 'nghttpd did not start')
      await delay(20)
    }
  }
  async function stop() {
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const gone = once(running, 'close')
    running.kill('SIGKILL')
    await gone
  }
  t.after(async () => {
    await stop()
    await rm(folder, { recursive: true })
  })
  await start()
  const credential: ApnsCredential = {
    gateway: 'apns',
    id: 'nghttpd',
    version: 1,
    projectId: project,
    origin: `https://127.0.0.1:${port}`,
    simulated: true,
    ca,
    environment: 'production',
    keyId: 'KEY',
    teamId: 'TEAM',
    privateKey: '',
    topic,
    channelsOrigin: ''
  }
  return { credential, received, start, stop }
}

for (const [name, transport] of transports) {
  test(`${name}: nghttpd gets every push once`, async (t) => {
    const server = await nghttpd(t, '--echo-upload', '-m', '100')
    const sender = senderFor(t, server.credential, { transport, providerTokens: anyToken })
    const all = pushes(5_000)
    assert.deepEqual(tally(await sendAll(sender, all)), { accepted: 5_000 })
    const until = Date.now() + 10_000
    while (server.received.length < 5_000 && Date.now() < until) await delay(20)
    assert.deepEqual(server.received.sort(), all.map(({ token }) => token).sort())
  })

  test(`${name}: the stream limit, padding and trailers of nghttpd are respected`, async (t) => {
    const server = await nghttpd(t, '--echo-upload', '-m', '3', '-b', '200', '--trailer', 'end: yes', '-c', '0')
    const sender = senderFor(t, server.credential, { transport, providerTokens: anyToken })
    assert.deepEqual(tally(await sendAll(sender, pushes(1_000))), { accepted: 1_000 })
    assert.equal(server.received.length, new Set(server.received).size)
  })

  test(`${name}: a response of nghttpd that no gateway would send is a refusal, not an error`, async (t) => {
    const server = await nghttpd(t)
    const sender = senderFor(t, server.credential, { transport, providerTokens: anyToken })
    const outcome = await send(sender, push())
    assert.ok(outcome.kind === 'rejected' && outcome.reason === 'INTERNAL_ERROR' && outcome.gatewayCode === '404')
  })

  test(`${name}: a killed nghttpd leaves pushes unknown or to be retried, and later pushes arrive`, async (t) => {
    const server = await nghttpd(t, '--echo-upload')
    const sender = senderFor(t, server.credential, {
      transport,
      providerTokens: anyToken,
      settings: { unreachableMs: 300 }
    })
    assert.equal((await send(sender, push())).kind, 'accepted')
    const sending = sendAll(sender, pushes(3_000))
    while (server.received.length < 200) await delay(1)
    await server.stop()
    const kinds = Object.keys(tally(await sending)).sort()
    const allowed = ['accepted', 'retry GATEWAY_UNAVAILABLE', 'unknown CONNECTION_LOST']
    assert.deepEqual(
      kinds.filter((kind) => !allowed.includes(kind)),
      []
    )
    assert.equal(server.received.length, new Set(server.received).size, 'nothing was sent twice')
    await server.start()
    const until = Date.now() + 40_000
    let outcome = await send(sender, push())
    while (outcome.kind === 'retry' && Date.now() < until) {
      await delay(Math.max(0, outcome.notBefore - Date.now()))
      outcome = await send(sender, push())
    }
    assert.equal(outcome.kind, 'accepted')
  })
}
