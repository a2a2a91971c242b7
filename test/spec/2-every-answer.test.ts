import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { askRaw } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.project()

describe('every answer (A.2)', () => {
  it('carries X-Request-ID: a valid one of the caller, else a new UUIDv7', async () => {
    const id = async (given?: string) =>
      (await service.ask('GET', '/healthz', { headers: { 'x-request-id': given } })).headers['x-request-id']
    assert.equal(await id('trace-1/2'), 'trace-1/2')
    assert.equal(await id('x'.repeat(128)), 'x'.repeat(128))
    for (const bad of [undefined, '', 'with space', 'x'.repeat(129), 'caf\xe9']) {
      assert.match(String(await id(bad)), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
  })

  it('to an unknown path is 404 {"error":"Not Found"}, without authentication', async () => {
    for (const path of [
      '/nowhere',
      '/api/v1',
      '/api/v1/',
      '/api/v1/user',
      '/api/v1/users/a/b',
      '/api/v2/users',
      '/%zz',
      '/api/v1/users//a/',
      '//',
      '/manage',
      '/manage/v1/projects/x/api/v1/nothing'
    ]) {
      const reply = await service.ask('GET', path)
      assert.deepEqual([reply.status, reply.text], [404, '{"error":"Not Found"}'], path)
      assert.ok(reply.headers['x-request-id'])
    }
  })

  it('to an unknown path or method does not depend on the body', async () => {
    for (const [method, path, status] of [
      ['POST', '/nowhere', 404],
      ['POST', '/api/v1/users%', 404],
      ['PUT', '/api/v1/users', 405]
    ] as const) {
      for (const body of ['{broken', 'x'.repeat(11 * 1024 * 1024)]) {
        assert.equal(
          (await service.ask(method, path, { body, headers: { 'content-type': 'application/json' } })).status,
          status
        )
      }
    }
  })

  it('to a wrong method on a known path is 405 with Allow, without authentication', async () => {
    for (const [method, path, allow] of [
      ['GET', '/api/v1/users', 'DELETE, PATCH, POST'],
      ['PUT', '/api/v1/users/ana', 'DELETE, GET, HEAD, PATCH'],
      ['POST', '/api/v1/users/%zz', 'DELETE, GET, HEAD, PATCH'],
      ['GET', '/api/v1/users:batch', 'POST'],
      ['GET', '/api/v1/triggers/x:cancel', 'POST'],
      ['HEAD', '/api/v1/triggers/x:cancel?y=/', 'POST'],
      ['GET', '/api/v1/campaigns/news:trigger', 'POST'],
      ['DELETE', '/manage/v1/projects/demo/campaigns/news:test', 'POST'],
      ['GET', '/manage/v1/projects/demo/api/v1/triggers/x:cancel', 'POST'],
      ['POST', '/healthz', 'GET, HEAD'],
      ['PROPFIND', '/healthz', 'GET, HEAD'],
      ['OPTIONS', '/api/v1/users/ana?x=1', 'DELETE, GET, HEAD, PATCH'],
      ['DELETE', '/manage/v1/projects', 'GET, HEAD, POST'],
      ['PUT', '/manage/v1/projects/demo/api/v1/users/ana', 'DELETE, GET, HEAD, PATCH']
    ] as const) {
      const reply = await service.ask(method, path)
      assert.deepEqual([reply.status, reply.headers.allow], [405, allow], `${method} ${path}`)
      if (method !== 'HEAD') assert.equal(reply.json.error, `Method Not Allowed: this path takes ${allow}.`)
      assert.ok(reply.headers['x-request-id'])
    }
  })

  it('to a path or an action with a typing error names the one that is meant', async () => {
    for (const [method, path, hint] of [
      ['POST', '/api/v1/user', 'Did you mean /api/v1/users?'],
      ['GET', '/manage/v1/dead-job/7', undefined],
      ['POST', '/v1/users?x=1', 'Did you mean /api/v1/users?'],
      ['POST', '/api/v1/message:send', 'Did you mean /api/v1/messages:send?'],
      ['POST', '/api/v1/users:bach', 'Did you mean /api/v1/users:batch?'],
      ['GET', '/manage/v1/projects/demo/segment/x', 'Did you mean /manage/v1/projects/demo/segments/x?'],
      ['POST', '/api/v1/campaigns/news:triger', 'Did you mean /api/v1/campaigns/news:trigger?'],
      ['POST', '/api/v1/triggers/a%20b:cancle', 'Did you mean /api/v1/triggers/a%20b:cancel?'],
      ['POST', '/api/v1/campaigns/news:send', 'There is no ":send" here, but ":preview", ":trigger".'],
      ['GET', '/api/v1/campaigns/news:trigger', undefined],
      ['GET', '/nowhere', undefined],
      ['POST', `/api/v1/user/${'a'.repeat(200)}`, undefined]
    ] as const) {
      const reply = await service.ask(method, path)
      assert.equal(reply.headers['x-service-error-detail'], hint, path)
      if (reply.status === 404) assert.equal(reply.text, '{"error":"Not Found"}')
      else assert.ok(reply.json.error.endsWith(hint ?? 'POST.'), reply.text)
    }
  })

  it('to an id that ends like a verb, with its colon escaped, is that of the id', async () => {
    const reply = await service.manage('GET', `/projects/${project.id}/campaigns/news%3Atest`)
    assert.deepEqual([reply.status, reply.json.code], [404, 'not_found'])
    assert.equal((await service.ask('GET', '/api/v1/triggers/x%3Acancel')).status, 401)
  })

  it('of an authenticated call shows the limits', async () => {
    for (const reply of [
      await project.call('GET', '/api/v1/users/x'),
      await project.call('POST', '/api/v1/users', { body: '{' }),
      await service.manage('GET', '/projects')
    ]) {
      assert.match(String(reply.headers['x-ratelimit-limit']), /^\d+$/)
      assert.match(String(reply.headers['x-ratelimit-remaining']), /^\d+$/)
      assert.match(String(reply.headers['x-ratelimit-reset']), /^\d+$/)
    }
  })

  it('to additive endpoints is a JSON error with code and details', async () => {
    const wrongType = await project.call('POST', '/api/v1/users:batch', {
      body: '{}',
      headers: { 'content-type': 'text/plain' }
    })
    assert.deepEqual([wrongType.status, wrongType.json.code], [415, 'unsupported_media_type'])
    const wrongShape = await project.call('POST', '/api/v1/users:batch', { json: { users: 'x' } })
    assert.equal(wrongShape.status, 400)
    assert.deepEqual(wrongShape.json.details[0].path, 'users')
    const missing = await project.call('GET', '/api/v1/users/nobody')
    assert.deepEqual([missing.status, missing.json.code], [404, 'not_found'])
  })

  it('to bytes that are not HTTP, or to headers that are too large, is an error with a request id, and the service goes on', async () => {
    const bad: [string, RegExp][] = [
      ['garbage\r\n\r\n', /^HTTP\/1\.1 400 /],
      ['GET / HTTP/9.9\r\n\r\n', /^HTTP\/1\.1 (400|505) /],
      [`GET / HTTP/1.1\r\nHost: x\r\n${`X-Flood: ${'y'.repeat(1000)}\r\n`.repeat(40)}\r\n`, /^HTTP\/1\.1 431 /],
      [`GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, /^HTTP\/1\.1 431 /],
      ['POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', /^HTTP\/1\.1 400 /],
      [
        'POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
        /^HTTP\/1\.1 400 /
      ],
      ['GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 400 .*"The header Host must be given\."/s],
      ['GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders\r\n\r\n', /^HTTP\/1\.1 200 /]
    ]
    for (const [bytes, expected] of bad) {
      const text = await askRaw(service.url, bytes)
      assert.match(text, expected, JSON.stringify(bytes.slice(0, 40)))
      assert.match(text, /x-request-id: [0-9a-f-]{36}/i)
    }
    assert.equal((await service.ask('GET', '/healthz')).status, 200)
  })

  it('a body that ends early changes nothing and leaves the service well', async () => {
    const head = `POST /api/v1/users HTTP/1.1\r\nHost: x\r\nX-Service-Project-ID: ${project.id}\r\nX-Service-API-Key: ${project.secretKey}\r\nContent-Type: application/json\r\n`
    await askRaw(service.url, `${head}Content-Length: 100\r\n\r\n{"project_user_id":"cut"`, 100)
    await askRaw(service.url, `${head}Transfer-Encoding: chunked\r\n\r\n19\r\n{"project_user_id":"cut"}\r\n`, 100)
    assert.equal((await project.call('GET', '/api/v1/users/cut')).status, 404)
  })

  it('hundreds of headers are borne', async () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`x-${index}`, 'v']))
    assert.equal(
      (await project.call('POST', '/api/v1/users', { json: { project_user_id: 'h' }, headers: many })).status,
      200
    )
  })
})

describe('a body', () => {
  const send = (path: string, body: string) =>
    service.manage('PUT', `/projects/${project.id}${path}`, { body, headers: { 'content-type': 'application/json' } })

  it('of more levels than anything real has is refused, wherever they are', async () => {
    for (const levels of [300, 100_000]) {
      const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`
      const body = `{"name":"Deep","message":{"title":"x","unknown":${deep}}}`
      const reply = await send('/campaigns/deep', body)
      assert.deepEqual([reply.status, reply.json.code], [400, 'malformed_body'])
    }
  })

  it('with as many brackets in a text is as good as any', async () => {
    const title = '[{'.repeat(1_000)
    const reply = await send('/campaigns/brackets', JSON.stringify({ name: 'Brackets', message: { title } }))
    assert.deepEqual([reply.status, reply.json.message?.title], [200, title])
  })
})

describe('health', () => {
  it('needs no key', async () => {
    assert.deepEqual((await service.ask('GET', '/healthz')).json, { status: 'ok' })
    const { version, commit, schema, node } = (await service.ask('GET', '/version')).json
    assert.match(`${version} ${commit} ${schema} ${node}`, /^\d+\.\d+\.\d+\S* ([0-9a-f]{40}|null) \d+ \d+\.\d+\.\d+$/)
    assert.deepEqual((await service.ask('GET', '/readyz')).json, { status: 'ready' })
    assert.deepEqual((await service.ask('GET', '/api/v1/health')).json, { msg: 'ok' })
  })

  it('has metrics for this machine, by route and never by id', async () => {
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'private-id-77' } })
    await project.call('PATCH', '/api/v1/users/private-id-77', { json: { properties: { a: 1 } } })
    const { status, text } = await service.ask('GET', '/metrics')
    assert.equal(status, 200)
    assert.match(
      text,
      /tidings_http_requests_total\{method="PATCH",route="\/api\/v1\/users\/:project_user_id",status="200"\} 1/
    )
    assert.match(text, /tidings_http_request_duration_seconds_bucket/)
    assert.match(text, /tidings_coalesced_writes_count\{kind="users"\} \d+/)
    assert.match(text, /tidings_database_connections\{state="idle"\} \d+/)
    assert.match(text, /tidings_jobs\{state="dead"\} 0/)
    assert.match(text, /tidings_jobs\{state="later"\} [1-9]/, 'the work that comes round')
    assert.match(text, /nodejs_eventloop_lag_seconds/)
    assert.ok(!text.includes('private-id-77') && !text.includes(project.secretKey))
  })

  it('gives metrics to others only by METRICS_TOKEN', async () => {
    const node = await service.another({ METRICS_TOKEN: 'let-me-in' })
    assert.equal((await node.ask('GET', '/metrics')).status, 403)
    assert.equal((await node.ask('GET', '/metrics', { headers: { authorization: 'Bearer wrong' } })).status, 403)
    assert.equal((await node.ask('GET', '/metrics', { headers: { authorization: 'Bearer let-me-in' } })).status, 200)
  })
})
