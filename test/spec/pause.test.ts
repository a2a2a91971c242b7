import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentOf } from '../a2a/agent.ts'
import { ended, everyone, givenCampaign, givenMany, readTrigger, triggered, users } from '../support/campaigns.ts'
import { withClient } from '../support/database.ts'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser, pending, read, results, send, succeed, to } from '../support/messages.ts'
import { accepted, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
/** A service with the real sender and simulated gateways. */
const real = await startService()

const pause = (project: TestProject, node = service) => node.manage('POST', `/projects/${project.id}:pause`)
const resume = (project: TestProject, node = service) => node.manage('POST', `/projects/${project.id}:resume`)
const sentTo = (device: string) => sender.to(device).length
/** Enough time for an added job to run, and for the sweepers, which run more often here. */
const quietMs = 1_500

describe('pausing a project (B.1)', () => {
  it('says since when, as often as it is asked, and is recorded once', async () => {
    const project = await service.project()
    const first = await pause(project)
    assert.equal(first.status, 200)
    assert.ok(Math.abs(Date.parse(first.json.paused_at) - Date.now()) < 60_000)
    assert.deepEqual((await pause(project)).json, first.json)
    assert.deepEqual((await service.manage('GET', `/projects/${project.id}`)).json, first.json)
    for (let time = 0; time < 2; time += 1) {
      const reply = await resume(project)
      assert.deepEqual([reply.status, reply.json.paused_at, reply.json.id], [200, null, project.id])
    }
    const { items } = (await service.manage('GET', `/projects/${project.id}/audit`)).json
    const actions = items.map(({ action }: Json) => action).slice(0, 3)
    assert.deepEqual(actions, ['project.resume', 'project.pause', 'key.create'])
  })

  it('needs an editor of the project, and touches no other project', async () => {
    const [own, foreign] = [await service.project(), await service.project()]
    await givenUser(foreign, 'ben', 'pause-ben')
    const token = async (role: string, project_id: string) =>
      (await service.manage('POST', '/tokens', { json: { name: 'x', role, project_id } })).json.token
    for (const [role, project, status] of [
      ['viewer', own, 403],
      ['editor', foreign, 404],
      ['editor', own, 200]
    ] as const) {
      const headers = { authorization: `Bearer ${await token(role, project.id)}` }
      for (const verb of ['pause', 'resume', 'pause']) {
        const reply = await service.ask('POST', `/manage/v1/projects/${own.id}:${verb}`, { headers })
        assert.equal(reply.status, status, `${role} ${verb}`)
      }
    }
    for (const id of ['none', 'x'.repeat(65), '%00'])
      assert.equal((await service.manage('POST', `/projects/${id}:pause`)).status, 404)
    const [result] = await results(foreign, [to('ben')])
    assert.equal(result!.status, succeed, 'the other project sends')
  })
})

describe('in a restored installation', () => {
  const since = () => ({ since: new Date().toISOString(), backup_made_at: new Date().toISOString() })
  const write = (value: Json) =>
    service.sql(`insert into settings (name, value) values ('paused', $1)`, [JSON.stringify(value)])
  const ends = `delete from settings where name = 'paused'`
  // Also after a failure: other tests need the workers.
  afterEach(() => service.sql(ends))

  it('a project that an editor pauses stays paused when the installation is resumed, and the log has the pause', async () => {
    const restored = since()
    await write(restored)
    const [own, other] = [await service.project(), await service.project()]
    const first = await pause(own)
    assert.ok(first.json.paused_at > restored.since, `${first.json.paused_at} after ${restored.since}`)
    assert.deepEqual((await pause(own)).json, first.json, 'a second one changes nothing')
    assert.equal((await service.manage('POST', '/installation:resume', { json: {} })).status, 200)
    await eventually(async () => {
      assert.deepEqual(await service.sql(`select 1 from jobs where name = 'projects.resume_all'`), [])
      assert.equal((await service.manage('GET', `/projects/${other.id}`)).json.paused_at, null)
    })
    assert.deepEqual((await service.manage('GET', `/projects/${own.id}`)).json, first.json)
    const { items } = (await service.manage('GET', `/projects/${own.id}/audit?action=project.pause`)).json
    assert.equal(items.length, 1)
    assert.equal((await resume(own)).json.paused_at, null)
  })

  it('a project that is created while the installation is resumed is paused only if the resume discards first', async () => {
    for (const discards of [false, true]) {
      const restored = since()
      await write(restored)
      const reply = await withClient(service.databaseUrl, async (client) => {
        await client.query('begin')
        await client.query(`select 1 from settings where name = 'paused' for update`)
        const creating = service.manage('POST', '/projects', { json: { name: 'Test' } })
        const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        await eventually(async () => assert.equal((await service.sql(waiting)).length, 1))
        await client.query(ends)
        const rest = JSON.stringify({ ...restored, discarding: { at: restored.since, which: 'due' } })
        if (discards) await client.query(`insert into settings (name, value) values ('paused', $1)`, [rest])
        await client.query('commit')
        return creating
      })
      assert.deepEqual([reply.status, reply.json.paused_at], [201, discards ? restored.since : null])
      await service.sql(ends)
    }
  })
})

describe('while a project is paused', () => {
  it('direct sends and Live Activities are pending at once; after the resume they go out', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'pause-ana')
    const token = { attributes_type: 'Ride', push_to_start_token: 'start-ride' }
    await asApp(project, 'POST', '/devices/pause-ana/live-activity-start-tokens', token)
    await pause(project)
    const beganMs = Date.now()
    const [result] = await results(project, [to('ana')])
    assert.equal(result!.status, pending)
    assert.ok(Date.now() - beganMs < 9_000, 'not only at the deadline of a request')
    const ride = { attributes_type: 'Ride', attributes: { id: 1 }, content_state: { minutes: 5 } }
    const json = { live_activities: [{ target: { project_user_id: 'ana' }, ...ride }] }
    const started = await project.call('POST', '/api/v1/live-activities:start', { json })
    assert.equal(started.json.delivery_results[0].status, pending, started.text)
    assert.equal(sentTo('pause-ana'), 0)
    await resume(project)
    const ids = [result!.message_id, started.json.delivery_results[0].message_id]
    for (const id of ids)
      await eventually(async () => assert.equal((await read(project, id)).json.status, succeed), 4_000)
    assert.equal(sentTo('pause-ana'), 2)
  })

  it('an agent hears that its push is pending', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'pause-agent')
    await pause(project)
    const data = { skill: 'send-push-notification', projectUserId: 'ana', title: 'Hi' }
    const { artifacts, status } = await agentOf(service, project, 'plain').send(data)
    assert.equal(status.state, 'completed')
    const { totalSent, results: told } = artifacts[0].parts[0].data
    assert.deepEqual([totalSent, told[0].status, sentTo('pause-agent')], [0, pending, 0])
  })

  it('a repeat under the same key gets the same answer, and the message is sent once', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'pause-key')
    await pause(project)
    const headers = { 'idempotency-key': 'once' }
    const [first, second] = [
      await send(project, [to('ana')], { headers }),
      await send(project, [to('ana')], { headers })
    ]
    assert.deepEqual([first.status, first.text], [200, second.text])
    await resume(project)
    await eventually(() => assert.equal(sentTo('pause-key'), 1))
  })

  it('retries wait, and nothing that waits is tried over and over', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'pause-retry')
    sender.script('pause-retry', retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 12_000 }), accepted())
    const [result] = await results(project, [to('ana')])
    assert.equal(result!.status, pending)
    await pause(project)
    const overdue = `update messages set due_at = now() - interval '5 seconds' where project_id = $1`
    await service.sql(overdue, [project.id])
    await service.hurry('delivery.find_lost')
    const before = await service.sql('select xmin::text from messages where project_id = $1', [project.id])
    await sleep(quietMs)
    assert.equal(sentTo('pause-retry'), 1)
    const after = await service.sql('select xmin::text from messages where project_id = $1', [project.id])
    assert.deepEqual(after, before, 'the row was not touched')
    await resume(project)
    await eventually(() => assert.equal(sentTo('pause-retry'), 2), 4_000)
  })

  it('a message whose time to live ends meanwhile expires, in the pause and after it', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'pause-ttl')
    await pause(project)
    const [one, two] = await results(project, [to('ana'), to('ana')])
    const outlive = (id: string) =>
      service.sql(`update messages set not_after = now() - interval '1 second' where message_id = $1`, [id])
    const reasonOf = async (id: string) =>
      /^\[(\w+)\]/.exec((await read(project, id)).json.devices[0].failure_reason ?? '')?.[1]
    await outlive(one!.message_id)
    await service.hurry('messages.keep')
    await eventually(async () => assert.equal(await reasonOf(one!.message_id), 'EXPIRED'))
    assert.equal(await reasonOf(two!.message_id), undefined)
    await outlive(two!.message_id)
    await resume(project)
    await eventually(async () => assert.equal(await reasonOf(two!.message_id), 'EXPIRED'))
    assert.equal(sentTo('pause-ttl'), 0)
  })

  it('triggers are accepted and wait, explain says why, no jobs pile up, and the resume sends all', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'pause-trigger')
    await givenCampaign(service, project)
    await pause(project)
    const ids = [await triggered(project, users('ana')), await triggered(project, everyone)]
    await eventually(async () => {
      const jobs = await service.sql('select name from jobs where project_id = $1', [project.id])
      assert.deepEqual(jobs, [])
    })
    for (const id of ids) {
      await service.sql(`update triggers set wake_at = now() where id = $1`, [id])
      const explained = await project.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=ana`)
      const { gate, passed, reason, message } = explained.json.gates[0]
      assert.deepEqual([gate, passed, reason], ['project', false, 'project_paused'], explained.text)
      assert.match(message, /^The project is paused since 2\S+Z: nothing is sent now\.$/)
    }
    await service.hurry('campaigns.sweep')
    await sleep(1_000)
    for (const id of ids) assert.equal((await readTrigger(project, id)).state, 'accepted')
    assert.equal(sentTo('pause-trigger'), 0)
    await resume(project)
    for (const id of ids) assert.deepEqual((await ended(project, id, 4_000)).counts.sent, 1)
    const explained = await project.call('GET', `/api/v1/triggers/${ids[0]}/explain?project_user_id=ana`)
    assert.equal(explained.json.gates[0].gate, 'audience', 'one that has ended is not held back')
  })

  it('a trigger can be canceled', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'pause-cancel')
    await givenCampaign(service, project)
    await pause(project)
    const id = await triggered(project, users('ana'))
    await project.call('POST', `/api/v1/triggers/${id}:cancel`)
    assert.equal((await ended(project, id)).state, 'canceled')
    await resume(project)
    assert.equal(sentTo('pause-cancel'), 0)
  })
})

describe('a pause in the middle of sending', () => {
  it('stops a broadcast on every node, also what waits for a slow gateway; it ends with right counts', async () => {
    const node = await real.another()
    const project = await real.project({ mode: 'simulator' })
    await givenMany(real, project, 400, 'slow')
    await givenCampaign(real, project)
    const arrived = async () =>
      (await real.sql('select count(*)::int as n from simulator_inbox where project_id = $1', [project.id]))[0]!.n
    const slow = { json: { all: { latency_ms: 1_500 } } }
    await real.manage('PUT', `/projects/${project.id}/simulator/faults`, slow)
    const id = await triggered(project, everyone)
    await eventually(async () => assert.ok((await arrived()) > 0))
    await pause(project, node)
    // A second for the pause to reach all nodes, in which messages at the gateway are settled.
    await sleep(2_600)
    const before = await arrived()
    assert.ok(before < 400, `${before} had left`)
    await sleep(3_000)
    assert.equal(await arrived(), before, 'nothing more arrives')
    const paused = await readTrigger(project, id)
    assert.deepEqual([paused.state, paused.counts.failed], ['running', 0], JSON.stringify(paused))
    await real.manage('DELETE', `/projects/${project.id}/simulator/faults`)
    await resume(project, node)
    const { state, counts } = await ended(project, id)
    assert.deepEqual([state, counts.targeted, counts.sent, counts.failed], ['completed', 400, 400, 0])
    await eventually(async () => assert.equal(await arrived(), 400))
  })
})
