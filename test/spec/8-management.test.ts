import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withClient } from '../support/database.ts'
import { ask, type Json } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()

const as = (token: string) => (method: string, path: string, json?: unknown) =>
  ask(service.url, method, `/manage/v1${path}`, {
    ...(json !== undefined && { json }),
    headers: { authorization: `Bearer ${token}` }
  })

async function token(role: string, projectId?: string): Promise<string> {
  const reply = await service.manage('POST', '/tokens', {
    json: { name: 'test', role, ...(projectId && { project_id: projectId }) }
  })
  assert.equal(reply.status, 201)
  return reply.json.token
}

const unset = { message_limits: [], quiet_hours: null, identity_verification: false, intake: false }
describe('/manage/v1 projects (A.8)', () => {
  it('creates a live project on the standard plan with the default limits, and reads it', async () => {
    const reply = await service.manage('POST', '/projects', { json: { name: 'Shop' } })
    assert.equal(reply.status, 201)
    const { id, created_at, ...rest } = reply.json
    assert.match(id, /^[a-z0-9]{12}$/)
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {
      name: 'Shop',
      mode: 'live',
      plan: 'standard',
      limits: { requests_per_second: 1000, client_requests_per_second: 5000, triggers_per_second: 1000 },
      retention: { events_days: 365, messages_days: 90 },
      paused_at: null,
      ...unset
    })
    assert.deepEqual((await service.manage('GET', `/projects/${id}`)).json, reply.json)
  })

  it('takes a chosen id once', async () => {
    assert.equal(
      (await service.manage('POST', '/projects', { json: { id: 'My_Shop-1', name: 'x' } })).json.id,
      'My_Shop-1'
    )
    const again = await service.manage('POST', '/projects', { json: { id: 'My_Shop-1', name: 'y' } })
    assert.deepEqual([again.status, again.json.code], [409, 'conflict'])
  })

  it('changes only the fields given, and a plan changes the limit it names', async () => {
    const { id } = await service.project()
    const changed = await service.manage('PATCH', `/projects/${id}`, {
      json: { plan: 'free', limits: { requests_per_second: 7 } }
    })
    assert.equal(changed.status, 200)
    assert.deepEqual(changed.json.limits, {
      requests_per_second: 7,
      client_requests_per_second: 5000,
      triggers_per_second: 10
    })
    const named = await service.manage('PATCH', `/projects/${id}`, {
      json: { name: 'New', mode: 'simulator', retention: { events_days: 3 } }
    })
    assert.deepEqual(
      [named.json.name, named.json.mode, named.json.limits.requests_per_second, named.json.retention],
      ['New', 'simulator', 7, { events_days: 3, messages_days: 90 }]
    )
  })

  it('takes back a limit or a retention with null: the plan and the defaults count again', async () => {
    const made = await service.manage('POST', '/projects', {
      json: { name: 'x', plan: 'free', limits: { triggers_per_second: 3, requests_per_second: null } }
    })
    const { id, limits } = made.json
    assert.deepEqual([limits.triggers_per_second, limits.requests_per_second], [3, 1000])
    await service.manage('PATCH', `/projects/${id}`, {
      json: { limits: { requests_per_second: 7 }, retention: { events_days: 3 } }
    })
    const back = await service.manage('PATCH', `/projects/${id}`, {
      json: { limits: { requests_per_second: null, triggers_per_second: null }, retention: { events_days: null } }
    })
    assert.deepEqual(back.json.limits, {
      requests_per_second: 1000,
      client_requests_per_second: 5000,
      triggers_per_second: 10
    })
    assert.deepEqual(back.json.retention, { events_days: 365, messages_days: 90 })
  })

  for (const [what, json] of [
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a name with a line break', { name: 'a\nb' }],
    ['an id with a slash', { name: 'a', id: 'a/b' }],
    ['an id of 65 letters', { name: 'a', id: 'a'.repeat(65) }],
    ['an unknown plan', { name: 'a', plan: 'gold' }],
    ['a plan that objects inherit', { name: 'a', plan: 'constructor' }],
    ['an unknown mode', { name: 'a', mode: 'test' }],
    ['a negative limit', { name: 'a', limits: { requests_per_second: -1 } }],
    ['a fraction as a limit', { name: 'a', limits: { requests_per_second: 1.5 } }],
    ['null for limits', { name: 'a', limits: null }],
    ['a limit as text', { name: 'a', limits: { requests_per_second: '5' } }],
    ['a body that is an array', []]
  ] as const) {
    it(`refuses ${what} and says where`, async () => {
      const reply = await service.manage('POST', '/projects', { json })
      assert.equal(reply.status, 400)
      assert.match(reply.json.code, /^(malformed_body|invalid_parameter)$/)
      assert.ok(reply.json.error.length > 5 && reply.json.details[0].path)
    })
  }

  it('lists newest first by pages, and refuses a cursor it did not give out', async () => {
    const made: string[] = []
    for (let index = 0; index < 5; index += 1) made.push((await service.project()).id)
    const seen: string[] = []
    let cursor = ''
    do {
      const { items, next_cursor } = (await service.manage('GET', `/projects?limit=2${cursor}`)).json
      assert.ok(items.length <= 2)
      seen.push(...items.map((project: Json) => project.id))
      cursor = next_cursor ? `&cursor=${next_cursor}` : ''
    } while (cursor)
    assert.deepEqual(
      seen.filter((id) => made.includes(id)),
      made.reverse()
    )
    assert.equal(new Set(seen).size, seen.length)
    for (const query of [
      'cursor=x',
      'cursor=WyJhIiwiYiJd',
      'limit=0',
      'limit=201',
      'limit=x',
      'limit=1&limit=2',
      'cursor=%00',
      'limit=1e2'
    ]) {
      assert.equal((await service.manage('GET', `/projects?${query}`)).status, 400, query)
    }
  })

  it('a text that cannot be the id of a project is unknown, with any characters', async () => {
    for (const id of ['%00', '%F0%9F%8C%8D', 'x'.repeat(65), 'a%2Fb', '%27%20or%201'])
      for (const path of [
        `/projects/${id}`,
        `/projects/${id}/users`,
        `/projects/${id}/api/v1/users/ana`,
        `/projects/${id}/simulator/inbox`
      ])
        assert.equal((await service.manage('GET', path)).status, 404, path)
  })

  it('a deleted project is unknown to every surface at once, and its rows are deleted soon after', async () => {
    const project = await service.project()
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const bound = await token('admin', project.id)
    assert.equal((await service.manage('DELETE', `/projects/${project.id}`)).status, 200)
    assert.equal((await project.call('GET', '/api/v1/users/ana')).status, 401)
    assert.equal((await as(bound)('GET', '/projects')).status, 401)
    assert.equal((await service.manage('GET', `/projects/${project.id}`)).status, 404)
    assert.equal((await service.manage('DELETE', `/projects/${project.id}`)).status, 404)
    await eventually(async () => {
      assert.deepEqual(await service.sql('select 1 from users where project_id = $1', [project.id]), [])
      assert.deepEqual(await service.sql('select 1 from projects where project_id = $1', [project.id]), [])
    })
    assert.equal((await service.manage('POST', '/projects', { json: { id: project.id, name: 'again' } })).status, 201)
    assert.deepEqual((await service.manage('GET', `/projects/${project.id}/users`)).json.items, [])
  })
})

describe('/manage/v1 authentication', () => {
  it('wants a bearer token that is known', async () => {
    const reply = (authorization?: string) => service.ask('GET', '/manage/v1/projects', { headers: { authorization } })
    for (const given of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Basic abc',
      'Bearer svc_at_nope',
      `Bearer ${service.adminToken}x`,
      service.adminToken
    ]) {
      const { status, json, headers } = await reply(given)
      assert.equal(status, 401, given)
      assert.match(json.code, /_token$/)
      assert.equal(headers['www-authenticate'], 'Bearer')
    }
    assert.equal((await reply(`bearer ${service.adminToken}`)).status, 200)
  })

  it('an API key is no token, and a token is no API key', async () => {
    const project = await service.project()
    assert.equal((await as(project.secretKey)('GET', '/projects')).status, 401)
    assert.equal(
      (await project.call('GET', '/api/v1/users/x', { headers: { 'x-service-api-key': service.adminToken } })).status,
      401
    )
  })

  it('a viewer reads, an editor also writes users, only an admin manages', async () => {
    const project = await service.project()
    const [viewer, editor, admin] = [as(await token('viewer')), as(await token('editor')), as(await token('admin'))]
    const path = `/projects/${project.id}`
    const user = { project_user_id: 'ana' }
    for (const who of [viewer, editor, admin]) assert.equal((await who('GET', path)).status, 200)
    for (const who of [viewer, editor, admin]) assert.equal((await who('GET', `${path}/users`)).status, 200)
    assert.equal((await viewer('POST', `${path}/api/v1/users`, user)).status, 403)
    assert.equal((await editor('POST', `${path}/api/v1/users`, user)).status, 200)
    assert.equal((await viewer('GET', `${path}/api/v1/users/ana`)).status, 200)
    for (const [method, url, json] of [
      ['POST', '/projects', { name: 'x' }],
      ['PATCH', path, { name: 'x' }],
      ['DELETE', path, undefined],
      ['POST', `${path}/keys`, { kind: 'secret', name: 'x' }],
      ['GET', `${path}/keys`, undefined],
      ['GET', `${path}/audit`, undefined],
      ['GET', '/tokens', undefined],
      ['POST', '/tokens', { name: 'x', role: 'viewer' }],
      ['GET', `${path}/users:export`, undefined]
    ] as const) {
      for (const who of [viewer, editor]) {
        const reply = await who(method, url, json)
        assert.deepEqual([reply.status, reply.json.code], [403, 'forbidden'], `${method} ${url}`)
        assert.ok(reply.headers['x-ratelimit-limit'], 'the limits are shown to every caller we know')
      }
    }
    assert.equal((await admin('POST', `${path}/keys`, { kind: 'secret', name: 'x' })).status, 201)
  })

  it('a token of one project sees nothing of another, nor of the installation', async () => {
    const [own, foreign] = [await service.project(), await service.project()]
    const bound = as(await token('admin', own.id))
    assert.deepEqual(
      (await bound('GET', '/projects')).json.items.map((project: Json) => project.id),
      [own.id]
    )
    assert.equal((await bound('GET', `/projects/${own.id}`)).status, 200)
    const foreignKey = (await service.manage('GET', `/projects/${foreign.id}/keys`)).json.items[0].id
    for (const [method, path] of [
      ['GET', `/projects/${foreign.id}`],
      ['PATCH', `/projects/${foreign.id}`],
      ['GET', `/projects/${foreign.id}/keys`],
      ['POST', `/projects/${foreign.id}/keys`],
      ['DELETE', `/projects/${foreign.id}/keys/${foreignKey}`],
      ['DELETE', `/projects/${own.id}/keys/${foreignKey}`],
      ['GET', `/projects/${foreign.id}/users`],
      ['GET', `/projects/${foreign.id}/users/ana`],
      ['GET', `/projects/${foreign.id}/users:export`],
      ['POST', `/projects/${foreign.id}/users:import`],
      ['GET', `/projects/${foreign.id}/audit`],
      ['GET', `/projects/${foreign.id}/api/v1/users/ana`],
      ['POST', `/projects/${foreign.id}/api/v1/users`]
    ] as const) {
      const reply = await bound(method, path)
      assert.deepEqual([reply.status, reply.headers['x-ratelimit-limit']], [404, '1000'], `${method} ${path}`)
    }
    for (const [method, path, json] of [
      ['POST', '/projects', { name: 'x' }],
      ['DELETE', `/projects/${own.id}`, undefined],
      ['POST', '/tokens', { name: 'x', role: 'admin' }],
      ['POST', '/tokens', { name: 'x', role: 'viewer', project_id: foreign.id }]
    ] as const) {
      assert.equal((await bound(method, path, json)).status, 403, `${method} ${path}`)
    }
    const tokens = (await bound('GET', '/tokens')).json.items
    assert.ok(tokens.length > 0 && tokens.every((each: Json) => each.project_id === own.id))
    const global = (await service.manage('GET', '/tokens?limit=200')).json.items.find(
      (each: Json) => each.project_id === null
    )
    assert.equal((await bound('DELETE', `/tokens/${global.id}`)).status, 404)
    assert.equal((await bound('POST', '/tokens', { name: 'x', role: 'viewer', project_id: own.id })).status, 201)
  })

  it('a revoked token is refused', async () => {
    const text = await token('admin')
    const mine = (await service.manage('GET', '/tokens?limit=200')).json.items.find((each: Json) =>
      text.startsWith(each.prefix)
    )
    assert.equal((await service.manage('DELETE', `/tokens/${mine.id}`)).status, 200)
    assert.equal((await as(text)('GET', '/projects')).status, 401)
    assert.equal((await service.manage('DELETE', `/tokens/${mine.id}`)).status, 404)
    assert.equal((await service.manage('DELETE', '/tokens/not-an-id')).status, 404)
  })
})

describe('keys and the audit log', () => {
  it('a key is shown once, listed without its text, and revoked', async () => {
    const { id } = await service.project()
    const made = await service.manage('POST', `/projects/${id}/keys`, { json: { kind: 'public', name: 'web' } })
    assert.equal(made.status, 201)
    assert.deepEqual(Object.keys(made.json), [
      'id',
      'kind',
      'name',
      'key',
      'prefix',
      'created_at',
      'expires_at',
      'policy'
    ])
    assert.match(made.json.key, /^svc_pk_[A-Za-z0-9_-]{43}$/)
    assert.ok(made.json.key.startsWith(made.json.prefix) && made.json.prefix.length < 15)
    const listed = (await service.manage('GET', `/projects/${id}/keys`)).json.items[0]
    assert.deepEqual([listed.id, listed.name, listed.last_used_at], [made.json.id, 'web', null])
    assert.equal((await service.manage('DELETE', `/projects/${id}/keys/${made.json.id}`)).status, 200)
    assert.equal((await service.manage('DELETE', `/projects/${id}/keys/${made.json.id}`)).status, 404)
  })

  for (const json of [{ kind: 'secret' }, { kind: 'other', name: 'x' }, { name: 'x' }, { kind: 'secret', name: 7 }]) {
    it(`refuses the key ${JSON.stringify(json)}`, async () => {
      const { id } = await service.project()
      assert.equal((await service.manage('POST', `/projects/${id}/keys`, { json })).status, 400)
    })
  }

  it('says who changed what, and never a secret', async () => {
    const { id, secretKey } = await service.project()
    const text = await token('viewer', id)
    const [made] = (await service.manage('GET', '/tokens')).json.items
    assert.ok(text.startsWith(made.prefix))
    await service.manage('DELETE', `/tokens/${made.id}`)
    await service.manage('PATCH', `/projects/${id}`, { json: { name: 'Renamed' } })
    const { items } = (await service.manage('GET', `/projects/${id}/audit`)).json
    assert.deepEqual(
      items.map((entry: Json) => entry.action),
      ['project.update', 'token.revoke', 'token.create', 'key.create', 'key.create', 'project.create']
    )
    assert.deepEqual(items[0].details, { name: 'Renamed', before: { name: 'Test' } })
    assert.match(items[0].actor, /^token [0-9a-f-]{36}$/)
    assert.ok(!JSON.stringify(items).includes(secretKey.slice(7)))
  })

  it('writes the last use of a key, lazily', async () => {
    const node = await service.another()
    const project = await service.project()
    await ask(node.url, 'GET', '/api/v1/users/x', {
      headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey }
    })
    await node.close()
    const keys = (await service.manage('GET', `/projects/${project.id}/keys`)).json.items
    const used = keys.find((key: Json) => key.kind === 'secret')
    assert.ok(Date.now() - Date.parse(used.last_used_at) < 60_000)
  })
})

describe('/api/v1 under /manage/v1', () => {
  it('is the same handlers with the token instead of keys, fixed texts included', async () => {
    const { id } = await service.project()
    const path = `/projects/${id}/api/v1/users`
    assert.deepEqual(
      (await service.manage('POST', path, { json: { project_user_id: 'a/b', properties: { x: 1 } } })).json,
      { properties: { x: 1 } }
    )
    assert.deepEqual((await service.manage('PATCH', `${path}/a%2Fb`, { json: { properties: { y: 2 } } })).json, {
      properties: { x: 1, y: 2 }
    })
    const bad = await service.manage('POST', path, { json: { project_user_id: 5 } })
    assert.deepEqual([bad.status, bad.text], [400, 'Project User Id must be provided'])
    assert.equal((await service.manage('PATCH', path)).status, 400)
    assert.equal((await service.manage('DELETE', `${path}/a%2Fb`)).text, '{}')
    const stranger = await service.ask('POST', `/manage/v1${path}`, { json: {} })
    assert.equal(stranger.status, 401)
  })

  it('lists dead jobs, page by page and without their payloads, and runs them again', async () => {
    const ids = ['0199c0de-0000-7000-8000-000000000001', '0199c0de-0000-7000-8000-000000000002']
    await withClient(service.databaseUrl, (client) =>
      client.query(
        `insert into dead_jobs (id, name, payload, attempts, error, created_at, died_at)
         select id, 'tests.unknown', '{"secret":"payload"}', 3, 'it broke', now(), now() from unnest($1::uuid[]) as id`,
        [ids]
      )
    )
    const first = await service.manage('GET', '/dead-jobs?limit=1')
    const { id, project_id, error, attempts } = first.json.items[0]
    assert.deepEqual([id, project_id, error, attempts], [ids[1], null, 'it broke', 3])
    assert.ok(!first.text.includes('payload'))
    const next = await service.manage('GET', `/dead-jobs?cursor=${first.json.next_cursor}`)
    assert.deepEqual(
      next.json.items.map((job: Json) => job.id),
      [ids[0]]
    )
    assert.deepEqual((await service.manage('POST', `/dead-jobs/${ids[0]}:revive`)).json, {})
    for (const gone of [ids[0], 'nonsense'])
      assert.equal((await service.manage('POST', `/dead-jobs/${gone}:revive`)).status, 404)
    assert.equal((await service.manage('GET', '/dead-jobs')).json.items.length, 1)
    const ours = await service.project()
    assert.equal((await as(await token('admin', ours.id))('GET', '/dead-jobs')).status, 403)
  })

  it('lists the nodes at work', async () => {
    const { items } = (await service.manage('GET', '/nodes')).json
    assert.ok(items.some((node: Json) => node.pid === process.pid && node.role === 'all'))
  })
})
