import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Outcome } from '../../src/gateways/push.ts'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { simulator } from '../simulator/client.ts'
import { apnsCredential, fcmCredential, push, pushes, send, sendAll, senderFor, tally, transports } from './senders.ts'

const only = { fcm: false, webpush: false, apns: { streams: 1_000 }, ledgerSize: 4_000 } as const

/** The number of times that a gateway received each push, whether or not its response arrived. */
function taken(sim: Simulator): Map<string, number> {
  const times = new Map<string, number>()
  const untouched = new Set(['refused', 'beyond', 'crowded', 'reconnect'])
  for (const { token, answer } of sim.ledger.items())
    if (!untouched.has(answer.reason ?? '')) times.set(token!, (times.get(token!) ?? 0) + 1)
  return times
}

const reasons = (sim: Simulator, token: string) => sim.ledger.items({ token }).map(({ answer }) => answer.reason)

/** Repeats the push while its outcome allows it, and returns the first other outcome. */
async function sendUntilTaken(sender: ReturnType<typeof senderFor>): Promise<Outcome> {
  const until = Date.now() + 60_000
  for (;;) {
    const outcome = await send(sender, push())
    if (outcome.kind !== 'retry' || Date.now() > until) return outcome
    await delay(Math.max(0, outcome.notBefore - Date.now()))
  }
}

for (const [name, transport] of transports) {
  test(`${name}: headers that cannot be decoded end the pushes in flight as unknown, and none is sent twice`, async (t) => {
    const sim = await simulator(t, only)
    sim.faults.set('apns', { badHpackAfter: 100 })
    const sender = senderFor(t, apnsCredential(sim), { transport })
    const all = pushes(500)
    const outcomes = await sendAll(sender, all)
    assert.deepEqual(Object.keys(tally(outcomes)).sort(), ['accepted', 'unknown CONNECTION_LOST'])
    const times = taken(sim)
    assert.ok([...times.values()].every((count) => count === 1))
    for (const [index, { kind }] of outcomes.entries())
      if (kind === 'accepted') assert.equal(times.get(all[index]!.token), 1)
    sim.faults.reset()
    assert.equal((await sendUntilTaken(sender)).kind, 'accepted')
  })

  test(`${name}: a faulty token breaks its connection, by headers or by silence, also where the connection is old`, async (t) => {
    const sim = await simulator(t, only)
    const settings = { pingAfterMs: 100, pingTimeoutMs: 600, deadlineMs: 20_000 }
    const sender = senderFor(t, apnsCredential(sim), { transport, settings })
    for (const fault of ['badhpack', 'halfopen']) {
      assert.equal((await sendUntilTaken(sender)).kind, 'accepted')
      const token = `sim-${fault}-1`
      assert.deepEqual(tally([await send(sender, push({ token }))]), { 'unknown CONNECTION_LOST': 1 })
      assert.equal(reasons(sim, token).at(-1), fault)
      assert.equal(taken(sim).get(token), 1)
    }
  })

  test(`${name}: PING finds a half-open connection, and the next push takes another`, async (t) => {
    const sim = await simulator(t, only)
    sim.faults.set('apns', { halfOpenAfter: 2 })
    const settings = { pingAfterMs: 100, pingTimeoutMs: 600, deadlineMs: 60_000 }
    const sender = senderFor(t, apnsCredential(sim), { transport, settings })
    assert.equal((await send(sender, push())).kind, 'accepted')
    const all = pushes(5)
    const started = Date.now()
    assert.deepEqual(tally(await sendAll(sender, all)), { 'unknown CONNECTION_LOST': 5 })
    assert.ok(Date.now() - started < settings.deadlineMs, 'long before their deadline')
    const times = taken(sim)
    assert.ok(times.has(all[0]!.token), 'it was read')
    assert.ok([...times.values()].every((count) => count === 1))
    sim.faults.reset()
    assert.equal((await sendUntilTaken(sender)).kind, 'accepted')
  })

  test(`${name}: pushes on a half-open connection end at their deadline at the latest`, async (t) => {
    const sim = await simulator(t, only)
    sim.faults.set('apns', { halfOpenAfter: 1 })
    const sender = senderFor(t, apnsCredential(sim), {
      transport,
      settings: { pingTimeoutMs: 60_000, deadlineMs: 1_000 }
    })
    const counts = tally(await sendAll(sender, pushes(5)))
    assert.deepEqual(Object.keys(counts), ['unknown GATEWAY_TIMEOUT'])
  })

  test(`${name}: a stream limit that is lowered in the middle is obeyed, and refuses no push`, async (t) => {
    const sim = await simulator(t, only)
    const sender = senderFor(t, apnsCredential(sim), { transport, settings: { maxConnections: 1, deadlineMs: 60_000 } })
    sim.faults.set('apns', { latencyMs: 5 })
    const running = sendAll(sender, pushes(200))
    while (sim.ledger.items().length < 20) await delay(1)
    sim.faults.set('apns', { maxStreams: 2 })
    assert.deepEqual(tally(await running), { accepted: 200 })
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, sender.stats().pools[0]!.inFlight)
    }, 1)
    assert.deepEqual(tally(await sendAll(sender, pushes(40))), { accepted: 40 })
    clearInterval(watch)
    assert.ok(most >= 1 && most <= 2, `${most} at a time`)
    assert.ok([...taken(sim).values()].every((count) => count === 1))
  })

  test(`${name}: an expired certificate is named in the outcome, and pushes leave once it is replaced`, async (t) => {
    const sim = await simulator(t, only)
    sim.faults.set('apns', { tlsExpired: true })
    const sender = senderFor(t, apnsCredential(sim), { transport, settings: { unreachableMs: 100 } })
    const outcome = await send(sender, push())
    assert.ok(outcome.kind === 'retry' && outcome.free && /expired/.test(outcome.message))
    assert.deepEqual(sim.ledger.items(), [])
    sim.faults.reset()
    assert.equal((await sendUntilTaken(sender)).kind, 'accepted')
  })

  test(`${name}: requests that a GOAWAY calls unprocessed are sent again on another connection, and no others`, async (t) => {
    const sim = await simulator(t, only)
    // Streams of a client have odd numbers: the gateway processed ten of these twenty.
    sim.faults.set('apns', { goawayAfter: 20, goawayLastStream: 19 })
    const sender = senderFor(t, apnsCredential(sim), { transport, settings: { deadlineMs: 60_000 } })
    const all = pushes(20)
    assert.deepEqual(tally(await sendAll(sender, all)), { accepted: 20 })
    assert.deepEqual(taken(sim), new Map(all.map(({ token }) => [token, 1])))
    assert.equal(sim.ledger.items().filter(({ answer }) => answer.reason === 'beyond').length, 10)
  })

  test(`${name}: Firebase's GOAWAY for too many streams loses no push that it had not taken`, async (t) => {
    const sim = await simulator(t, { apns: false, webpush: false })
    sim.faults.set('fcm', { goawayAboveStreams: 10, latencyMs: 300 })
    const sender = senderFor(t, fcmCredential(sim), { transport, settings: { deadlineMs: 60_000 } })
    const all = pushes(20, { gateway: 'fcm' })
    const outcomes = await sendAll(sender, all)
    // node:http2 cuts the connection at once; with our own frames, responses that are under way still arrive.
    const counts = tally(outcomes)
    assert.deepEqual(
      Object.keys(counts).filter((kind) => !['accepted', 'unknown CONNECTION_LOST'].includes(kind)),
      []
    )
    // The gateway received each once, also those whose response was lost; for that reason they are not repeated.
    assert.deepEqual(taken(sim), new Map(all.map(({ token }) => [token, 1])))
    assert.ok(sim.ledger.items().some(({ answer }) => answer.reason === 'crowded'))
    sim.faults.reset()
    assert.equal((await send(sender, push({ gateway: 'fcm' }))).kind, 'accepted')
  })
}
