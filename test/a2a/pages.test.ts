import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService } from '../support/service.ts'

const page = 'https://console.example.com'
const service = await startService({ A2A_ORIGINS: `${page},http://localhost:5173` })
const project = await service.project()
const paths = [
  ['POST', '/a2a'],
  ['POST', '/a2a/'],
  ['POST', '/mcp'],
  ['GET', '/.well-known/agent-card.json'],
  ['GET', '/.well-known/agent.json'],
  ['GET', '/a2a/.well-known/agent-card.json']
] as const
const asks = (origin: string, method: string) => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'content-type,x-api-key,a2a-version'
})

describe('pages of other sites', () => {
  it('of a listed origin are told what they may send, without a key', async () => {
    for (const [method, path] of paths)
      for (const origin of [page, 'http://localhost:5173']) {
        const { status, text, headers } = await service.ask('OPTIONS', path, { headers: asks(origin, method) })
        assert.deepEqual([status, text], [204, ''], path)
        assert.equal(headers['access-control-allow-origin'], origin)
        assert.equal(headers['access-control-allow-methods'], method)
        assert.equal(headers['access-control-allow-credentials'], undefined)
        assert.equal(headers.vary, 'Origin')
        for (const name of ['Content-Type', 'X-API-Key', 'Authorization', 'A2A-Version'])
          assert.ok(headers['access-control-allow-headers']!.split(', ').includes(name), name)
      }
  })

  it('of a listed origin read results, refusals and cards', async () => {
    const call = (headers: Record<string, string>) =>
      service.ask('POST', '/a2a', {
        json: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} },
        headers: { origin: page, 'a2a-version': '1.0', ...headers }
      })
    const replies = [
      await call({ 'x-api-key': project.secretKey }),
      await call({}),
      await service.ask('GET', '/.well-known/agent-card.json', { headers: { origin: page } })
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 401, 200]
    )
    for (const { headers } of replies) {
      assert.equal(headers['access-control-allow-origin'], page)
      assert.match(headers['access-control-expose-headers']!, /X-Request-ID.*Retry-After/)
      assert.match(headers.vary!, /^Origin\b/)
    }
    assert.equal(replies[2]!.headers.vary, 'Origin, A2A-Version, Host')
  })

  it('of other origins are told nothing, and neither are those that name none', async () => {
    for (const origin of ['https://evil.example', 'null', `${page}:8443`, 'http://console.example.com', undefined])
      for (const [method, path] of paths) {
        const headers = { ...asks('', method), origin, 'x-api-key': project.secretKey }
        for (const reply of [
          await service.ask('OPTIONS', path, { headers }),
          await service.ask(method, path, { headers })
        ]) {
          assert.equal(reply.headers['access-control-allow-origin'], undefined)
          assert.match(reply.headers.vary!, /^Origin\b/)
        }
      }
  })

  it('may not call at all unless A2A_ORIGINS lists origins', async () => {
    const closed = await service.another({ A2A_ORIGINS: '' })
    for (const [method, path] of paths) {
      const asked = await closed.ask('OPTIONS', path, { headers: asks(page, method) })
      assert.equal(asked.status, 405, path)
      const reply = await closed.ask(method, path, { headers: { origin: page } })
      assert.equal(reply.headers['access-control-allow-origin'], undefined)
      assert.doesNotMatch(reply.headers.vary ?? '', /Origin/)
    }
    await closed.close()
  })

  it('may not use a management token from there', async () => {
    const path = `/manage/v1/projects/${project.id}/a2a`
    assert.equal((await service.ask('OPTIONS', path, { headers: asks(page, 'POST') })).status, 405)
  })
})
