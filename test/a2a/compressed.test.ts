import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.project()
const limit = 10 * 1024 * 1024

const post = (body: Buffer, encoding: string, headers: Record<string, string> = {}) =>
  service.ask('POST', '/a2a', {
    body,
    headers: {
      'x-api-key': project.secretKey,
      'a2a-version': '1.0',
      'content-type': 'application/json',
      'content-encoding': encoding,
      ...headers
    }
  })
const call = (projectUserId: string, more = '') =>
  Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: {
        message: { messageId: projectUserId, parts: [{ data: { skill: 'create-user', projectUserId } }] },
        more
      }
    })
  )
const stateOf = ({ json }: Awaited<ReturnType<typeof post>>) => json.result?.task.status.state

describe('a compressed call', () => {
  it('is read in gzip and deflate, and where the encoding is no encoding', async () => {
    assert.equal(stateOf(await post(gzipSync(call('a')), 'gzip')), 'completed')
    assert.equal(stateOf(await post(gzipSync(call('b')), ' GZIP ')), 'completed')
    assert.equal(stateOf(await post(gzipSync(call('c')), 'x-gzip')), 'completed')
    assert.equal(stateOf(await post(deflateSync(call('d')), 'deflate')), 'completed')
    assert.equal(stateOf(await post(call('e'), 'identity')), 'completed')
  })

  it('counts as the same message as its plain form', async () => {
    const first = await post(gzipSync(call('same')), 'gzip')
    const again = await post(call('same'), 'identity')
    assert.equal(again.json.result.task.id, first.json.result.task.id)
  })

  it('may be as large as a plain one when it is decompressed, and no larger', async () => {
    const fits = call('fits', 'x'.repeat(limit - call('fits').length))
    assert.equal(fits.length, limit)
    assert.equal(stateOf(await post(gzipSync(fits), 'gzip')), 'completed')
    const refused = await post(gzipSync(Buffer.concat([fits, Buffer.from(' ')])), 'gzip')
    assert.deepEqual([refused.status, refused.json.code], [413, 'body_too_large'])
  })

  it('that would become a gigabyte ends at the limit, in little time and memory', async () => {
    const member = gzipSync(Buffer.alloc(32 * 1024 * 1024, 'x'))
    const bomb = Buffer.concat(Array.from({ length: 32 }, () => member))
    assert.ok(bomb.length < limit / 8)
    const before = process.memoryUsage().rss
    const started = performance.now()
    const replies = await Promise.all(Array.from({ length: 4 }, () => post(bomb, 'gzip')))
    for (const { status, json } of replies)
      assert.deepEqual([status, json.error], [413, 'The body is larger than 10 MiB when it is decompressed.'])
    assert.ok(performance.now() - started < 5_000)
    assert.ok(process.memoryUsage().rss - before < 512 * 1024 * 1024)
  })

  it('that is broken, cut off or not compressed at all is not JSON', async () => {
    const whole = gzipSync(call('broken'))
    for (const body of [whole.subarray(0, whole.length / 2), call('broken'), Buffer.from('x')]) {
      const { status, json } = await post(body, 'gzip')
      assert.deepEqual([status, json.error?.code, json.id], [200, -32700, null])
    }
    assert.equal((await post(Buffer.alloc(0), 'gzip')).json.error.code, -32700)
  })

  it('in another encoding is refused with 415 and those that are taken', async () => {
    for (const [encoding, body] of [
      ['br', brotliCompressSync(call('other'))],
      ['zstd', call('other')],
      ['gzip, gzip', gzipSync(gzipSync(call('other')))],
      ['constructor', call('other')]
    ] as const) {
      const { status, json } = await post(body, encoding)
      assert.deepEqual([status, json.code], [415, 'unsupported_media_type'], encoding)
      assert.match(json.error, /gzip or deflate/)
    }
  })

  it('is not looked at before the key is', async () => {
    const { status, text } = await post(Buffer.from('x'), 'br', { 'x-api-key': 'svc_sk_wrong' })
    assert.deepEqual([status, text], [401, 'Invalid API key'])
  })
})

describe('compressed bodies of the other endpoints', () => {
  const users = (body: Buffer, encoding: string) =>
    project.call('POST', '/api/v1/users', {
      body,
      headers: { 'content-type': 'application/json', 'content-encoding': encoding }
    })

  it('are read, too', async () => {
    const body = Buffer.from(JSON.stringify({ project_user_id: 'zip', properties: { plan: 'gold' } }))
    assert.equal((await users(gzipSync(body), 'gzip')).status, 200)
    for (const [sent, encoding] of [
      [body, 'gzip'],
      [brotliCompressSync(body), 'br']
    ] as const) {
      const refused = await users(sent, encoding)
      assert.equal(refused.status, 400)
      assert.match(refused.headers['x-service-error-detail'] as string, /gzip/)
    }
  })

  it('take room for a few at once, also with the public key of an app, and all are served', async () => {
    const body = gzipSync(Buffer.from(`{"devices":[${' '.repeat(limit - 100)}]}`))
    const send = () =>
      service.ask('POST', '/api/v1/devices', {
        body,
        headers: {
          'x-service-project-id': project.id,
          'x-service-api-key': project.publicKey,
          'content-type': 'application/json',
          'content-encoding': 'gzip'
        }
      })
    const before = process.memoryUsage().rss
    const replies = await Promise.all(Array.from({ length: 12 }, send))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.ok(process.memoryUsage().rss - before < 512 * 1024 * 1024)
  })

  it('are read by MCP with the same limits', async () => {
    const mcp = (body: Buffer, encoding: string) =>
      service.ask('POST', '/mcp', {
        body,
        headers: {
          authorization: `Bearer ${project.secretKey}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'content-encoding': encoding
        }
      })
    const list = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
    const replies = [
      await mcp(gzipSync(list), 'gzip'),
      await mcp(list, 'gzip'),
      await mcp(list, 'br'),
      await mcp(gzipSync(Buffer.alloc(limit + 1, ' ')), 'gzip')
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 400, 415, 413]
    )
  })

  it('are not taken for lines of an import', async () => {
    const reply = await service.manage('POST', `/projects/${project.id}/users:import`, {
      body: gzipSync('{"project_user_id":"a"}\n'),
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' }
    })
    assert.deepEqual([reply.status, reply.json.code], [415, 'unsupported_media_type'])
  })
})
