import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { apnsBody, serviceAccount, vapidBody } from '../gateways/credentials.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const at = (project: string, rest = '') => `/projects/${project}/gateways${rest}`
const put = (project: string, gateway: string, json: unknown) =>
  service.manage('PUT', at(project, `/${gateway}`), { json })

describe('credentials of the gateways', () => {
  it('are saved, shown by their facts, and sealed in the database', async () => {
    const { id } = await service.project()
    const body = await apnsBody()
    const saved = await put(id, 'apns', body)
    assert.equal(saved.status, 200, saved.text)
    assert.deepEqual(
      saved.json.credentials.map((each: Record<string, unknown>) => [
        each.gateway,
        each.environment,
        each.topic,
        each.key_id,
        each.team_id,
        each.version
      ]),
      ['production', 'sandbox'].map((environment) => [
        'apns',
        environment,
        'com.example.app',
        body.key_id,
        body.team_id,
        1
      ])
    )
    const [first] = saved.json.credentials
    assert.match(first.fingerprint, /^sha256:[0-9a-f]{64}$/)
    assert.match(first.updated_by, /^token /)
    assert.deepEqual((await service.manage('GET', at(id, '/apns'))).json, saved.json)
    assert.deepEqual((await service.manage('GET', at(id))).json, { items: saved.json.credentials })
    assert.deepEqual((await service.manage('GET', at(id, '/fcm'))).json, { gateway: 'fcm', credentials: [] })
    const rows = await service.sql('select * from gateway_credentials where project_id = $1', [id])
    assert.equal(rows.length, 2)
    for (const { secret } of rows) assert.match(secret, /^v1\.[A-Za-z0-9+/=]+$/)
    assert.ok(!JSON.stringify(rows).includes(keyTextOf(body.key)))
  })

  it('are replaced by environment and topic, with a version that grows and an id that stays', async () => {
    const { id } = await service.project()
    const one = (await put(id, 'apns', await apnsBody({ environment: 'production' }))).json.credentials[0]
    const two = (await put(id, 'apns', await apnsBody({ environment: 'production' }))).json.credentials[0]
    assert.deepEqual([two.id, two.version], [one.id, 2])
    assert.notEqual(two.fingerprint, one.fingerprint)
    await put(id, 'apns', await apnsBody({ environment: 'sandbox' }))
    await put(id, 'apns', await apnsBody({ environment: 'sandbox', topic: 'com.example.other' }))
    const listed = async () =>
      (await service.manage('GET', at(id, '/apns'))).json.credentials.map(
        (each: Record<string, string>) => `${each.environment} ${each.topic}`
      )
    assert.deepEqual(await listed(), [
      'production com.example.app',
      'sandbox com.example.app',
      'sandbox com.example.other'
    ])
    assert.equal(
      (await service.manage('DELETE', at(id, '/apns?environment=sandbox&topic=com.example.app'))).status,
      200
    )
    assert.deepEqual(await listed(), ['production com.example.app', 'sandbox com.example.other'])
    assert.equal((await service.manage('DELETE', at(id, '/apns?topic=com.example.nothing'))).status, 404)
    assert.equal((await service.manage('DELETE', at(id, '/apns'))).status, 200)
    assert.deepEqual(await listed(), [])
    assert.equal((await service.manage('DELETE', at(id, '/apns'))).status, 404)
  })

  it('of Web Push keep their key pair when only the subject changes, also when two save at once', async () => {
    const { id } = await service.project()
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((name) => put(id, 'webpush', { subject: `mailto:${name}@example.com` }))
    )
    const keys = new Set(answers.map(({ json }) => json.credentials[0].public_key))
    assert.equal(keys.size, 1, 'browsers that subscribed with the first answer still hear us')
    const given = vapidBody()
    const replaced = await put(id, 'webpush', given)
    assert.equal(replaced.json.credentials[0].public_key, given.public_key)
    assert.ok(!replaced.text.includes(given.private_key))
  })

  it('that are refused change nothing, and the response names the field', async () => {
    const { id } = await service.project()
    const good = await apnsBody({ environment: 'production' })
    const { json: before } = await put(id, 'apns', good)
    const refused = await put(id, 'apns', {
      ...good,
      key: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
    })
    assert.equal(refused.status, 400)
    assert.equal(refused.json.code, 'invalid_credential')
    assert.match(refused.json.error, /^key: this is a certificate, not the private key/)
    assert.equal(refused.json.details[0].path, 'key')
    const elsewhere = await put(id, 'apns', { ...good, environment: 'staging' })
    assert.equal(elsewhere.json.error, 'environment: must be production, sandbox or both')
    for (const body of [
      {},
      { ...good, key: 5 },
      { ...good, topic: null },
      { ...good, environment: 7 },
      { constructor: 1 }
    ])
      assert.deepEqual([(await put(id, 'apns', body)).json.code, body], ['invalid_credential', body])
    for (const [body, status] of [
      ['[]', 400],
      ['null', 400],
      ['{', 400],
      ['', 400],
      [`{"key":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400],
      ['{"topic":"\\ud800","__proto__":{"key":1}}', 400]
    ] as const) {
      const headers = { 'content-type': 'application/json' }
      const reply = await service.manage('PUT', at(id, '/apns'), { body, headers })
      assert.equal(reply.status, status, body.slice(0, 40))
    }
    assert.deepEqual((await service.manage('GET', at(id, '/apns'))).json, before)
  })

  it('a file that is too long is refused by its name and size', async () => {
    const { id } = await service.project()
    const reply = await put(id, 'fcm', { service_account: JSON.stringify({ text: 'x'.repeat(70_000) }) })
    assert.equal(reply.status, 400)
    assert.match(reply.json.error, /^service_account: is 70 KB long, and at most 64 KB is read/)
  })

  it('of an unknown gateway are not found, whatever its name', async () => {
    const { id } = await service.project()
    for (const name of ['gcm', 'constructor', '__proto__', 'APNS', 'apns%00'])
      for (const [method, path] of [
        ['GET', `/${name}`],
        ['PUT', `/${name}`],
        ['DELETE', `/${name}`],
        ['POST', `/${name}:check`]
      ] as const) {
        const reply = await service.manage(method, at(id, path), method === 'PUT' ? { json: {} } : {})
        assert.equal(reply.status, 404, `${method} ${path}: ${reply.text}`)
      }
    assert.equal((await service.manage('POST', at(id, '/fcm:check'))).status, 404, 'none is set')
    const wrongMethod = await service.manage('POST', at(id, '/fcm'))
    assert.deepEqual([wrongMethod.status, wrongMethod.headers.allow], [405, 'DELETE, GET, HEAD, PUT'])
  })

  it('are at most a hundred in a project', async () => {
    const { id } = await service.project()
    const body = await apnsBody()
    for (let index = 0; index < 50; index += 1) {
      const { status } = await put(id, 'apns', { ...body, topic: `com.example.app${index}` })
      assert.equal(status, 200)
    }
    const refused = await put(id, 'apns', { ...body, topic: 'com.example.more' })
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'])
    assert.equal((await service.manage('GET', at(id))).json.items.length, 100)
  })
})

describe('between projects and roles', () => {
  const tokenOf = async (role: string, project_id?: string) =>
    (await service.manage('POST', '/tokens', { json: { name: role, role, ...(project_id && { project_id }) } })).json
      .token

  it('viewers and editors read facts, and only admins save, remove and check', async () => {
    const { id } = await service.project()
    const body = { subject: 'mailto:push@example.com' }
    await put(id, 'webpush', body)
    for (const role of ['viewer', 'editor', 'admin']) {
      const headers = { authorization: `Bearer ${await tokenOf(role, id)}` }
      const ask = async (method: string, path: string, json?: unknown) =>
        (await service.manage(method, at(id, path), { headers, ...(json !== undefined && { json }) })).status
      const changes = role === 'admin' ? 200 : 403
      assert.equal(await ask('GET', ''), 200)
      assert.equal(await ask('GET', '/webpush'), 200)
      assert.equal(await ask('PUT', '/webpush', body), changes)
      assert.equal(await ask('POST', '/webpush:check'), changes)
      assert.equal(await ask('DELETE', '/webpush'), changes)
    }
  })

  it('no project sees or changes credentials of another', async () => {
    const [one, two] = [await service.project(), await service.project()]
    await put(one.id, 'webpush', { subject: 'mailto:one@example.com' })
    const headers = { authorization: `Bearer ${await tokenOf('admin', two.id)}` }
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/webpush'],
      ['PUT', '/webpush'],
      ['DELETE', '/webpush'],
      ['POST', '/webpush:check']
    ] as const) {
      const json = method === 'PUT' ? { subject: 'mailto:two@example.com' } : undefined
      const reply = await service.manage(method, at(one.id, path), { headers, ...(json && { json }) })
      assert.equal(reply.status, 404, `${method} ${path}`)
      assert.match(reply.json.error, /^There is no such project for this token/)
    }
    assert.equal((await service.manage('DELETE', at(two.id, '/webpush'))).status, 404)
    const { items } = (await service.manage('GET', at(one.id))).json
    assert.deepEqual([items.length, items[0].subject], [1, 'mailto:one@example.com'])
    assert.equal((await one.call('GET', '/api/v1/gateways')).status, 404, 'not a matter of API keys')
  })

  it('a secret copied into another row or project does not open there', async () => {
    const [one, two] = [await service.project(), await service.project()]
    await put(one.id, 'webpush', { subject: 'mailto:one@example.com' })
    await put(two.id, 'webpush', { subject: 'mailto:two@example.com' })
    const [{ secret }] = await service.sql('select secret from gateway_credentials where project_id = $1', [one.id])
    await service.sql('update gateway_credentials set secret = $1 where project_id = $2', [secret, two.id])
    const { json } = await service.manage('POST', at(two.id, '/webpush:check'))
    assert.equal(json.ok, false)
    assert.match(json.credentials[0].message, /does not open/)
  })

  it('secrets are in no response and in no audit entry, and every change is in the audit log', async () => {
    const { id } = await service.project()
    const [apns, account, vapid] = [await apnsBody(), await serviceAccount(), vapidBody()]
    const replies = [
      await put(id, 'apns', apns),
      await put(id, 'fcm', { service_account: account }),
      await put(id, 'fcm', { service_account: JSON.stringify(account) }),
      await put(id, 'webpush', vapid),
      await put(id, 'fcm', { service_account: { ...account, client_email: '' } }),
      await put(id, 'webpush', { ...vapid, public_key: vapidBody().public_key }),
      await service.manage('GET', at(id)),
      await service.manage('POST', at(id, '/webpush:check')),
      await service.manage('DELETE', at(id, '/fcm')),
      await service.manage('GET', `/projects/${id}/audit`)
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200, 400, 400, 200, 200, 200, 200]
    )
    const said = replies.map(({ text }) => text).join('\n')
    for (const secret of [keyTextOf(apns.key), keyTextOf(account.private_key), vapid.private_key])
      assert.ok(!said.includes(secret))
    const entries = replies
      .at(-1)!
      .json.items.map(({ action, target }: Record<string, string>) => `${action} ${target}`)
    assert.deepEqual(entries.slice(0, 6), [
      'gateway.remove fcm',
      'gateway.set webpush',
      'gateway.set fcm',
      'gateway.set fcm',
      'gateway.set apns/sandbox/com.example.app',
      'gateway.set apns/production/com.example.app'
    ])
  })

  it('deleting the project deletes its credentials', async () => {
    const { id } = await service.project()
    await put(id, 'webpush', { subject: 'mailto:push@example.com' })
    assert.equal((await service.manage('DELETE', `/projects/${id}`)).status, 200)
    await service.app.idle()
    assert.deepEqual(await service.sql('select 1 from gateway_credentials where project_id = $1', [id]), [])
  })
})

/** A line from the middle of a PEM. */
const keyTextOf = (pem: string) => pem.split('\n')[1]!.slice(8, 40)
