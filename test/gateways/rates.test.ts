import assert from 'node:assert/strict'
import type { ServerHttp2Stream } from 'node:http2'
import { test } from 'node:test'
import type { FcmCredential } from '../../src/gateways/credentials/credential.ts'
import type { Outcome } from '../../src/gateways/push.ts'
import { answer, anyToken, plainServer, push, pushes, send, sendAll, senderFor, tally } from './senders.ts'

type Retry = Extract<Outcome, { kind: 'retry' }>

test('while a gateway fails, repeats are at most a fifth of all pushes; the rest waits', async (t) => {
  let fails = true
  let requests = 0
  const server = await plainServer(t, (stream) => {
    requests += 1
    if (fails) answer(stream, 500, { reason: 'InternalServerError' })
    else answer(stream, 200)
  })
  const sender = senderFor(t, server.credential, { providerTokens: anyToken })
  assert.deepEqual(tally(await sendAll(sender, pushes(500))), { 'retry GATEWAY_UNAVAILABLE': 500 })
  assert.equal(requests, 500)
  const again = (await sendAll(sender, pushes(500, { repeat: true }))) as Retry[]
  const tried = requests - 500
  // A fifth of 500, and the minimum for every project; a slow machine allows one more for each second that passes.
  assert.ok(tried >= 100 && tried < 300, `${tried} were tried again`)
  const waiting = again.filter(({ free }) => free)
  assert.equal(waiting.length, 500 - tried)
  assert.ok(waiting.every(({ message, notBefore }) => /waits its turn/.test(message) && notBefore > Date.now()))
  // Pushes that were never tried are not affected.
  fails = false
  assert.deepEqual(tally(await sendAll(sender, pushes(300))), { accepted: 300 })
  // Each repeat that succeeds allows one more: soon all of them leave.
  for (const wave of [30, 60, 90, 120])
    assert.deepEqual(tally(await sendAll(sender, pushes(wave, { repeat: true }))), { accepted: wave })
})

test('fresh pushes overtake repeats, which still get their turn', async (t) => {
  const held: ServerHttp2Stream[] = []
  const order: string[] = []
  let release = false
  const server = await plainServer(
    t,
    (stream, headers) => {
      order.push(String(headers['apns-collapse-id']))
      if (release) answer(stream, 200)
      else held.push(stream)
    },
    { maxConcurrentStreams: 1 }
  )
  const sender = senderFor(t, server.credential, { providerTokens: anyToken, settings: { maxConnections: 1 } })
  const blocker = send(sender, push({ collapseId: 'blocker' }))
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const all = [
    ...Array.from({ length: 3 }, (_, n) => push({ collapseId: `repeat ${n}`, repeat: true })),
    ...Array.from({ length: 10 }, (_, n) => push({ collapseId: `first ${n}` }))
  ].map((one) => send(sender, one))
  release = true
  for (const stream of held) answer(stream, 200)
  assert.deepEqual(tally(await Promise.all([blocker, ...all])), { accepted: 14 })
  const repeats = order.flatMap((name, place) => (name.startsWith('repeat') ? place : []))
  assert.ok(repeats[0]! >= 2, `the first repeat is number ${repeats[0]}`)
  assert.ok(repeats[0]! <= 6 && repeats[1]! <= 11, `repeats have the places ${repeats}`)
})

test('Firebase gets what its quota allows, growing within a minute; the simulator gets all', async (t) => {
  const server = await plainServer(t, (stream) => answer(stream, 200, { name: 'projects/p/messages/1' }))
  const { privateKey: _, keyId: __, teamId: ___, topic: ____, environment: _____, ...common } = server.credential
  const credential: FcmCredential = {
    ...common,
    gateway: 'fcm',
    simulated: false,
    firebaseProject: 'p',
    clientEmail: '',
    privateKeyId: '',
    privateKey: '',
    tokenUri: ''
  }
  const settings = { fcmPerSecond: 2_000 }
  const sender = senderFor(t, credential, { providerTokens: anyToken, settings, senders: () => 2 })
  const startedAt = Date.now()
  assert.deepEqual(tally(await sendAll(sender, pushes(100, { gateway: 'fcm' }))), { accepted: 100 })
  // A tenth of half the quota, of which a quarter of a second may go at once: 25 at once, then 100 a second and growing.
  assert.ok(Date.now() - startedAt > 500, 'it takes its time')
  const [pool] = sender.stats().pools
  assert.ok(pool!.perSecond >= 100 && pool!.perSecond < 1_000, `${pool!.perSecond}`)

  const simulated = senderFor(t, { ...credential, simulated: true }, { providerTokens: anyToken, settings })
  await send(simulated, push({ gateway: 'fcm' }))
  assert.equal(simulated.stats().pools[0]!.perSecond, Number.POSITIVE_INFINITY)
})

test('429 of a project with Retry-After stops it for that long; then it recovers', async (t) => {
  let quota = true
  const times: number[] = []
  const server = await plainServer(t, (stream) => {
    times.push(Date.now())
    if (!quota) return answer(stream, 200, { name: 'projects/p/messages/1' })
    const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'QUOTA_EXCEEDED' }]
    answer(stream, 429, { error: { status: 'RESOURCE_EXHAUSTED', details } }, { 'retry-after': '1' })
  })
  const credential = {
    ...server.credential,
    gateway: 'fcm',
    firebaseProject: 'p',
    clientEmail: '',
    privateKeyId: '',
    tokenUri: ''
  } as unknown as FcmCredential
  const sender = senderFor(t, credential, { providerTokens: anyToken })
  const outcomes = (await sendAll(sender, pushes(200, { gateway: 'fcm' }))) as Retry[]
  assert.deepEqual(tally(outcomes), { 'retry PROJECT_RATE_LIMITED': 200 })
  const asked = times.length
  assert.ok(asked < 100, `${asked} of 200 were sent before the gate shut`)
  const openAt = Math.max(...outcomes.map(({ notBefore }) => notBefore))
  assert.ok(((await send(sender, push({ gateway: 'fcm' }))) as Retry).free, 'given back at once')
  assert.equal(times.length, asked)
  quota = false
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, openAt - Date.now()) + 20))
  assert.deepEqual(tally(await sendAll(sender, pushes(300, { gateway: 'fcm' }))), { accepted: 300 })
  assert.ok(times[asked]! >= openAt)
})
