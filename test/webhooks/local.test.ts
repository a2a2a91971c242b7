import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { type Resolve, refuseAddress, refuseUrl } from '../../src/platform/net/guard.ts'
import { createCaller } from '../../src/webhooks/caller.ts'
import { agentOf } from '../a2a/agent.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually, startService, type TestProject, type TestService } from '../support/service.ts'

const receiver = await startReceiver({ secure: false })
after(receiver.close)
const leadsTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

describe('B.9: the guard, where this machine may be called', () => {
  it('lets loopback addresses and names pass, by http too', () => {
    for (const url of [
      'http://127.0.0.1:9999/a',
      'http://127.8.8.8:3000/',
      'http://localhost/',
      'http://localhost:3000/',
      'http://app.localhost.:3000/',
      'http://[::1]:8080/',
      'https://127.0.0.1:8443/',
      'https://localhost/',
      'https://example.com/'
    ])
      assert.equal(refuseUrl(url, 'loopback'), null, url)
  })

  it('refuses all else that is private, and http to all else', async () => {
    for (const url of [
      'http://example.com/',
      'http://localhost.example.com/',
      'http://10.0.0.1/',
      'https://192.168.0.1/',
      'https://169.254.169.254/',
      'http://0.0.0.0:8080/',
      'http://[::]:8080/',
      'http://[::ffff:127.0.0.1]:8080/',
      'https://[::ffff:127.0.0.1]/',
      'http://127.0.0.1:22/',
      'http://user@127.0.0.1/',
      'https://printer.local/',
      'http://metadata/'
    ]) {
      assert.notEqual(refuseUrl(url, 'loopback'), null, url)
      assert.notEqual(await refuseAddress(url, 'loopback', leadsTo('127.0.0.1')), null, url)
    }
  })

  it('checks the address that a name resolves to: loopback or public by https, loopback alone by http', async () => {
    const refused = async (url: string, ...addresses: string[]) =>
      (await refuseAddress(url, 'loopback', leadsTo(...addresses))) !== null
    assert.equal(await refused('http://localhost/', '127.0.0.1', '::1'), false)
    for (const address of ['8.8.8.8', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1'])
      assert.equal(await refused('http://localhost/', '127.0.0.1', address), true, address)
    assert.equal(await refused('https://hook.example/', '127.0.0.1'), false)
    assert.equal(await refused('https://hook.example/', '127.0.0.1', '10.0.0.1'), true)
  })

  it('checks again at the connection, and keeps its connections from calls that may not go there', async () => {
    const tls = await startReceiver()
    let address = '127.0.0.1'
    const resolve: Resolve = async () => [{ address, family: 4 }]
    const caller = createCaller({ allowPrivate: false, ca: tls.ca, resolve })
    const call = (url: string, mayBeLocal: boolean) =>
      caller.call({ url, headers: {}, signature: {}, body: '{}', mayBeLocal })
    const named = `https://hook.example:${tls.port}/`
    assert.equal((await call(named, true)).status, 204)
    assert.match((await call(named, false)).error!, /not a public address/, 'though a connection is open')
    assert.match((await call(receiver.url, false)).error!, /must begin with https/)
    address = '10.0.0.1'
    assert.match((await call(`http://localhost:${receiver.port}/`, true)).error!, /not a public address/)
    address = '8.8.8.8'
    assert.match((await call(`http://localhost:${receiver.port}/`, true)).error!, /not a public address/)
    assert.equal(tls.received.length, 1)
    caller.close()
    await tls.close()
  })
})

describe('B.9: local receivers of a service', async () => {
  const service = await startService()
  const hook = `${receiver.url}/hook`
  const register = async (node: TestService, { id }: TestProject, url = hook) =>
    node.manage('POST', `/projects/${id}/webhooks`, { json: { url, events: ['message.failed'] } })
  const arrived = (path: string) => receiver.received.filter((one) => one.path === path)
  const task = (node: TestService, project: TestProject, url: string) => {
    const agent = agentOf(node, project, 'plain')
    const message = agent.message({ skill: 'create-user', projectUserId: 'ana' })
    return agent.call('send', { message, configuration: { taskPushNotificationConfig: { url } } })
  }

  it('are called by projects in simulator mode, and no longer once these are live', async () => {
    const project = await service.project({ mode: 'simulator' })
    const made = await register(service, project)
    assert.equal(made.status, 201, made.text)
    const path = `/projects/${project.id}/webhooks/${made.json.id}`
    await service.manage('POST', `${path}:test`)
    await eventually(() => assert.equal(arrived('/hook').length, 1))
    assert.equal((await task(service, project, `${receiver.url}/task`)).status, 200)
    await eventually(() => assert.ok(arrived('/task').length >= 2))

    await service.manage('PATCH', `/projects/${project.id}`, { json: { mode: 'live' } })
    const { delivery_id } = (await service.manage('POST', `${path}:test`)).json
    await eventually(async () => {
      const { items } = (await service.manage('GET', `/projects/${project.id}/webhook-deliveries`)).json
      const [call] = items.filter(({ id }: { id: string }) => id === delivery_id)
      assert.match(call.last_error, /must begin with https/)
    })
    assert.equal(arrived('/hook').length, 1)
    assert.equal((await register(service, project)).status, 400)
    const changed = await service.manage('PATCH', path, { json: { url: `${hook}/2` } })
    assert.deepEqual([changed.status, changed.json.details[0].path], [400, 'url'])
    assert.equal((await task(service, project, hook)).json.error.code, -32602)
  })

  it('are refused to live projects, and other private addresses to all', async () => {
    assert.equal((await register(service, await service.project())).status, 400)
    const project = await service.project({ mode: 'simulator' })
    for (const url of ['http://10.0.0.1/', 'https://169.254.169.254/', 'http://example.com/']) {
      const reply = await register(service, project, url)
      assert.equal(reply.status, 400, url)
      assert.match(reply.json.error, /WEBHOOK_ALLOW_PRIVATE/)
      const refused = (await task(service, project, url)).json.error
      assert.equal(refused.code, -32602)
      assert.match(refused.message, /WEBHOOK_ALLOW_PRIVATE/)
    }
  })

  for (const [name, value] of [
    ['PUBLIC_URL', 'https://tidings.example'],
    ['TRUST_PROXY', 'true'],
    ['WEBHOOK_ALLOW_PRIVATE', 'false']
  ] as const)
    it(`are refused where ${name}=${value}`, async () => {
      const node = await service.another({ [name]: value })
      const project = await service.project({ mode: 'simulator' })
      assert.equal((await register(node, project)).status, 400)
      assert.equal((await task(node, project, hook)).json.error.code, -32602)
      await node.close()
    })
})
