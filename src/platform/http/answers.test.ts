import assert from 'node:assert/strict'
import { it } from 'node:test'
import Fastify from 'fastify'
import { silentLog } from '../../../test/support/log.ts'
import { Unavailable } from '../errors.ts'
import { answerError } from './answers.ts'

class OwnTurnsTaken extends Unavailable {
  override readonly code = 'rate_limited'
}

it('a dependency that is away is a 503, and a limit of the project itself a 429, both with Retry-After', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, silentLog))
  app.get('/away', () => Promise.reject(new Unavailable('The database is away.')))
  app.get('/own', () => Promise.reject(new OwnTurnsTaken('All turns of this project are taken.')))
  const [away, own] = await Promise.all(['/away', '/own'].map((url) => app.inject(url)))
  assert.deepEqual([away!.statusCode, away!.json().code], [503, 'unavailable'])
  assert.deepEqual([own!.statusCode, own!.json()], [429, { error: 'Too Many Requests' }])
  assert.equal(own!.headers['x-service-error-detail'], 'All turns of this project are taken.')
  for (const reply of [away!, own!]) assert.match(String(reply.headers['retry-after']), /^\d+$/)
})
