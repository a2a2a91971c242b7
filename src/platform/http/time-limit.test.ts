import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { it } from 'node:test'
import Fastify from 'fastify'
import { eventually } from '../../../test/support/eventually.ts'
import { silentLog } from '../../../test/support/log.ts'
import { answerError } from './answers.ts'
import { createTimeLimit } from './time-limit.ts'

it('a request that takes too long is answered 503 with Retry-After; others, and streams, are left alone', async (t) => {
  const limit = createTimeLimit(500)
  const app = Fastify()
  t.after(() => {
    limit.close()
    return app.close()
  })
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, silentLog))
  app.addHook('onResponse', async (_request, reply) => limit.over(reply))
  const slowly = (milliseconds: number) =>
    new Promise((resolve) => setTimeout(() => resolve({ done: true }), milliseconds))
  const onRequest = async (_request: unknown, reply: Parameters<typeof limit.watch>[0]) => limit.watch(reply)
  app.get('/quick', { onRequest }, () => slowly(1))
  app.get('/slow', { onRequest }, () => slowly(3_000))
  app.get('/stream', () => slowly(1_000))
  const [quick, slow, stream] = await Promise.all(['/quick', '/slow', '/stream'].map((url) => app.inject(url)))
  assert.deepEqual([quick!.statusCode, slow!.statusCode, stream!.statusCode], [200, 503, 200])
  assert.equal(slow!.json().code, 'unavailable')
  assert.match(String(slow!.headers['retry-after']), /^\d+$/)
  assert.equal((await app.inject('/quick')).statusCode, 200, 'its seat is free again')
})

it('a request whose client went away is not kept, whether it was answered or not', async (t) => {
  const limit = createTimeLimit(1_000)
  const app = Fastify()
  t.after(() => {
    limit.close()
    return app.close()
  })
  app.addHook('onRequest', async (_request, reply) => limit.watch(reply))
  app.addHook('onResponse', async (_request, reply) => limit.over(reply))
  let answered = 0
  app.get('/:milliseconds', async ({ params }) => {
    await new Promise((resolve) =>
      setTimeout(resolve, Number((params as { milliseconds: string }).milliseconds)).unref()
    )
    answered += 1
    return {}
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const clients = ['/200', '/60000'].map((path) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`)
    return socket
  })
  await eventually(() => assert.equal(limit.seated(), 2))
  for (const socket of clients) socket.destroy()
  await eventually(() => assert.deepEqual([limit.seated(), answered], [0, 1]))
})
