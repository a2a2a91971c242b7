import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ArrivedEvent } from '../../src/events/events.ts'
import { ask } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'

const handled: (ArrivedEvent & { projectId: string })[] = []
let failing: (event: ArrivedEvent) => boolean = () => false
const subscriber = {
  async handle(_: unknown, projectId: string, events: ArrivedEvent[]) {
    if (events.some(failing)) throw new Error('a test wants this to fail')
    handled.push(...events.map((event) => ({ ...event, projectId })))
  }
}
const service = await startService({}, { eventSubscribers: [subscriber] })

async function projectWanting(...names: string[]) {
  const project = await service.project()
  for (const name of names)
    await service.sql('insert into wanted_events (project_id, name, campaign_id) values ($1, $2, $3)', [
      project.id,
      name,
      'any'
    ])
  await project.call('POST', '/api/v1/devices', {
    json: { devices: [{ id: 'phone', platform: 'IOS', device_token: { token: 'a'.repeat(64), type: 'APNS' } }] }
  })
  const record = async (...events: { name: string; [field: string]: unknown }[]) => {
    const reply = await project.call('POST', '/api/v1/events', {
      json: { events: events.map((event) => ({ device_id: 'phone', ...event })) }
    })
    assert.equal(reply.status, 200, reply.text)
  }
  const namesHandled = () => handled.flatMap(({ name, projectId }) => (projectId === project.id ? name : []))
  return { ...project, record, namesHandled }
}
const queued = async (projectId: string) =>
  (await service.sql('select count(*)::int as n from event_queue where project_id = $1', [projectId]))[0]!.n

it('only events that a campaign of their own project wants reach the subscribers, each once and in order', async () => {
  const [one, other] = [await projectWanting('order'), await projectWanting('visit')]
  await other.record({ name: 'order' })
  await one.record({ name: 'visit' }, { name: 'order', properties: { amount: 5 } }, { name: 'order', id: 'o-2' })
  await one.record({ name: 'order', id: 'o-2' })
  await eventually(async () => assert.deepEqual(one.namesHandled(), ['order', 'order']))
  const first = handled.find(({ projectId }) => projectId === one.id)!
  assert.deepEqual([first.properties, first.deviceId], [{ amount: 5 }, 'phone'])
  await eventually(async () => assert.equal(await queued(one.id), 0))
  assert.deepEqual([await queued(other.id), other.namesHandled()], [0, []])
})

it('an event that an agent tracks for a user reaches the subscribers too', async () => {
  const project = await projectWanting('order')
  await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: {} } })
  const message = {
    messageId: 'm-1',
    role: 'user',
    parts: [{ kind: 'data', data: { skill: 'track-event', projectUserId: 'ana', eventName: 'order' } }]
  }
  const json = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
  const headers = { 'x-api-key': project.secretKey, 'x-service-project-id': project.id }
  for (const _ of [1, 2]) assert.equal((await service.ask('POST', '/a2a', { json, headers })).status, 200)
  await eventually(async () => assert.deepEqual(project.namesHandled(), ['order']))
})

it('an event that fails does not stop those after it, and ends as a job of its own', async () => {
  const project = await projectWanting('bad', 'good')
  failing = ({ name }) => name === 'bad'
  await project.record({ name: 'bad' }, { name: 'good' })
  const soon = () =>
    service.sql(`update jobs set ready = true, run_at = now() where project_id = $1 and claim is null`, [project.id])
  await eventually(async () => {
    await soon()
    assert.deepEqual(project.namesHandled(), ['good'])
  })
  await project.record({ name: 'good' })
  await eventually(async () => assert.deepEqual(project.namesHandled(), ['good', 'good']))
  failing = () => false
  await eventually(async () => {
    await soon()
    assert.deepEqual(project.namesHandled().sort(), ['bad', 'good', 'good'])
  })
})

it('events of a deleted user are left out, and a project is erased with its queue', async () => {
  const project = await projectWanting('order')
  failing = ({ name }) => name === 'order'
  await project.record({ name: 'order' })
  // The first attempt has failed, and the next one waits.
  await eventually(async () => {
    const [job] = await service.sql(`select last_error from jobs where name = 'events.handle' and key = $1`, [
      project.id
    ])
    assert.match(job?.last_error ?? '', /wants this to fail/)
  })
  assert.equal(await queued(project.id), 1)
  await service.sql('delete from users where project_id = $1', [project.id])
  failing = () => false
  await service.hurry('events.sweep')
  await eventually(async () => assert.equal(await queued(project.id), 0))
  assert.deepEqual(project.namesHandled(), [])
  await service.sql('insert into event_queue select $1, $2, now(), $2', [
    project.id,
    '01890000-0000-7000-8000-000000000000'
  ])
  await service.manage('DELETE', `/projects/${project.id}`)
  await eventually(async () => {
    const left = await service.sql('select 1 from wanted_events where project_id = $1', [project.id])
    assert.deepEqual([left.length, await queued(project.id)], [0, 0])
  })
})

it('a campaign that is activated on one node counts for the next event on every other', async () => {
  const other = await service.another()
  const project = await projectWanting()
  const record = () =>
    ask(other.url, 'POST', '/api/v1/events', {
      json: { events: [{ device_id: 'phone', name: 'visit' }] },
      headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey }
    })
  assert.equal((await record()).status, 200)
  const json = { name: 'N', status: 'active', message: { title: 'Hi' }, conversion: { event: 'visit', within: '1d' } }
  await service.manage('PUT', `/projects/${project.id}/campaigns/n`, { json })
  assert.equal((await record()).status, 200)
  await eventually(async () => assert.deepEqual(project.namesHandled(), ['visit']))
})
