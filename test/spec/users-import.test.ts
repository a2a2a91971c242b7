import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'

describe('POST /api/v1/users:import', async () => {
  const service = await startService()
  const apns = 'ab'.repeat(32)

  async function made() {
    const project = await service.project()
    const manage = (path: string) => service.manage('GET', `/projects/${project.id}${path}`).then(({ json }) => json)
    return {
      project,
      bring: async (...users: unknown[]) =>
        (await project.call('POST', '/api/v1/users:import', { json: { users } })).json as Json,
      user: (id: string) => manage(`/users/${id}`),
      device: (id: string) => manage(`/devices/${id}`)
    }
  }

  it('stores users with devices and tokens, and the times they were seen elsewhere', async () => {
    const { bring, user, device } = await made()
    const phone = {
      id: 'phone',
      platform: 'IOS',
      push_token: apns,
      model: 'iPhone',
      last_seen_at: '2026-01-02T00:00:00Z'
    }
    const pad = { id: 'pad', platform: 'ANDROID', push_token: 'fcm:token', is_push_permission_granted: false }
    const ana = {
      project_user_id: 'ana',
      properties: { plan: 'premium' },
      created_at: '2024-01-01T00:00:00Z',
      devices: [phone, pad]
    }
    for (const _ of ['first', 'again']) {
      assert.deepEqual(await bring(ana, { project_user_id: 'bo' }), { stored_users: 2, stored_devices: 2, errors: [] })
      const stored = await user('ana')
      assert.deepEqual([stored.properties, stored.created_at], [{ plan: 'premium' }, '2024-01-01T00:00:00.000Z'])
      const { push, model, last_seen_at, project_user_id } = await device('phone')
      assert.deepEqual([project_user_id, model, push.type], ['ana', 'iPhone', 'APNS'])
      assert.equal(last_seen_at, '2026-01-02T00:00:00.000Z')
      assert.equal((await device('pad')).is_push_permission_granted, false)
    }
    await bring({
      ...ana,
      created_at: '2025-01-01T00:00:00Z',
      devices: [{ ...phone, last_seen_at: '2025-01-01T00:00:00Z' }]
    })
    assert.equal((await user('ana')).created_at, '2024-01-01T00:00:00.000Z')
    assert.equal((await device('phone')).last_seen_at, '2026-01-02T00:00:00.000Z')
  })

  it('gives devices without a user id an anonymous user with the properties, which a later login keeps', async () => {
    const { bring, user, device, project } = await made()
    const phone = { id: 'phone', platform: 'IOS', push_token: apns }
    await bring(
      { properties: { city: 'Lima' }, devices: [phone] },
      { properties: { n: 1 }, devices: [{ id: 'b', platform: 'WEB' }] }
    )
    assert.equal((await device('phone')).project_user_id, null)
    // An import that names the user moves the device with what its anonymous user had.
    assert.deepEqual(await bring({ project_user_id: 'ana', devices: [phone] }), {
      stored_users: 1,
      stored_devices: 1,
      errors: []
    })
    assert.equal((await device('phone')).project_user_id, 'ana')
    assert.deepEqual((await user('ana')).properties, { city: 'Lima' })
    await bring({ properties: { city: 'Quito' }, devices: [phone] })
    assert.deepEqual((await user('ana')).properties, { city: 'Lima' }, 'an old export changes no named user')
    await bring({ project_user_id: 'bo', devices: [phone] })
    assert.equal((await device('phone')).project_user_id, 'bo')
    await project.call('DELETE', '/api/v1/users/bo')
    assert.equal((await device('phone')).code, 'device_not_found')
  })

  it('merges preferences, and takes the last of two entries for a device', async () => {
    const { bring, device, project } = await made()
    await bring({ project_user_id: 'ana', preferences: { opted_out: true } })
    assert.equal((await project.call('GET', '/api/v1/users/ana/preferences')).json.opted_out, true)
    const phone = { id: 'phone', platform: 'IOS' }
    await bring({ project_user_id: 'a', devices: [phone] }, { project_user_id: 'b', devices: [phone] })
    assert.equal((await device('phone')).project_user_id, 'b')
    const twice = await bring(
      { project_user_id: 'a', properties: { n: 1 } },
      { project_user_id: 'a', properties: { m: 2 } }
    )
    assert.deepEqual(
      [twice.stored_users, (await project.call('GET', '/api/v1/users/a')).json.properties],
      [2, { n: 1, m: 2 }]
    )
  })

  it('keeps the facts and the no to pushes that an app registers at the same time', async () => {
    const { bring, device, project } = await made()
    const ids = Array.from({ length: 20 }, (_, n) => `phone-${n}`)
    for (const [n, id] of ids.entries()) {
      const said = { id, platform: 'IOS', model: 'iPhone', is_push_permission_granted: false }
      const [, outcome] = await Promise.all([
        project.call('POST', '/api/v1/devices', { json: { devices: [said] } }),
        bring({
          ...(n % 2 === 0 && { project_user_id: `ana-${n}` }),
          devices: [{ id, platform: 'IOS', app_version: '1.2' }]
        })
      ])
      assert.deepEqual(outcome.errors, [])
    }
    for (const [n, id] of ids.entries()) {
      const { model, app_version, is_push_permission_granted, project_user_id } = await device(id)
      const owner = n % 2 === 0 ? `ana-${n}` : null
      assert.deepEqual(
        [model, app_version, is_push_permission_granted, project_user_id],
        ['iPhone', '1.2', false, owner]
      )
    }
  })

  it('merges the preferences of all entries of a user, as an import of lines does', async () => {
    const { bring, project } = await made()
    for (const id of ['offers', 'news'])
      await service.manage('PUT', `/projects/${project.id}/topics/${id}`, { json: { name: id } })
    const given = [{ opted_out: true }, { topics: { offers: false, news: true } }, { topics: { offers: true } }]
    const of = (project_user_id: string) => given.map((preferences) => ({ project_user_id, preferences }))
    assert.equal((await bring(...of('ana'))).stored_users, 3)
    const lines = await service.manage('POST', `/projects/${project.id}/users:import`, {
      body: of('bo')
        .map((user) => `${JSON.stringify(user)}\n`)
        .join(''),
      headers: { 'content-type': 'application/x-ndjson' }
    })
    assert.equal(lines.json.imported, 3)
    for (const user of ['ana', 'bo']) {
      const { json } = await project.call('GET', `/api/v1/users/${user}/preferences`)
      assert.deepEqual(json, { opted_out: true, topics: { offers: false, news: true } }, user)
    }
  })

  it('stores no preferences of a refused user, and no user or device without its preferences', async () => {
    const { bring, project } = await made()
    await bring({ project_user_id: 'full', properties: { text: 'x'.repeat(40_000) } })
    const preferences = { opted_out: true }
    const refused = await bring({ project_user_id: 'full', properties: { more: 'x'.repeat(40_000) }, preferences })
    assert.deepEqual(
      refused.errors.map(({ code }: Json) => code),
      ['properties_too_large']
    )
    assert.equal((await project.call('GET', '/api/v1/users/full/preferences')).json.opted_out, false)
    const condition = `check (project_id <> '${project.id}' or choices is null)`
    await service.sql(`alter table users add constraint without_choices ${condition}`)
    const users = [{ project_user_id: 'ana', preferences, devices: [{ id: 'phone', platform: 'IOS' }] }]
    assert.equal((await project.call('POST', '/api/v1/users:import', { json: { users } })).status, 500)
    await service.sql('alter table users drop constraint without_choices')
    const left = await service.sql(
      `select id::text from devices where project_id = $1
       union all select project_user_id from users where project_id = $1`,
      [project.id]
    )
    assert.deepEqual(left, [{ id: 'full' }])
  })

  it('names each part that was not stored, and stores the rest', async () => {
    const { bring, user } = await made()
    const large = { text: 'x'.repeat(40_000) }
    await bring({ project_user_id: 'full', properties: large })
    const answer = await bring(
      {
        project_user_id: 'ana',
        devices: [{ id: 'p' }, { id: 'q', platform: 'IOS' }, 7, { id: 'r', platform: 'IOS', push_token: 3 }]
      },
      { project_user_id: '' },
      7,
      {},
      { project_user_id: 'bo', properties: { list: [1] } },
      { project_user_id: 'full', properties: { more: 'x'.repeat(40_000) }, devices: [{ id: 'f', platform: 'IOS' }] },
      { project_user_id: 'cy', created_at: 'yesterday' },
      { project_user_id: 'cy', devices: {} },
      { project_user_id: 'cy', preferences: 1 },
      { project_user_id: 'cy', created_at: '0001-01-01T00:00:00+14:00' }
    )
    assert.deepEqual([answer.stored_users, answer.stored_devices], [1, 1])
    assert.deepEqual(
      answer.errors.map(({ index, path, code }: Json) => [index, path, code]),
      [
        [0, 'devices[0].platform', 'invalid_device'],
        [0, 'devices[2]', 'invalid_device'],
        [0, 'devices[3].push_token', 'invalid_device'],
        [1, 'project_user_id', 'invalid_project_user_id'],
        [2, '', 'malformed_body'],
        [3, 'project_user_id', 'invalid_project_user_id'],
        [4, 'properties.list', 'invalid_properties'],
        [5, '', 'properties_too_large'],
        [6, 'created_at', 'invalid_parameter'],
        [7, 'devices', 'invalid_device'],
        [8, 'preferences', 'invalid_parameter'],
        [9, 'created_at', 'invalid_parameter']
      ]
    )
    assert.deepEqual((await user('full')).properties, large)
  })

  it('names the properties of anonymous users that were not stored', async () => {
    const { bring, device, project } = await made()
    const phone = { id: 'phone', platform: 'IOS' }
    const pad = { id: 'pad', platform: 'IOS' }
    await bring({ properties: { text: 'x'.repeat(40_000) }, devices: [phone] })
    await bring({ project_user_id: 'ana', devices: [pad] })
    const answer = await bring(
      { project_user_id: 'bo' },
      {
        properties: { more: 'x'.repeat(40_000) },
        devices: [{ id: 'new', platform: 'IOS' }, { ...phone, model: 'iPhone' }, pad]
      },
      { devices: [{ ...pad, model: 'iPad' }] }
    )
    assert.deepEqual([answer.stored_users, answer.stored_devices], [1, 3])
    assert.deepEqual(
      answer.errors.map(({ index, path, code }: Json) => [index, path, code]),
      [[1, 'devices[1].properties', 'properties_too_large']]
    )
    assert.equal((await device('phone')).model, 'iPhone')
    const named = await bring({ properties: { city: 'Lima' }, devices: [pad] })
    assert.deepEqual(
      [named.stored_devices, named.errors[0].path, named.errors[0].code],
      [1, 'devices[0].properties', 'conflict']
    )
    assert.match(named.errors[0].error, /has logged in on this device/)
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, {})
  })

  it('stores a device that a refused entry names too, as the other entry has it', async () => {
    const { bring, device } = await made()
    await bring({ project_user_id: 'full', properties: { text: 'x'.repeat(40_000) } })
    const answer = await bring(
      { project_user_id: 'ana', devices: [{ id: 'phone', platform: 'IOS', model: 'of ana' }] },
      {
        project_user_id: 'full',
        properties: { more: 'x'.repeat(40_000) },
        devices: [{ id: 'phone', platform: 'IOS', model: 'of full' }]
      }
    )
    assert.deepEqual([answer.stored_users, answer.stored_devices, answer.errors.length], [1, 1, 1])
    const { project_user_id, model } = await device('phone')
    assert.deepEqual([project_user_id, model], ['ana', 'of ana'])
  })

  it('needs a secret key, and takes at most 1,000 users', async () => {
    const { project } = await made()
    const users = Array.from({ length: 1_001 }, () => ({}))
    assert.equal((await project.call('POST', '/api/v1/users:import', { json: { users } })).status, 400)
    const headers = { 'x-service-api-key': project.publicKey }
    assert.ok((await project.call('POST', '/api/v1/users:import', { json: { users: [] }, headers })).status >= 401)
  })
})
