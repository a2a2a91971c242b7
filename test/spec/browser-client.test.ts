import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()
const site = { origin: 'https://shop.example.com' }

describe('the scripts of the browser client', () => {
  for (const name of ['tidings.js', 'tidings-simulated.js', 'tidings-sw.js']) {
    it(`/sdk/${name} is JavaScript without types, for pages of any site, and is answered 304 when unchanged`, async () => {
      const reply = await service.ask('GET', `/sdk/${name}`, { headers: site })
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['content-type'], 'text/javascript; charset=utf-8')
      assert.equal(reply.headers['access-control-allow-origin'], '*')
      assert.match(String(reply.headers['cache-control']), /^public, max-age=\d+$/)
      assert.doesNotMatch(reply.text, /\binterface \w+ \{|: Promise</)
      assert.doesNotMatch(reply.text, /\bimport\b.*\bfrom\b|\brequire\(/)
      const again = await service.ask('GET', `/sdk/${name}`, { headers: { 'if-none-match': reply.headers.etag! } })
      assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', reply.headers.etag])
    })
  }

  it('the page part is a module that offers createTidings', async () => {
    const { text } = await service.ask('GET', '/sdk/tidings.js')
    const module = await import(`data:text/javascript,${encodeURIComponent(text)}`)
    assert.deepEqual(Object.keys(module).sort(), ['TidingsError', 'createInbox', 'createTidings'])
  })
})

describe('pages of other sites', () => {
  const asks = (method: string) => ({
    ...site,
    'access-control-request-method': method,
    'access-control-request-headers': 'content-type,x-service-api-key,x-service-project-id'
  })

  it('may ask without a key whether they may call what apps call', async () => {
    for (const [path, methods] of [
      ['/devices', ['POST']],
      ['/devices/phone/user/project-user-id', ['POST', 'DELETE']],
      ['/devices/phone/user/properties', ['POST', 'DELETE']],
      ['/devices/phone/preferences', ['GET', 'PATCH']],
      ['/devices/phone/live-activity-start-tokens', ['POST']],
      ['/events', ['POST']],
      ['/web-push/public-key', ['GET']]
    ] as const) {
      const reply = await service.ask('OPTIONS', `/api/v1${path}`, { headers: asks(methods[0]) })
      assert.deepEqual([reply.status, reply.text], [204, ''], path)
      assert.equal(reply.headers['access-control-allow-origin'], '*')
      assert.deepEqual(String(reply.headers['access-control-allow-methods']).split(', '), [...methods])
      const allowed = String(reply.headers['access-control-allow-headers']).toLowerCase().split(', ')
      for (const name of ['content-type', 'x-service-api-key', 'x-service-project-id', 'x-service-user-token'])
        assert.ok(allowed.includes(name))
      assert.ok(reply.headers['x-request-id'])
    }
  })

  it('can read answers and refusals of what apps call', async () => {
    const { id, publicKey } = await service.project()
    const headers = { ...site, 'x-service-project-id': id, 'x-service-api-key': publicKey }
    const body = { devices: [{ id: 'browser', platform: 'WEB' }] }
    const good = await service.ask('POST', '/api/v1/devices', { headers, json: body })
    assert.deepEqual([good.status, good.headers['access-control-allow-origin']], [200, '*'])
    assert.match(String(good.headers['access-control-expose-headers']), /Retry-After.*X-Service-Error-Code/)
    for (const [changed, json, status] of [
      [{ 'x-service-api-key': 'svc_pk_wrong' }, body, 401],
      [{}, { devices: 'x' }, 400]
    ] as const) {
      const bad = await service.ask('POST', '/api/v1/devices', { headers: { ...headers, ...changed }, json })
      assert.deepEqual([bad.status, bad.headers['access-control-allow-origin']], [status, '*'])
    }
  })

  it('may call nothing that wants a secret key or a token', async () => {
    const { id, secretKey } = await service.project()
    const users = await service.ask('OPTIONS', '/api/v1/users', { headers: asks('POST') })
    assert.deepEqual([users.status, users.headers['access-control-allow-origin']], [405, undefined])
    const manage = await service.ask('OPTIONS', `/manage/v1/projects/${id}/api/v1/devices`, { headers: asks('POST') })
    assert.deepEqual([manage.status, manage.headers['access-control-allow-origin']], [405, undefined])
    const headers = { ...site, 'x-service-project-id': id, 'x-service-api-key': secretKey }
    const read = await service.ask('GET', '/api/v1/users/nobody', { headers })
    assert.deepEqual([read.status, read.headers['access-control-allow-origin']], [404, undefined])
  })
})

describe('GET /api/v1/web-push/public-key', () => {
  it('answers the key of a simulated project to a public key, and says so where there is none', async () => {
    const simulated = await service.project({ mode: 'simulator' })
    const headers = { 'x-service-api-key': simulated.publicKey }
    const reply = await simulated.call('GET', '/api/v1/web-push/public-key', { headers })
    assert.equal(reply.status, 200)
    const point = Buffer.from(reply.json.public_key, 'base64url')
    assert.deepEqual([point.length, point[0]], [65, 4])
    assert.deepEqual((await simulated.call('GET', '/api/v1/web-push/public-key')).json, reply.json)
    const live = await (await service.project()).call('GET', '/api/v1/web-push/public-key')
    assert.deepEqual([live.status, live.json.code], [404, 'not_found'])
    assert.equal((await service.ask('GET', '/api/v1/web-push/public-key')).status, 401)
  })
})

describe('the simulated push service for browsers', () => {
  const asApp = (project: TestProject, method: string, path: string) =>
    service.ask(method, `/api/v1/web-push${path}`, {
      headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.publicKey }
    })

  it('gives a browser a subscription, and the pushes that it accepted for it, in order', async () => {
    const project = await service.project({ mode: 'simulator' })
    const subscription = (await asApp(project, 'POST', '/simulated-subscriptions')).json
    const device = { id: 'browser', platform: 'WEB', push_token: subscription, push_token_type: 'WEBPUSH' }
    await project.call('POST', '/api/v1/devices', { json: { devices: [device] } })
    const { after } = (await asApp(project, 'GET', '/simulated-pushes?device_id=browser')).json
    const push_notifications = ['One', 'Two'].map((title) => ({ target: { device_id: 'browser' }, title }))
    for (const one of push_notifications)
      await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [one] } })
    const found = await eventually(async () => {
      const { json } = await asApp(project, 'GET', `/simulated-pushes?device_id=browser&after=${after}`)
      assert.equal(json.items.length, 2)
      return json
    })
    assert.deepEqual(
      found.items.map(({ payload }: Json) => payload.title),
      ['One', 'Two']
    )
    const rest = (await asApp(project, 'GET', `/simulated-pushes?device_id=browser&after=${found.after}`)).json
    assert.deepEqual(rest, { items: [], after: found.after })
    const other = (await asApp(project, 'GET', `/simulated-pushes?device_id=other&after=${after}`)).json
    assert.deepEqual(other.items, [])
  })

  it('does not exist in a live project, and shows nothing of another one', async () => {
    const [live, simulated] = [await service.project(), await service.project({ mode: 'simulator' })]
    for (const [method, path] of [
      ['POST', '/simulated-subscriptions'],
      ['GET', '/simulated-pushes?device_id=browser']
    ] as const) {
      const reply = await asApp(live, method, path)
      assert.equal(reply.json.code, 'project_is_live', reply.text)
      const crossed = await asApp({ ...simulated, id: live.id }, method, path)
      assert.equal(crossed.status, 401)
    }
    const bad = await asApp(simulated, 'GET', '/simulated-pushes?device_id=browser&after=x')
    assert.equal(bad.status, 400)
  })
})
