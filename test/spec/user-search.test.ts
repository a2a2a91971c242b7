import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withClient } from '../support/database.ts'
import { asApp, ios, link, put as register } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()

const at = (project: TestProject, path = '') => `/projects/${project.id}${path}`
const put = (project: TestProject, users: Record<string, Json>) =>
  project.call('POST', '/api/v1/users:batch', {
    json: { users: Object.entries(users).map(([id, properties]) => ({ project_user_id: id, properties })) }
  })
const list = async (project: TestProject, query: Record<string, string>): Promise<Json> => {
  const reply = await service.manage('GET', at(project, `/users?${new URLSearchParams(query)}`))
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
const named = ({ items }: Json) => items.map((user: Json) => user.project_user_id)
const where = async (project: TestProject, properties: Json, more: Record<string, string> = {}) =>
  named(await list(project, { where: JSON.stringify(properties), ...more }))

const indexes = async (project: TestProject): Promise<Json[]> =>
  (await service.manage('GET', at(project, '/indexed-properties'))).json.items
const choose = (project: TestProject, name: string) =>
  service.manage('PUT', at(project, `/indexed-properties/${encodeURIComponent(name)}`))
const ready = (project: TestProject, name: string) =>
  eventually(async () => {
    assert.equal((await indexes(project)).find((each) => each.name === name)?.state, 'ready')
  }, 20_000)
/** Whether a search by this property reads an index: only others say how many users they have searched. */
const isIndexed = async (project: TestProject, name: string) =>
  (await list(project, { where: JSON.stringify({ [name]: 'x' }) })).searched === undefined

/** Every value of a property leads to exactly the users who have it. */
async function assertComplete(project: TestProject, name: string): Promise<void> {
  const { items } = await list(project, { limit: '200' })
  const byValue = Map.groupBy(
    items.filter((user: Json) => Object.hasOwn(user.properties, name)) as Json[],
    (user) => user.properties[name]
  )
  for (const [value, users] of byValue)
    assert.deepEqual(await where(project, { [name]: value }, { limit: '200' }), named({ items: users }), `${value}`)
}

/** How many users have a value, by the index alone. */
const sizeWith = async (project: TestProject, name: string, value: unknown): Promise<number> => {
  const segment = { attribute: `user.${name}`, operator: 'equals', value }
  return (await service.manage('POST', at(project, '/segments:count'), { json: { segment } })).json.users
}

/** The index names no user who does not have the value. */
async function assertExact(project: TestProject, name: string): Promise<void> {
  const { items } = await list(project, { limit: '200' })
  for (const value of ['a', 'b', 'c'])
    assert.equal(
      await sizeWith(project, name, value),
      items.filter(({ properties }: Json) => properties[name] === value).length,
      value
    )
}

describe('a search by properties', () => {
  it('finds users who have exactly these values, of the same type, newest first', async () => {
    const project = await service.project()
    await put(project, {
      ana: { plan: 'premium', age: 31, vip: true, note: null },
      bo: { plan: 'premium', age: '31', vip: 'true' },
      cy: { plan: 'Premium', note: '' },
      dee: {}
    })
    assert.deepEqual(await where(project, { plan: 'premium' }), ['bo', 'ana'])
    assert.deepEqual(await where(project, { age: 31 }), ['ana'])
    assert.deepEqual(await where(project, { age: '31' }), ['bo'])
    assert.deepEqual(await where(project, { vip: true }), ['ana'])
    assert.deepEqual(await where(project, { note: null }), ['ana'])
    assert.deepEqual(await where(project, { plan: 'premium', age: 31 }), ['ana'])
    assert.deepEqual(await where(project, { plan: 'premium' }, { search: 'B' }), ['bo'])
    assert.deepEqual(await where(project, { plan: 'premium' }, { search: 'bo' }), ['bo'])
    assert.deepEqual(await where(project, { plan: 'free' }, { search: 'bo' }), [])
    assert.deepEqual(await where(await service.project(), { plan: 'premium' }), [], 'another project')
  })

  it('says how far it came, and pages without loss or repeat', async () => {
    const project = await service.project()
    await put(project, Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`u${n}`, { odd: n % 2 === 1 }])))
    const all = await list(project, { where: '{"odd":true}' })
    assert.deepEqual([all.items.length, all.searched, all.about], [15, 30, undefined])
    const seen: string[] = []
    let cursor: string | undefined
    let searched = 0
    do {
      const page = await list(project, { where: '{"odd":true}', limit: '4', ...(cursor && { cursor }) })
      seen.push(...named(page))
      searched += page.searched
      cursor = page.next_cursor
      if (cursor) assert.equal(typeof page.about, 'number')
    } while (cursor)
    assert.deepEqual([seen, searched], [named(all), 30])
  })

  it('finds the user of exactly this id first, once', async () => {
    const project = await service.project()
    await put(project, { ana: {}, 'ana-2': {}, 'ana-3': {} })
    assert.deepEqual(named(await list(project, { search: 'ana' })), ['ana', 'ana-3', 'ana-2'])
    const first = await list(project, { search: 'ana', limit: '1' })
    assert.deepEqual(named(first), ['ana'])
    const rest = await list(project, { search: 'ana', limit: '2', cursor: first.next_cursor })
    assert.deepEqual(named(rest), ['ana-3', 'ana-2'])
  })

  it('refuses conditions that are none', async () => {
    const project = await service.project()
    const six = JSON.stringify({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 })
    for (const text of ['plan', '[]', '{}', 'null', '{"a":[]}', '{"a":{}}', '{"":1}', '{"a":"\\u0000"}', six]) {
      const reply = await service.manage('GET', at(project, `/users?${new URLSearchParams({ where: text })}`))
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_parameter'], text)
      assert.equal(reply.json.details[0].path, 'where')
    }
  })
})

describe('an indexed property', () => {
  it('finds the same users as a search of all, after every way of changing them', async () => {
    const project = await service.project()
    await put(project, { ana: { plan: 'premium', age: 31 }, bo: { plan: 'free' }, cy: {} })
    assert.deepEqual((await choose(project, 'plan')).json, { name: 'plan' })
    await choose(project, 'age')
    await Promise.all([ready(project, 'plan'), ready(project, 'age')])
    assert.ok((await isIndexed(project, 'plan')) && !(await isIndexed(project, 'city')))
    assert.deepEqual(await where(project, { plan: 'premium' }), ['ana'])
    assert.deepEqual(await where(project, { plan: 'premium', age: 30 }), [])

    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'dee', properties: { plan: 'premium' } } })
    await project.call('PATCH', '/api/v1/users/ana', { json: { properties: { plan: 'free', age: '31' } } })
    assert.deepEqual(await where(project, { plan: 'premium' }), ['dee'])
    assert.deepEqual(await where(project, { age: '31' }), ['ana'])
    await project.call('POST', '/api/v1/users/ana/properties:remove', { json: { names: ['plan'] } })
    assert.deepEqual(await where(project, { plan: 'free' }), ['bo'])
    await service.manage('POST', at(project, '/users:import'), {
      body: '{"project_user_id":"eve","properties":{"plan":"premium"}}\n{"project_user_id":"bo","properties":{"plan":"premium"}}',
      headers: { 'content-type': 'application/x-ndjson' }
    })
    await service.manage('POST', at(project, '/users'), {
      json: { project_user_id: 'fay', properties: { plan: 'premium' } }
    })
    await service.manage('PATCH', at(project, '/users/dee'), { json: { set: { age: 7 }, remove: ['plan'] } })
    assert.deepEqual(await where(project, { plan: 'premium' }), ['fay', 'eve', 'bo'])
    assert.deepEqual(await where(project, { age: 7 }), ['dee'])
    await project.call('DELETE', '/api/v1/users/eve')
    assert.deepEqual(await where(project, { plan: 'premium' }), ['fay', 'bo'])
    await assertComplete(project, 'plan')
    await assertComplete(project, 'age')
  })

  it('follows the user of a device: its properties, and those of an anonymous user who logs in', async () => {
    const project = await service.project()
    await choose(project, 'plan')
    await ready(project, 'plan')
    await register(project, ios)
    const change = (value: string) =>
      asApp(project, 'POST', '/devices/phone/user/properties', { properties: [{ name: 'plan', value }] })
    assert.equal((await change('gold')).status, 200)
    assert.deepEqual(await where(project, { plan: 'gold' }), [], 'lists leave out anonymous users')
    assert.equal((await link(project, 'phone', 'ana')).status, 200)
    assert.deepEqual(await where(project, { plan: 'gold' }), ['ana'])
    await change('silver')
    assert.deepEqual([await where(project, { plan: 'gold' }), await where(project, { plan: 'silver' })], [[], ['ana']])
    assert.equal((await asApp(project, 'DELETE', '/devices/phone/user/properties?names=plan')).status, 200)
    assert.deepEqual(await where(project, { plan: 'silver' }), [])
  })

  it('finds every user that changes while it is built, by any caller', async () => {
    const project = await service.project()
    const ids = Array.from({ length: 40 }, (_, n) => `u${n}`)
    await put(project, Object.fromEntries(ids.map((id) => [id, { plan: 'a' }])))
    let writing = true
    const writer = async (turn: number) => {
      for (let n = turn; writing; n += 7) {
        const path = `/api/v1/users/${ids[n % ids.length]}`
        if (n % 5 === 0) await project.call('POST', `${path}/properties:remove`, { json: { names: ['plan'] } })
        else if (n % 11 === 0) await project.call('DELETE', path)
        else
          await project.call('POST', '/api/v1/users', {
            json: { project_user_id: ids[n % ids.length], properties: { plan: 'abc'[n % 3] } }
          })
      }
    }
    const writers = [0, 1, 2, 3].map(writer)
    await choose(project, 'plan')
    await ready(project, 'plan')
    writing = false
    await Promise.all(writers)
    await assertComplete(project, 'plan')
    await assertExact(project, 'plan')
  })

  it('names exactly the users who have a value, also if one loses it while another request writes it', async () => {
    const project = await service.project()
    await put(project, { ana: {}, bo: { plan: 'a' }, cy: {} })
    await choose(project, 'plan')
    await ready(project, 'plan')
    await withClient(service.databaseUrl, async (client) => {
      await client.query('begin')
      // As a node writes that has not committed yet.
      await client.query(
        `with changed as (
           update users set properties = '{"plan":"a"}' where project_id = $1 and project_user_id = 'ana' returning id)
         insert into indexed_values select v.project_id, c.id, v.property_id, v.value from indexed_values v, changed c
          where v.project_id = $1`,
        [project.id]
      )
      const lost = project.call('POST', '/api/v1/users/ana/properties:remove', { json: { names: ['plan'] } })
      await eventually(async () => {
        const [{ waiting }] = await service.sql(
          `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and query like '%unindexed as%'`
        )
        assert.equal(waiting, 1)
      })
      await client.query('commit')
      assert.deepEqual([(await lost).status, (await lost).json.properties], [200, {}])
    })
    await assertExact(project, 'plan')
    assert.equal(await sizeWith(project, 'plan', 'a'), 1)
    await put(project, { ana: { plan: 'a' } })
    assert.equal(await sizeWith(project, 'plan', 'a'), 2)
  })

  it('waits for transactions that began before it was chosen', async () => {
    const project = await service.project()
    await withClient(service.databaseUrl, async (client) => {
      await client.query('begin')
      // As a node writes that has not heard of the index.
      await client.query(
        `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
         values ($1, '00000000-0000-7000-8000-000000000001', 'late', '{"plan":"x"}', now(), now())`,
        [project.id]
      )
      await choose(project, 'plan')
      // Longer than the index of an empty project takes.
      await new Promise((done) => setTimeout(done, 1_200))
      const shown = async (visited: number) => {
        await service.sql('update indexed_properties set visited = $2 where project_id = $1', [project.id, visited])
        const { name: _, created_at: __, ...rest } = (await indexes(project))[0]!
        return rest
      }
      assert.deepEqual(await shown(20_000), { state: 'building', visited: 20_000 }, 'the planner knows of fewer users')
      const { about } = await shown(0)
      assert.ok(about === undefined || about > 0)
      await client.query('commit')
    })
    await ready(project, 'plan')
    assert.deepEqual(await where(project, { plan: 'x' }), ['late'])
  })

  it('can be removed and chosen again, and leaves nothing behind', async () => {
    const project = await service.project()
    const rows = async () =>
      (await service.sql('select count(*)::int as n from indexed_values where project_id = $1', [project.id]))[0].n
    await put(project, { ana: { plan: 'a' }, bo: { plan: 'b' } })
    await choose(project, 'plan')
    await ready(project, 'plan')
    assert.equal(await rows(), 2)
    assert.deepEqual((await service.manage('DELETE', at(project, '/indexed-properties/plan'))).json, {})
    assert.deepEqual(await indexes(project), [])
    await put(project, { ana: { plan: 'c' } })
    await choose(project, 'plan')
    await ready(project, 'plan')
    assert.deepEqual([await where(project, { plan: 'a' }), await where(project, { plan: 'c' })], [[], ['ana']])
    await eventually(async () => assert.equal(await rows(), 2))
    await service.manage('DELETE', at(project))
    await eventually(async () => assert.equal(await rows(), 0))
  })

  it('is chosen by admins, at most ten times a project, and seen by viewers of the project', async () => {
    const [project, other] = [await service.project(), await service.project()]
    const as = async (role: string) => {
      const { json } = await service.manage('POST', '/tokens', { json: { name: role, role, project_id: project.id } })
      return (method: string, path: string) =>
        service.ask(method, `/manage/v1${path}`, { headers: { authorization: `Bearer ${json.token}` } })
    }
    const [viewer, editor] = [await as('viewer'), await as('editor')]
    assert.equal((await editor('PUT', at(project, '/indexed-properties/plan'))).status, 403)
    assert.equal((await viewer('GET', at(project, '/indexed-properties'))).status, 200)
    assert.equal((await viewer('GET', at(other, '/indexed-properties'))).status, 404)
    for (let n = 0; n < 10; n += 1) assert.equal((await choose(project, `p/${n}`)).status, 200)
    assert.equal((await choose(project, 'p/0')).status, 200, 'it is indexed already')
    const refused = await choose(project, 'eleventh')
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'])
    assert.equal((await choose(project, 'x'.repeat(257))).status, 400)
    assert.equal((await indexes(project)).length, 10)
    assert.deepEqual(await indexes(other), [])
    const { items } = (await service.manage('GET', at(project, '/audit'))).json
    assert.ok(items.some((entry: Json) => entry.action === 'indexed_property.create' && entry.target === 'p/0'))
  })
})

describe('a change by a person', () => {
  const change = (project: TestProject, json: Json, id = 'ana') =>
    service.manage('PATCH', at(project, `/users/${id}`), { json })

  it('sets and removes properties at once', async () => {
    const project = await service.project()
    await put(project, { ana: { plan: 'free', age: 31, city: 'Rome' } })
    const reply = await change(project, { set: { plan: 'premium', vip: true }, remove: ['age', 'none'] })
    assert.deepEqual([reply.status, reply.json.properties], [200, { plan: 'premium', city: 'Rome', vip: true }])
  })

  it('is refused if another has changed the same properties, and only then', async () => {
    const project = await service.project()
    await put(project, { ana: { plan: 'free', age: 31 } })
    const before = { plan: 'free', age: 31 }
    await put(project, { ana: { city: 'Rome' } })
    assert.equal((await change(project, { set: { plan: 'a' }, remove: ['age'], before })).status, 200)
    for (const json of [
      { set: { plan: 'b' }, before: { plan: 'free' } },
      { remove: ['plan'], before: { plan: 'free' } },
      { set: { city: 'Oslo' }, before: {} },
      { set: { age: 32 }, before: { age: 31 } }
    ]) {
      const reply = await change(project, json)
      assert.deepEqual([reply.status, reply.json.code], [409, 'conflict'], JSON.stringify(json))
    }
    assert.equal((await change(project, { set: { age: 1 }, before: {} })).status, 200, 'absent before, absent now')
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, {
      city: 'Rome',
      plan: 'a',
      age: 1
    })
  })

  it('succeeds again if it is repeated after its response was lost, and changes nothing then', async () => {
    const project = await service.project()
    await put(project, { ana: { plan: 'free', age: 31, city: 'Rome' } })
    const json = { set: { plan: 'premium' }, remove: ['age'], before: { plan: 'free', age: 31, city: 'Rome' } }
    const first = await change(project, json)
    const again = await change(project, json)
    assert.deepEqual([again.status, again.json], [200, first.json])

    await put(project, { ana: { city: 'Oslo' } })
    assert.equal((await change(project, json)).status, 409, 'a property of before has another value now')
    await put(project, { ana: { city: 'Rome', age: 31 } })
    assert.equal((await change(project, json)).status, 409, 'only a part is as wanted')
  })

  it('refuses what no user can have, an absent user and another project', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await put(project, { ana: {} })
    assert.equal((await change(project, { set: { plan: 'x'.repeat(70_000) } })).status, 400)
    assert.equal((await change(project, { set: { tags: [] } })).status, 400)
    assert.equal((await change(project, { set: { a: 1 }, remove: ['a'] })).status, 400)
    assert.equal((await change(project, { set: { a: 1 } }, 'bo')).status, 404)
    assert.equal((await change(other, { set: { a: 1 } })).status, 404)
  })

  it('creates a user only if the id is new', async () => {
    const [project, other] = [await service.project(), await service.project()]
    const create = (where: TestProject, json: Json) => service.manage('POST', at(where, '/users'), { json })
    const made = await create(project, { project_user_id: 'ana', properties: { plan: 'free' } })
    assert.deepEqual([made.status, made.json.properties], [200, { plan: 'free' }])
    const again = await create(project, { project_user_id: 'ana', properties: { plan: 'premium' } })
    assert.deepEqual([again.status, again.json.code], [409, 'conflict'])
    assert.equal((await project.call('GET', '/api/v1/users/ana')).json.properties.plan, 'free')
    assert.equal((await create(other, { project_user_id: 'ana' })).status, 200)
    assert.equal((await create(project, { project_user_id: '..' })).status, 400)
    assert.equal((await create(project, {})).status, 400)
  })
})
