import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService } from '../support/service.ts'

const service = await startService()
const fixed = 'Project User Id must be provided'

describe('DELETE /api/v1/users/{project_user_id} does it (spec 4.3)', () => {
  it('removes the user and answers an empty object', async () => {
    const project = await service.project()
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const reply = await project.call('DELETE', '/api/v1/users/ana')
    assert.deepEqual([reply.status, reply.text], [200, '{}'])
    assert.equal((await project.call('PATCH', '/api/v1/users/ana')).status, 404)
  })

  it('answers 200 for a user that does not exist', async () => {
    const project = await service.project()
    const reply = await project.call('DELETE', '/api/v1/users/nobody')
    assert.deepEqual([reply.status, reply.text], [200, '{}'])
  })

  it('ignores body and content type altogether', async () => {
    const project = await service.project()
    for (const asked of [
      { body: '{broken', headers: { 'content-type': 'application/json' } },
      { body: 'x', headers: { 'content-type': 'no type' } },
      { body: '', headers: { 'content-type': 'application/json' } },
      { body: 'x'.repeat(11 * 1024 * 1024) },
      { body: 'x'.repeat(100_000), headers: { 'transfer-encoding': 'chunked' } }
    ]) {
      const reply = await project.call('DELETE', '/api/v1/users/ana', asked)
      assert.deepEqual([reply.status, reply.text], [200, '{}'])
    }
  })

  it('a re-created user has a new id and nothing of the old one', async () => {
    const project = await service.project()
    const create = () => project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    const read = async () => (await service.manage('GET', `/projects/${project.id}/users/ana`)).json
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { old: true } } })
    const before = await read()
    await project.call('DELETE', '/api/v1/users/ana')
    assert.deepEqual((await create()).json, { properties: {} })
    const now = await read()
    assert.notEqual(now.id, before.id)
    assert.match(now.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/, 'a UUIDv7')
    assert.ok(now.created_at > before.created_at)
    assert.equal((await create()).status, 200)
    assert.equal((await read()).id, now.id, 'a merge keeps the id')
  })
})

describe('DELETE refuses', () => {
  it('a missing or broken id, with 400 and the fixed text', async () => {
    const project = await service.project()
    for (const path of [
      '/api/v1/users',
      '/api/v1/users/',
      '/api/v1/users/%',
      '/api/v1/users/%00',
      '/api/v1/users/%20'
    ]) {
      const reply = await project.call('DELETE', path)
      assert.deepEqual([reply.status, reply.text], [400, fixed], path)
    }
  })
})

describe('DELETE keeps tenants apart', () => {
  it("another project's user stays", async () => {
    const [one, two] = [await service.project(), await service.project()]
    await one.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    assert.equal((await two.call('DELETE', '/api/v1/users/ana')).status, 200)
    assert.equal((await one.call('GET', '/api/v1/users/ana')).status, 200)
  })
})
