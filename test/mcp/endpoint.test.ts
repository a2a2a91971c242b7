import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Asked, Json } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.project()

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const accept = 'application/json, text/event-stream'
const post = (asked: Asked & { key?: string | undefined }) => {
  const { key = project.secretKey, headers, ...rest } = asked
  return service.ask('POST', '/mcp', {
    ...rest,
    headers: { accept, 'content-type': 'application/json', ...(key && { 'x-api-key': key }), ...headers }
  })
}
/** The message of a response, which earlier protocols get as a stream of one event. */
const messageOf = (reply: { text: string; json: Json }): Json =>
  reply.text.startsWith('event:') ? JSON.parse(/^data: (.*)$/m.exec(reply.text)![1]!) : reply.json
const call = (name: string, args: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args }
})
const current = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

describe('POST /mcp', () => {
  it('takes a secret key as a bearer token or as X-API-Key, without a session', async () => {
    for (const headers of [{ 'x-api-key': project.secretKey }, { authorization: `Bearer ${project.secretKey}` }]) {
      const reply = await post({ key: '', headers, json: list })
      assert.equal(reply.status, 200, reply.text)
      assert.ok(messageOf(reply).result.tools.length >= 4)
      assert.equal(reply.headers['mcp-session-id'], undefined)
    }
  })

  it('refuses other callers before the body is read: 401 with a challenge, 403 for a public key', async () => {
    for (const key of ['', 'svc_sk_unknown', service.adminToken]) {
      const reply = await post({ key, json: list })
      assert.equal(reply.status, 401, key)
      assert.equal(reply.headers['www-authenticate'], 'Bearer')
    }
    assert.equal((await post({ key: project.publicKey, json: list })).status, 403)
  })

  it('refuses a page of an origin that is not listed, also with a key', async () => {
    for (const origin of ['http://evil.example', 'null', service.url])
      assert.equal((await post({ headers: { origin }, json: list })).status, 403, origin)
  })

  it('has nothing to GET or DELETE, because there are no sessions', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const reply = await service.ask(method, '/mcp', { headers: { 'x-api-key': project.secretKey, accept } })
      assert.equal(reply.status, 405, method)
    }
  })

  it('every message that cannot be understood gets an error of its own kind, and none a 5xx', async () => {
    const texts = ['', '{', 'null', '[]', '7', '"x"', '{"jsonrpc":"2.0"}', '{"id":{}}', `[${JSON.stringify(list)}]`]
    const odd: unknown[] = [
      { jsonrpc: '1.0', id: 1, method: 'tools/list' },
      { jsonrpc: '2.0', id: 1, method: 7 },
      { jsonrpc: '2.0', id: 1, method: 'no/such' },
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: 'x' },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 7 } },
      { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
      { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: current } },
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: current } },
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: { _meta: { ...current, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } }
      },
      call('no-such-tool', {}),
      call('__proto__', {}),
      call('create-user', []),
      call('create-user', 'ana'),
      JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)
    ]
    for (const body of [
      ...texts,
      ...odd.map((one) => JSON.stringify(one)),
      '{"jsonrpc":"2.0","id":1,"method":"a\\u0000"}'
    ]) {
      const reply = await post({ body })
      assert.ok(reply.status < 500, `${body.slice(0, 100)}: ${reply.status} ${reply.text}`)
      const { error } = messageOf(reply) ?? {}
      assert.ok(Number.isInteger(error?.code) && error.code !== -32_603, `${body.slice(0, 100)}: ${reply.text}`)
    }
  })

  it('an error has the id of its call in every protocol, also where the method is unknown', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)
    for (const id of [5, 0, 'five', ''])
      for (const [method, given, code] of [
        ['subscriptions/listen', {}, -32_601],
        ['no/such', {}, -32_601],
        ['prompts/list', {}, -32_601],
        ['tools/call', { name: 7 }, -32_602],
        ['tools/call', deep, -32_602]
      ] as const)
        for (const isCurrent of [false, true]) {
          const params = isCurrent ? { ...given, _meta: current } : given
          const headers = isCurrent ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method } : {}
          const reply = await post({ headers, json: { jsonrpc: '2.0', id, method, params } })
          const { id: returned, error } = messageOf(reply)
          assert.deepEqual([returned, error?.code], [id, code], `${method}: ${reply.text}`)
        }
  })

  it('refuses a body of another type, and one that is too large, before it is parsed', async () => {
    assert.equal((await post({ headers: { 'content-type': 'text/plain' }, body: '{}' })).status, 415)
    const large = JSON.stringify(call('create-user', { projectUserId: 'x'.repeat(11 * 1024 * 1024) }))
    assert.equal((await post({ body: large })).status, 413)
    const many = JSON.stringify(call('create-user', { projectUserId: 'ana', properties: Array(200_000).fill(0) }))
    assert.equal((await post({ body: many })).status, 400)
  })

  it('arguments of every wrong type are refused by a sentence', async () => {
    const wrong: unknown[] = [null, 7, true, [], {}, '', '\u0001', 'x'.repeat(600)]
    for (const value of wrong) {
      const reply = messageOf(await post({ json: call('create-user', { projectUserId: value }) }))
      assert.equal(reply.result.isError, true, JSON.stringify(reply))
      assert.match(reply.result.content[0].text, /\.$/)
    }
    for (const idempotencyKey of [7, '', 'x'.repeat(256), 'ü']) {
      const reply = messageOf(await post({ json: call('create-user', { projectUserId: 'key', idempotencyKey }) }))
      assert.match(reply.result.content[0].text, /^idempotencyKey: /)
    }
  })

  it('a notification is taken and gets no response', async () => {
    const reply = await post({ json: { jsonrpc: '2.0', method: 'notifications/initialized' } })
    assert.deepEqual([reply.status, reply.text], [202, ''])
  })

  it('lets pages of listed origins call, with the headers of MCP', async () => {
    const origin = 'https://assistant.example.com'
    const listed = await service.another({ A2A_ORIGINS: origin })
    const headers = { origin, 'access-control-request-method': 'POST' }
    const asked = await listed.ask('OPTIONS', '/mcp', { headers })
    assert.match(String(asked.headers['access-control-allow-headers']), /Mcp-Protocol-Version/i)
    const reply = await listed.ask('POST', '/mcp', {
      headers: { origin, accept, 'content-type': 'application/json', 'x-api-key': project.secretKey },
      json: list
    })
    assert.deepEqual([reply.status, reply.headers['access-control-allow-origin']], [200, origin])
  })
})
