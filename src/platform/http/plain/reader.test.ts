import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPlainReader, type Handle } from './reader.ts'

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** A server whose connections the reader takes, and that leaves none to Node. */
async function serve(handle: Handle, limits: { keepAliveTimeout?: number; headersTimeout?: number } = {}) {
  const server = createServer(limits)
  const errors: string[] = []
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    errors.push(error.code!)
    socket.destroy()
  })
  server.removeAllListeners('connection')
  const reader = createPlainReader(server, handle, 20)
  server.on('connection', (socket: Socket) => {
    const connection = reader.open(socket)
    socket.on('data', (chunk) => assert.ok(connection.take(chunk)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    reader.closeIdle()
    reader.closeAll()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { reader, errors, client: () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }) }
}

const ok: Handle = (_, response) => void response.end('ok')

describe('0080: a connection that we read keeps the limits that Node keeps', () => {
  it('a connection without a request for the time of keep-alive is closed', async () => {
    const { client } = await serve(ok, { keepAliveTimeout: 50 })
    const socket = client()
    socket.write(get)
    assert.match(
      await text(socket),
      /^HTTP\/1\.1 200 OK\r\ncontent-length: 2\r\nDate: .*\r\nConnection: keep-alive\r\n/
    )
  })

  it('a client that sends nothing is reported as too slow', async () => {
    const { client, errors } = await serve(ok, { headersTimeout: 50 })
    await text(client())
    assert.deepEqual(errors, ['ERR_HTTP_REQUEST_TIMEOUT'])
  })

  it('a response learns that its client is gone', async () => {
    const closed = Promise.withResolvers<ServerResponse>()
    const { client } = await serve((_, response) => void response.on('close', () => closed.resolve(response)))
    const socket = client()
    socket.write(get)
    await sleep(30)
    socket.destroy()
    const response = await closed.promise
    assert.deepEqual([response.destroyed, response.writableFinished], [true, false])
    // As with Node's own, a stream that begins only now learns it too.
    await assert.rejects(finished(response), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
  })

  it('closing ends a connection without a request at once, and one with a request after its response', async () => {
    const running = Promise.withResolvers<ServerResponse>()
    const { client, reader } = await serve((_, response) => running.resolve(response))
    const [idle, busy] = [client(), client()]
    busy.write(get)
    const response = await running.promise
    reader.closeIdle()
    assert.equal(await text(idle), '')
    assert.equal(await text(client()), '', 'a connection that is accepted meanwhile')
    response.end('done')
    assert.match(await text(busy), /\r\n\r\ndone$/)
  })
})

describe('0080: a response has the bytes that Node would send', () => {
  it('a stream is sent in chunks, as fast as the client reads', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} of the stream, with ä\n`)
    const { client } = await serve((_, response) => void Readable.from(lines).pipe(response))
    const socket = client()
    socket.write(get)
    await sleep(50)
    let received = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      received += part
      if (received.endsWith('\r\n0\r\n\r\n')) socket.end()
    })
    await once(socket, 'close')
    const [head, ...body] = received.split('\r\n\r\n')
    assert.match(head!, /Transfer-Encoding: chunked/)
    assert.equal(unchunked(body.join('\r\n\r\n')), lines.join(''))
  })

  it('a line break in the value of a field is refused', async () => {
    const refused = Promise.withResolvers<unknown>()
    const { client } = await serve((_, response) => {
      try {
        response.writeHead(200, { 'x-a': 'b\r\nx-c: d' })
      } catch (error) {
        refused.resolve((error as NodeJS.ErrnoException).code)
        // The fields of a stream are set before its first byte, when an error response is still possible.
        assert.throws(() => response.setHeader('x-a', 'b\n'), { code: 'ERR_INVALID_CHAR' })
        response.end()
      }
    })
    client().write(get)
    assert.equal(await refused.promise, 'ERR_INVALID_CHAR')
  })

  it('a response that is destroyed after its end leaves the connection to the next one', async () => {
    const responses: ServerResponse[] = []
    const { client } = await serve((_, response) => {
      responses[0]?.destroy()
      responses.push(response.end(`response ${responses.length}`))
    })
    const socket = client().setEncoding('latin1')
    socket.write(get)
    await once(socket, 'data')
    socket.write(get)
    assert.match((await once(socket, 'data'))[0], /response 1$/)
  })

  it('an empty body is sent as one, and a status without a body has none', async () => {
    const wanted: [number, string?][] = [[200], [204], [304, 'not sent']]
    const { client } = await serve((_, response) => {
      const [status, body] = wanted.shift()!
      response.writeHead(status, { connection: 'close' }).end(body)
    })
    for (const expected of [/Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n$/, /GMT\r\n\r\n$/, /GMT\r\n\r\n$/]) {
      const socket = client()
      socket.write(get)
      assert.match(await text(socket), expected)
    }
  })
})

function unchunked(body: string): string {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.slice(at, end), 16)
    if (size === 0) return Buffer.concat(parts).toString()
    parts.push(Buffer.from(body.slice(end + 2, end + 2 + size), 'latin1'))
    at = end + 2 + size + 2
  }
}
