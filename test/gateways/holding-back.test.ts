import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Outcome, Push } from '../../src/gateways/push.ts'
import type { GatewaySender } from '../../src/gateways/sender/sender.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { createApnsCredentials } from '../../src/simulator/simulator.ts'
import { simulator } from '../simulator/client.ts'
import {
  answer,
  anyToken,
  apnsCredential,
  plainServer,
  push,
  pushes,
  send,
  sendAll,
  senderFor,
  tally
} from './senders.ts'

const run = promisify(execFile)
const only = { fcm: false, webpush: false } as const
type Retry = Extract<Outcome, { kind: 'retry' }>

/** Waits and repeats as the outcomes demand, until one demands no repeat. */
async function persist(sender: GatewaySender, one: Push, withinMs: number): Promise<Outcome> {
  const until = Date.now() + withinMs
  for (;;) {
    const outcome = await send(sender, one)
    if (outcome.kind !== 'retry' || Date.now() > until) return outcome
    await delay(Math.max(0, outcome.notBefore - Date.now()))
  }
}

test('a wrong key stops sending within 50 requests, fails few pushes and turns off no token', async (t) => {
  const sim = await simulator(t, only)
  const { privateKey } = await createApnsCredentials()
  const right = apnsCredential(sim)
  let saved = apnsCredential(sim, { privateKey })
  const sender = senderFor(t, () => saved, { settings: { probeMs: 500, credentialMs: 50 } })
  const outcomes = await sendAll(sender, pushes(500))
  assert.ok(sim.ledger.items().length < 50, `${sim.ledger.items().length} requests`)
  const counts = tally(outcomes)
  assert.deepEqual(Object.keys(counts).sort(), ['rejected CREDENTIALS_INVALID', 'retry CREDENTIALS_INVALID'])
  assert.ok(counts['rejected CREDENTIALS_INVALID']! < 20)
  assert.ok(outcomes.every((outcome) => outcome.kind !== 'rejected' || outcome.tokenDeadAsOf === undefined))
  assert.ok(outcomes.every((outcome) => outcome.kind !== 'retry' || outcome.free))
  assert.equal(sender.stats().pools[0]!.suspended, true)

  // The right key is saved: all waiting pushes are sent without further calls.
  saved = { ...right, version: 2 }
  const all = await Promise.all(pushes(100).map((one) => persist(sender, one, 30_000)))
  assert.deepEqual(tally(all), { accepted: 100 })
})

test('a refused credential is tried again, so that a correction at the gateway takes effect', async (t) => {
  let right = false
  let requests = 0
  const server = await plainServer(t, (stream) => {
    requests += 1
    if (right) answer(stream, 200)
    else answer(stream, 403, { reason: 'InvalidProviderToken' })
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings: { probeMs: 300 } })
  await sendAll(sender, pushes(100))
  const before = requests
  const waiting = Promise.all(pushes(30).map((one) => persist(sender, one, 30_000)))
  while (requests < before + 2) await delay(20)
  right = true
  assert.deepEqual(tally(await waiting), { accepted: 30 })
})

test('a device that gets too many pushes waits alone', async (t) => {
  const busy = 'aa'.repeat(32)
  let refusals = 0
  const server = await plainServer(t, (stream, headers) => {
    if (headers[':path'] !== `/3/device/${busy}` || refusals > 0) return answer(stream, 200)
    refusals += 1
    answer(stream, 429, { reason: 'TooManyRequests' }, { 'retry-after': '1' })
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken })
  const first = (await send(sender, push({ token: busy }))) as Retry
  assert.deepEqual([first.kind, first.reason, first.free], ['retry', 'DEVICE_RATE_LIMITED', false])
  const again = (await send(sender, push({ token: busy }))) as Retry
  assert.deepEqual([again.kind, again.reason, again.free], ['retry', 'DEVICE_RATE_LIMITED', true])
  assert.ok(again.notBefore > Date.now())
  assert.equal((await send(sender, push())).kind, 'accepted')
  assert.equal((await persist(sender, push({ token: busy }), 20_000)).kind, 'accepted')
  assert.equal(refusals, 1)
})

test('an overloaded gateway gets fewer pushes, and more again later', async (t) => {
  let overloaded = true
  const server = await plainServer(t, (stream) =>
    overloaded ? answer(stream, 503, { reason: 'ServiceUnavailable' }) : answer(stream, 200)
  )
  const sender = senderFor(t, server.credential, { providerTokens: anyToken })
  for (let turn = 0; turn < 5; turn += 1) {
    const counts = tally(await sendAll(sender, pushes(20)))
    assert.deepEqual(counts, { 'retry GATEWAY_UNAVAILABLE': 20 })
    await delay(110)
  }
  const low = sender.stats().pools[0]!.window
  assert.ok(low <= 4, `${low}`)
  overloaded = false
  while (sender.stats().pools[0]!.window <= 2 * low)
    assert.deepEqual(tally(await sendAll(sender, pushes(50))), { accepted: 50 })
})

test('dead tokens are not believed while most tokens of a new credential are dead', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 100 } })
  const sender = senderFor(t, apnsCredential(sim))
  const outcomes = await sendAll(
    sender,
    Array.from({ length: 300 }, (_, index) => push({ token: `sim-badtoken-${index}` }))
  )
  assert.deepEqual(tally(outcomes), { 'rejected TOKEN_INVALID': 300 })
  const dead = outcomes.filter((outcome) => outcome.kind === 'rejected' && outcome.tokenDeadAsOf)
  assert.ok(dead.length < 20, `${dead.length} tokens turned off`)
})

test('dead tokens are believed once the credential has proved right', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 100 } })
  const sender = senderFor(t, apnsCredential(sim))
  await sendAll(sender, pushes(100))
  const outcomes = await sendAll(
    sender,
    Array.from({ length: 250 }, (_, index) => push({ token: `sim-410-${index}` }))
  )
  assert.ok(outcomes.every((outcome) => outcome.kind === 'rejected' && outcome.tokenDeadAsOf))
})

test('the queue is bounded: a slow gateway makes the caller wait, and every push arrives', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 1_000 }, ledgerSize: 5_000 })
  sim.faults.set('apns', { latencyMs: 30 })
  const sender = senderFor(t, apnsCredential(sim))
  let refused = 0
  let most = 0
  const outcomes: Promise<Outcome>[] = []
  for (const one of pushes(1_500)) {
    for (;;) {
      let taken = false
      const outcome = new Promise<Outcome>((resolve) => {
        taken = sender.submit(one, resolve)
      })
      const [pool] = sender.stats().pools
      if (pool) most = Math.max(most, pool.queued - 2 * pool.window)
      if (taken) {
        outcomes.push(outcome)
        break
      }
      refused += 1
      await sender.ready(one)
    }
  }
  assert.deepEqual(tally(await Promise.all(outcomes)), { accepted: 1_500 })
  assert.ok(refused > 0)
  // The first 64 wait for the look-up of the credential, before a pool exists.
  assert.ok(most <= 64, `${most} more than twice the window`)
  assert.equal(sim.ledger.items().length, 1_500)
})

test('projects do not share connections, and one whose gateway hangs does not hold up another', async (t) => {
  const [hanging, fine] = await Promise.all([simulator(t, only), simulator(t, only)])
  hanging.faults.set('apns', { hang: true })
  const sender = senderFor(t, null, {
    credentials: {
      async find(projectId) {
        return apnsCredential(projectId === 'a' ? hanging : fine, { projectId, id: projectId })
      }
    },
    settings: { deadlineMs: 3_000 }
  })
  const stuck = sendAll(sender, pushes(50, { projectId: 'a' as ProjectId }))
  for (const projectId of ['b', 'c'] as ProjectId[])
    assert.deepEqual(tally(await sendAll(sender, pushes(50, { projectId }))), { accepted: 50 })
  assert.equal(sender.stats().pools.length, 3)
  assert.ok(Object.keys(tally(await stuck)).every((name) => !name.includes('accepted')))
})

test('idle pools are closed, and the oldest idle one makes room when there are too many sockets', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, null, {
    credentials: { find: async (projectId) => apnsCredential(sim, { projectId, id: projectId }) },
    settings: { maxSockets: 3, idleMs: 1_000 }
  })
  for (let index = 0; index < 8; index += 1) {
    assert.equal((await send(sender, push({ projectId: `p${index}` as ProjectId }))).kind, 'accepted')
    assert.ok(sender.stats().sockets <= 3)
  }
  assert.ok(sender.stats().pools.some(({ projectId }) => projectId === 'p7'))
  assert.ok(!sender.stats().pools.some(({ projectId }) => projectId === 'p0'))
  const until = Date.now() + 20_000
  while (sender.stats().pools.length + sender.stats().sockets > 0 && Date.now() < until) await delay(50)
  assert.deepEqual(sender.stats(), { pools: [], sockets: 0 })
})

test('a new version of a credential takes over, and pushes in flight with the old one still end', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 100 } })
  let version = 1
  const sender = senderFor(t, () => apnsCredential(sim, { version }), { settings: { credentialMs: 20 } })
  await send(sender, push())
  const slow = send(sender, push({ token: 'sim-slow:400-1' }))
  version = 2
  const until = Date.now() + 20_000
  while (!sender.stats().pools.some((pool) => pool.version === 2) && Date.now() < until) {
    assert.equal((await send(sender, push())).kind, 'accepted')
    await delay(10)
  }
  assert.deepEqual(
    sender.stats().pools.map((pool) => pool.version),
    [2]
  )
  assert.equal((await slow).kind, 'accepted')
})

test('closing waits for pushes in flight, gives the rest back and takes no more', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 1_000 } })
  const sender = senderFor(t, apnsCredential(sim))
  await send(sender, push())
  sim.faults.set('apns', { latencyMs: 200 })
  const sending = Promise.all(pushes(60).map((one) => send(sender, one)))
  await delay(20)
  await sender.close(5_000)
  const counts = tally(await sending)
  assert.deepEqual(Object.keys(counts).sort(), ['accepted', 'retry GATEWAY_UNAVAILABLE'])
  assert.equal(sim.ledger.items().length, 1 + counts.accepted!)
  const late = (await send(sender, push())) as Retry
  assert.deepEqual([late.kind, late.free], ['retry', true])
})

test('closing waits until its deadline at most, and pushes that it cuts off are unknown', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 1_000 } })
  const sender = senderFor(t, apnsCredential(sim))
  await send(sender, push())
  const hanging = send(sender, push({ token: 'sim-hang-1' }))
  await delay(50)
  await sender.close(100)
  assert.deepEqual(tally([await hanging]), { 'unknown CONNECTION_LOST': 1 })
})

test('pushes are counted by gateway and outcome', async (t) => {
  const sim = await simulator(t, only)
  const metrics = createMetrics()
  const sender = senderFor(t, apnsCredential(sim), { metrics })
  await send(sender, push())
  await send(sender, push({ token: 'sim-410-1' }))
  const text = await metrics.registry.metrics()
  assert.match(text, /^tidings_pushes_total\{gateway="apns",outcome="accepted"\} 1$/m)
  assert.match(text, /^tidings_pushes_total\{gateway="apns",outcome="rejected"\} 1$/m)
  assert.match(text, /^tidings_pushes_in_flight\{gateway="apns"\} 0$/m)
})

test('a sender keeps the process alive while a caller waits for an outcome, and no longer', async () => {
  const script = `
    import { createSender } from './src/gateways/sender/sender.ts'
    import { push } from './test/gateways/senders.ts'
    import { silentLog } from './test/support/log.ts'
    const credential = { gateway: 'apns', id: 'a', version: 1, projectId: 'p', origin: 'https://127.0.0.1:1', simulated: true,
      environment: 'production', keyId: '', teamId: '', privateKey: '', topic: 't' }
    const sender = createSender({ log: silentLog, credentials: { find: async () => credential }, providerTokens: { of: async () => 't' },
      settings: { unreachableMs: 500 } })
    sender.submit(push(), (outcome) => console.log(outcome.kind))`
  const cwd = resolve(import.meta.dirname, '../..')
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd, timeout: 30_000 })
  assert.equal(stdout, 'retry\n')
})
