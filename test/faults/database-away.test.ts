import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/db/open.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { Unavailable } from '../../src/platform/errors.ts'
import { asServer, migratedDatabase, testPool } from '../support/database.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { databaseProxy } from '../support/proxy.ts'
import { eventually, startService } from '../support/service.ts'

const proxied = await (async () => {
  const service = await startService()
  const proxy = await databaseProxy(service.databaseUrl)
  return { service, proxy, node: await service.another({ DATABASE_URL: proxy.url }) }
})()

describe('a database that fails while the service runs', () => {
  it('gives 503 with Retry-After and a failing /readyz everywhere, and the service recovers by itself', async () => {
    const { service, proxy, node } = proxied
    const project = await service.project({ limits: { requests_per_second: 0 } })
    const headers = { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey }
    const put = () =>
      node.ask('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { a: 1 } }, headers })
    const find = () => {
      const params = { name: 'find-user', arguments: { projectUserId: 'ana' } }
      const accept = 'application/json, text/event-stream'
      const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      return node.ask('POST', '/mcp', { json, headers: { accept, 'x-api-key': project.secretKey } })
    }
    assert.equal((await put()).status, 200)
    assert.equal((await find()).status, 200)
    assert.equal((await node.ask('GET', '/readyz')).status, 200)

    proxy.cut()
    await eventually(async () => assert.equal((await node.ask('GET', '/readyz')).status, 503))
    const calls = [
      put(),
      node.ask('PATCH', '/api/v1/users/ana', { json: { properties: { b: 1 } }, headers }),
      node.ask('DELETE', '/api/v1/users/ana', { headers }),
      node.ask('GET', '/api/v1/users/ana', { headers }),
      find(),
      node.ask('GET', '/readyz'),
      node.manage('GET', '/projects'),
      node.manage('POST', '/projects', { json: { name: 'x' } })
    ]
    for (const reply of await Promise.all(calls)) {
      assert.equal(reply.status, 503)
      assert.equal(reply.json.error, 'Service Unavailable')
      assert.match(String(reply.headers['retry-after']), /^\d+$/)
      assert.ok(reply.headers['x-request-id'])
    }
    assert.equal((await node.ask('GET', '/healthz')).status, 200, 'the process itself is well')
    const stranger = await node.ask('POST', '/api/v1/users', {})
    assert.equal(stranger.status, 401, 'what needs no database is answered as ever')

    proxy.mend()
    await eventually(async () => assert.equal((await node.ask('GET', '/readyz')).status, 200))
    await eventually(async () => assert.equal((await put()).status, 200))
    const fresh = await service.project()
    await eventually(async () => {
      const reply = await node.ask('GET', '/api/v1/users/x', {
        headers: { 'x-service-project-id': fresh.id, 'x-service-api-key': fresh.secretKey }
      })
      assert.equal(reply.status, 404)
    })
  })
})

describe('a database that is away at the start', () => {
  it('is waited for with a message, and then the service starts', async (t) => {
    const { url } = await migratedDatabase(t)
    const proxy = await databaseProxy(url)
    proxy.cut()
    const program = startProgram(t, { DATA_DIR: await temporaryFolder(t), DATABASE_URL: proxy.url })
    await eventually(() => assert.match(program.stdout(), /Waiting for PostgreSQL at 127\.0\.0\.1/))
    proxy.mend()
    await program.ready
    assert.ok(!program.stdout().includes('tidings:tidings@'), 'the password is not printed')
    // The program stops before the proxy to the database is closed, because its stop sends messages to the database.
    program.child.kill('SIGTERM')
    await program.exited
  })

  it('ends the start with a clear message after a time', async () => {
    const said: string[] = []
    const config = { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/none', DATA_DIR: '/nowhere' }
    await assert.rejects(
      openDatabase(config, (line) => void said.push(line), { patienceMs: 2_500 }),
      (error: Error) => {
        assert.match(error.message, /PostgreSQL at 127\.0\.0\.1:1\/none did not answer within 2\.5 s.*DATABASE_URL/)
        assert.ok(!error.message.includes('secret'))
        return true
      }
    )
    assert.ok(said.length >= 1 && said.every((line) => !line.includes('secret')))
  })
})

describe('a connection that breaks during a transaction', () => {
  it('fails that transaction and not the process', async (t) => {
    const pool = await testPool(t)
    const pid = statement('test.pid', 'select pg_backend_pid() as pid')
    await assert.rejects(
      pool.transaction(async (tx) => {
        const { pid: backend } = (await tx.one<{ pid: number }>(pid))!
        await asServer((client) => client.query('select pg_terminate_backend($1)', [backend]))
        await new Promise((resolve) => setTimeout(resolve, 200))
        await tx.one(pid)
      }),
      Unavailable
    )
    assert.ok(await pool.one(pid), 'the pool goes on')
  })
})
