import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()

/** As an app calls: with the public key. */
const asApp = (project: TestProject, method: string, path: string, json?: unknown, headers = {}) =>
  project.call(method, `/api/v1${path}`, {
    ...(json !== undefined && { json }),
    headers: { 'x-service-api-key': project.publicKey, ...headers }
  })
async function put(project: TestProject, device: Json, headers = {}): Promise<Json> {
  const reply = await asApp(project, 'POST', '/devices', { devices: [device] }, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.devices[0]
}
const link = (project: TestProject, device: string, user: string) =>
  asApp(project, 'POST', `/devices/${device}/user/project-user-id`, { project_user_id: user })
const read = async (project: TestProject, device: string): Promise<Json> => {
  const reply = await service.manage('GET', `/projects/${project.id}/devices/${device}`)
  return reply.status === 200 ? reply.json : reply.status
}
const count = async (table: string, project: TestProject) =>
  (await service.sql(`select count(*)::int as n from ${table} where project_id = $1`, [project.id]))[0].n
const ios = { id: 'phone', platform: 'IOS', push_token: 'ab12', push_token_type: 'APNS' }

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

  it('keeps what is not said, takes back what is null, and stays with its user', async () => {
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
})

describe('the user of a device', () => {
  it('is made anonymous, named by logging in, and left by logging out', async () => {
    const project = await service.project()
    const { user_id: anonymous } = await put(project, ios)
    const linked = await link(project, 'phone', 'ana')
    assert.deepEqual(linked.json, { device_id: 'phone', project_user_id: 'ana' })
    const device = await read(project, 'phone')
    assert.equal(device.project_user_id, 'ana')
    assert.notEqual(device.user_id, anonymous)
    assert.equal(device.push.type, 'APNS', 'the token stays')
    assert.equal(await count('users', project), 1, 'the empty anonymous user is gone')
    assert.equal((await link(project, 'phone', 'ana')).status, 200, 'again changes nothing')
    assert.equal((await read(project, 'phone')).user_id, device.user_id)

    const out = () => asApp(project, 'DELETE', '/devices/phone/user/project-user-id')
    assert.equal((await out()).text, '{}')
    const left = await read(project, 'phone')
    assert.equal(left.project_user_id, null)
    assert.notEqual(left.user_id, anonymous)
    assert.equal((await out()).status, 200)
    assert.equal((await read(project, 'phone')).user_id, left.user_id)
    assert.equal((await project.call('GET', '/api/v1/users/ana')).status, 200, 'the user stays')
  })

  it('brings the properties of its anonymous time along; what the named user has wins', async () => {
    const project = await service.project()
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { plan: 'premium' } } })
    await put(project, ios)
    const properties = [
      { name: 'plan', value: 'free' },
      { name: 'theme', value: 'dark' }
    ]
    await asApp(project, 'POST', '/devices/phone/user/properties', { properties })
    await link(project, 'phone', 'ana')
    const stored = (await project.call('GET', '/api/v1/users/ana')).json.properties
    assert.deepEqual(stored, { plan: 'premium', theme: 'dark' })
  })

  it('changes from one named user to another, who keeps their own', async () => {
    const project = await service.project()
    await put(project, ios)
    await link(project, 'phone', 'ana')
    await link(project, 'phone', 'bo')
    const list = async (user: string) =>
      (await service.manage('GET', `/projects/${project.id}/devices?project_user_id=${user}`)).json.items.length
    assert.deepEqual([await list('ana'), await list('bo')], [0, 1])
  })

  it('deleted takes devices and tokens along, and comes back with none of them', async () => {
    const project = await service.project()
    await put(project, ios)
    await link(project, 'phone', 'ana')
    const token = { attributes_type: 'A', push_to_start_token: 'aa' }
    await asApp(project, 'POST', '/devices/phone/live-activity-start-tokens', token)
    assert.equal((await project.call('DELETE', '/api/v1/users/ana')).text, '{}')
    for (const table of ['users', 'devices', 'push_tokens', 'live_activity_tokens'])
      assert.equal(await count(table, project), 0, table)
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const list = await service.manage('GET', `/projects/${project.id}/devices?project_user_id=ana`)
    assert.deepEqual(list.json.items, [])
    await put(project, ios)
    assert.equal((await read(project, 'phone')).project_user_id, null, 'the next call makes an anonymous user')
  })

  it('is linked, written and deleted at once without an error of the service', async () => {
    const project = await service.project()
    const devices = Array.from({ length: 8 }, (_, n) => ({ id: `d${n}`, platform: 'iOS', push_token: `${n % 5}` }))
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, n) => {
        const device = `d${n % 8}`
        if (n % 4 === 0) return asApp(project, 'POST', '/devices', { devices })
        if (n % 4 === 1) return link(project, device, `u${n % 3}`)
        if (n % 4 === 2) return project.call('DELETE', `/api/v1/users/u${n % 3}`)
        return asApp(project, 'POST', '/events', { events: devices.map(({ id }) => ({ device_id: id, name: 'e' })) })
      })
    )
    assert.deepEqual(
      [...new Set(replies.map(({ status }) => status))].filter((status) => status !== 200 && status !== 404),
      []
    )
    const stray = await service.sql(
      `select 1 from users u where project_id = $1 and project_user_id is null
          and not exists (select 1 from devices d where d.project_id = u.project_id and d.user_id = u.id)`,
      [project.id]
    )
    assert.deepEqual(stray, [], 'no anonymous user is left without a device')
  })

  it('is not in lists, searches and exports while anonymous', async () => {
    const project = await service.project()
    const { user_id } = await put(project, ios)
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    await put(project, { ...ios, id: 'second' })
    const names = (reply: Json) => reply.json.items.map((user: Json) => user.project_user_id)
    assert.deepEqual(names(await service.manage('GET', `/projects/${project.id}/users`)), ['ana'])
    assert.deepEqual(names(await service.manage('GET', `/projects/${project.id}/users?search=${user_id}`)), [])
    assert.deepEqual(names(await service.manage('GET', `/projects/${project.id}/users?search=a`)), ['ana'])
    const exported = await service.manage('GET', `/projects/${project.id}/users:export`)
    assert.equal(exported.text.trim().split('\n').length, 1)
  })
})

describe('the properties of the user of a device', () => {
  const cases: [sent: Json, stored: unknown][] = [
    [{ value: 'x' }, 'x'],
    [{ type: 'USER_PROPERTY_TYPE_STRING', value: 'x' }, 'x'],
    [{ type: 'USER_PROPERTY_TYPE_NUMBER', value: '31.5' }, 31.5],
    [{ type: 'USER_PROPERTY_TYPE_NUMBER', value: 31 }, 31],
    [{ type: 'USER_PROPERTY_TYPE_BOOLEAN', value: 'true' }, true],
    [{ type: 'USER_PROPERTY_TYPE_BOOLEAN', value: false }, false],
    [{ type: 'USER_PROPERTY_TYPE_DATETIME', value: '2026-01-01T00:00:00Z' }, '2026-01-01T00:00:00Z'],
    [{ type: 'USER_PROPERTY_TYPE_NUMBER', value_string: 7 }, 7],
    [{ type: 'USER_PROPERTY_TYPE_STRING', value_string: 'y' }, 'y'],
    [{ type: 'USER_PROPERTY_TYPE_BOOLEAN', value_string: true }, true],
    [{ type: 'STRING', value: 5 }, '5'],
    [{ value: null }, null],
    [{ value: 5 }, 5]
  ]
  for (const [sent, stored] of cases) {
    it(`${JSON.stringify(sent)} is stored as ${JSON.stringify(stored)} and comes back as sent`, async () => {
      const project = await service.project()
      await put(project, ios)
      await link(project, 'phone', 'ana')
      const body = { properties: [{ name: 'p', ...sent }] }
      const reply = await asApp(project, 'POST', '/devices/phone/user/properties', body)
      assert.deepEqual([reply.status, reply.json], [200, body])
      assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, { p: stored })
    })
  }

  it('are removed by names and by property_names', async () => {
    const project = await service.project()
    await put(project, ios)
    await link(project, 'phone', 'ana')
    const properties = Object.fromEntries('abcdef'.split('').map((name) => [name, 1]))
    await project.call('PATCH', '/api/v1/users/ana', { json: { properties } })
    for (const query of ['names=a&names=b', 'property_names=c,d', 'names=e']) {
      const reply = await asApp(project, 'DELETE', `/devices/phone/user/properties?${query}`)
      assert.deepEqual([reply.status, reply.text], [200, '{}'])
    }
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, { f: 1 })
    assert.equal((await asApp(project, 'DELETE', '/devices/phone/user/properties')).status, 400)
  })

  it('refuses what is no property, and a user that would be too large', async () => {
    const project = await service.project()
    await put(project, ios)
    const bad: Json[] = [
      { type: 'USER_PROPERTY_TYPE_NUMBER', value: 'x' },
      { type: 'USER_PROPERTY_TYPE_NUMBER', value: '' },
      { type: 'USER_PROPERTY_TYPE_BOOLEAN', value: 'yes' },
      { type: 'COLOUR', value: 'red' },
      { value: {} },
      {}
    ]
    for (const entry of bad) {
      const reply = await asApp(project, 'POST', '/devices/phone/user/properties', {
        properties: [{ name: 'p', ...entry }]
      })
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_properties'], JSON.stringify(entry))
    }
    const half = 'x'.repeat(40_000)
    const send = (name: string) =>
      asApp(project, 'POST', '/devices/phone/user/properties', { properties: [{ name, value: half }] })
    assert.equal((await send('a')).status, 200)
    assert.equal((await send('b')).json.code, 'properties_too_large')
  })
})

describe('Live Activity tokens', () => {
  it('are kept by type and by activity, and replaced when they rotate', async () => {
    const project = await service.project()
    await put(project, ios)
    const start = (body: Json) => asApp(project, 'POST', '/devices/phone/live-activity-start-tokens', body)
    const update = (body: Json) => asApp(project, 'POST', '/devices/phone/live-activity-update-tokens', body)
    assert.equal((await start({ attributes_type: 'A', push_to_start_token: 'aa' })).status, 200)
    assert.equal((await start({ attributes_type: 'A', push_to_start_token: 'bb' })).status, 200)
    assert.equal((await update({ attributes_type: 'A', activity_id: '1', push_token: 'cc' })).status, 200)
    const rows = await service.sql(
      'select attributes_type, activity_id, token from live_activity_tokens where project_id = $1 order by activity_id',
      [project.id]
    )
    assert.deepEqual(rows, [
      { attributes_type: 'A', activity_id: '', token: 'bb' },
      { attributes_type: 'A', activity_id: '1', token: 'cc' }
    ])
    for (const body of [{ attributes_type: 'A' }, { push_to_start_token: 'aa' }, {}])
      assert.equal((await start(body)).status, 400)
    assert.equal((await update({ attributes_type: 'A', push_token: 'cc' })).status, 400)
    assert.equal((await update({ attributes_type: 'A', activity_id: '', push_token: 'cc' })).status, 400)
  })

  it('are bounded for a device', async () => {
    const project = await service.project()
    await put(project, ios)
    for (let n = 0; n < 105; n += 1) {
      const body = { attributes_type: 'A', activity_id: `${n}`, push_token: 'cc' }
      await asApp(project, 'POST', '/devices/phone/live-activity-update-tokens', body)
    }
    assert.equal(await count('live_activity_tokens', project), 100)
  })
})

describe('devices refuse', () => {
  it('a bad entry, telling which, and store none of the batch', async () => {
    const project = await service.project()
    const bad: [entry: Json, code: string, path: string][] = [
      [{ platform: 'iOS' }, 'invalid_device_id', 'devices[1].id'],
      [{ id: 5, platform: 'iOS' }, 'invalid_device', 'devices[1].id'],
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

  it('more than 1,000, and what is no batch', async () => {
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
