import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKey } from '../oversight/keys.ts'
import {
  ended,
  everyone,
  givenCampaign,
  invalid,
  readTrigger,
  trigger,
  triggered,
  users
} from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser, pending, read, results, send, succeed, to } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const [hour, day] = [3_600_000, 86_400_000]

const move = (project: TestProject, id: string, json: Json, headers: Record<string, string> = {}) =>
  project.call('PATCH', `/api/v1/triggers/${id}`, { json, headers })
const cancel = (project: TestProject, id: string) => project.call('POST', `/api/v1/triggers/${id}:cancel`)

async function given(wish: Json = {}): Promise<TestProject> {
  const project = await service.project()
  await givenUser(project, 'ana', `${project.id}-phone`)
  await givenCampaign(service, project, wish)
  return project
}
const pushes = (project: TestProject) => sender.to(`${project.id}-phone`)

describe('a trigger with send_at', () => {
  it('is scheduled until then, is listed by its state, and is sent with the users of then', async () => {
    const project = await given()
    const send_at = inMs(700)
    const id = await triggered(project, { ...everyone, send_at })
    const waiting = await readTrigger(project, id)
    assert.deepEqual(
      [waiting.state, waiting.send_at, waiting.source, waiting.counts.targeted],
      ['scheduled', send_at, { kind: 'api' }, 0]
    )
    const listed = await project.call('GET', '/api/v1/triggers?state=scheduled')
    assert.deepEqual(
      listed.json.items.map((one: Json) => one.trigger_id),
      [id]
    )
    await givenUser(project, 'bo', `${project.id}-late`)
    const { counts } = await ended(project, id)
    assert.equal(counts.sent, 2, 'bo came after the request and before the time')
    assert.ok(Date.now() >= Date.parse(send_at))
  })

  it('is sent with the version of the campaign that was accepted', async () => {
    const project = await given({ message: { title: 'Old' } })
    const id = await triggered(project, { ...users('ana'), send_at: inMs(400) })
    await givenCampaign(service, project, { message: { title: 'New' } })
    assert.equal((await ended(project, id)).campaign_version, 1)
    assert.match(JSON.stringify(pushes(project)), /Old/)
  })

  it('is sent at once if that time is past', async () => {
    const project = await given()
    const found = await ended(project, await triggered(project, { ...users('ana'), send_at: inMs(-day) }))
    assert.deepEqual([found.state, found.send_at, found.counts.sent], ['completed', null, 1])
  })

  it('is canceled with a reason if its campaign is no longer active then', async () => {
    const project = await given()
    const id = await triggered(project, { ...users('ana'), send_at: inMs(300) })
    await givenCampaign(service, project, { status: 'paused' })
    const found = await ended(project, id)
    assert.deepEqual([found.state, found.reason, found.counts.targeted], ['canceled', 'campaign_not_active', 0])
    const explained = await project.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=ana`)
    assert.deepEqual(
      explained.json.gates.flatMap((one: Json) => one.reason ?? []),
      ['campaign_not_active']
    )
  })

  it('can be canceled, and sends nothing', async () => {
    const project = await given()
    const id = await triggered(project, { ...users('ana'), send_at: inMs(500) })
    assert.equal((await cancel(project, id)).json.state, 'canceled')
    await new Promise((done) => setTimeout(done, 700))
    assert.deepEqual([(await readTrigger(project, id)).state, pushes(project)], ['canceled', []])
  })

  it('can be moved: to an earlier time, to a later one, and to now', async () => {
    const project = await given()
    const later = inMs(30 * day)
    const id = await triggered(project, { ...users('ana'), send_at: inMs(300) })
    const moved = await move(project, id, { send_at: later })
    assert.deepEqual([moved.status, moved.json.send_at, moved.json.state], [200, later, 'scheduled'])
    await new Promise((done) => setTimeout(done, 500))
    assert.equal((await readTrigger(project, id)).state, 'scheduled', 'its first time has passed')
    assert.equal((await move(project, id, { send_at: inMs(-1) })).status, 200)
    assert.equal((await ended(project, id)).counts.sent, 1)
    const late = await move(project, id, { send_at: later })
    assert.deepEqual([late.status, late.json.code], [409, 'conflict'])
    assert.equal(pushes(project).length, 1)
  })

  it('a move with an idempotency key is done once', async () => {
    const project = await given()
    const id = await triggered(project, { ...users('ana'), send_at: inMs(day) })
    const [keyed, past] = [{ 'idempotency-key': 'move-1' }, inMs(-1)]
    const first = await move(project, id, { send_at: past }, keyed)
    await ended(project, id)
    const again = await move(project, id, { send_at: past }, keyed)
    assert.deepEqual([again.status, again.json], [200, first.json])
    assert.equal((await move(project, id, { send_at: inMs(day) }, keyed)).status, 409)
  })

  it('explains that it waits', async () => {
    const project = await given()
    const id = await triggered(project, { ...users('ana'), send_at: inMs(hour) })
    const { json } = await project.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=ana`)
    assert.deepEqual([json.state, json.gates[0].gate, json.gates[0].reason], ['scheduled', 'schedule', 'not_due'])
  })

  it('waits while its project is paused, and is sent after the resume', async () => {
    const project = await given()
    const id = await triggered(project, { ...users('ana'), send_at: inMs(300) })
    await service.manage('POST', `/projects/${project.id}:pause`)
    await new Promise((done) => setTimeout(done, 500))
    assert.equal((await readTrigger(project, id)).state, 'scheduled')
    await service.manage('POST', `/projects/${project.id}:resume`)
    assert.equal((await ended(project, id)).counts.sent, 1)
  })

  it('starts although its job was lost', async () => {
    const project = await given()
    const id = await triggered(project, { ...users('ana'), send_at: inMs(hour) })
    await service.sql('delete from jobs where project_id = $1', [project.id])
    await service.sql(
      `update triggers set due_at = now(), wake_at = now() where project_id = $1 and state = 'scheduled'`,
      [project.id]
    )
    await service.hurry('campaigns.sweep')
    assert.equal((await ended(project, id)).counts.sent, 1)
  })

  it('is kept, with its messages, from the time of its sending', async () => {
    const project = await given()
    await service.manage('PATCH', `/projects/${project.id}`, { json: { retention: { messages_days: 1 } } })
    const id = await triggered(project, { ...users('ana'), send_at: inMs(10 * day) })
    assert.ok(Number.parseInt(id.replace('-', '').slice(0, 12), 16) > Date.now() + 9 * day)
    await move(project, id, { send_at: inMs(-1) })
    await ended(project, id)
    for (const job of ['campaigns.keep', 'messages.keep']) await service.hurry(job)
    await eventually(async () =>
      assert.equal((await service.sql(`select 1 from jobs where name like '%.keep' and ready`)).length, 0)
    )
    assert.equal((await project.call('GET', `/api/v1/messages?trigger_id=${id}`)).json.items.length, 1)
  })
})

describe('a send_at is refused', () => {
  it('as a malformed body if it is no RFC 3339 time, or more than 90 days ahead', async () => {
    const project = await given()
    for (const send_at of ['tomorrow', 17, '2026-12-24', '2026-12-24T18:00', inMs(90 * day + hour)]) {
      const reply = await trigger(project, { ...users('ana'), send_at })
      assert.deepEqual([reply.status, reply.text], [400, invalid], String(send_at))
    }
    assert.equal((await trigger(project, { ...users('ana'), send_at: inMs(90 * day - hour) })).status, 200)
    assert.equal((await trigger(project, { ...users('ana'), send_at: null })).status, 200)
  })

  it('for a move, too; and a move of an unknown trigger or of another project is not found', async () => {
    const [project, other] = [await given(), await given()]
    const id = await triggered(project, { ...users('ana'), send_at: inMs(hour) })
    for (const send_at of ['soon', null, inMs(91 * day)])
      assert.equal((await move(project, id, { send_at })).status, 400, String(send_at))
    assert.equal((await move(other, id, { send_at: inMs(day) })).status, 404)
    assert.equal((await move(project, 'none', { send_at: inMs(day) })).status, 404)
    assert.equal((await readTrigger(project, id)).state, 'scheduled')
  })
})

describe('the policy of a key and send_at', () => {
  const night = () => {
    const at = (hours: number) => new Date(Date.now() + hours * hour).toISOString().slice(11, 16)
    return { quiet_hours: { from: at(5), to: at(7), timezone: 'UTC' } }
  }

  it('its quiet hours are those of the time of sending', async () => {
    const project = await given()
    const agent = await agentKey(service, project, night())
    assert.equal((await trigger(agent, { ...users('ana'), send_at: inMs(6 * hour) })).status, 403)
    assert.equal((await trigger(agent, { ...users('ana'), send_at: inMs(9 * hour) })).status, 200)
  })

  it('recipients count from the acceptance until a day after the sending', async () => {
    const project = await given()
    const agent = await agentKey(service, project, { max_recipients_per_day: 1 })
    const id = await triggered(agent, { ...users('ana'), send_at: inMs(20 * day) })
    await service.sql(
      `update triggers set accepted_at = (accepted_at at time zone 'UTC' - interval '2 days') at time zone 'UTC' where project_id = $1`,
      [project.id]
    )
    assert.equal((await trigger(agent, { ...users('ana'), send_at: inMs(20 * day) })).status, 403)
    await cancel(project, id)
    assert.equal((await trigger(agent, { ...users('ana'), send_at: inMs(20 * day) })).status, 200)
  })

  it('a key with a policy cannot move a trigger', async () => {
    const project = await given()
    const agent = await agentKey(service, project, night())
    const id = await triggered(agent, { ...users('ana'), send_at: inMs(9 * hour) })
    assert.equal((await move(agent, id, { send_at: inMs(6 * hour) })).status, 403)
  })
})

describe('a message with send_at', () => {
  const cancelMessage = (project: TestProject, id: string) => project.call('POST', `/api/v1/messages/${id}:cancel`)
  const push = (more: Json) => to('ana', more)

  it('is pending until then, is sent then, and others of the request at once', async () => {
    const project = await given()
    const [now, later] = await results(project, [push({ title: 'Now' }), push({ title: 'Later', send_at: inMs(800) })])
    assert.deepEqual([now!.status, later!.status], [succeed, pending])
    await eventually(async () => assert.equal((await read(project, later!.message_id)).json.status, succeed))
    assert.equal(pushes(project).length, 2)
  })

  it('can be canceled until then, and not afterwards', async () => {
    const project = await given()
    const other = await given()
    const [sent, waiting] = await results(project, [push({}), push({ send_at: inMs(80 * day) })])
    assert.equal((await cancelMessage(other, waiting!.message_id)).status, 404)
    const canceled = await cancelMessage(project, waiting!.message_id)
    assert.deepEqual([canceled.status, canceled.json.devices[0].state], [200, 'skipped'])
    assert.equal((await cancelMessage(project, waiting!.message_id)).status, 409)
    assert.equal((await cancelMessage(project, sent!.message_id)).status, 409)
    assert.equal(pushes(project).length, 1)
  })

  it('with an idempotency key is written once', async () => {
    const project = await given()
    const asked = { headers: { 'idempotency-key': 'later' } }
    const items = [push({ send_at: inMs(day) })]
    const [first, again] = [await send(project, items, asked), await send(project, items, asked)]
    assert.deepEqual(again.json, first.json)
    assert.equal((await project.call('GET', '/api/v1/messages')).json.items.length, 1)
  })

  it('is refused with the whole request if the time is none or too far ahead', async () => {
    const project = await given()
    for (const send_at of ['tomorrow', '2026-12-24T18:00', inMs(91 * day)])
      assert.equal((await send(project, [push({}), push({ send_at })])).status, 400, send_at)
    assert.equal(pushes(project).length, 0)
  })

  it('of a key with a policy counts at its time', async () => {
    const project = await given()
    const agent = await agentKey(service, project, { max_recipients_per_day: 1 })
    assert.equal((await send(agent, [push({ send_at: inMs(20 * day) })])).status, 200)
    assert.equal((await send(agent, [push({})])).status, 403)
  })
})
