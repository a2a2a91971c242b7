import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { doubles } from '../a2a/agent.ts'
import fc from '../support/fuzz.ts'
import { ask, type Json } from '../support/http.ts'
import { startService } from '../support/service.ts'

// TIDINGS_LONG=1 sends a hundred thousand requests.
const runs = process.env.TIDINGS_LONG ? 100_000 : 1_500
const service = await startService(
  {},
  {
    agents: {
      messages: doubles.messages,
      triggers: doubles.triggers,
      enqueue: async () => {},
      refuseAddress: async (url) => (URL.canParse(url) ? null : 'must be an address')
    }
  }
)
const project = await service.project({ limits: { requests_per_second: 0 } })
const call = (body: string | Buffer, headers: Record<string, string> = {}) =>
  ask(service.url, 'POST', '/a2a', {
    body,
    headers: { 'content-type': 'application/json', 'x-api-key': project.secretKey, ...headers }
  })
/**
 * The service may close a kept connection at the moment of its reuse, as any server may: then the request is repeated.
 */
const callAgain: typeof call = (body, headers) =>
  call(body, headers).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET') throw error
    return call(body, headers)
  })
const first = JSON.parse(
  (
    await call(
      '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"first","parts":[{"data":{"skill":"create-user"}}]}}}',
      { 'a2a-version': '1.0' }
    )
  ).text
).result.task.id

const methods = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/list',
  'tasks/cancel',
  'tasks/resubscribe',
  'tasks/pushNotificationConfig/set',
  'tasks/pushNotificationConfig/get',
  'tasks/pushNotificationConfig/list',
  'tasks/pushNotificationConfig/delete',
  'agent/getAuthenticatedExtendedCard',
  '__proto__',
  'constructor',
  'toString',
  ''
]
const anything = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>('\u0000', '\ud800', 'x'.repeat(5000), 1e308, -0, '__proto__', first, '😀')
  }
) as fc.Arbitrary<Json>
const maybe = (value: fc.Arbitrary<Json>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: anything })
const odd = (shape: Record<string, fc.Arbitrary<Json>>) => fc.record(shape, { requiredKeys: [] }) as fc.Arbitrary<Json>

const data = odd({
  skill: maybe(
    fc.constantFrom('create-user', 'track-event', 'send-push-notification', 'trigger-campaign', 'none', '__proto__')
  ),
  projectUserId: maybe(fc.string({ unit: 'binary', maxLength: 20 })),
  properties: anything,
  eventName: maybe(fc.string()),
  deviceId: maybe(fc.string()),
  userId: anything,
  title: anything,
  body: anything,
  campaignId: maybe(fc.constant('welcome')),
  targets: anything,
  broadcast: anything,
  ['__proto__']: anything
})
const part = maybe(
  fc.oneof(
    odd({ data: maybe(data), kind: maybe(fc.constant('data')) }),
    odd({ text: maybe(fc.string()), kind: anything }),
    odd({ raw: anything, url: anything, file: anything, metadata: anything })
  )
)
const taskId = maybe(fc.oneof(fc.constant(first), fc.uuid()))
const message = maybe(
  odd({
    messageId: maybe(fc.uuid()),
    role: maybe(fc.constantFrom<Json>('user', 'ROLE_USER', 1, 'agent')),
    parts: maybe(fc.array(part, { maxLength: 3 })),
    contextId: maybe(fc.string()),
    taskId,
    metadata: anything,
    extensions: anything,
    referenceTaskIds: anything
  })
)
const config = odd({
  id: maybe(fc.string()),
  url: maybe(fc.webUrl()),
  token: anything,
  authentication: anything,
  taskId
})
const params = maybe(
  odd({
    id: taskId,
    taskId,
    message,
    configuration: maybe(
      odd({
        returnImmediately: maybe(fc.boolean()),
        blocking: anything,
        historyLength: anything,
        taskPushNotificationConfig: maybe(config),
        pushNotificationConfig: maybe(config)
      })
    ),
    historyLength: maybe(fc.integer()),
    pageSize: maybe(fc.integer({ min: -1, max: 120 })),
    pageToken: anything,
    status: maybe(fc.constantFrom<Json>('completed', 'TASK_STATE_FAILED', 3, 99)),
    contextId: anything,
    statusTimestampAfter: maybe(fc.constant('2026-01-01T00:00:00Z')),
    includeArtifacts: anything,
    limit: anything,
    offset: anything,
    url: maybe(fc.webUrl()),
    token: anything,
    authentication: anything,
    pushNotificationConfig: maybe(config),
    pushNotificationConfigId: anything,
    tenant: anything
  })
)
const envelope = maybe(
  odd({
    jsonrpc: maybe(fc.constant('2.0')),
    id: maybe(fc.oneof(fc.integer(), fc.string()) as fc.Arbitrary<Json>),
    method: maybe(fc.constantFrom(...methods)),
    params
  })
)
const wellFormed = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: fc.integer(),
  method: fc.constantFrom(...methods),
  params
}) as fc.Arbitrary<Json>
const body = fc.oneof(
  { weight: 6, arbitrary: wellFormed.map((value) => JSON.stringify(value)) },
  { weight: 3, arbitrary: envelope.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.uint8Array().map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.tuple(envelope, fc.nat()).map(([value, cut]) => JSON.stringify(value).slice(0, cut % 200))
  }
) as fc.Arbitrary<string | Buffer>
const version = fc.constantFrom('1.0', '1.0', '0.3', '', '2.0', 'x')

const stated = new Set([200, 409, 413, 415, 429])

/** A result or an error, never both, with the id of the call if it could be read. */
function assertEnvelope(sent: string | Buffer, answered: Json): void {
  assert.equal(answered.jsonrpc, '2.0')
  assert.equal('result' in answered, !('error' in answered))
  if ('error' in answered) {
    assert.ok(Number.isInteger(answered.error.code) && answered.error.code < 0)
    assert.ok(typeof answered.error.message === 'string' && answered.error.message !== '')
  }
  let id: Json = null
  try {
    const value = JSON.parse(sent.toString('utf8'))
    if (
      (typeof value?.id === 'number' && (Number.isSafeInteger(value.id) || !Number.isInteger(value.id))) ||
      (typeof value?.id === 'string' && value.id.isWellFormed() && value.id.length <= 255)
    )
      id = value.id
  } catch {}
  if (!Buffer.isBuffer(sent)) assert.equal(answered.id, id)
}

describe(`${runs} generated bodies`, () => {
  it('never give a 5xx: each gets an envelope, a stream of envelopes, or a documented HTTP error', {
    timeout: 3_600_000
  }, async () => {
    const seen = new Map<string, number>()
    const inFlight = new Set<Promise<void>>()
    const tries = fc.sample(fc.tuple(body, version), { numRuns: runs })
    for (const [sent, asked] of tries) {
      const one = (async () => {
        const reply = await callAgain(sent, { 'a2a-version': asked }).catch((error: Error) =>
          assert.fail(`${error.message} for ${asked} ${sent.toString('utf8').slice(0, 2000)}`)
        )
        const shown = `${reply.status} ${reply.text.slice(0, 500)} for ${asked} ${sent.toString('utf8').slice(0, 2000)}`
        try {
          assert.ok(stated.has(reply.status))
          assert.ok(reply.headers['x-request-id'])
          if (reply.headers['content-type'] === 'text/event-stream') {
            for (const event of reply.text.split('\n\n').filter((block) => block.startsWith('data: ')))
              assertEnvelope(sent, JSON.parse(event.slice(6)))
          } else assertEnvelope(sent, reply.json)
          const what =
            reply.headers['content-type'] === 'text/event-stream'
              ? 'stream'
              : String(reply.json.error?.code ?? 'result')
          seen.set(what, (seen.get(what) ?? 0) + 1)
        } catch (error) {
          assert.fail(`${(error as Error).message}: ${shown}`)
        }
      })()
      inFlight.add(one)
      one.then(
        () => inFlight.delete(one),
        () => {}
      )
      if (inFlight.size >= 16) await Promise.race(inFlight)
    }
    await Promise.all(inFlight)
    for (const what of ['result', 'stream', '-32700', '-32600', '-32601', '-32602', '-32001', '-32009'])
      assert.ok((seen.get(what) ?? 0) > 0, `${what} was met: ${JSON.stringify([...seen])}`)
    assert.equal((await call('{"jsonrpc":"2.0","id":1,"method":"ListTasks"}', { 'a2a-version': '1.0' })).status, 200)
  })
})
