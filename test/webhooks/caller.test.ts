import assert from 'node:assert/strict'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { guardedLookup, type Resolve } from '../../src/platform/net/guard.ts'
import { type Attempted, createCaller } from '../../src/webhooks/caller.ts'
import { startReceiver } from '../support/receiver.ts'

async function receiverFor(t: TestContext, options = {}) {
  const receiver = await startReceiver(options)
  t.after(receiver.close)
  return receiver
}

function callerFor(t: TestContext, options: Parameters<typeof createCaller>[0]) {
  const caller = createCaller(options)
  t.after(caller.close)
  return caller
}

/** The answer alone, without what people read about it. */
const plain = ({ headers: _, at: __, durationMs: ___, ...answer }: Attempted) => answer

const request = (url: string, more = {}) => ({ url, headers: {}, signature: {}, body: '{"a":1}', ...more })
const loopback: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]

test('a call is a POST of the body over TLS, with the headers of the caller and the signature', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca })
  const headers = { 'X-A2A-Token': 'secret', Authorization: 'Bearer abc', 'content-type': 'application/a2a+json' }
  const answer = await caller.call(request(`${receiver.url}/a?b=c`, { headers, signature: { 'webhook-id': 'x1' } }))
  assert.deepEqual(plain(answer), { status: 204 })
  const [got] = receiver.received
  assert.equal(got!.path, '/a?b=c')
  assert.equal(got!.body, '{"a":1}')
  assert.equal(got!.headers['x-a2a-token'], 'secret')
  assert.equal(got!.headers.authorization, 'Bearer abc')
  assert.equal(got!.headers['content-type'], 'application/a2a+json')
  assert.equal(got!.headers['webhook-id'], 'x1')
  assert.match(got!.headers['user-agent']!, /^Tidings\//)
})

test('headers that frame the request or sign it cannot be set by the caller, in no spelling', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca })
  const headers = {
    Host: 'evil.example',
    'Content-Length': '3',
    'Transfer-Encoding': 'chunked',
    'Webhook-Signature': 'v1,forged',
    'WEBHOOK-ID': 'forged',
    Connection: 'upgrade',
    'Proxy-Authorization': 'x'
  }
  const signature = { 'webhook-id': 'real', 'webhook-signature': 'v1,real' }
  assert.deepEqual(plain(await caller.call(request(receiver.url, { headers, signature }))), { status: 204 })
  const got = receiver.received[0]!.headers
  assert.equal(got.host, `127.0.0.1:${receiver.port}`)
  assert.equal(got['webhook-id'], 'real')
  assert.equal(got['webhook-signature'], 'v1,real')
  assert.equal(got['proxy-authorization'], undefined)
  assert.equal(receiver.received[0]!.body, '{"a":1}')
})

test('a header that cannot be sent is a failed call, not a crash', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca })
  const bad = [{ 'x y': '1' }, { 'x-a': 'one\r\ntwo: 3' }, { 'x-a': '\u{1f600}' }] as Record<string, string>[]
  for (const headers of bad)
    assert.match((await caller.call(request(receiver.url, { headers }))).error!, /invalid|valid HTTP token/i)
  assert.equal(receiver.received.length, 0)
})

test('redirects are not followed and count as failures, like every status but 2xx', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca })
  for (const status of [301, 302, 307, 308]) {
    receiver.respond = (_, response) => response.writeHead(status, { location: `${receiver.url}/there` }).end()
    const answer = await caller.call(request(`${receiver.url}/here`))
    assert.deepEqual(plain(answer), { status, error: `answered ${status}; redirects are not followed` })
  }
  for (const status of [400, 404, 410, 500, 503]) {
    receiver.respond = (_, response) => response.writeHead(status).end('no')
    assert.deepEqual(plain(await caller.call(request(`${receiver.url}/here`))), {
      ...{ status, error: `answered ${status}`, body: 'no' }
    })
  }
  assert.ok(receiver.received.every(({ path }) => path === '/here'))
  receiver.respond = (_, response) => response.writeHead(429, { 'retry-after': '7' }).end()
  assert.equal((await caller.call(request(receiver.url))).retryAfterMs, 7000)
  receiver.respond = (_, response) => response.writeHead(429, { 'retry-after': '9'.repeat(20) }).end()
  assert.equal((await caller.call(request(receiver.url))).retryAfterMs, 3_600_000)
  const [date, until] = ['Tue, 18 Nov 2025 09:30:00 GMT', 'Tue, 18 Nov 2025 09:30:20 GMT']
  receiver.respond = (_, response) => response.writeHead(503, { date, 'retry-after': until }).end()
  assert.equal((await caller.call(request(receiver.url))).retryAfterMs, 20_000)
})

test('a name that resolves to a private address at the time of the connection is not connected to', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: false, ca: receiver.ca, resolve: loopback })
  const answer = await caller.call(request(`https://hook.example:${receiver.port}/`))
  assert.match(answer.error!, /hook\.example, which is not a public address/)
  assert.equal(receiver.received.length, 0)
})

test('the address that was checked is the one connected to: the name is asked once for a connection', async (t) => {
  const receiver = await receiverFor(t)
  let asked = 0
  // The name is looked up once, so a second address has no effect.
  const changing: Resolve = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca, resolve: changing })
  assert.deepEqual(plain(await caller.call(request(`https://hook.example:${receiver.port}/`))), { status: 204 })
  assert.equal(asked, 1)
})

test('a name that was public and turns private is refused from then on (DNS rebinding)', async () => {
  let asked = 0
  const rebinding: Resolve = async () => [{ address: asked++ === 0 ? '8.8.8.8' : '127.0.0.1', family: 4 }]
  const lookup = guardedLookup(false, rebinding)
  const ask = (all: boolean) =>
    new Promise((resolve) => lookup('hook.example', { all }, (error, address) => resolve(error?.message ?? address)))
  assert.deepEqual(await ask(true), [{ address: '8.8.8.8', family: 4 }])
  assert.match(String(await ask(true)), /not a public address/)
  assert.match(String(await ask(false)), /not a public address/)
})

test('one private address among public ones refuses the name', async (t) => {
  const receiver = await receiverFor(t)
  const mixed: Resolve = async () => [
    { address: '8.8.8.8', family: 4 },
    { address: '::1', family: 6 }
  ]
  const caller = callerFor(t, { allowPrivate: false, resolve: mixed })
  assert.match((await caller.call(request('https://hook.example/'))).error!, /not a public address/)
  assert.equal(receiver.received.length, 0)
})

test('a forbidden literal, a plain url and a broken url are refused without a connection', async (t) => {
  const receiver = await receiverFor(t, { secure: false })
  const caller = callerFor(t, { allowPrivate: false })
  for (const url of [`http://127.0.0.1:${receiver.port}/`, `https://127.0.0.1:${receiver.port}/`, 'nonsense'])
    assert.match((await caller.call(request(url))).error!, /^the url /)
  assert.equal(receiver.received.length, 0)
})

test('a certificate of an unknown authority or for another name is a failure', async (t) => {
  const receiver = await receiverFor(t)
  const strict = callerFor(t, { allowPrivate: true })
  assert.ok((await strict.call(request(receiver.url))).error)
  const named = callerFor(t, { allowPrivate: true, ca: receiver.ca, resolve: loopback })
  assert.ok((await named.call(request(`https://other.example:${receiver.port}/`))).error)
  assert.deepEqual(plain(await named.call(request(`https://hook.example:${receiver.port}/`))), { status: 204 })
  assert.equal(receiver.received.length, 1)
})

test('a receiver that never answers, answers for ever, or hangs up costs no more than the time limit', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca, timeoutMs: 300 })
  receiver.respond = () => {}
  assert.match((await caller.call(request(receiver.url))).error!, /no answer within 0\.3 s/)
  receiver.respond = (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(10_000)), 5)
    response.on('close', () => clearInterval(timer))
  }
  const endless = await caller.call(request(receiver.url))
  assert.deepEqual([endless.status, endless.body!.length], [200, 2_048])
  receiver.respond = (_, response) => response.socket!.destroy()
  assert.match((await caller.call(request(receiver.url))).error!, /hang up|reset/)
})

test('a response that is not HTTP is a failure', async (t) => {
  const server = net.createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const caller = callerFor(t, { allowPrivate: true })
  const { port } = server.address() as net.AddressInfo
  assert.ok((await caller.call(request(`http://127.0.0.1:${port}/`))).error)
})

test('an aborted call ends at once', async (t) => {
  const receiver = await receiverFor(t)
  receiver.respond = () => {}
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca, timeoutMs: 60_000 })
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 50)
  assert.ok((await caller.call(request(receiver.url, { signal: abort.signal }))).error)
})

test('a call returns the beginning of the response and does not wait for a slow one', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca })
  receiver.respond = (_, response) => response.writeHead(500).end('ok\0 für')
  assert.equal((await caller.call(request(receiver.url))).body, 'ok für')
  receiver.respond = (_, response) => response.writeHead(200).end('é'.repeat(2_000))
  assert.equal((await caller.call(request(receiver.url))).body, 'é'.repeat(1_024))
  receiver.respond = (_, response) => void response.writeHead(200).write('half')
  const slow = await caller.call(request(receiver.url))
  assert.deepEqual([slow.status, slow.body], [200, 'half'])
  assert.ok(slow.durationMs < 5_000)
})

test('a call reports the headers that it sent, and masks those that the subscriber chose', async (t) => {
  const receiver = await receiverFor(t)
  const caller = callerFor(t, { allowPrivate: true, ca: receiver.ca })
  const headers = { Authorization: 'Bearer abc', 'content-type': 'application/a2a+json' }
  const signature = { 'webhook-id': 'x1', 'webhook-signature': 'v1,abc' }
  const sent = (await caller.call(request(receiver.url, { headers, signature }))).headers
  assert.equal(sent.authorization, '••••••')
  assert.deepEqual([sent['content-type'], sent['webhook-signature']], ['application/a2a+json', 'v1,abc'])
})

test('a receiver that answers 101, hints without an end or nothing at all ends its call', async (t) => {
  const answers: Record<string, string> = {
    upgrade: 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    hints: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
    nothing: ''
  }
  for (const [kind, bytes] of Object.entries(answers)) {
    const sockets: net.Socket[] = []
    const server = net.createServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      socket.once('data', () => (bytes ? socket.write(bytes) : socket.end()))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    const caller = callerFor(t, { allowPrivate: true, timeoutMs: 300 })
    const { port } = server.address() as net.AddressInfo
    const answer = plain(await caller.call(request(`http://127.0.0.1:${port}`)))
    if (kind === 'upgrade') assert.deepEqual(answer, { status: 101, error: 'answered 101' })
    else assert.match(answer.error!, kind === 'hints' ? /no answer within 0.3 s/ : /socket hang up|closed/)
  }
})
