import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import * as http2 from 'node:http2'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLedger, type LedgerItem } from '../../src/simulator/server/ledger.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { temporaryFolder } from '../support/program.ts'
import { alert, apnsHeaders, connect, request, simulator } from './client.ts'

const item = (id: number) => ({ id: String(id) }) as LedgerItem

test('the ledger keeps the newest items and calls its listeners', async () => {
  const ledger = createLedger(3)
  const heard: string[] = []
  const stop = ledger.subscribe(({ id }) => heard.push(id))
  for (let id = 1; id <= 8; id += 1) ledger.add(item(id))
  stop()
  ledger.add(item(9))
  assert.deepEqual(
    ledger.items().map(({ id }) => id),
    ['7', '8', '9']
  )
  assert.deepEqual(heard, ['1', '2', '3', '4', '5', '6', '7', '8'])
})

test('the ledger is followed until a signal', async () => {
  const ledger = createLedger()
  const ending = new AbortController()
  const seen: string[] = []
  const following = (async () => {
    for await (const { id } of ledger.follow(ending.signal)) {
      seen.push(id)
      if (seen.length === 3) ending.abort()
    }
  })()
  for (let id = 1; id <= 3; id += 1) ledger.add(item(id))
  await following
  assert.deepEqual(seen, ['1', '2', '3'])
  const idle = new AbortController()
  const waiting = ledger.follow(idle.signal).next()
  idle.abort()
  assert.equal((await waiting).done, true)
})

test('deviceOf names the device of a token', async (t) => {
  const sim = await simulator(t, { fcm: false, webpush: false, deviceOf: (gateway, token) => `${gateway} ${token}` })
  const session = await connect(t, sim.apns!.url, sim.ca)
  await request(session, '/3/device/ab', await apnsHeaders(sim), alert)
  assert.equal(sim.ledger.items({ deviceId: 'apns ab' }).length, 1)
  assert.equal(sim.ledger.items({ token: 'cd' }).length, 0)
})

test('a folder keeps authority, keys and subscriptions for the next start, readable by its owner only', async (t) => {
  const folder = join(await temporaryFolder(t), 'kept')
  const first = await startSimulator({ folder })
  const subscription = first.createSubscription({ label: 'one' })
  await first.close()
  const second = await simulator(t, { folder })
  assert.deepEqual(
    [second.ca, second.credentials.apns, second.credentials.vapid],
    [first.ca, first.credentials.apns, first.credentials.vapid]
  )
  assert.deepEqual(second.createSubscription({ label: 'one' }).keys, subscription.keys)
  for (const name of await readdir(folder)) assert.equal((await stat(join(folder, name))).mode & 0o077, 0, name)
  await writeFile(join(folder, 'simulator.json'), '{"apns"')
  await assert.rejects(startSimulator({ folder }), /simulator\.json is damaged\. Remove it/)
})

test('clients refuse an expired certificate', async (t) => {
  const sim = await simulator(t, { fcm: false, webpush: false })
  const old = await connect(t, sim.apns!.url, sim.ca)
  sim.faults.set('apns', { tlsExpired: true })
  const session = http2.connect(sim.apns!.url, { ca: sim.ca })
  const error = await new Promise<NodeJS.ErrnoException>((resolve) => session.once('error', resolve))
  assert.equal(error.code, 'CERT_HAS_EXPIRED')
  assert.equal(old.destroyed, false, 'connections made before stay')
  sim.faults.reset()
  await connect(t, sim.apns!.url, sim.ca)
})

test('a port in use is reported, and nothing is left running', async (t) => {
  const sim = await simulator(t, { fcm: false, webpush: false })
  await assert.rejects(
    startSimulator({ webpush: { port: sim.apns!.port } }),
    /cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)/
  )
})

test('the control server shows the inbox, changes faults and creates subscriptions', async (t) => {
  const sim = await simulator(t, { control: {} })
  const call = async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${sim.controlUrl}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return [reply.status, (await reply.json()) as Record<string, unknown>] as const
  }
  const overview = (await call('GET', '/'))[1]
  assert.equal(overview.apns_url, sim.apns!.url)
  assert.ok(!JSON.stringify(overview).includes('PRIVATE'))

  const [, changed] = await call('PUT', '/faults', { fcm: { latency_ms: 5 }, all: { error_rate: 0.25 } })
  assert.deepEqual(changed.fcm, {
    down: false,
    hang: false,
    latency_ms: 5,
    jitter_ms: 0,
    error_rate: 0.25,
    error_status: 503,
    goaway_after: 0,
    goaway_last_stream: 0,
    goaway_above_streams: 0,
    drop_after: 0,
    half_open_after: 0,
    bad_hpack_after: 0,
    max_streams: 0,
    tls_expired: false,
    requests_per_second: 0
  })
  const [status, refused] = await call('PUT', '/faults', { apns: { down: 'yes' }, fcm: { loud: 1 }, gcm: {} })
  assert.equal(status, 400)
  assert.deepEqual(
    (refused.details as { path: string }[]).map(({ path }) => path),
    ['apns.down', 'fcm.loud', 'gcm']
  )
  assert.equal(sim.faults.get('fcm').latencyMs, 5)
  await call('DELETE', '/faults')
  assert.equal(sim.faults.get('fcm').latencyMs, 0)

  const [, subscription] = await call('POST', '/subscriptions', { label: 'sim-410-1' })
  assert.deepEqual(subscription, sim.createSubscription({ label: 'sim-410-1' }))
  await inbox(sim, call)
  assert.equal((await call('GET', '/nothing'))[0], 404)
  assert.equal((await call('PUT', '/faults', [1]))[0], 400)

  async function inbox(running: Simulator, ask: typeof call) {
    const live = await fetch(`${running.controlUrl}/inbox`, { headers: { accept: 'text/event-stream' } })
    const session = await connect(t, running.apns!.url, running.ca)
    await request(session, '/3/device/ab', await apnsHeaders(running), alert)
    const reader = live.body!.getReader()
    const event = new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    const { items } = (await ask('GET', '/inbox?gateway=apns&token=ab'))[1] as { items: LedgerItem[] }
    assert.deepEqual([items.length, items[0]!.title], [1, 'Hello'])
    assert.deepEqual(JSON.parse(/data: (.*)/.exec(event)![1]!), items[0])
    await ask('DELETE', '/inbox')
    assert.equal(running.ledger.items().length, 0)
  }
})
