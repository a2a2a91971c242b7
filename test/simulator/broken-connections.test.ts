import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as netConnect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { alert, apnsHeaders, connect, request, simulator } from './client.ts'

const only = { fcm: false, webpush: false, apns: { streams: 1_000 } } as const

async function setUp(t: TestContext) {
  const sim = await simulator(t, only)
  const headers = await apnsHeaders(sim)
  const push = (session: Awaited<ReturnType<typeof connect>>, token = 'ab') =>
    request(session, `/3/device/${token}`, headers, alert)
  return { sim, push }
}

for (const kind of ['url', 'clearUrl'] as const)
  test(`a half-open connection reads and sends nothing, not even to PING (${kind})`, async (t) => {
    const { sim, push } = await setUp(t)
    sim.faults.set('apns', { halfOpenAfter: 2 })
    const session = await connect(t, sim.apns![kind], sim.ca)
    assert.equal((await push(session)).status, 200)
    await new Promise<void>((resolve) => session.ping(() => resolve()))
    const unanswered = push(session, 'cd').catch(() => 'closed')
    while (sim.ledger.items().length < 2) await delay(5)
    const ping = new Promise((resolve) => session.ping(() => resolve('a PING')))
    assert.equal(await Promise.race([unanswered, ping, delay(150, 'nothing')]), 'nothing')
    assert.equal(session.destroyed, false)
    sim.faults.reset()
    assert.equal((await push(await connect(t, sim.apns![kind], sim.ca))).status, 200)
  })

test('bad HPACK makes the client close the connection with a compression error', async (t) => {
  const { sim, push } = await setUp(t)
  sim.faults.set('apns', { badHpackAfter: 2 })
  // A proxy between the two, which records what the client sends.
  const said: Buffer[] = []
  const between = createServer((near) => {
    const far = netConnect(sim.apns!.port, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.on('data', (chunk) => said.push(chunk)).pipe(far)
    far.pipe(near)
  })
  t.after(() => between.close())
  between.listen(0, '127.0.0.1')
  await once(between, 'listening')
  const session = await connect(t, `http://127.0.0.1:${(between.address() as AddressInfo).port}`)
  assert.equal((await push(session)).status, 200)
  const closed = new Promise((resolve) => session.once('close', resolve))
  await assert.rejects(push(session))
  await closed
  // GOAWAY, COMPRESSION_ERROR.
  const goaway = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9])
  while (!Buffer.concat(said).includes(goaway)) await delay(5)
})

test('a connection that cannot show the fault of a token ends, and the next one shows it', async (t) => {
  const { sim, push } = await setUp(t)
  const old = await connect(t, sim.apns!.url, sim.ca)
  const goaway = once(old, 'goaway')
  await assert.rejects(push(old, 'sim-badhpack-1'), /REFUSED_STREAM|code 7/)
  await goaway
  await assert.rejects(push(await connect(t, sim.apns!.url, sim.ca), 'sim-badhpack-1'))
  assert.deepEqual(
    sim.ledger.items().map(({ answer }) => answer.reason),
    ['reconnect', 'badhpack']
  )
})

test('the stream limit changes for old and new connections, and is restored', async (t) => {
  const { sim, push } = await setUp(t)
  const limit = (session: Awaited<ReturnType<typeof connect>>) => session.remoteSettings.maxConcurrentStreams
  const old = await connect(t, sim.apns!.url, sim.ca)
  assert.equal(limit(old), 1_000)
  let changed = once(old, 'remoteSettings')
  sim.faults.set('apns', { maxStreams: 3 })
  await changed
  assert.equal(limit(old), 3)
  assert.equal(limit(await connect(t, sim.apns!.url, sim.ca)), 3)
  assert.equal((await push(old)).status, 200)
  changed = once(old, 'remoteSettings')
  sim.faults.reset()
  await changed
  assert.equal(limit(old), 1_000)
})

test('GOAWAY names the chosen stream, and streams above it are not processed', async (t) => {
  const { sim, push } = await setUp(t)
  sim.faults.set('apns', { goawayAfter: 4, goawayLastStream: 5 })
  const session = await connect(t, sim.apns!.url, sim.ca)
  const goaway = once(session, 'goaway')
  const results = await Promise.allSettled([1, 2, 3, 4].map((_, index) => push(session, `0${index}`)))
  const [code, lastStream, opaque] = await goaway
  assert.deepEqual([code, lastStream, String(opaque)], [0, 5, '{"reason":"Shutdown"}'])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected']
  )
  assert.deepEqual(
    sim.ledger.items().map(({ token, answer }) => [token, answer.status]),
    [
      ['00', 200],
      ['01', 200],
      ['02', 200],
      ['03', 0]
    ]
  )
})

test('too many concurrent requests get the GOAWAY of Firebase', async (t) => {
  const { sim, push } = await setUp(t)
  sim.faults.set('apns', { goawayAboveStreams: 2, latencyMs: 500 })
  const session = await connect(t, sim.apns!.url, sim.ca)
  const goaway = once(session, 'goaway')
  const results = Promise.allSettled([1, 2, 3].map(() => push(session)))
  const [code, lastStream, opaque] = await goaway
  assert.deepEqual([code, lastStream, String(opaque)], [1, 3, 'exceeded_max_concurrent_streams'])
  assert.ok((await results).every(({ status }) => status === 'rejected'))
  assert.deepEqual(
    sim.ledger.items().map(({ answer }) => answer.reason),
    [null, null, 'crowded']
  )
})

test('a client that exceeds the stream limit gets GOAWAY with a protocol error', async (t) => {
  const sim = await simulator(t, { apns: false, webpush: false, fcm: { streams: 3 } })
  const socket = netConnect(sim.fcm!.port, '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  const frame = (type: number, flags: number, streamId: number, ...payload: number[]) =>
    Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, streamId, ...payload])
  const got: Buffer[] = []
  socket.on('data', (chunk) => got.push(chunk))
  // SETTINGS and its confirmation.
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]))
  while (got.length === 0) await delay(5)
  socket.write(frame(4, 1, 0))
  // POST / over http to x, four times, and no end.
  for (const streamId of [1, 3, 5, 7]) socket.write(frame(1, 4, streamId, 0x83, 0x86, 0x84, 0x41, 1, 0x78))
  const goaway = () => {
    const all = Buffer.concat(got)
    const at = all.indexOf(Buffer.from([7, 0, 0, 0, 0, 0]))
    return at < 0 ? undefined : all.readUInt32BE(at + 10)
  }
  while (goaway() === undefined) await delay(5)
  assert.equal(goaway(), 1)
})
