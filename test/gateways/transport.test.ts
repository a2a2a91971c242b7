// The duties of every transport.
import assert from 'node:assert/strict'
import type { ServerHttp2Stream } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { requestOf } from '../../src/gateways/gateway.ts'
import { Bytes, noBody } from '../../src/gateways/transport/bytes.ts'
import type { Ending, H2Connection, H2Transport } from '../../src/gateways/transport/transport.ts'
import { answer, type PlainServer, plainServer, transports } from './senders.ts'

interface Opened {
  connection: H2Connection
  told: string[]
  request(path?: string, body?: string, deadlineMs?: number): Promise<Ending>
}

async function open(t: TestContext, transport: H2Transport, { origin, ca }: PlainServer): Promise<Opened> {
  const told: string[] = []
  const events = {
    onDraining: () => void told.push('draining'),
    onClosed: () => void told.push('closed'),
    onLimit: () => void told.push('limit')
  }
  const connection = await transport.open(origin, { ca }, events, 5_000)
  t.after(() => connection.close('the test has ended'))
  const request = (path = '/', body = 'x', deadlineMs = 20_000) =>
    new Promise<Ending>((resolve) => {
      const request = requestOf({ ':method': 'POST', ':path': path }, new Bytes(Buffer.from(body)))
      connection.request(request, Date.now() + deadlineMs, { ended: resolve })
    })
  return { connection, told, request }
}

async function until(holds: () => boolean) {
  const end = Date.now() + 20_000
  while (!holds()) {
    assert.ok(Date.now() < end, 'it never happens')
    await delay(5)
  }
}

for (const [name, transport] of transports) {
  test(`${name}: a request gets status, headers and body, and many run at a time`, async (t) => {
    const server = await plainServer(t, (stream, headers, body) =>
      answer(stream, 201, { path: headers[':path'], body }, { 'x-told': 'yes' })
    )
    const { request, connection } = await open(t, transport, server)
    const endings = await Promise.all(Array.from({ length: 50 }, (_, index) => request(`/${index}`, `b${index}`)))
    for (const [index, ending] of endings.entries()) {
      assert.ok(ending.kind === 'answer')
      assert.deepEqual([ending.status, ending.headers['x-told']], [201, 'yes'])
      assert.deepEqual(JSON.parse(ending.body), { path: `/${index}`, body: `b${index}` })
    }
    assert.equal(connection.open, 0)
    assert.equal(server.sessions.length, 1)
  })

  test(`${name}: the limit of the peer is known at once, and when it changes`, async (t) => {
    const server = await plainServer(t, (stream) => answer(stream, 200), { maxConcurrentStreams: 7 })
    const { connection, told } = await open(t, transport, server)
    assert.equal(connection.limit, 7)
    server.sessions[0]!.settings({ maxConcurrentStreams: 3 })
    await until(() => connection.limit === 3)
    assert.ok(told.includes('limit'))
  })

  test(`${name}: after GOAWAY no new request is taken, those above it are refused and those below get responses`, async (t) => {
    const streams: ServerHttp2Stream[] = []
    const server = await plainServer(t, (stream) => void streams.push(stream))
    const { connection, request, told } = await open(t, transport, server)
    const first = Array.from({ length: 6 }, () => request())
    await until(() => streams.length === 6)
    streams.sort((a, b) => a.id! - b.id!)
    server.sessions[0]!.goaway(0, streams[2]!.id!)
    await until(() => connection.state === 'draining')
    assert.deepEqual(await request(), { kind: 'refused' })
    for (const stream of streams.slice(0, 3)) answer(stream, 200)
    const kinds = (await Promise.all(first)).map(({ kind }) => kind)
    assert.deepEqual(kinds.sort(), ['answer', 'answer', 'answer', 'refused', 'refused', 'refused'])
    await until(() => connection.state === 'closed')
    assert.deepEqual(
      told.filter((event) => event !== 'limit'),
      ['draining', 'closed']
    )
  })

  test(`${name}: refused, reset and cut are told apart`, async (t) => {
    const server = await plainServer(t, (stream, headers) => {
      if (headers[':path'] === '/refused') stream.close(7)
      else if (headers[':path'] === '/reset') stream.close(8)
      else stream.session?.socket.destroy()
    })
    const { request, connection, told } = await open(t, transport, server)
    assert.equal((await request('/refused')).kind, 'refused')
    assert.equal((await request('/reset')).kind, 'lost')
    assert.equal(connection.state, 'ready')
    assert.deepEqual(
      (await Promise.all([request('/cut'), request('/cut')])).map(({ kind }) => kind),
      ['lost', 'lost']
    )
    await until(() => connection.state === 'closed')
    assert.ok(told.includes('closed'))
    assert.equal((await request()).kind, 'refused')
  })

  test(`${name}: half of a refusal is lost, half of a success is a success`, async (t) => {
    const server = await plainServer(t, (stream, headers) => {
      stream.respond({ ':status': headers[':path'] === '/ok' ? 200 : 410 })
      stream.write('{"reason":')
      setTimeout(() => stream.session?.socket.destroy(), 30)
    })
    assert.equal((await (await open(t, transport, server)).request('/gone')).kind, 'lost')
    assert.equal((await (await open(t, transport, server)).request('/ok')).kind, 'answer')
  })

  test(`${name}: a request ends at its deadline, and its connection stays`, async (t) => {
    const server = await plainServer(t, (stream, headers) => {
      if (headers[':path'] !== '/hang') answer(stream, 200)
    })
    const { request, connection } = await open(t, transport, server)
    const hanging = request('/hang', 'x', 100)
    assert.equal((await request()).kind, 'answer')
    assert.deepEqual(await hanging, { kind: 'timeout' })
    assert.deepEqual([connection.open, connection.state], [0, 'ready'])
    assert.equal((await request()).kind, 'answer')
  })

  test(`${name}: an endless response does not fill the memory`, async (t) => {
    const server = await plainServer(t, (stream) => {
      stream.respond({ ':status': 500 })
      stream.end('x'.repeat(1_000_000))
    })
    const ending = await (await open(t, transport, server)).request()
    assert.ok(ending.kind === 'answer' && ending.status === 500)
    assert.equal(ending.body.length, 16 * 1024)
  })

  test(`${name}: a list arrives whole, and of any other success the beginning`, async (t) => {
    const server = await plainServer(t, (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('x'.repeat(300_000))
    })
    const { connection } = await open(t, transport, server)
    const lengths = [true, false].map(
      (wantsList) =>
        new Promise<number>((resolve, reject) => {
          const request = { ...requestOf({ ':method': 'GET', ':path': '/' }, noBody), wantsList }
          const ended = (ending: Ending) =>
            ending.kind === 'answer' ? resolve(ending.body.length) : reject(new Error(ending.kind))
          connection.request(request, Date.now() + 20_000, { ended })
        })
    )
    assert.deepEqual(await Promise.all(lengths), [300_000, 16 * 1024])
  })

  test(`${name}: draining sends pending requests and closes after the last response; closing cuts`, async (t) => {
    const server = await plainServer(t, (stream) => void setTimeout(answer, 50, stream, 200))
    const gently = await open(t, transport, server)
    const asked = gently.request()
    gently.connection.drain()
    assert.equal(gently.connection.state, 'draining')
    assert.equal((await asked).kind, 'answer')
    await until(() => gently.connection.state === 'closed')

    const cut = await open(t, transport, server)
    const lost = cut.request()
    await delay(10)
    cut.connection.close('enough')
    assert.equal((await lost).kind, 'lost')
    assert.equal(
      cut.connection.ping(() => {}),
      false
    )
  })

  test(`${name}: a PING gets a response`, async (t) => {
    const server = await plainServer(t, () => {})
    const { connection } = await open(t, transport, server)
    await new Promise<void>((resolve) => assert.equal(connection.ping(resolve), true))
  })

  test(`${name}: a connection to an absent, untrusted or silent peer fails`, async (t) => {
    const server = await plainServer(t, () => {})
    const events = { onDraining() {}, onClosed() {}, onLimit() {} }
    await assert.rejects(transport.open('https://127.0.0.1:1', {}, events, 5_000), /ECONNREFUSED/)
    await assert.rejects(transport.open(server.origin, {}, events, 5_000), /certificate/)
    const { createServer } = await import('node:net')
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    t.after(() => silent.close())
    await until(() => silent.listening)
    const { port } = silent.address() as { port: number }
    await assert.rejects(transport.open(`https://127.0.0.1:${port}`, {}, events, 200), /no answer within 200 ms/)
  })
}
