import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService } from '../support/service.ts'

const service = await startService()
const fixed = 'Project User Id must be provided'
const json = { 'content-type': 'application/json' }

async function ana(properties: Record<string, unknown> = { a: 1, b: 'two' }) {
  const project = await service.project()
  await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties } })
  return project
}

describe('PATCH /api/v1/users/{project_user_id} does it (spec 4.2)', () => {
  it('changes only the keys given and answers all properties', async () => {
    const project = await ana()
    const reply = await project.call('PATCH', '/api/v1/users/ana', { json: { properties: { b: null, c: true } } })
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.json, { properties: { a: 1, b: null, c: true } })
  })

  for (const [what, asked] of [
    ['no body at all', {}],
    ['an empty body with a JSON content type', { body: '', headers: json }],
    ['an empty body with another content type', { body: '', headers: { 'content-type': 'text/plain' } }],
    ['a body without properties', { json: { else: 1 } }],
    ['empty properties', { json: { properties: {} } }]
  ] as const) {
    it(`answers the stored properties to ${what}`, async () => {
      const project = await ana()
      const reply = await project.call('PATCH', '/api/v1/users/ana', asked)
      assert.deepEqual([reply.status, reply.text], [200, '{"properties":{"a":1,"b":"two"}}'])
    })
  }

  it('loses no key when many updates run at once', async () => {
    const project = await ana({})
    const updates = Array.from({ length: 60 }, (_, index) =>
      project.call('PATCH', '/api/v1/users/ana', { json: { properties: { [`k${index}`]: index } } })
    )
    for (const reply of await Promise.all(updates)) assert.equal(reply.status, 200)
    const stored = (await project.call('GET', '/api/v1/users/ana')).json.properties
    assert.equal(Object.keys(stored).length, 60)
  })
})

describe('PATCH /api/v1/users/{project_user_id} refuses', () => {
  it('an unknown user, with 404 and an empty body', async () => {
    const project = await service.project()
    for (const asked of [{ json: { properties: { a: 1 } } }, {}, { json: { properties: {} } }]) {
      const reply = await project.call('PATCH', '/api/v1/users/nobody', asked)
      assert.deepEqual([reply.status, reply.text], [404, ''])
      assert.equal(reply.headers['x-service-error-code'], 'not_found')
    }
    assert.equal((await project.call('GET', '/api/v1/users/nobody')).status, 404, 'it was not created')
  })

  it('a missing id, with 400 and the fixed text', async () => {
    const project = await service.project()
    for (const path of ['/api/v1/users', '/api/v1/users/', '/api/v1/users?x=1']) {
      const reply = await project.call('PATCH', path, { json: { properties: {} } })
      assert.deepEqual([reply.status, reply.text], [400, fixed], path)
    }
  })

  for (const id of [
    '%zz',
    '%',
    'a%2',
    '%ff',
    '%ed%a0%80',
    '%00',
    '%0a',
    '%20',
    '..%2f%zz',
    '%2e',
    '%2e%2e',
    'x'.repeat(513)
  ]) {
    it(`the id ${id.slice(0, 20)} in the path, with the fixed text`, async () => {
      const project = await service.project()
      const reply = await project.call('PATCH', `/api/v1/users/${id}`, { json: { properties: {} } })
      assert.deepEqual([reply.status, reply.text], [400, fixed])
    })
  }

  for (const body of [
    '{"properties":null}',
    '{"properties":[]}',
    '{"properties":{"a":{}}}',
    '[]',
    'null',
    '{',
    '{"properties":{"a":1e999}}'
  ]) {
    it(`the body ${body}, and changes nothing`, async () => {
      const project = await ana()
      const reply = await project.call('PATCH', '/api/v1/users/ana', { body, headers: json })
      assert.deepEqual([reply.status, reply.text], [400, fixed])
      assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, { a: 1, b: 'two' })
    })
  }

  it('a wrong content type', async () => {
    const project = await ana()
    const reply = await project.call('PATCH', '/api/v1/users/ana', {
      body: 'properties=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' }
    })
    assert.deepEqual([reply.status, reply.text], [400, fixed])
  })
})

describe('ids travel through the path as they are', () => {
  for (const id of [
    'a/b',
    'a:b',
    'a%b',
    'a%20b',
    '%2525',
    'a?b',
    'a#b',
    'a b',
    ' lead',
    'ümläut',
    '🧑‍🚀',
    "o'brien",
    '"quoted"',
    'a\\b',
    'x;y',
    'a+b',
    '...',
    '*',
    'users',
    'constructor',
    '../x',
    'é'.repeat(512),
    '🧑'.repeat(512)
  ]) {
    it(`${[...id].slice(0, 20).join('')} is created, read, changed and deleted`, async () => {
      const project = await service.project()
      const path = `/api/v1/users/${encodeURIComponent(id)}`
      assert.equal(
        (await project.call('POST', '/api/v1/users', { json: { project_user_id: id, properties: { id } } })).status,
        200
      )
      assert.deepEqual((await project.call('PATCH', path, { json: { properties: { b: 1 } } })).json, {
        properties: { id, b: 1 }
      })
      assert.deepEqual((await project.call('GET', path)).json, { properties: { id, b: 1 } })
      assert.equal((await project.call('DELETE', path)).status, 200)
      assert.equal((await project.call('GET', path)).status, 404)
    })
  }

  it('a path that a router could take for another is the id it spells', async () => {
    const project = await service.project()
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'a:batch' } })
    assert.equal((await project.call('PATCH', '/api/v1/users/a:batch', { json: {} })).status, 200)
  })
})

describe('PATCH keeps tenants apart', () => {
  it("another project's user is unknown and untouched", async () => {
    const [one, two] = [await ana(), await service.project()]
    assert.equal((await two.call('PATCH', '/api/v1/users/ana', { json: { properties: { a: 9 } } })).status, 404)
    assert.deepEqual((await one.call('GET', '/api/v1/users/ana')).json.properties, { a: 1, b: 'two' })
  })
})
