import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, triggered, users } from '../support/campaigns.ts'
import { asApp, ios, link, lookInto, put } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { failed, givenUser, results, to } from '../support/messages.ts'
import { startService } from '../support/service.ts'

// Endpoints beside the contract for single things: a device, a property, a campaign's state.

const service = await startService()
const { read, count } = lookInto(service)

describe('DELETE /api/v1/devices/{device_id}', () => {
  it('removes the device with its tokens and leaves the user, its properties and its other devices', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 'old', push_token: 'ab12' }, { id: 'new', push_token: 'ab13' })
    const token = { attributes_type: 'Delivery', push_to_start_token: 'c1' }
    await asApp(project, 'POST', '/devices/old/live-activity-start-tokens', token)
    const reply = await project.call('DELETE', '/api/v1/devices/old')
    assert.deepEqual([reply.status, reply.json], [200, {}])
    assert.equal(await read(project, 'old'), 404)
    assert.equal((await read(project, 'new')).project_user_id, 'ana')
    assert.deepEqual([await count('push_tokens', project), await count('live_activity_tokens', project)], [1, 0])
  })

  it('responds the same for a device that does not exist, and refuses an id that cannot be one', async () => {
    const project = await service.project()
    assert.deepEqual((await project.call('DELETE', '/api/v1/devices/none')).json, {})
    const refused = await project.call('DELETE', '/api/v1/devices/%00')
    assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_device_id'])
  })

  it('removes an anonymous user and its history with its last device, and only with that one', async () => {
    const project = await service.project()
    await put(project, ios)
    await asApp(project, 'POST', '/events', { events: [{ device_id: 'phone', name: 'opened' }] })
    await project.call('DELETE', '/api/v1/devices/phone')
    assert.deepEqual([await count('users', project), await count('events', project)], [0, 0])
    await givenUser(project, 'bo', { id: 'tablet', push_token: 'ab14' })
    await project.call('DELETE', '/api/v1/devices/tablet')
    assert.equal((await project.call('GET', '/api/v1/users/bo')).status, 200)
    assert.equal((await results(project, [to('bo')]))[0].status, failed)
  })

  it('lets a trigger for the device end, and the app register it again', async () => {
    const project = await service.project({ mode: 'simulator' })
    await givenUser(project, 'ana', { id: 'phone', push_token: 'ab'.repeat(32) })
    await givenCampaign(service, project)
    const id = await triggered(project, users('ana'))
    assert.equal((await project.call('DELETE', '/api/v1/devices/phone')).status, 200)
    const { counts } = await ended(project, id)
    // No message is targeted if the device was deleted between the look-up of the audience and the writing of messages.
    assert.ok(counts.targeted <= 1)
    assert.equal((await link(project, 'phone', 'ana')).status, 404)
    await put(project, ios)
    assert.equal((await link(project, 'phone', 'ana')).status, 200)
  })

  it('wants the secret key, and reaches no other project', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await put(project, ios)
    assert.equal((await asApp(project, 'DELETE', '/devices/phone')).status, 401)
    assert.equal((await other.call('DELETE', '/api/v1/devices/phone')).status, 200)
    assert.equal((await read(project, 'phone')).id, 'phone')
  })
})

describe('POST /api/v1/users/{project_user_id}/properties:remove', () => {
  const remove = (project: Json, user: string, json: unknown) =>
    project.call('POST', `/api/v1/users/${user}/properties:remove`, { json })

  it('removes the names and returns what is left, and takes names that are absent', async () => {
    const project = await service.project()
    const properties = { plan: 'free', age: 3, constructor: 1 }
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties } })
    const reply = await remove(project, 'ana', { names: ['age', 'none', 'age'] })
    assert.deepEqual([reply.status, reply.json], [200, { properties: { plan: 'free', constructor: 1 } }])
    assert.deepEqual((await remove(project, 'ana', { names: [] })).json.properties, { plan: 'free', constructor: 1 })
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, { plan: 'free', constructor: 1 })
  })

  it('4.2: responds 404 with an empty body for an absent user', async () => {
    const project = await service.project()
    const reply = await remove(project, 'none', { names: ['age'] })
    assert.deepEqual([reply.status, reply.text], [404, ''])
  })

  for (const [what, body] of [
    ['no names', {}],
    ['names that are no list', { names: 'age' }],
    ['a name that is no text', { names: [1] }],
    ['null', { names: null }],
    ['more than 1,000', { names: Array.from({ length: 1_001 }, (_, index) => `p${index}`) }]
  ] as const)
    it(`refuses ${what} and changes nothing`, async () => {
      const project = await service.project()
      await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { age: 3 } } })
      const reply = await remove(project, 'ana', body)
      assert.deepEqual([reply.status, reply.json.code], [400, 'malformed_body'])
      assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, { age: 3 })
    })

  it('keeps tenants apart', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { age: 3 } } })
    assert.equal((await remove(other, 'ana', { names: ['age'] })).status, 404)
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana')).json.properties, { age: 3 })
  })
})

describe('GET /api/v1/campaigns', () => {
  it('lists campaigns, newest first and by pages, without their content', async () => {
    const project = await service.project()
    for (const id of ['one', 'two', 'three']) await givenCampaign(service, project, { campaign_id: id, name: id })
    await givenCampaign(service, project, { campaign_id: 'one', name: 'One', status: 'paused' })
    const first = (await project.call('GET', '/api/v1/campaigns?limit=2')).json
    const rest = (await project.call('GET', `/api/v1/campaigns?limit=2&cursor=${first.next_cursor}`)).json
    const ids = [...first.items, ...rest.items].map(({ campaign_id }: Json) => campaign_id)
    assert.deepEqual([ids, rest.next_cursor], [['three', 'two', 'one'], null])
    const { updated_at, ...one } = rest.items[0]
    const expected = {
      campaign_id: 'one',
      name: 'One',
      type: 'api_triggered',
      status: 'paused',
      version: 2,
      topic: null
    }
    assert.deepEqual(one, expected)
    assert.match(updated_at, /^\d{4}-.*Z$/)
    assert.deepEqual((await project.call('GET', '/api/v1/campaigns/one')).json, rest.items[0])
    const paused = (await project.call('GET', '/api/v1/campaigns?status=paused')).json
    assert.deepEqual(paused.items.length, 1)
  })

  it('responds 404 for an unknown one and another project’s, 400 for a bad cursor, and wants the secret key', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await givenCampaign(service, other)
    assert.equal((await project.call('GET', '/api/v1/campaigns/news')).status, 404)
    assert.deepEqual((await project.call('GET', '/api/v1/campaigns')).json.items, [])
    assert.equal((await project.call('GET', '/api/v1/campaigns?cursor=x')).status, 400)
    assert.equal((await asApp(project, 'GET', '/campaigns')).status, 401)
  })
})
