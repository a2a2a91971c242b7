import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asApp, ios, link, lookInto, put } from '../support/devices.ts'
import fc from '../support/fuzz.ts'
import type { Json } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()
const { read, count } = lookInto(service)

describe('POST /api/v1/devices does it', () => {
  it('registers a device with all its fields, for an anonymous user', async () => {
    const project = await service.project()
    const sent = {
      id: 'phone',
      model: 'Pixel 9',
      manufacturer: 'Google',
      platform: 'DEVICE_PLATFORM_TYPE_ANDROID',
      os_name: 'Android',
      os_version: '15',
      app_name: 'Shop',
      app_version: '2.1.0',
      sdk_type: 'native',
      sdk_version: '1.0.0',
      ad_id: 'ad',
      locale_region: 'DE',
      locale_language: 'de',
      timezone: 'Europe/Berlin',
      is_push_permission_granted: true,
      push_token: 'token',
      push_token_type: 'FCM'
    }
    const { user_id, ...stored } = await put(project, sent)
    assert.match(user_id, /^[0-9a-f-]{36}$/)
    assert.deepEqual(stored, { ...sent, platform: 'ANDROID', push_environment: 'production', app_identifier: '' })
    const shown = await read(project, 'phone')
    assert.equal(shown.project_user_id, null)
    assert.equal(shown.user_id, user_id)
    assert.equal(shown.push.type, 'FCM')
    assert.ok(shown.last_seen_at && shown.push.registered_at)
  })

  it('answers every field, empty where there is nothing, as a strict SDK needs it', async () => {
    const project = await service.project()
    const { user_id, ...device } = await put(project, { id: 'bare', platform: 'Android', push_token: null })
    assert.ok(user_id)
    for (const [name, value] of Object.entries(device)) {
      if (name === 'app_version' || name === 'ad_id') assert.equal(value, null)
      else assert.notEqual(value, null, name)
    }
    assert.deepEqual([device.push_token, device.push_token_type, device.model], ['', '', ''])
    assert.equal(device.is_push_permission_granted, true, 'only a no is a no')
  })

  for (const [platform, expected] of [
    ['DEVICE_PLATFORM_TYPE_IOS', 'IOS'],
    ['DEVICE_PLATFORM_TYPE_ANDROID', 'ANDROID'],
    ['DEVICE_PLATFORM_TYPE_WEB', 'WEB'],
    ['iOS', 'IOS'],
    ['iPadOS', 'IOS'],
    ['Android', 'ANDROID'],
    ['web', 'WEB']
  ]) {
    it(`takes the platform ${platform} for ${expected}`, async () => {
      const project = await service.project()
      assert.equal((await put(project, { id: 'd', platform })).platform, expected)
    })
  }

  it('takes device_id for id, the system for the platform, and a type by the look of the token', async () => {
    const project = await service.project()
    assert.equal((await put(project, { device_id: 'd', os_name: 'iOS' })).platform, 'IOS')
    const typeOf = async (platform: string, push_token: unknown) =>
      (await put(project, { id: 'd', platform, push_token })).push_token_type
    assert.equal(await typeOf('iOS', 'A1B2'), 'APNS')
    assert.equal(await typeOf('iOS', 'dGs:APA91b'), 'FCM')
    assert.equal(await typeOf('Android', 'a1b2'), 'FCM')
    const subscription = { endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } }
    assert.equal(await typeOf('web', subscription), 'WEBPUSH')
    assert.equal(await typeOf('web', JSON.stringify(subscription)), 'WEBPUSH')
    assert.equal(await count('push_tokens', project), 1)
  })

  it('knows the app by its field, else by the header, and the environment by its names', async () => {
    const project = await service.project()
    const header = { 'x-service-app-identifier': 'com.example.header' }
    assert.equal((await put(project, ios, header)).app_identifier, 'com.example.header')
    const named = await put(project, { ...ios, app_identifier: 'com.example.app', push_environment: 'sandbox' }, header)
    assert.deepEqual([named.app_identifier, named.push_environment], ['com.example.app', 'sandbox'])
    assert.equal((await put(project, { ...ios, push_environment: 'development' })).push_environment, 'sandbox')
    assert.equal((await put(project, ios)).push_environment, 'production')
  })

  it('keeps absent fields, removes null ones, and stays with its user', async () => {
    const project = await service.project()
    const first = await put(project, { ...ios, model: 'iPhone', timezone: 'UTC', is_push_permission_granted: true })
    const second = await put(project, { id: 'phone', platform: 'iOS', timezone: null })
    assert.deepEqual(second, { ...first, timezone: '' })
    const third = await put(project, {
      id: 'phone',
      platform: 'iOS',
      is_push_permission_granted: false,
      push_token: ''
    })
    assert.equal(third.is_push_permission_granted, false)
    assert.equal(third.push_token, '')
    assert.equal(third.user_id, first.user_id)
    assert.equal(await count('users', project), 1)
  })

  it('removes a refused permission by null: it counts as unknown then', async () => {
    const project = await service.project()
    await put(project, { ...ios, is_push_permission_granted: false })
    assert.equal((await put(project, ios)).is_push_permission_granted, false)
    assert.equal((await put(project, { ...ios, is_push_permission_granted: null })).is_push_permission_granted, true)
  })

  it('keeps the platform of a known device, also to tell the type of a token by its look', async () => {
    const project = await service.project()
    await put(project, ios)
    await put(project, { id: 'tab', platform: 'ANDROID' })
    const { platform, model, push_token } = await put(project, { device_id: 'phone', model: 'iPhone' })
    assert.deepEqual([platform, model, push_token], ['IOS', 'iPhone', ios.push_token])
    assert.equal((await put(project, { id: 'phone', os_name: 'visionOS' })).platform, 'IOS')
    assert.equal((await put(project, { id: 'phone', push_token: 'cd34' })).push_token_type, 'APNS')
    assert.equal((await put(project, { id: 'tab', push_token: 'cd35' })).push_token_type, 'FCM')
    const fresh = await asApp(project, 'POST', '/devices', { devices: [{ id: 'phone' }, { id: 'new' }] })
    assert.deepEqual(fresh.json.details, [{ path: 'devices[1].platform', message: 'must be given for a new device' }])
    const wrong = await asApp(project, 'POST', '/devices', { devices: [{ id: 'phone', platform: 'Symbian' }] })
    assert.deepEqual(wrong.json.details, [{ path: 'devices[0].platform', message: 'must be IOS, ANDROID or WEB' }])
  })

  it('has one token a device: a rotated one replaces the old', async () => {
    const project = await service.project()
    await put(project, ios)
    await put(project, { ...ios, push_token: 'cd34' })
    const tokens = await service.sql('select token from push_tokens where project_id = $1', [project.id])
    assert.deepEqual(tokens, [{ token: 'cd34' }])
  })

  it('has one device a token: registering it elsewhere moves it, also within a batch and in a swap', async () => {
    const project = await service.project()
    await put(project, ios)
    assert.equal((await put(project, { ...ios, id: 'other' })).push_token, 'ab12')
    assert.equal((await read(project, 'phone')).push, null)
    await put(project, { ...ios, push_token: 'cd34' })
    const devices = [
      { ...ios, push_token: 'ab12' },
      { ...ios, id: 'other', push_token: 'cd34' }
    ]
    const swapped = (await asApp(project, 'POST', '/devices', { devices })).json.devices
    assert.deepEqual(
      swapped.map((device: Json) => device.push_token),
      ['ab12', 'cd34']
    )
    const same = devices.map((device) => ({ ...device, push_token: 'ef56' }))
    assert.equal((await asApp(project, 'POST', '/devices', { devices: same })).status, 200)
    assert.equal(await count('push_tokens', project), 1)
  })

  it('takes 1,000 at once, and the same one twice in order', async () => {
    const project = await service.project()
    const devices = Array.from({ length: 999 }, (_, n) => ({ id: `d${n}`, platform: 'iOS', push_token: `${n}` }))
    const reply = await asApp(project, 'POST', '/devices', { devices: [...devices, { ...devices[0], model: 'new' }] })
    assert.equal(reply.status, 200)
    assert.equal(reply.json.devices.length, 1000)
    assert.equal(reply.json.devices[999].model, 'new')
    assert.equal(await count('devices', project), 999)
    assert.equal(await count('users', project), 999)
  })

  it('makes one device and one user of many calls at once, on two nodes', async () => {
    const project = await service.project()
    const node = await service.another()
    const headers = { 'x-service-project-id': project.id, 'x-service-api-key': project.publicKey }
    const calls = Array.from({ length: 20 }, (_, n) => {
      const json = { devices: [{ ...ios, push_token: `${n}` }] }
      return (n % 2 === 0 ? node : service).ask('POST', '/api/v1/devices', { json, headers })
    })
    assert.deepEqual([...new Set((await Promise.all(calls)).map(({ status }) => status))], [200])
    await node.close()
    assert.deepEqual([await count('devices', project), await count('users', project)], [1, 1])
    assert.equal(await count('push_tokens', project), 1)
  })

  it('keeps the facts and the no to pushes of two first registrations at once, on two nodes', async () => {
    const project = await service.project()
    const node = await service.another()
    const headers = { 'x-service-project-id': project.id, 'x-service-api-key': project.publicKey }
    const ids = Array.from({ length: 20 }, (_, n) => `twice-${n}`)
    const register = (at: typeof service, device: Json) =>
      at.ask('POST', '/api/v1/devices', { headers, json: { devices: [device] } })
    for (const id of ids) {
      const replies = await Promise.all([
        register(service, { id, platform: 'IOS', model: 'iPhone', is_push_permission_granted: false }),
        register(node, { id, platform: 'IOS', app_version: '1.2', push_token: `token-${id}` })
      ])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200]
      )
    }
    await node.close()
    for (const id of ids) {
      const { model, app_version, is_push_permission_granted, push } = await read(project, id)
      assert.deepEqual(
        [model, app_version, is_push_permission_granted, push.registered_at !== null],
        ['iPhone', '1.2', false, true],
        id
      )
    }
    assert.equal(await count('users', project), ids.length)
  })
})

describe('devices refuse', () => {
  it('a bad entry, telling which, and store none of the batch', async () => {
    const project = await service.project()
    const bad: [entry: Json, code: string, path: string][] = [
      [{ platform: 'iOS' }, 'invalid_device_id', 'devices[1].id'],
      [{ id: 5, platform: 'iOS' }, 'invalid_device_id', 'devices[1].id'],
      [{ device_id: 5, platform: 'iOS' }, 'invalid_device_id', 'devices[1].device_id'],
      [{ id: '', platform: 'iOS' }, 'invalid_device_id', 'devices[1].id'],
      [{ id: 'x'.repeat(256), platform: 'iOS' }, 'invalid_device_id', 'devices[1].id'],
      [{ id: '..', platform: 'iOS' }, 'invalid_device_id', 'devices[1].id'],
      [{ id: 'd' }, 'invalid_device', 'devices[1].platform'],
      [{ id: 'd', platform: 'Symbian' }, 'invalid_device', 'devices[1].platform'],
      [{ id: 'd', platform: 'constructor' }, 'invalid_device', 'devices[1].platform'],
      [{ ...ios, push_token_type: 'ADM' }, 'invalid_device', 'devices[1].push_token_type'],
      [{ ...ios, push_environment: 'moon' }, 'invalid_device', 'devices[1].push_environment'],
      [{ ...ios, push_token: 'x'.repeat(5000) }, 'invalid_device', 'devices[1].push_token'],
      [{ ...ios, push_token: '{}', push_token_type: 'WEBPUSH' }, 'invalid_device', 'devices[1].push_token'],
      [{ ...ios, model: 5 }, 'invalid_device', 'devices[1].model']
    ]
    for (const [entry, code, path] of bad) {
      const reply = await asApp(project, 'POST', '/devices', { devices: [{ id: 'good', platform: 'iOS' }, entry] })
      assert.deepEqual([reply.status, reply.json.code, reply.json.details[0].path], [400, code, path], reply.text)
    }
    assert.equal(await count('devices', project), 0)
  })

  it('more than 1,000, and a body that is no batch', async () => {
    const project = await service.project()
    const devices = Array.from({ length: 1001 }, (_, n) => ({ id: `d${n}`, platform: 'iOS' }))
    for (const json of [{ devices }, {}, { devices: {} }, [], null, { devices: [null] }])
      assert.equal((await asApp(project, 'POST', '/devices', json)).status, 400)
    assert.equal((await asApp(project, 'POST', '/devices', { devices: [] })).text, '{"devices":[]}')
  })

  it('calls on a device that is not there', async () => {
    const project = await service.project()
    const calls = [
      () => link(project, 'none', 'ana'),
      () => asApp(project, 'DELETE', '/devices/none/user/project-user-id'),
      () => asApp(project, 'POST', '/devices/none/user/properties', { properties: [{ name: 'a', value: 'b' }] }),
      () => asApp(project, 'DELETE', '/devices/none/user/properties?names=a'),
      () =>
        asApp(project, 'POST', '/devices/none/live-activity-start-tokens', {
          attributes_type: 'A',
          push_to_start_token: 'a'
        })
    ]
    for (const call of calls) {
      const reply = await call()
      assert.deepEqual([reply.status, reply.json.code], [404, 'device_not_found'])
    }
    assert.equal(await count('users', project), 0)
    assert.equal((await link(project, 'none', '')).json.code, 'invalid_project_user_id')
    assert.equal((await service.manage('GET', `/projects/${project.id}/devices?cursor=x`)).status, 400)
    const nul = Buffer.from(JSON.stringify(['2026-01-01T00:00:00.000Z', 'a\0'])).toString('base64url')
    assert.equal((await service.manage('GET', `/projects/${project.id}/devices?cursor=${nul}`)).status, 400)
  })

  it('nothing with a 5xx, whatever is sent', async () => {
    const project = await service.project({ limits: { requests_per_second: 0, client_requests_per_second: 0 } })
    const field = fc.constantFrom(...Object.keys(ios), 'model', 'push_environment', 'is_push_permission_granted', 'x')
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue(), fc.constantFrom('iOS', 'FCM', 'phone', '\0'))
    const device = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(field, value),
      fc.record({ id: fc.string(), platform: fc.constant('iOS'), push_token: value })
    )
    const paths = ['/devices', '/events', '/devices/phone/user/properties', '/devices/phone/live-activity-start-tokens']
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.array(device), async (path, list) => {
        const name = path.slice(path.lastIndexOf('/') + 1)
        const reply = await asApp(project, 'POST', path, { [name]: list })
        assert.ok(reply.status < 500, reply.text)
      }),
      { numRuns: 200 }
    )
  })
})

describe('a hostile token', () => {
  const nested = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`
  const text = '{"endpoint":"https://push.example/1","keys":{"p256dh":"key","auth":"secret"}}'
  /** A subscription as JSON text, with an escape after one of its values. */
  const hiding = (value: string, hidden: string) =>
    `"push_token_type":"WEBPUSH","push_token":${JSON.stringify(text.replace(`${value}"`, `${value}${hidden}"`))}`
  for (const [what, fields] of [
    ['an environment that objects inherit', '"push_token":"ab","push_environment":"constructor"'],
    ['an environment that is their prototype', '"push_token":"ab","push_environment":"__proto__"'],
    ['a type that is their prototype', '"push_token":"ab","push_token_type":"__proto__"'],
    ['an object nested two hundred deep', `"push_token":${nested}`],
    ['a subscription whose endpoint hides a NUL', hiding('/1', '\\u0000')],
    ['a subscription whose p256dh hides half a pair', hiding('key', '\\ud800')],
    ['a subscription whose auth hides a NUL', hiding('secret', '\\u0000')],
    [
      'an object where no subscription is wanted',
      '"push_token":{"endpoint":"https://push.example/1","keys":{"p256dh":"a","auth":"b"}},"push_token_type":"FCM"'
    ]
  ] as const) {
    it(`is refused: ${what}`, async () => {
      const project = await service.project()
      const body = `{"devices":[{"id":"d","platform":"IOS",${fields}}]}`
      const reply = await project.call('POST', '/api/v1/devices', {
        body,
        headers: { 'content-type': 'application/json' }
      })
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_device'])
    })
  }

  it('of a subscription is stored without unknown fields', async () => {
    const project = await service.project()
    const subscription = { endpoint: 'https://push.example/1', keys: { p256dh: 'a', auth: 'b' } }
    const body = `{"devices":[{"id":"d","platform":"WEB","push_token":{"more":${nested},${JSON.stringify(subscription).slice(1)}}]}`
    const reply = await project.call('POST', '/api/v1/devices', {
      body,
      headers: { 'content-type': 'application/json' }
    })
    assert.equal(reply.status, 200)
    assert.deepEqual(JSON.parse(reply.json.devices[0].push_token), subscription)
  })
})

describe('devices keep tenants apart', () => {
  it('the same ids and tokens in two projects are two devices', async () => {
    const [one, two] = [await service.project(), await service.project()]
    await put(one, { ...ios, model: 'one' })
    await put(two, { ...ios, model: 'two' })
    await link(one, 'phone', 'ana')
    assert.equal((await read(two, 'phone')).project_user_id, null)
    assert.equal((await read(one, 'phone')).push.type, 'APNS')
    await two.call('DELETE', '/api/v1/users/ana')
    assert.equal((await read(one, 'phone')).model, 'one')
    await put(one, { ...ios, id: 'only-here' })
    assert.equal(await read(two, 'only-here'), 404)
    assert.equal((await link(two, 'only-here', 'ana')).status, 404)
  })

  it('another project’s key is refused, and a public key opens nothing else', async () => {
    const [one, two] = [await service.project(), await service.project()]
    const foreign = await one.call('POST', '/api/v1/devices', {
      json: { devices: [ios] },
      headers: { 'x-service-api-key': two.publicKey }
    })
    assert.deepEqual([foreign.status, foreign.text], [401, 'Invalid API key'])
    assert.equal((await one.call('POST', '/api/v1/devices', { json: { devices: [ios] } })).status, 200, 'a secret key')
    assert.equal((await asApp(one, 'GET', '/users/ana')).status, 401)
    assert.equal((await asApp(one, 'POST', '/users', { project_user_id: 'ana' })).status, 401)
  })

  it('an erased project leaves nothing behind', async () => {
    const project = await service.project()
    await put(project, ios)
    await asApp(project, 'POST', '/events', { events: [{ device_id: 'phone', name: 'open' }] })
    await service.manage('DELETE', `/projects/${project.id}`)
    await eventually(async () => {
      for (const table of ['projects', 'users', 'devices', 'push_tokens', 'events'])
        assert.equal(await count(table, project), 0, table)
    })
  })
})

describe('GET /manage/v1/projects/{id}/devices', () => {
  it('lists newest first by pages, and those of one user', async () => {
    const project = await service.project()
    for (const id of ['a', 'b', 'c']) await put(project, { id, platform: 'iOS' })
    await link(project, 'b', 'ana')
    const path = `/projects/${project.id}/devices`
    const first = (await service.manage('GET', `${path}?limit=2`)).json
    const second = (await service.manage('GET', `${path}?limit=2&cursor=${first.next_cursor}`)).json
    const ids = [...first.items, ...second.items].map((device: Json) => device.id)
    assert.deepEqual([ids, second.next_cursor], [['c', 'b', 'a'], null])
    const own = (await service.manage('GET', `${path}?project_user_id=ana`)).json.items
    assert.deepEqual(
      own.map((device: Json) => device.id),
      ['b']
    )
    assert.equal((await service.manage('GET', `${path}?project_user_id=nobody`)).status, 404)
  })
})
