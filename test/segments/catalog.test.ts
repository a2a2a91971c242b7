import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenMany, put } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const read = async (project: TestProject, rest: string): Promise<Json> => {
  const reply = await service.manage('GET', `/projects/${project.id}/${rest}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
const event = async (project: TestProject, device: string, name: string, properties: Json) => {
  const json = { events: [{ device_id: device, name, properties }] }
  const reply = await project.call('POST', '/api/v1/events', { json })
  assert.equal(reply.status, 200, reply.text)
}

describe('the properties of a project', () => {
  it('are named with types, share and frequent values', async () => {
    const project = await service.project()
    assert.deepEqual(await read(project, 'properties'), { items: [], sampled: 0, complete: true })
    const other = await service.project()
    await put(other, 'ana', { plan: 'free', age: 30 })
    await put(other, 'bo', { plan: 'premium', age: '31', vip: true })
    await put(other, 'cy', { plan: 'premium', age: null, long: 'x'.repeat(1_000) })
    await put(other, 'di', {})
    const { items, sampled, complete } = await read(other, 'properties')
    assert.deepEqual([sampled, complete], [4, true])
    assert.deepEqual(items, [
      { name: 'age', types: ['null', 'number', 'string'], share: 0.75, examples: [null, '31', 30] },
      { name: 'plan', types: ['string'], share: 0.75, examples: ['premium', 'free'] },
      { name: 'long', types: ['string'], share: 0.25, examples: [] },
      { name: 'vip', types: ['boolean'], share: 0.25, examples: [true] }
    ])
  })

  it('come from a bounded sample of a large project', async () => {
    const project = await service.project()
    await givenMany(service, project, 5_000, 'many')
    const { items, sampled, complete } = await read(project, 'properties')
    assert.ok(sampled >= 1_000 && sampled <= 2_000, String(sampled))
    assert.equal(complete, false)
    assert.deepEqual(
      items.map(({ name, types, share }: Json) => [name, types, share]),
      [
        ['n', ['number'], 1],
        ['odd', ['boolean'], 1]
      ]
    )
    assert.equal(items[0].examples.length, 10)
  })

  it('are also known of devices and of events of one name', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', { id: 'ana-phone', platform: 'IOS', push_token: 'ab12', app_version: '2.1' })
    const devices = await read(project, 'properties?of=device')
    const found = (name: string) => devices.items.find((one: Json) => one.name === name)
    assert.deepEqual(found('platform').examples, ['IOS'])
    await event(project, 'ana-phone', 'purchase', { amount: 12, items: [1] })
    await event(project, 'ana-phone', 'purchase', { amount: 7 })
    await event(project, 'ana-phone', 'opened', { screen: 'home' })
    const purchases = await read(project, 'properties?event=purchase')
    assert.deepEqual([purchases.sampled, purchases.complete], [2, true])
    assert.deepEqual(
      purchases.items.map(({ name, types, share }: Json) => [name, types, share]),
      [
        ['amount', ['number'], 1],
        ['items', ['array'], 0.5]
      ]
    )
    const names = await read(project, 'event-names')
    assert.deepEqual(
      names.items.map(({ name }: Json) => name),
      ['purchase', 'opened']
    )
    assert.deepEqual([names.sampled, names.complete], [3, true])
  })

  it('are those of one project, and are read by viewers of it only', async () => {
    const [own, foreign] = [await service.project(), await service.project()]
    await put(own, 'ana', { secret: 'x' })
    assert.deepEqual((await read(foreign, 'properties')).items, [])
    const json = { name: 'looks', role: 'viewer', project_id: foreign.id }
    const { token } = (await service.manage('POST', '/tokens', { json })).json
    const asked = { headers: { authorization: `Bearer ${token}` } }
    const status = async (project: TestProject) =>
      (await service.manage('GET', `/projects/${project.id}/properties`, asked)).status
    assert.deepEqual([await status(foreign), await status(own)], [200, 404])
    for (const query of ['of=planet', 'event=', `event=${'x'.repeat(300)}`])
      assert.equal((await service.manage('GET', `/projects/${own.id}/properties?${query}`)).status, 400, query)
  })
})
