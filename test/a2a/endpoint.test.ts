import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, type Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf } from './agent.ts'
import { contractSkills } from './skills.ts'

const service = await startService()
const project = await service.project()
const key = { 'x-api-key': project.secretKey }
const current = { ...key, 'a2a-version': '1.0', 'content-type': 'application/json' }
const post = (body: string | Buffer, headers: Record<string, string> = current) =>
  service.ask('POST', '/a2a', { body, headers })
const rpc = (method: string, params: Json = {}, headers: Record<string, string> = current, id: Json = 1) =>
  post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), headers)

describe('POST /a2a', () => {
  it('knows its caller by a secret key alone, before anything is parsed', async () => {
    const broken = 'not json'
    for (const [headers, status, text] of [
      [{}, 401, 'Missing API key'],
      [{ 'x-api-key': 'svc_sk_wrong' }, 401, 'Invalid API key'],
      [{ 'x-api-key': 'anything' }, 401, 'Invalid API key'],
      [{ 'x-api-key': project.publicKey }, 403, 'A secret key is required'],
      [{ 'x-api-key': 'svc_pk_unknown' }, 403, 'A secret key is required']
    ] as const) {
      const reply = await post(broken, { ...headers })
      assert.deepEqual([reply.status, reply.text], [status, text])
      assert.match(reply.headers['content-type']!, /^text\/plain/)
      assert.ok(reply.headers['x-request-id'])
    }
  })

  it('takes the secret key as a bearer token too, where there is no X-API-Key', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
    const call = async (headers: Record<string, string>) => {
      const reply = await service.ask('POST', '/a2a', { json: list, headers: { 'a2a-version': '1.0', ...headers } })
      return [reply.status, reply.status === 200 ? '' : reply.text]
    }
    const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
    assert.deepEqual(await call(bearer(project.secretKey)), [200, ''])
    assert.deepEqual(await call({ authorization: `bearer  ${project.secretKey} ` }), [200, ''])
    assert.deepEqual(await call({ ...bearer(project.secretKey), 'x-api-key': '' }), [200, ''])
    assert.deepEqual(await call({ ...bearer('svc_sk_wrong'), ...key }), [200, ''], 'X-API-Key wins')
    assert.deepEqual(await call({ ...bearer(project.secretKey), 'x-api-key': 'svc_sk_wrong' }), [
      401,
      'Invalid API key'
    ])
    assert.deepEqual(await call(bearer(project.publicKey)), [403, 'A secret key is required'])
    assert.deepEqual(await call(bearer('anything')), [401, 'Invalid API key'])
    for (const authorization of ['Bearer', 'Basic YTpi', project.secretKey])
      assert.deepEqual(await call({ authorization }), [401, 'Missing API key'], authorization)
  })

  it('says so where a management token was sent as the key', async () => {
    const authorization = `Bearer ${service.adminToken}`
    const reply = await post('{}', { ...current, 'x-api-key': '', authorization })
    assert.deepEqual([reply.status, reply.text], [401, 'Invalid API key'])
    const detail = reply.headers['x-service-error-detail'] as string
    assert.match(detail, /^Authorization: a management token was given.*svc_sk_/)
    const other = await post('{}', { ...current, 'x-api-key': service.adminToken })
    assert.equal(other.headers['x-service-error-detail'], detail.replace('Authorization', 'X-API-Key'))
  })

  it('takes no bearer token where the contract wants its own headers', async () => {
    const headers = { 'x-service-project-id': project.id, authorization: `Bearer ${project.secretKey}` }
    const reply = await ask(service.url, 'POST', '/api/v1/users', { json: { project_user_id: 'b' }, headers })
    assert.deepEqual([reply.status, reply.text], [401, 'Missing API key'])
  })

  it('carries a request id on every answer, and the limits on those with a key', async () => {
    const replies = [
      await service.ask('GET', '/a2a'),
      await service.ask('GET', '/.well-known/agent-card.json'),
      await post('x'),
      await post('{}', { ...key, 'content-type': 'text/plain' }),
      await rpc('SendStreamingMessage', {}),
      await rpc('GetTask', { id: 'x' })
    ]
    for (const { headers } of replies) assert.ok(headers['x-request-id'])
    for (const { headers } of replies.slice(2)) assert.ok(headers['x-ratelimit-limit'])
    const mine = await rpc('GetTask', { id: 'x' }, { ...current, 'x-request-id': 'trace-1' })
    assert.equal(mine.headers['x-request-id'], 'trace-1')
    const stream = await agentOf(service, project, 'plain').stream('stream', {
      message: { messageId: 'rid', parts: [{ data: { skill: 'create-user', projectUserId: 'rid' } }] }
    })
    assert.ok(stream.headers['x-request-id'] && stream.headers['x-ratelimit-limit'])
  })

  it('responds to GET with 405', async () => {
    const reply = await service.ask('GET', '/a2a', { headers: key })
    assert.deepEqual([reply.status, reply.headers.allow], [405, 'POST'])
  })

  it('lives at /a2a/ too, and below the management for a token', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
    const slash = await service.ask('POST', '/a2a/', { json: body, headers: current })
    assert.deepEqual(Object.keys(slash.json.result), ['tasks', 'nextPageToken', 'pageSize', 'totalSize'])
    const twin = await service.manage('POST', `/projects/${project.id}/a2a`, {
      json: body,
      headers: { 'a2a-version': '1.0' }
    })
    assert.equal(twin.status, 200)
    assert.deepEqual(twin.json, slash.json)
    const { token } = (
      await service.manage('POST', '/tokens', { json: { name: 'v', role: 'viewer', project_id: project.id } })
    ).json
    const headers = { authorization: `Bearer ${token}`, 'a2a-version': '1.0' }
    assert.equal(
      (await ask(service.url, 'POST', `/manage/v1/projects/${project.id}/a2a`, { json: body, headers })).status,
      403
    )
  })

  it('responds to malformed calls with the codes of JSON-RPC and HTTP 200', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }
    const cases: [string | Buffer, number, Json][] = [
      ['', -32700, null],
      ['{', -32700, null],
      [Buffer.from([0x7b, 0xff, 0x7d]), -32700, null],
      ['[]', -32600, null],
      [JSON.stringify([call]), -32600, null],
      ['1', -32600, null],
      ['null', -32600, null],
      ['"x"', -32600, null],
      ['{}', -32600, null],
      [JSON.stringify({ ...call, id: null }), -32600, null],
      [JSON.stringify({ ...call, id: undefined }), -32600, null],
      [JSON.stringify({ ...call, id: true }), -32600, null],
      [JSON.stringify({ ...call, id: {} }), -32600, null],
      [`{"jsonrpc":"2.0","id":1763540000123456789,"method":"GetTask"}`, -32600, null],
      [JSON.stringify({ ...call, id: 'x'.repeat(256) }), -32600, null],
      [JSON.stringify({ ...call, jsonrpc: '1.0' }), -32600, 1],
      [JSON.stringify({ ...call, jsonrpc: undefined }), -32600, 1],
      [JSON.stringify({ ...call, method: 5 }), -32600, 1],
      [JSON.stringify({ ...call, method: undefined }), -32600, 1],
      [JSON.stringify({ ...call, params: [] }), -32602, 1],
      [JSON.stringify({ ...call, params: 'x' }), -32602, 1],
      [JSON.stringify({ ...call, method: 'Nothing' }), -32601, 1],
      [JSON.stringify({ ...call, method: 'constructor' }), -32601, 1],
      [
        `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
        -32602,
        1
      ],
      ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"\\u0000"}}', -32602, 1],
      ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"\\ud800"}}', -32602, 1],
      ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":1e400}}', -32602, 1]
    ]
    for (const [body, code, id] of cases) {
      const reply = await post(body)
      assert.deepEqual(
        [reply.status, reply.json.error?.code, reply.json.id],
        [200, code, id],
        String(body).slice(0, 100)
      )
      assert.equal(reply.json.jsonrpc, '2.0')
    }
  })

  it('gives the id back with its type', async () => {
    for (const id of ['a', '', 0, -7, 1.5, 'ü'])
      assert.equal((await rpc('GetTask', { id: 'x' }, current, id)).json.id, id)
  })

  it('chooses the version by header or query, ignores its patch, and takes none for 0.3', async () => {
    const codeOf = async (method: string, headers: Record<string, string>, query = '') =>
      (
        await service.ask('POST', `/a2a${query}`, {
          json: { jsonrpc: '2.0', id: 1, method, params: { id: 'x' } },
          headers: { ...key, ...headers }
        })
      ).json.error
    for (const version of ['1.0', '1.0.3', ' 1.0 ', '1', 'v1', 'v1.0', 'V1.0.2', '1.0, 1.0', '1.0,1', '1.0, ']) {
      assert.equal((await codeOf('GetTask', { 'a2a-version': version })).code, -32001)
      assert.equal((await codeOf('tasks/get', { 'a2a-version': version })).code, -32601)
    }
    for (const headers of [
      {},
      ...['', '0.3', '0.3.0', 'v0.3', '0.3, 0.3.0'].map((version) => ({ 'a2a-version': version }))
    ] as Record<string, string>[]) {
      assert.equal((await codeOf('tasks/get', headers)).code, -32001)
      const named = await codeOf('GetTask', headers)
      assert.equal(named.code, -32601)
      assert.match(named.message, /A2A-Version: 1\.0/)
    }
    for (const version of [
      '2.0',
      '0',
      '3',
      '0.2',
      'x',
      'vv1',
      '1.',
      '1.0.x',
      '1.0.0.1',
      '1.1',
      '10',
      '1.0, 0.3',
      '1.0, 2.0'
    ]) {
      const error = await codeOf('GetTask', { 'a2a-version': version })
      assert.deepEqual([error.code, error.data[0].reason], [-32009, 'VERSION_NOT_SUPPORTED'])
    }
    assert.equal((await codeOf('GetTask', {}, '?A2A-Version=1.0')).code, -32001)
    assert.equal((await codeOf('GetTask', {}, '?A2A-Version=1.0&A2A-Version=v1')).code, -32001)
    assert.equal((await codeOf('GetTask', {}, '?A2A-Version=1.0&A2A-Version=0.3')).code, -32009)
    assert.equal((await codeOf('GetTask', { 'a2a-version': '1.0' }, '?A2A-Version=0.3')).code, -32001)
    assert.equal((await codeOf('GetTask', { 'a2a-extensions': 'https://x/y' }, '?A2A-Version=1.0')).code, -32001)
  })

  it('refuses other types with 415, too much with 413, too many with 429', async () => {
    for (const type of ['text/plain', 'application/xml', undefined]) {
      const reply = await service.ask('POST', '/a2a', {
        body: '{}',
        headers: { ...key, 'a2a-version': '1.0', 'content-type': type }
      })
      assert.deepEqual([reply.status, reply.json.error.code], [415, -32005])
    }
    assert.equal((await post(Buffer.alloc(10 * 1024 * 1024 + 1, 'x'))).status, 413)
    const limited = await service.project({ limits: { requests_per_second: 1 } })
    const calls = await Promise.all(
      Array.from({ length: 5 }, () => rpc('GetTask', { id: 'x' }, { ...current, 'x-api-key': limited.secretKey }))
    )
    const refused = calls.find(({ status }) => status === 429)!
    assert.deepEqual(refused.json, { error: 'Too Many Requests' })
    assert.ok(refused.headers['retry-after'])
  })

  it('keeps projects apart: what is another project’s is not found', async () => {
    const other = agentOf(service, await service.project(), 'plain')
    const mine = agentOf(service, project, 'plain')
    const message = { messageId: 'shared-id', parts: [{ data: { skill: 'create-user', projectUserId: 'a' } }] }
    const task = (await mine.result('send', { message })).task
    const theirs = (
      await other.result('send', {
        message: { ...message, parts: [{ data: { skill: 'create-user', projectUserId: 'b' } }] }
      })
    ).task
    assert.notEqual(theirs.id, task.id, 'a key of one project is no key of another')
    const open = (await mine.result('send', { message: mine.message({ skill: 'create-user' }) })).task
    for (const [method, params] of [
      ['get', { id: task.id }],
      ['cancel', { id: open.id }],
      ['subscribe', { id: open.id }],
      ['send', { message: other.message({ projectUserId: 'x' }, { taskId: open.id }) }],
      ['createConfig', { taskId: task.id, url: 'https://example.com' }],
      ['getConfig', { taskId: task.id, id: 'x' }],
      ['listConfigs', { taskId: task.id }],
      ['deleteConfig', { taskId: task.id, id: 'x' }]
    ] as const) {
      assert.equal((await other.error(method, params)).code, -32001, method)
    }
    const listed = await other.result('list', { contextId: task.contextId })
    assert.deepEqual([listed.tasks, listed.totalSize], [[], 0])
    assert.equal((await mine.get(open.id)).status.state, 'input-required')
  })
})

describe('the agent card', () => {
  const card = (headers: Record<string, string> = {}) => service.ask('GET', '/.well-known/agent-card.json', { headers })

  it('is pure 1.0 for 1.0, and for versions that are not known', async () => {
    for (const version of ['1.0', '1.0.1', '7.0']) {
      const { json } = await card({ 'a2a-version': version })
      assert.deepEqual(Object.keys(json), [
        'name',
        'description',
        'supportedInterfaces',
        'provider',
        'version',
        'capabilities',
        'securitySchemes',
        'securityRequirements',
        'defaultInputModes',
        'defaultOutputModes',
        'skills'
      ])
      assert.deepEqual(json.supportedInterfaces, [
        { url: `${service.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }
      ])
      assert.deepEqual(json.capabilities, { streaming: true, pushNotifications: true, extendedAgentCard: true })
      const { apiKeySecurityScheme } = json.securitySchemes.apiKey
      assert.deepEqual([apiKeySecurityScheme.name, apiKeySecurityScheme.location], ['X-API-Key', 'header'])
      assert.deepEqual(json.securityRequirements, [{ schemes: { apiKey: { list: [] } } }])
      assert.deepEqual(
        json.skills.map(({ id }: { id: string }) => id),
        contractSkills
      )
      for (const skill of json.skills)
        assert.ok(skill.name && skill.description && skill.tags.length > 0 && skill.examples.length > 0)
    }
  })

  it('has the fields of 0.3 and where 1.0 is, for those who name no version', async () => {
    for (const headers of [{}, { 'a2a-version': '0.3' }] as Record<string, string>[]) {
      const { json } = await card(headers)
      assert.deepEqual(
        [json.url, json.preferredTransport, json.protocolVersion],
        [`${service.url}/a2a`, 'JSONRPC', '0.3.0']
      )
      assert.equal(json.supportsAuthenticatedExtendedCard, true)
      assert.deepEqual(json.securitySchemes.apiKey.in, 'header')
      assert.deepEqual(json.security, [{ apiKey: [] }])
      assert.equal(json.supportedInterfaces[0].protocolVersion, '1.0')
    }
  })

  it('is cached by version and host, and answered 304 when unchanged', async () => {
    const reply = await card({ 'a2a-version': '1.0' })
    assert.equal(reply.headers.vary, 'A2A-Version, Host')
    assert.match(reply.headers['cache-control']!, /max-age=\d+/)
    assert.ok(reply.headers['last-modified'])
    const again = await card({ 'a2a-version': '1.0', 'if-none-match': reply.headers.etag! })
    assert.deepEqual([again.status, again.text], [304, ''])
    for (const held of [`W/${reply.headers.etag}`, `"other", ${reply.headers.etag}`, '*'])
      assert.equal((await card({ 'a2a-version': '1.0', 'if-none-match': held })).status, 304, held)
    assert.equal((await card({ 'if-none-match': reply.headers.etag! })).status, 200)
    assert.equal((await card({ host: 'agents.example.com' })).json.url, 'http://agents.example.com/a2a')
  })

  it('is the same at the address of older protocols and below /a2a', async () => {
    for (const version of ['1.0', '0.3'])
      for (const path of ['/.well-known/agent.json', '/a2a/.well-known/agent-card.json']) {
        const headers = { 'a2a-version': version }
        const usual = await card(headers)
        const other = await service.ask('GET', path, { headers })
        assert.equal(other.text, usual.text)
        for (const name of ['etag', 'vary', 'cache-control', 'last-modified', 'content-type'])
          assert.equal(other.headers[name], usual.headers[name], name)
        const again = await service.ask('GET', path, { headers: { ...headers, 'if-none-match': usual.headers.etag! } })
        assert.equal(again.status, 304)
        const posted = await service.ask('POST', path, { json: {} })
        assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET, HEAD'])
      }
  })

  it('advertises X-API-Key alone', async () => {
    assert.deepEqual(Object.keys((await card({ 'a2a-version': '1.0' })).json.securitySchemes), ['apiKey'])
    assert.deepEqual(Object.keys((await card()).json.securitySchemes), ['apiKey'])
  })

  it('describes the project to callers with a key, in the pure form of their version', async () => {
    const v1 = (await card({ 'a2a-version': '1.0' })).json
    const extended = await agentOf(service, project, 'plain').result('card')
    assert.deepEqual({ ...extended, description: '' }, { ...v1, description: '' })
    assert.ok(extended.description.includes(project.id))
    const old = await agentOf(service, project, 'legacy').result('card')
    const { supportedInterfaces: _, ...pure } = (await card()).json
    assert.deepEqual({ ...old, description: '' }, { ...pure, description: '' })
  })

  it('names PUBLIC_URL where it is set, and asks for the mark where that is turned on', async () => {
    const node = await startService({ PUBLIC_URL: 'https://tidings.example.com/', A2A_TENANT_MARK: 'true' })
    const { json } = await node.ask('GET', '/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })
    assert.deepEqual(json.supportedInterfaces, [
      { url: 'https://tidings.example.com/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'a2a' }
    ])
  })
})
