import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { ended, givenCampaign, triggered } from '../support/campaigns.ts'
import { link } from '../support/devices.ts'
import { whereIs } from '../support/planted.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()

/** Texts for a person in copies that name only the device on which the person is logged in. */
async function plantOn(device: string, mark: string, project: TestProject): Promise<void> {
  const push = { target: { device_id: device }, title: mark }
  const sent = await project.call('POST', '/api/v1/messages:send', {
    json: { push_notifications: [push] },
    headers: { 'idempotency-key': `${mark}-send` }
  })
  assert.equal(sent.status, 200, sent.text)
  await givenCampaign(service, project, { transactional: true, message: { title: '{{ trigger.who }}' } })
  const audience = { targets: [{ device_id: device, properties: { who: mark } }] }
  await ended(project, await triggered(project, { audience }))
  const agent = agentOf(service, project, 'official')
  await agent.send({ skill: 'send-push-notification', deviceId: device, title: mark })
  await agent.send({ skill: 'track-event', deviceId: device, eventName: 'bought', properties: { what: mark } })
  await eventually(async () => assert.equal((await whereIs(service, mark))['simulator_inbox.item'], 3))
}

async function givenDevice(device: string, user: string): Promise<TestProject> {
  const project = await service.project({ mode: 'simulator' })
  const json = { devices: [{ id: device, platform: 'IOS', push_token: 'abcdef0123' }] }
  assert.equal((await project.call('POST', '/api/v1/devices', { json })).status, 200)
  assert.equal((await link(project, device, user)).status, 200)
  return project
}

async function erase(project: TestProject, project_user_id: string) {
  const reply = await service.manage('POST', `/projects/${project.id}/erasures`, { json: { project_user_id } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
const tablesIn = ({ remaining }: { remaining: { table: string; rows: number }[] }) =>
  remaining.map(({ table, rows }) => [table, rows])
const everyTable = ['a2a_tasks', 'idempotency_keys', 'simulator_inbox', 'triggers']

describe('the erasure of a user whose devices have changed', () => {
  for (const [ended, path] of [
    ['logged out', '/user/project-user-id'],
    ['deleted', '']
  ])
    it(`finds copies that name only a device that was ${ended} before`, async () => {
      const [device, mark] = [`phone-${ended!.length}8e7d6c`, `mk${ended!.length}w2v8t4`]
      const project = await givenDevice(device, 'customer-123456')
      await plantOn(device, mark, project)
      assert.equal((await project.call('DELETE', `/api/v1/devices/${device}${path}`)).status, 200)
      const before = await whereIs(service, mark)
      for (const place of ['a2a_tasks.content', 'triggers.audience', 'simulator_inbox.item', 'messages.content'])
        assert.ok(before[place], `${place} holds the mark before: ${JSON.stringify(before)}`)

      const receipt = await erase(project, 'customer-123456')
      assert.deepEqual(await whereIs(service, mark), { 'idempotency_keys.key': 1 }, 'the key that the caller chose')
      assert.deepEqual(tablesIn(receipt), [])
      const left = await whereIs(service, device)
      assert.deepEqual(left, ended === 'deleted' ? {} : { 'devices.id': 1, 'push_tokens.device_id': 1 })
    })

  it('says which copies may be left, and until when, if the user was deleted before', async () => {
    const project = await givenDevice('phone-5c4b3a', 'customer-234567')
    await plantOn('phone-5c4b3a', 'mk5r1n6z', project)
    assert.equal((await project.call('DELETE', '/api/v1/users/customer-234567')).status, 200)
    const receipt = await erase(project, 'customer-234567')
    assert.deepEqual(
      tablesIn(receipt),
      everyTable.map((table) => [table, 0])
    )
    const days = (table: string) => {
      const { until } = receipt.remaining.find((one: { table: string }) => one.table === table)
      return until && Math.round((Date.parse(until) - Date.now()) / 86_400_000)
    }
    assert.deepEqual(everyTable.map(days), [30, 1, null, 90])
  })

  it('leaves copies alone that name a device of another user, and says so', async () => {
    const project = await givenDevice('tablet-7f6e5d', 'customer-345678')
    await plantOn('tablet-7f6e5d', 'mk8k3p5s', project)
    assert.equal((await link(project, 'tablet-7f6e5d', 'customer-456789')).status, 200)
    await plantOn('tablet-7f6e5d', 'mk6j9h2d', project)
    const others = await whereIs(service, 'mk6j9h2d')

    const receipt = await erase(project, 'customer-345678')
    assert.deepEqual(
      tablesIn(receipt),
      everyTable.map((table) => [table, 0])
    )
    assert.match(receipt.remaining[0].reason, /Another user has used a device of this user/)
    assert.deepEqual(await whereIs(service, 'mk6j9h2d'), others)

    // Also after the other user has logged out: the messages of that user tell.
    assert.equal((await link(project, 'tablet-7f6e5d', 'customer-567890')).status, 200)
    await plantOn('tablet-7f6e5d', 'mk4g7f1c', project)
    assert.equal((await project.call('DELETE', '/api/v1/devices/tablet-7f6e5d/user/project-user-id')).status, 200)
    assert.match((await erase(project, 'customer-567890')).remaining[0].reason, /Another user/)
    assert.deepEqual(await whereIs(service, 'mk6j9h2d'), others)
  })
})
