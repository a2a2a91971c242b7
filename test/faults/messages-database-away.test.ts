import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ask } from '../support/http.ts'
import { givenUser, to } from '../support/messages.ts'
import { databaseProxy } from '../support/proxy.ts'
import { accepted, scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const proxy = await databaseProxy(service.databaseUrl)
const node = await service.another({ DATABASE_URL: proxy.url })

it('a gateway response during a database outage is not lost, and nothing is sent twice', async () => {
  const project = await service.project()
  await givenUser(project, 'ana', 'a-1')
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof accepted>>()
  sender.script('a-1', promise)
  const send = () =>
    ask(node.url, 'POST', '/api/v1/messages:send', {
      json: { push_notifications: [to('ana')] },
      headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey, 'idempotency-key': 'k' }
    })
  const first = send()
  await eventually(() => assert.equal(sender.to('a-1').length, 1))
  proxy.cut()
  resolve(accepted())
  await new Promise((done) => setTimeout(done, 1_500))
  proxy.mend()
  const reply = await first
  // The outcome was recorded when the database was back; only the response to the request may have come too late.
  assert.ok([200, 503].includes(reply.status), reply.text)
  await eventually(async () => {
    const [row] = await service.sql('select state from messages where project_id = $1', [project.id])
    assert.equal(row.state, 'accepted')
  })
  const again = await eventually(async () => {
    const repeated = await send()
    assert.equal(repeated.status, 200, repeated.text)
    return repeated
  }, 30_000)
  assert.equal(again.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED')
  assert.equal(sender.to('a-1').length, 1)
})

it('without a database nothing is sent, and the caller gets 503 with Retry-After', async () => {
  const project = await service.project()
  await givenUser(project, 'bo', 'b-1')
  proxy.cut()
  const reply = await eventually(async () => {
    const answer = await ask(node.url, 'POST', '/api/v1/messages:send', {
      json: { push_notifications: [to('bo')] },
      headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey }
    })
    assert.equal(answer.status, 503)
    return answer
  })
  assert.ok(reply.headers['retry-after'])
  assert.deepEqual(sender.to('b-1'), [])
  proxy.mend()
})
