import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const ndjson = { 'content-type': 'application/x-ndjson' }
const lines = (users: unknown[]) =>
  users.map((user) => (typeof user === 'string' ? user : JSON.stringify(user))).join('\n')

describe('POST /api/v1/users:batch', () => {
  it('answers by position, each entry with its own outcome', async () => {
    const project = await service.project()
    const users = [
      { project_user_id: 'ana', properties: { n: 1 } },
      { project_user_id: 5 },
      'no object',
      { project_user_id: 'bo' },
      { project_user_id: 'ana', properties: { m: 2 } },
      { project_user_id: 'big', properties: { text: 'x'.repeat(70_000) } },
      null,
      { project_user_id: 'cy', properties: { bad: [] } }
    ]
    const reply = await project.call('POST', '/api/v1/users:batch', { json: { users } })
    assert.equal(reply.status, 200)
    const { results } = reply.json
    assert.deepEqual(results[0], { properties: { n: 1 } })
    assert.deepEqual(results[3], { properties: {} })
    assert.deepEqual(results[4], { properties: { n: 1, m: 2 } }, 'the same user twice keeps its order')
    assert.deepEqual(
      results.map((result: Json) => result.code),
      [
        undefined,
        'invalid_project_user_id',
        'malformed_body',
        undefined,
        undefined,
        'properties_too_large',
        'malformed_body',
        'invalid_properties'
      ]
    )
  })

  it('takes 1,000 and no more, and refuses a body that is no batch', async () => {
    const project = await service.project()
    const users = Array.from({ length: 1_000 }, (_, index) => ({ project_user_id: `u${index}` }))
    const reply = await project.call('POST', '/api/v1/users:batch', { json: { users } })
    assert.equal(reply.json.results.length, 1_000)
    for (const json of [{ users: [...users, { project_user_id: 'one more' }] }, {}, { users: {} }, [], null]) {
      assert.equal((await project.call('POST', '/api/v1/users:batch', { json })).status, 400)
    }
    const empty = await project.call('POST', '/api/v1/users:batch', { json: {} })
    assert.deepEqual(empty.json.details, [{ path: 'users', message: 'must be given' }])
    assert.equal((await project.call('POST', '/api/v1/users:batch', { json: { users: [] } })).text, '{"results":[]}')
  })
})

describe('listing and search', () => {
  it('lists newest first by pages', async () => {
    const project = await service.project()
    for (let index = 0; index < 7; index += 1)
      await project.call('POST', '/api/v1/users', { json: { project_user_id: `u${index}` } })
    const first = (await service.manage('GET', `/projects/${project.id}/users?limit=3`)).json
    assert.deepEqual(
      first.items.map((user: Json) => user.project_user_id),
      ['u6', 'u5', 'u4']
    )
    assert.deepEqual(Object.keys(first.items[0]), ['id', 'project_user_id', 'properties', 'created_at', 'updated_at'])
    const second = (await service.manage('GET', `/projects/${project.id}/users?limit=4&cursor=${first.next_cursor}`))
      .json
    assert.deepEqual(
      second.items.map((user: Json) => user.project_user_id),
      ['u3', 'u2', 'u1', 'u0']
    )
    assert.equal(second.next_cursor, null)
  })

  it('finds a part of the id in any letter case, and the service id whole', async () => {
    const project = await service.project()
    const users = ['Ana-1', 'banana', 'bo', '100%', 'a_b'].map((id) => ({ project_user_id: id }))
    await project.call('POST', '/api/v1/users:batch', { json: { users } })
    const search = async (text: string) =>
      (await service.manage('GET', `/projects/${project.id}/users?search=${encodeURIComponent(text)}`)).json.items.map(
        (user: Json) => user.project_user_id
      )
    assert.deepEqual((await search('ANA')).sort(), ['Ana-1', 'banana'])
    assert.deepEqual(await search('%'), ['100%'], 'a search is a text, not a pattern')
    assert.deepEqual(await search('_'), ['a_b'])
    assert.deepEqual(await search('zzz'), [])
    const { id } = (await service.manage('GET', `/projects/${project.id}/users/bo`)).json
    assert.deepEqual(await search(id), ['bo'])
    assert.deepEqual(
      (await service.manage('GET', `/projects/${project.id}/users?search=a&limit=1`)).json.items.length,
      1
    )
    assert.equal((await service.manage('GET', `/projects/${project.id}/users?search=%00`)).status, 400)
    assert.equal((await service.manage('GET', `/projects/${project.id}/users?search=${'x'.repeat(600)}`)).status, 400)
  })

  it('pages through the users of a search, without loss or repeat', async () => {
    const project = await service.project()
    const users = Array.from({ length: 40 }, (_, index) => ({
      project_user_id: `${index % 2 ? 'odd' : 'even'}-${index}`
    }))
    await project.call('POST', '/api/v1/users:batch', { json: { users } })
    const seen: string[] = []
    let cursor = ''
    do {
      const { items, next_cursor } = (
        await service.manage('GET', `/projects/${project.id}/users?search=odd&limit=3${cursor}`)
      ).json
      seen.push(...items.map((user: Json) => user.project_user_id))
      cursor = next_cursor ? `&cursor=${next_cursor}` : ''
    } while (cursor)
    assert.deepEqual(
      seen.sort(),
      users
        .map((user) => user.project_user_id)
        .filter((id) => id.startsWith('odd'))
        .sort()
    )
  })
})

describe('export and import', () => {
  it('an export of one project can be imported into another', async () => {
    const [from, to] = [await service.project(), await service.project()]
    const users = Array.from({ length: 2_300 }, (_, index) => ({
      project_user_id: `ü ${index}`,
      properties: { index, text: 'a\nb', nothing: null }
    }))
    for (let start = 0; start < users.length; start += 1_000) {
      await from.call('POST', '/api/v1/users:batch', { json: { users: users.slice(start, start + 1_000) } })
    }
    const exported = await service.manage('GET', `/projects/${from.id}/users:export`)
    assert.equal(exported.status, 200)
    assert.equal(exported.headers['content-type'], 'application/x-ndjson')
    assert.equal(exported.text.trimEnd().split('\n').length, users.length)
    const imported = await service.manage('POST', `/projects/${to.id}/users:import`, {
      body: exported.text,
      headers: ndjson
    })
    assert.deepEqual(imported.json, { imported: users.length, failed: 0, errors: [] })
    const again = await service.manage('GET', `/projects/${to.id}/users:export`)
    const strip = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ project_user_id, properties }) => ({ project_user_id, properties }))
    assert.deepEqual(strip(again.text), strip(exported.text))
    assert.deepEqual((await service.manage('GET', `/projects/${to.id}/audit`)).json.items[1].details, {
      imported: users.length,
      failed: 0
    })
  })

  it('names the lines it could not take and takes the others', async () => {
    const project = await service.project()
    const body = lines([
      { project_user_id: 'a' },
      'broken',
      '',
      { project_user_id: 7 },
      '{"project_user_id":"b","properties":{"x":"\\u0000"}}',
      '{"project_user_id":"c"}\r',
      { project_user_id: 'a', properties: { later: true } }
    ])
    const { json } = await service.manage('POST', `/projects/${project.id}/users:import`, { body, headers: ndjson })
    assert.deepEqual([json.imported, json.failed], [3, 3])
    assert.deepEqual(
      json.errors.map((error: Json) => error.line),
      [2, 4, 5]
    )
    assert.deepEqual((await project.call('GET', '/api/v1/users/a')).json.properties, { later: true })
  })

  it('takes more than 10 MiB, and refuses other types and endless lines', async () => {
    const project = await service.project()
    const user = (index: number) => ({ project_user_id: `u${index}`, properties: { text: 'x'.repeat(60_000) } })
    const body = lines(Array.from({ length: 200 }, (_, index) => user(index)))
    assert.ok(body.length > 10 * 1024 * 1024)
    const path = `/projects/${project.id}/users:import`
    assert.equal((await service.manage('POST', path, { body, headers: ndjson })).json.imported, 200)
    assert.equal((await service.manage('POST', path, { json: [] })).status, 415)
    assert.equal((await service.manage('POST', path, {})).status, 415)
    const endless = await service.manage('POST', path, { body: 'x'.repeat(3_000_000), headers: ndjson })
    assert.deepEqual([endless.status, endless.json.code], [400, 'malformed_body'])
    assert.deepEqual((await service.manage('POST', path, { body: '', headers: ndjson })).json, {
      imported: 0,
      failed: 0,
      errors: []
    })
  })
})
