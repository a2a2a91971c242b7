import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenCampaign } from '../support/campaigns.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.project()
const { id, secretKey: key } = project
await givenCampaign(service, project)
const { hostname, port } = new URL(service.url)

type Request = [line: string, headers?: string[], body?: string]
const keyed = [`X-Service-Project-ID: ${id}`, `X-Service-API-Key: ${key}`]
const json = 'Content-Type: application/json'

/** Every message of an agent, and every key of a repeatable call, is new: a repeat would only replay the first response. */
function bytesOf([line, headers = [], text]: Request): Buffer {
  const body = text?.replace('MESSAGE', randomUUID())
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const head = [`${line} HTTP/1.1`, 'Host: a', ...headers, ...length].join('\r\n').replace('MESSAGE', randomUUID())
  return Buffer.from(`${head}\r\n\r\n${body ?? ''}`)
}

/** Sends the parts, with a pause between them, and returns the response without what differs between any two. */
async function exchange(parts: Buffer[], pauseMs = 20): Promise<string> {
  const socket = connect(Number(port), hostname)
  let received = ''
  const whole = Promise.withResolvers<void>()
  socket.setEncoding('latin1').on('data', (part: string) => {
    received += part
    const [head, body] = [received.split('\r\n\r\n')[0]!, received.slice(received.indexOf('\r\n\r\n') + 4)]
    const length = /content-length: (\d+)/i.exec(head)?.[1]
    if (length === undefined ? received.endsWith('\r\n\r\n') : body.length >= Number(length)) whole.resolve()
  })
  socket.on('close', () => whole.resolve())
  for (const [index, part] of parts.entries()) {
    if (index > 0) await sleep(pauseMs)
    socket.write(part)
  }
  await whole.promise
  socket.destroy()
  return received
    .replace(/^Date: .*$/m, 'Date: now')
    .replace(/^x-request-id: .*$/m, 'x-request-id: one')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
    .replace(/^(?:x-)?ratelimit-\w+: .*\r\n/gim, '')
}

const plainRequests = async (): Promise<number> => {
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  return Number(/^tidings_http_plain_requests_total (\d+)/m.exec(metrics)![1])
}

/** A busy machine may read both parts at once, as one whole request: then it is sent again. */
async function readByNode(request: Request): Promise<{ node: string; after: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await plainRequests()
    const bytes = bytesOf(request)
    const node = await exchange([bytes.subarray(0, 5), bytes.subarray(5)], 20 * attempt)
    const after = (await plainRequests()) - before
    if (after === 1 || attempt === 10) return { node, after }
  }
}

const user = (properties: string) => `{"project_user_id":"ana","properties":${properties}}`
const agent = [`X-API-Key: ${key}`, 'A2A-Version: 1.0', json]

const streaming =
  '{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"MESSAGE","role":"ROLE_USER","parts":[{"text":"help"}]}}}'

const creating =
  '{"message":{"messageId":"MESSAGE","role":"ROLE_USER","parts":[{"data":{"skill":"create-user","projectUserId":"bo"}}]}}'
const calling = (method: string, params: string) => `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`

const requests: Record<string, Request> = {
  'a page': ['GET /console/'],
  'a health call': ['GET /healthz'],
  'a path that does not exist': ['GET /nowhere?a=b'],
  'a wrong method': ['DELETE /healthz'],
  'a broken escape': ['GET /api/v1/users/%zz', keyed],
  '4.1: a new user': ['POST /api/v1/users', [...keyed, json], user('{"plan":"premium"}')],
  '4.1: text beyond ASCII': ['POST /api/v1/users', [...keyed, json], user('{"name":"Jürgen 👋"}')],
  '4.1: a body without a type': ['POST /api/v1/users', keyed, user('{}')],
  '4.1: a body that is not JSON': ['POST /api/v1/users', [...keyed, json], '{"project_user_id":'],
  '4.1: an empty body': ['POST /api/v1/users', [...keyed, json], ''],
  '4.1: no body': ['POST /api/v1/users', keyed],
  '4.1: no key': ['POST /api/v1/users', [json], user('{}')],
  '4.1: a wrong key': ['POST /api/v1/users', [keyed[0]!, 'X-Service-API-Key: svc_sk_wrong', json], user('{}')],
  '4.1: a deep body': ['POST /api/v1/users', [...keyed, json], user(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`)],
  '4.2: an absent user': ['PATCH /api/v1/users/bo', [...keyed, json], '{"properties":{}}'],
  '4.3: a body that is not read': ['DELETE /api/v1/users/ana', [...keyed, json], '{"properties"'],
  'a body that is too large for its route': [
    'POST /console/session',
    [json],
    JSON.stringify({ token: 'a'.repeat(9_000) })
  ],
  'an id of the caller': ['GET /healthz', ['X-Request-ID: mine']],
  'a task of an agent that does not exist': [
    'POST /a2a',
    agent,
    '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"nothing"}}'
  ],
  'a call of an agent that creates a user': ['POST /a2a', agent, calling('SendMessage', creating)],
  'a call of an agent that is refused': ['POST /a2a', agent, calling('SendMessage', '{"message":{}}')],
  'a call of an agent without a key': ['POST /a2a', [json], calling('GetTask', '{"id":"nothing"}')],
  'a call of an agent in another type': ['POST /a2a', [`X-API-Key: ${key}`, 'Content-Type: application/jsonx'], '{}'],
  'a call of an agent that is not JSON': ['POST /a2a', agent, '{"jsonrpc"'],
  'the card for a caller behind a proxy': [
    'POST /a2a',
    [...agent, 'X-Forwarded-Host: example.org', 'X-Forwarded-For: 192.0.2.1'],
    calling('GetExtendedAgentCard', '{}')
  ],
  '4.1: a key of the caller in another letter case': [
    'POST /api/v1/users/',
    [keyed[0]!.toUpperCase().replace(id.toUpperCase(), id), keyed[1]!, 'content-type: application/json; charset=utf-8'],
    user('{"age":31}')
  ],
  '4.1: a path with a query': ['POST /api/v1/users?a=b', [...keyed, json], user('{"age":31}')],
  '4.1: a literal colon where a project stands': [
    'POST /manage/v1/projects/:project_id/api/v1/users',
    [...keyed, json],
    user('{}')
  ],
  '4.4: a trigger': ['POST /api/v1/campaigns/news:trigger', [...keyed, json], '{"audience":{}}'],
  '4.4: a trigger that is not read whole': [
    'POST /api/v1/campaigns/news:trigger',
    [...keyed, json, 'Idempotency-Key: MESSAGE'],
    '{"audience":{"targets":[{"project_user_id":"ana"}]},"unknown":1}'
  ],
  '4.4: a trigger without a body': ['POST /api/v1/campaigns/news:trigger', keyed],
  '4.4: a trigger without a type': ['POST /api/v1/campaigns/news:trigger', keyed, '{}'],
  '4.4: a trigger that is refused': ['POST /api/v1/campaigns/news:trigger', [...keyed, json], '{"audience":7}'],
  '4.4: an empty key of a repeat': ['POST /api/v1/campaigns/news:trigger', [...keyed, json, 'Idempotency-Key: '], '{}'],
  '4.4: a trigger of no campaign': ['POST /api/v1/campaigns/:trigger', [...keyed, json], '{}'],
  '4.4: a trigger of a campaign that is absent': ['POST /api/v1/campaigns/__proto__:trigger', [...keyed, json], '{}'],
  '4.4: a trigger of an escaped campaign': ['POST /api/v1/campaigns/%6eews:trigger', [...keyed, json], '{}'],
  '4.4: a trigger of a broken escape': ['POST /api/v1/campaigns/%6news%:trigger', [...keyed, json], '{}'],
  '4.4: a trigger without a key': ['POST /api/v1/campaigns/news:trigger', [json], '{}'],
  '4.4: a verb that does not exist': ['POST /api/v1/campaigns/news:fire', [...keyed, json], '{}'],
  'a stream of an agent': ['POST /a2a', agent, streaming]
}

describe('a request is answered alike whether we read it or Node', () => {
  for (const [what, request] of Object.entries(requests)) {
    it(what, async () => {
      const before = await plainRequests()
      const own = await exchange([bytesOf(request)])
      const between = await plainRequests()
      const { node, after } = await readByNode(request)
      assert.equal(own.split('\r\n')[0]!.slice(0, 9), 'HTTP/1.1 ')
      assert.equal(own, node)
      // Reading the counter is itself such a request.
      assert.deepEqual([between - before, after], [2, 1])
    })
  }
})
