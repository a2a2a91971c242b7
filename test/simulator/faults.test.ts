import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as http2 from 'node:http2'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { alert, apnsHeaders, connect, type Headers, request, simulator } from './client.ts'

const device = (token: string) => `/3/device/${token}`
const only = { fcm: false, webpush: false, apns: { streams: 1_000 } } as const

async function setUp(
  t: TestContext
): Promise<{ sim: Simulator; headers: Headers; push: (token: string) => ReturnType<typeof request> }> {
  const sim = await simulator(t, only)
  const headers = await apnsHeaders(sim)
  const push = async (token: string) => request(await connect(t, sim.apns!.url, sim.ca), device(token), headers, alert)
  return { sim, headers, push }
}

test('a token of APNs chooses its response', async (t) => {
  const { push } = await setUp(t)
  const cases: [token: string, status: number, reason: string][] = [
    ['sim-400-1', 400, 'BadDeviceToken'],
    ['sim-400:DeviceTokenNotForTopic-1', 400, 'DeviceTokenNotForTopic'],
    ['sim-403:Forbidden-1', 403, 'Forbidden'],
    ['sim-403-1', 403, 'InvalidProviderToken'],
    ['sim-410:ExpiredToken-1', 410, 'ExpiredToken'],
    ['sim-413-1', 413, 'PayloadTooLarge'],
    ['sim-429-1', 429, 'TooManyRequests'],
    ['sim-500-1', 500, 'InternalServerError'],
    ['sim-503-1', 503, 'ServiceUnavailable'],
    ['sim-503:Shutdown-1', 503, 'Shutdown'],
    ['sim-badtoken-1', 400, 'BadDeviceToken']
  ]
  for (const [token, status, reason] of cases) {
    const reply = await push(token)
    assert.deepEqual([reply.status, reply.json().reason], [status, reason], token)
  }
  assert.equal((await push('sim-ok-1')).status, 200)
  assert.equal((await push('sim-html502-1')).headers['content-type'], 'text/html')
})

test('a dead token returns its time in milliseconds', async (t) => {
  const { push } = await setUp(t)
  assert.deepEqual((await push('sim-410:1763164800000-1')).json(), { reason: 'Unregistered', timestamp: 1763164800000 })
  const { timestamp } = (await push('sim-410-1')).json()
  assert.ok(Math.abs(Date.now() - Number(timestamp)) < 60_000)
})

test('a flaky token works after its number of failures', async (t) => {
  const { push } = await setUp(t)
  const statuses = []
  for (let turn = 0; turn < 4; turn += 1) statuses.push((await push('sim-flaky:2-1')).status)
  assert.deepEqual(statuses, [503, 503, 200, 200])
})

test('tokens delay, hang, reset, refuse and drop', async (t) => {
  const { sim, push, headers } = await setUp(t)
  const started = Date.now()
  assert.equal((await push('sim-slow:150-1')).status, 200)
  assert.ok(Date.now() - started >= 145)
  await assert.rejects(push('sim-rst-1'), /CANCEL|code 8/)
  await assert.rejects(push('sim-refused-1'), /REFUSED_STREAM|code 7/)
  await assert.rejects(push('sim-drop-1'))

  const session = await connect(t, sim.apns!.url, sim.ca)
  const hanging = session.request({
    ':method': 'POST',
    ':path': device('sim-hang-1'),
    ...headers
  } as http2.OutgoingHttpHeaders)
  hanging.on('error', () => {})
  hanging.end(alert)
  let answered = false
  hanging.on('response', () => {
    answered = true
  })
  // The same connection continues to serve others: only this stream waits.
  assert.equal((await request(session, device('ab'), headers, alert)).status, 200)
  assert.equal(answered, false)
  const silent = sim.ledger.items().filter(({ answer }) => answer.status === 0)
  assert.deepEqual(
    silent.map(({ answer }) => answer.reason),
    ['rst', 'refused', 'drop', 'hang']
  )
})

test('an incomplete push is not recorded', async (t) => {
  const { sim, headers, push } = await setUp(t)
  const session = await connect(t, sim.apns!.url, sim.ca)
  const stream = session.request({ ':method': 'POST', ':path': device('ab'), ...headers })
  stream.on('error', () => {})
  stream.write(alert.slice(0, 10))
  await new Promise<void>((resolve) => session.ping(() => resolve()))
  session.destroy()
  assert.equal((await push('cd')).status, 200)
  assert.deepEqual(
    sim.ledger.items().map(({ token }) => token),
    ['cd']
  )
})

test('GOAWAY carries its reason, open requests get responses, and the connection ends', async (t) => {
  const { sim, headers } = await setUp(t)
  const session = await connect(t, sim.apns!.url, sim.ca)
  const goaway = once(session, 'goaway')
  const closed = once(session, 'close')
  assert.equal((await request(session, device('sim-goaway-1'), headers, alert)).status, 200)
  const [code, , opaque] = await goaway
  assert.deepEqual([code, String(opaque)], [0, '{"reason":"Shutdown"}'])
  await closed
})

test('with GOAWAY every 30 requests, a sender that retries refused requests loses and repeats nothing', async (t) => {
  const { sim, headers } = await setUp(t)
  sim.faults.set('apns', { goawayAfter: 30 })
  let waiting = Array.from({ length: 300 }, (_, index) => index.toString(16).padStart(64, '0'))
  const all = [...waiting]
  let connections = 0
  while (waiting.length > 0) {
    connections += 1
    assert.ok(connections < 50, 'it never ends')
    const session = await connect(t, sim.apns!.url, sim.ca)
    // Requests are sent in small groups, like a sender's batches: a connection accepts no requests after GOAWAY.
    const refused: string[] = []
    while (waiting.length > 0 && !session.closed && !session.destroyed) {
      const group = waiting.splice(0, 20)
      const results = await Promise.allSettled(
        group.map(async (token) => request(session, device(token), headers, alert))
      )
      refused.push(...group.filter((_, index) => results[index]!.status === 'rejected'))
    }
    waiting = [...refused, ...waiting]
    session.close()
  }
  assert.ok(connections >= 5)
  assert.deepEqual(
    sim.ledger
      .items()
      .map(({ token }) => token)
      .sort(),
    all
  )
})

test('a gateway that is down cuts old connections and accepts no new ones until it is up', async (t) => {
  const { sim, push } = await setUp(t)
  const session = await connect(t, sim.apns!.url, sim.ca)
  const closed = once(session, 'close')
  sim.faults.set('all', { down: true })
  await closed
  const client = http2.connect(sim.apns!.url, { ca: sim.ca })
  client.on('error', () => {})
  await new Promise((resolve) => client.once('close', resolve))
  sim.faults.reset()
  assert.equal((await push('ab')).status, 200)
})

test('the seed decides which requests fail, latency is added, and connections are dropped', async (t) => {
  const statuses = async () => {
    const sim = await simulator(t, { ...only, seed: 7 })
    sim.faults.set('apns', { errorRate: 0.5, errorStatus: 500 })
    const session = await connect(t, sim.apns!.url, sim.ca)
    const headers = await apnsHeaders(sim)
    const found = []
    for (let turn = 0; turn < 40; turn += 1) found.push((await request(session, device('ab'), headers, alert)).status)
    return found
  }
  const first = await statuses()
  assert.deepEqual(await statuses(), first)
  const failed = first.filter((status) => status === 500).length
  assert.ok(failed > 8 && failed < 32, String(failed))

  const { sim, push, headers } = await setUp(t)
  sim.faults.set('apns', { latencyMs: 100 })
  const started = Date.now()
  await push('ab')
  assert.ok(Date.now() - started >= 95)
  sim.faults.set('apns', { latencyMs: 0, hang: true })
  const hung = push('ab').catch((error: Error) => error)
  assert.equal(await Promise.race([hung, delay(200, 'nothing')]), 'nothing')
  sim.faults.set('apns', { hang: false, dropAfter: 2 })
  const session = await connect(t, sim.apns!.url, sim.ca)
  assert.equal((await request(session, device('ab'), headers, alert)).status, 200)
  await assert.rejects(request(session, device('ab'), headers, alert))
})
