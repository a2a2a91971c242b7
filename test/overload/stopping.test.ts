import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { Refusal } from '../../src/platform/errors.ts'
import { createHttp } from '../../src/platform/http/server.ts'
import { createLog } from '../../src/platform/log.ts'
import { createMetrics } from '../../src/platform/metrics.ts'

const log = await createLog('silent')

/** A server whose connections stay with Node. Its requests begin, and end when the test says so. */
async function serve(t: TestContext) {
  const http = createHttp({ log, metrics: createMetrics(), trustProxy: false, parser: 'node' })
  const begun: FastifyReply[] = []
  http.app.get('/wait', (_, reply) => void begun.push(reply))
  http.app.get('/refuse', () => {
    throw new Refusal('malformed_request', 'no')
  })
  const port = await http.listen('127.0.0.1', 0)
  const open = (path: string): Socket => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    t.after(() => socket.destroy())
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    return socket
  }
  // In an object: a reply is a promise of its end.
  const first = async (): Promise<{ reply: FastifyReply }> => {
    while (begun.length === 0) await sleep(5)
    return { reply: begun[0]! }
  }
  return { http, open, first }
}

describe('a server that stops', () => {
  it('closes the connection of a request that began before, once it has its response', async (t) => {
    const { http, open, first } = await serve(t)
    const socket = open('/wait')
    const { reply } = await first()
    const closed = http.close(60_000).then(() => 'closed')
    await sleep(50)
    reply.send('done')
    const [response] = await once(socket, 'data')
    assert.match(response, /\r\n\r\ndone$/)
    assert.equal(await Promise.race([closed, sleep(10_000, 'open', { ref: false })]), 'closed')
  })

  it('asks clients for a new connection while it drains, also by a refusal', async (t) => {
    const { http, open } = await serve(t)
    t.after(() => http.close(0))
    const [stays] = await once(open('/refuse'), 'data')
    assert.doesNotMatch(stays, /\r\nconnection: close\r\n/)
    const drained = http.drain(100)
    const [goes] = await once(open('/refuse'), 'data')
    assert.match(goes, /^HTTP\/1\.1 400 .*\r\nconnection: close\r\n/s)
    await drained
  })
})

describe('bytes that are no request', () => {
  it('get a refusal, but not in the middle of a response', async (t) => {
    const { http, open, first } = await serve(t)
    t.after(() => http.close(0))
    const refused = open('/refuse')
    await once(refused, 'data')
    refused.write('garbage\r\n\r\n')
    assert.match((await once(refused, 'data'))[0], /^HTTP\/1\.1 400 .*malformed_request/s)

    const streaming = open('/wait')
    const { reply } = await first()
    reply.raw.writeHead(200).write('one')
    let received = ''
    streaming.on('data', (part: string) => {
      received += part
    })
    while (!received.includes('one')) await sleep(5)
    streaming.write('garbage\r\n\r\n')
    await once(streaming, 'close')
    assert.equal(received.split('HTTP/1.1').length, 2)
  })
})
