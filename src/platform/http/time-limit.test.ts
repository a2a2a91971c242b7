import assert from 'node:assert/strict'
import { it } from 'node:test'
import Fastify from 'fastify'
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
