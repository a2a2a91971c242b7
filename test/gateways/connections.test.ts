import assert from 'node:assert/strict'
import type { ServerHttp2Stream } from 'node:http2'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Outcome, Push } from '../../src/gateways/push.ts'
import { nodeHttp2 } from '../../src/gateways/transport/node-http2.ts'
import type { H2Transport } from '../../src/gateways/transport/transport.ts'
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

const only = { fcm: false, webpush: false } as const
// Each 300 are a GOAWAY, so 4,000 meet a dozen of them.
const many = process.env.TIDINGS_LONG ? 100_000 : 4_000

test(`with GOAWAY every 300 requests ${many} pushes arrive, none twice and none reported as failed`, async (t) => {
  // A gateway that only counts: these tests need none of the simulators' checks.
  const arrived = new Map<string, number>()
  const requests = new Map<unknown, number>()
  const server = await plainServer(t, (stream, headers) => {
    const { session } = stream
    const path = String(headers[':path'])
    arrived.set(path, (arrived.get(path) ?? 0) + 1)
    const count = (requests.get(session) ?? 0) + 1
    requests.set(session, count)
    if (count === 300) {
      session!.goaway(0, 0, Buffer.from('{"reason":"Shutdown"}'))
      session!.close()
    }
    answer(stream, 200)
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings: { deadlineMs: 60_000 } })
  const counts = new Map<string, number>()
  let first: Push | undefined
  await new Promise<void>((resolve) => {
    let open = many
    const ended = ({ kind }: Outcome) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      open -= 1
      if (open === 0) resolve()
    }
    const more = async () => {
      for (let left = many; left > 0; left -= 1) {
        const one = push()
        first ??= one
        while (!sender.submit(one, ended)) await sender.ready(one)
      }
    }
    void more()
  })
  assert.deepEqual(Object.fromEntries(counts), { accepted: many })
  assert.equal(arrived.size, many, 'none is lost')
  assert.ok(arrived.has(`/3/device/${first!.token}`))
  assert.equal(Math.max(...arrived.values()), 1, 'none arrives twice')
  assert.ok(server.sessions.length >= many / 1_000, `${server.sessions.length} connections`)
})

test('with GOAWAY of a simulator, too, every push arrives once', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 1_000 }, ledgerSize: 4_000 })
  sim.faults.set('apns', { goawayAfter: 300 })
  const sender = senderFor(t, apnsCredential(sim), { settings: { deadlineMs: 60_000 } })
  const all = pushes(1_000)
  assert.deepEqual(tally(await sendAll(sender, all)), { accepted: 1_000 })
  const arrived = sim.ledger.items().map(({ token }) => token!)
  assert.equal(arrived.length, 1_000)
  assert.deepEqual(new Set(arrived), new Set(all.map(({ token }) => token)))
})

test('requests above the last stream of a GOAWAY are sent again, those below are waited for', async (t) => {
  const first: { stream: ServerHttp2Stream; path: string }[] = []
  const acted: string[] = []
  const server = await plainServer(t, (stream, headers) => {
    const path = String(headers[':path'])
    if (stream.session !== server.sessions[0]) {
      acted.push(path)
      return answer(stream, 200)
    }
    first.push({ stream, path })
    if (first.length < 20) return
    // Ten were processed and get a response later; the server ignores the rest.
    first.sort((a, b) => a.stream.id! - b.stream.id!)
    stream.session!.goaway(0, first[9]!.stream.id!)
    for (const taken of first.slice(0, 10)) {
      acted.push(taken.path)
      setTimeout(answer, 50, taken.stream, 200)
    }
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken })
  const all = pushes(20)
  assert.deepEqual(tally(await sendAll(sender, all)), { accepted: 20 })
  assert.equal(server.sessions.length, 2)
  assert.deepEqual(acted.sort(), all.map(({ token }) => `/3/device/${token}`).sort())
})

test('GOAWAY with an error code ends taken requests as unknown and repeats the rest', async (t) => {
  let streams = 0
  const server = await plainServer(t, (stream) => {
    if (stream.session !== server.sessions[0]) return answer(stream, 200)
    streams += 1
    if (streams === 10) stream.session!.goaway(2, 9)
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken })
  // Streams of a client have odd numbers: 1, 3, 5, 7 and 9 were processed.
  assert.deepEqual(tally(await sendAll(sender, pushes(10))), { 'unknown CONNECTION_LOST': 5, accepted: 5 })
})

test('a dropped socket ends the pushes in flight as unknown, and no others', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 1_000 }, ledgerSize: 10_000 })
  sim.faults.set('apns', { dropAfter: 100 })
  const sender = senderFor(t, apnsCredential(sim))
  const all = pushes(2_000)
  const outcomes = await sendAll(sender, all)
  const counts = tally(outcomes)
  assert.deepEqual(Object.keys(counts).sort(), ['accepted', 'unknown CONNECTION_LOST'])
  const arrived = new Map<string, number>()
  for (const { token } of sim.ledger.items()) arrived.set(token!, (arrived.get(token!) ?? 0) + 1)
  assert.equal(Math.max(...arrived.values()), 1, 'the sender repeats nothing that may have arrived')
  for (const [index, outcome] of outcomes.entries())
    if (outcome.kind === 'accepted') assert.equal(arrived.get(all[index]!.token), 1)
})

test('all pushes to a gateway that never responds end at the deadline', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 1_000 } })
  const sender = senderFor(t, apnsCredential(sim), { settings: { deadlineMs: 600 } })
  assert.equal((await send(sender, push())).kind, 'accepted')
  sim.faults.set('apns', { hang: true })
  const counts = tally(await sendAll(sender, pushes(100)))
  // A request that was never sent may be repeated at no cost; a request that was sent may have arrived.
  assert.deepEqual(
    Object.keys(counts)
      .filter((name) => !name.startsWith('unknown'))
      .sort(),
    ['retry GATEWAY_UNAVAILABLE']
  )
  assert.ok(counts['unknown GATEWAY_TIMEOUT']! >= 30)
  sim.faults.reset()
  assert.equal((await send(sender, push())).kind, 'accepted')
})

test('a connection that responds neither to requests nor to PING is cut, and the next push takes another', async (t) => {
  const sim = await simulator(t, { ...only, apns: { streams: 1_000 } })
  // A proxy between the two, which forwards until the test makes it swallow everything.
  const { proxy } = await import('./swallowing-proxy.ts')
  const between = await proxy(t, sim.apns!.port)
  const credential = apnsCredential(sim, { origin: `https://127.0.0.1:${between.port}` })
  const sender = senderFor(t, credential, { settings: { pingAfterMs: 100, pingTimeoutMs: 300, deadlineMs: 20_000 } })
  assert.equal((await send(sender, push())).kind, 'accepted')
  between.swallow()
  assert.deepEqual(tally(await sendAll(sender, pushes(5))), { 'unknown CONNECTION_LOST': 5 })
  between.forward()
  assert.equal((await send(sender, push())).kind, 'accepted')
})

test('refused streams are repeated at no cost', async (t) => {
  let refusals = 0
  const server = await plainServer(t, (stream) => {
    if (refusals++ % 3 === 0) stream.close(7)
    else answer(stream, 200)
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken })
  assert.deepEqual(tally(await sendAll(sender, pushes(300))), { accepted: 300 })
})

test('a gateway that refuses every stream gets few requests, and the pushes come back', async (t) => {
  let requests = 0
  const server = await plainServer(t, (stream) => {
    requests += 1
    stream.close(7)
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings: { deadlineMs: 2_000 } })
  const outcomes = await sendAll(sender, pushes(20))
  assert.deepEqual(tally(outcomes), { 'retry GATEWAY_UNAVAILABLE': 20 })
  assert.ok(outcomes.every((outcome) => outcome.kind === 'retry' && outcome.free))
  assert.ok(requests < 500, `${requests} requests`)
})

test('a stream limit of one is obeyed, and so is a limit that changes', async (t) => {
  let open = 0
  let most = 0
  const server = await plainServer(
    t,
    (stream) => {
      open += 1
      most = Math.max(most, open)
      setTimeout(() => {
        open -= 1
        answer(stream, 200)
      }, 1)
    },
    { maxConcurrentStreams: 1 }
  )
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings: { maxConnections: 1 } })
  assert.deepEqual(tally(await sendAll(sender, pushes(100))), { accepted: 100 })
  assert.equal(most, 1)
  await new Promise<void>((resolve) => server.sessions[0]!.settings({ maxConcurrentStreams: 5 }, () => resolve()))
  assert.deepEqual(tally(await sendAll(sender, pushes(200))), { accepted: 200 })
  assert.ok(most > 1 && most <= 5, `${most} at a time`)
})

test("Apple's limit of one stream until a push is accepted, and after a refusal, refuses no push", async (t) => {
  const sim = await simulator(t, { ...only, ledgerSize: 2_000 })
  const sender = senderFor(t, apnsCredential(sim))
  const all = pushes(300)
  for (const [index, one] of all.entries()) if (index % 10 === 3) one.token = `sim-410-${index}`
  assert.deepEqual(tally(await sendAll(sender, all)), { accepted: 270, 'rejected TOKEN_UNREGISTERED': 30 })
})

test('a pool whose connections are full opens more, up to the limit', async (t) => {
  const server = await plainServer(t, (stream) => void setTimeout(answer, 20, stream, 200), { maxConcurrentStreams: 2 })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings: { maxConnections: 3 } })
  const sending = sendAll(sender, pushes(900))
  while (server.sessions.length < 3) await delay(20)
  assert.deepEqual(tally(await sending), { accepted: 900 })
  assert.equal(server.sessions.length, 3)
  assert.equal(sender.stats().pools[0]!.connections, 3)
})

test('pushes to an unreachable gateway come back after a moment, and leave once it is reachable', async (t) => {
  const sim = await simulator(t, only)
  const sender = senderFor(t, apnsCredential(sim), { settings: { unreachableMs: 300 } })
  sim.faults.set('apns', { down: true })
  const outcomes = await sendAll(sender, pushes(20))
  assert.deepEqual(tally(outcomes), { 'retry GATEWAY_UNAVAILABLE': 20 })
  const [first] = outcomes as Extract<Outcome, { kind: 'retry' }>[]
  assert.equal(first!.free, true)
  assert.match(first!.message, /cannot be reached/)
  // Nothing piles up: while the gateway cannot be reached, pushes are returned at once.
  const later = (await send(sender, push())) as Extract<Outcome, { kind: 'retry' }>
  assert.equal(later.kind, 'retry')
  sim.faults.reset()
  const until = Date.now() + 30_000
  let outcome: Outcome = later
  while (outcome.kind === 'retry' && Date.now() < until) {
    await delay(Math.max(0, outcome.notBefore - Date.now()))
    outcome = await send(sender, push())
  }
  assert.equal(outcome.kind, 'accepted')
})

test('a gateway that was unreachable long ago gets the time to connect', async (t) => {
  const sim = await simulator(t, only)
  // Connecting takes a while, as over a long distance.
  const slow: H2Transport = {
    async open(...args) {
      await delay(500)
      return nodeHttp2.open(...args)
    }
  }
  const sender = senderFor(t, apnsCredential(sim), { transport: slow, settings: { unreachableMs: 100 } })
  sim.faults.set('apns', { down: true })
  const outcome = await send(sender, push())
  assert.ok(outcome.kind === 'retry')
  sim.faults.reset()
  await delay(Math.max(0, outcome.notBefore - Date.now()))
  assert.equal((await send(sender, push())).kind, 'accepted')
})

test('a connection on which everything fails is replaced by another', async (t) => {
  let requests = 0
  const server = await plainServer(t, (stream) => {
    requests += 1
    // The first machine is broken, the others are not.
    if (stream.session === server.sessions[0]) answer(stream, 500, { reason: 'InternalServerError' })
    else answer(stream, 200)
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings: { replaceMs: 100 } })
  const until = Date.now() + 60_000
  let counts: Record<string, number> = {}
  while (!counts.accepted && Date.now() < until) {
    counts = tally(await sendAll(sender, pushes(10)))
    await delay(20)
  }
  assert.ok(requests > 50, `${requests}`)
  assert.equal(server.sessions.length, 2)
  assert.deepEqual(tally(await sendAll(sender, pushes(100))), { accepted: 100 })
})

test('no push is sent without TLS', async (t) => {
  const sim = await simulator(t, only)
  const settings = { unreachableMs: 100 }
  const sender = senderFor(t, apnsCredential(sim, { origin: sim.apns!.clearUrl }), { settings })
  const outcome = await send(sender, push())
  assert.ok(outcome.kind === 'retry' && /is not https/.test(outcome.message))
  assert.deepEqual(sim.ledger.items(), [])
})

test('under any faults of connections and streams each push ends once, and an accepted one arrived once', async (t) => {
  // The same sequence each time: mulberry32.
  let state = 11
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const acted = new Map<string, number>()
  const server = await plainServer(t, (stream, headers) => {
    const { session } = stream
    const dice = random()
    if (dice < 0.05) return stream.close(7)
    const token = String(headers[':path']).slice('/3/device/'.length)
    acted.set(token, (acted.get(token) ?? 0) + 1)
    if (dice < 0.06) return stream.close(8)
    if (dice < 0.061) return session?.destroy()
    if (dice < 0.064) session?.close()
    if (dice < 0.07 && !session?.closed) session?.settings({ maxConcurrentStreams: 1 + Math.floor(random() * 50) })
    if (dice < 0.1) return answer(stream, 500, { reason: 'InternalServerError' })
    if (dice < 0.2) return void setTimeout(answer, 20 * random(), stream, 200)
    answer(stream, 200)
  })
  // A generous limit: the speed of the machine is not tested.
  const settings = { maxConnections: 4, deadlineMs: 60_000 }
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings })
  const count = process.env.TIDINGS_LONG ? 5_000 : 2_500
  const all = pushes(count)
  const ended = new Map<string, number>()
  const outcomes = await Promise.all(
    all.map(async (one) => {
      const outcome = await send(sender, one)
      ended.set(one.pushId, (ended.get(one.pushId) ?? 0) + 1)
      return outcome
    })
  )
  assert.equal(ended.size, count)
  assert.ok(
    [...acted.values()].every((times) => times === 1),
    'nothing that a gateway took was sent again'
  )
  for (const [index, outcome] of outcomes.entries()) {
    const arrived = acted.get(all[index]!.token) ?? 0
    if (outcome.kind === 'accepted') assert.equal(arrived, 1)
    else if (outcome.kind === 'retry' && outcome.free) assert.equal(arrived, 0)
  }
  const counts = tally(outcomes)
  assert.ok(counts.accepted! > 0.8 * count, JSON.stringify(counts))
  assert.ok(counts['unknown CONNECTION_LOST']! > 0 && server.sessions.length > 3)
})
