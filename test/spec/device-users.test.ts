import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asApp, ios, link, lookInto, put } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { read, count } = lookInto(service)

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

  it('brings the properties of its anonymous time along; those of the named user win', async () => {
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

  it('are removed by names, one by one or as a list, and by property_names', async () => {
    const project = await service.project()
    await put(project, ios)
    await link(project, 'phone', 'ana')
    const properties = Object.fromEntries([...'abcdefgh', '[i]'].map((name) => [name, 1]))
    await project.call('PATCH', '/api/v1/users/ana', { json: { properties } })
    const list = encodeURIComponent('["g", "h"]')
    for (const query of ['names=a&names=b', 'property_names=c,d', 'names=e', `names=${list}`, 'names=[i]']) {
      const reply = await asApp(project, 'DELETE', `/devices/phone/user/properties?${query}`)
      assert.deepEqual([reply.status, reply.text], [200, '{}'])
    }
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, { f: 1 })
    assert.equal((await asApp(project, 'DELETE', '/devices/phone/user/properties')).status, 400)
  })

  it('refuses values that are no property, and a user that would be too large', async () => {
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
    for (const [body, path] of [
      [{ attributes_type: 'A' }, 'push_to_start_token'],
      [{ push_to_start_token: 'aa' }, 'attributes_type'],
      [{}, 'attributes_type']
    ] as const) {
      const { status, json } = await start(body)
      assert.deepEqual([status, json.details], [400, [{ path, message: 'must be given' }]])
    }
    assert.equal((await update({ attributes_type: 'A', push_token: 'cc' })).status, 400)
    assert.equal((await update({ attributes_type: 'A', activity_id: '', push_token: 'cc' })).status, 400)
  })

  it('are of one device: registered under another id they leave the person who had them', async () => {
    const project = await service.project()
    await put(project, ios)
    await put(project, { ...ios, id: 'reset', push_token: 'ff' })
    const register = (device: string, kind: string, body: Json) =>
      asApp(project, 'POST', `/devices/${device}/live-activity-${kind}-tokens`, { attributes_type: 'A', ...body })
    for (const device of ['phone', 'reset']) {
      await register(device, 'start', { push_to_start_token: 'aa' })
      await register(device, 'update', { activity_id: '1', push_token: 'bb' })
    }
    await register('phone', 'start', { push_to_start_token: 'cc' })
    const rows = await service.sql(
      'select device_id, token from live_activity_tokens where project_id = $1 order by token',
      [project.id]
    )
    assert.deepEqual(rows, [
      { device_id: 'reset', token: 'aa' },
      { device_id: 'reset', token: 'bb' },
      { device_id: 'phone', token: 'cc' }
    ])
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
