// nginx and HAProxy with the files of deploy/, both in front of the same two nodes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { httpsAsk, httpsStream, installation } from './installation.ts'
import { clients } from './load.ts'

test('nginx and HAProxy in front of two nodes', { timeout: 120_000 }, async (t) => {
  const made = await installation(t)

  for (const proxy of ['nginx', 'haproxy'] as const) {
    const call = (method: string, path: string, asked: Parameters<typeof httpsAsk>[3] = {}) =>
      httpsAsk(made.urls[proxy], method, path, { ...asked, headers: { ...made.keys, ...asked.headers } })

    await t.test(`${proxy} leads plain HTTP to HTTPS`, async () => {
      const reply = await fetch(`${made.plain[proxy]}/api/v1/health?a=1`, { redirect: 'manual' })
      assert.equal(reply.status, 308)
      assert.match(reply.headers.get('location') ?? '', /^https:\/\/127\.0\.0\.1(:\d+)?\/api\/v1\/health\?a=1$/)
    })

    await t.test(`${proxy} passes on an id with a slash as it is`, async () => {
      const json = { project_user_id: 'a/b', properties: { a: 1 } }
      assert.equal((await call('POST', '/api/v1/users', { json })).status, 200)
      assert.deepEqual((await call('GET', '/api/v1/users/a%2Fb')).json, { properties: { a: 1 } })
    })

    await t.test(`${proxy} leaves limits of bodies to the service`, async () => {
      for (const [mebibytes, status] of [
        [9, 400],
        [11, 413]
      ] as const) {
        const body = JSON.stringify({ users: 'x'.repeat(mebibytes * 1024 * 1024) })
        const reply = await call('POST', '/api/v1/users:batch', { body })
        assert.equal(reply.status, status)
        assert.ok(reply.headers['x-request-id'], 'the service itself refuses it')
      }
    })

    await t.test(`${proxy} names the address of the client, and not one that the client invents`, async () => {
      const headers = { 'x-forwarded-for': '203.0.113.9', 'user-agent': `${proxy} test` }
      const signIn = await call('POST', '/console/session', {
        json: { token: made.adminToken },
        headers,
        localAddress: '127.0.0.2'
      })
      assert.equal(signIn.status, 200, signIn.text)
      assert.match(String(signIn.headers['set-cookie']), /; Secure/)
      assert.equal(await made.addressOf(`${proxy} test`), '127.0.0.2')
    })

    await t.test(`${proxy} keeps health and metrics for your own network`, async () => {
      for (const path of ['/metrics', '/readyz']) assert.equal((await call('GET', path)).status, 404)
      assert.equal((await call('GET', '/api/v1/health')).status, 200)
    })

    await t.test(`${proxy} passes events of a stream on as they come`, async () => {
      const stream = await httpsStream(made.urls[proxy], 'GET', `/manage/v1/projects/${made.projectId}/changes`, {
        headers: { authorization: `Bearer ${made.adminToken}` }
      })
      await eventually(() => assert.notEqual(stream.text(), ''))
      const before = stream.text().length
      await call('POST', '/api/v1/users', { json: { project_user_id: `streamed-${proxy}`, properties: {} } })
      await eventually(() => assert.match(stream.text().slice(before), /data: .*users/))
      stream.end()
    })

    await t.test(`${proxy} passes the stream of an agent on`, async () => {
      const stream = await httpsStream(made.urls[proxy], 'POST', '/a2a', {
        headers: { 'x-api-key': made.keys['x-service-api-key'], 'a2a-version': '1.0' },
        json: {
          jsonrpc: '2.0',
          id: 1,
          method: 'SendStreamingMessage',
          params: {
            message: {
              messageId: `deploy-${proxy}`,
              role: 'user',
              parts: [{ data: { skill: 'create-user', projectUserId: `of-agent-${proxy}` } }]
            }
          }
        }
      })
      await eventually(() => assert.match(stream.text(), /"state":"(TASK_STATE_COMPLETED|completed)"/))
      stream.end()
    })
  }

  await t.test(
    'a rolling restart fails no request through either proxy, and loses no user that was acknowledged',
    async () => {
      const load = clients(made)
      for (const node of [0, 1] as const) {
        await made.takeOut(node)
        await made.restart(node)
        await made.putBack(node)
      }
      const { asked, failures, acknowledged } = await load.stop()
      t.diagnostic(`${asked} requests, ${failures.length} failed`)
      assert.deepEqual(failures, [])
      assert.ok(asked > 100, `only ${asked} requests`)
      const stored = await made.users()
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        []
      )
    }
  )
})
