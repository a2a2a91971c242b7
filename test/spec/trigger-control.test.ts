import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  devices,
  ended,
  everyone,
  givenCampaign,
  givenMany,
  put,
  readTrigger,
  run,
  triggered,
  users
} from '../support/campaigns.ts'
import { put as putDevice } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { accepted, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const pushesTo = (prefix: string) => sender.pushes.filter(({ deviceId }) => deviceId.startsWith(`${prefix}-`))
const quietNow = (action: string) => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
  return { from: at(-1), to: at(2), timezone: 'UTC', action }
}
const cancel = (project: TestProject, id: string) => project.call('POST', `/api/v1/triggers/${id}:cancel`)

describe('POST /api/v1/triggers/{trigger_id}:cancel', () => {
  it('during a broadcast: no message is dispatched after the response, and the counters add up', async () => {
    const project = await service.project()
    await givenMany(service, project, 8_000, 'cut')
    await givenCampaign(service, project)
    const id = await triggered(project, everyone)
    await eventually(async () => assert.ok((await readTrigger(project, id)).counts.sent > 500))
    const reply = await cancel(project, id)
    const atAnswer = pushesTo('cut').length
    assert.equal(reply.status, 200)
    assert.equal(reply.json.state, 'canceled')
    await sleep(500)
    assert.equal(pushesTo('cut').length, atAnswer)
    assert.ok(atAnswer < 8_000)
    const found = await readTrigger(project, id)
    assert.deepEqual([found.counts.pending, found.counts.sent], [0, atAnswer])
    assert.equal((await cancel(project, id)).json.state, 'canceled', 'once more changes nothing')
  })

  it('cancels messages that wait for a gateway, and stays canceling while a gateway has some', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'w-1', 'w-2')
    await givenCampaign(service, project)
    const held = Promise.withResolvers<ReturnType<typeof accepted>>()
    sender.script('w-1', held.promise)
    sender.script('w-2', retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 3_600_000 }))
    const id = await triggered(project, users('ana'))
    await eventually(() => assert.equal(sender.to('w-1').length + sender.to('w-2').length, 2))
    const reply = await cancel(project, id)
    assert.equal(reply.json.state, 'canceling')
    assert.equal(reply.json.counts.pending, 1)
    held.resolve(accepted())
    const found = await ended(project, id, 15_000)
    assert.deepEqual([found.state, found.counts.sent, found.skipped], ['canceled', 1, { canceled: 1 }])
  })

  it('before anything was expanded, and after the end', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'x-1')
    await givenCampaign(service, project)
    const done = await run(project, users('ana'))
    const late = await cancel(project, done.trigger_id)
    assert.deepEqual([late.status, late.json.state, late.json.counts.sent], [200, 'completed', 1])
    assert.equal((await cancel(project, 'nothing')).status, 404)
  })
})

describe('rules of a campaign', () => {
  it('a frequency cap holds also for triggers at the same time, and counts users and not devices', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'f-1', 'f-2')
    await givenUser(project, 'bo', 'f-3')
    await givenCampaign(service, project, { frequency_cap: { count: 2, within: '1h' } })
    const found = await Promise.all(Array.from({ length: 6 }, () => run(project, users('ana'))))
    assert.equal(found.filter(({ counts }) => counts.sent === 2).length, 2)
    assert.equal(found.filter(({ skipped }) => skipped.frequency_cap === 2).length, 4)
    assert.equal(pushesTo('f').length, 4)
    assert.equal((await run(project, users('bo'))).counts.sent, 1)
  })

  it('A.6: a frequency cap counts from the time at which a message was sent, whenever its trigger was planned for', async () => {
    const project = await service.project()
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
    const moved = async (user: string, first: string, then: string) => {
      const id = await triggered(project, { ...users(user), send_at: first })
      const reply = await project.call('PATCH', `/api/v1/triggers/${id}`, { json: { send_at: then } })
      assert.equal(reply.status, 200, reply.text)
      assert.equal((await ended(project, id)).counts.sent, 1)
    }
    await givenUser(project, 'ana', 'cap-1')
    await givenUser(project, 'bo', 'cap-2')
    await givenCampaign(service, project, { frequency_cap: { count: 1, within: '2s' } })
    await moved('ana', inMs(500), inMs(3_000))
    assert.deepEqual((await run(project, users('ana'))).skipped, { frequency_cap: 1 }, 'moved to a later time')
    await moved('bo', inMs(60 * 86_400_000), inMs(0))
    await eventually(async () =>
      assert.equal((await run(project, users('bo'))).counts.sent, 1, 'moved to an earlier time')
    )
  })

  /** Quiet hours that contain now and the next hours, in UTC. */
  it('quiet hours skip with a reason', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'q-1')
    await givenCampaign(service, project, { quiet_hours: quietNow('skip') })
    assert.deepEqual((await run(project, users('ana'))).skipped, { quiet_hours: 1 })
  })

  it('quiet hours hold until they are over: pending until then, and canceled if the trigger is', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'q-2', 'q-3')
    await givenCampaign(service, project, { quiet_hours: quietNow('hold') })
    const id = await triggered(project, users('ana'))
    await eventually(async () => assert.equal((await readTrigger(project, id)).counts.pending, 2))
    assert.equal(pushesTo('q').length, 0)
    const other = await triggered(project, users('ana'))
    await eventually(async () => assert.equal((await readTrigger(project, other)).counts.pending, 2))
    const reply = await cancel(project, other)
    assert.deepEqual([reply.json.state, reply.json.skipped], ['canceled', { canceled: 2 }])
  })

  it('a message is not sent after its time to live', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 't-1')
    await givenCampaign(service, project, { ttl_seconds: 0 })
    assert.deepEqual((await run(project, users('ana'))).skipped, { expired: 1 })
    await givenCampaign(service, project, { ttl_seconds: 60 })
    await run(project, users('ana'))
    const [push] = sender.to('t-1')
    assert.ok(push!.notAfter > Date.now() && push!.notAfter <= Date.now() + 60_000)
  })

  it('a Live Activity is started where the app has registered a token for it', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'la-1', 'la-2')
    const token = { attributes_type: 'Delivery', push_to_start_token: 'aa11' }
    await project.call('POST', '/api/v1/devices/la-1/live-activity-start-tokens', { json: token })
    await givenCampaign(service, project, {
      message: undefined,
      live_activity: {
        attributes_type: 'Delivery',
        attributes: { who: '{{ user.id }}' },
        content_state: { n: 1, t: ['{{ trigger.eta }}'] }
      }
    })
    const found = await run(project, { ...users('ana'), properties: { eta: '5m' } })
    assert.deepEqual([found.counts.sent, found.skipped], [1, { no_live_activity_token: 1 }])
    assert.deepEqual(sender.to('la-1')[0]!.content, {
      kind: 'activity-start',
      activity: {
        attributesType: 'Delivery',
        attributes: { who: 'ana' },
        contentState: { n: 1, t: ['5m'] },
        alert: { title: 'Live Activity', body: 'Started' }
      }
    })
  })
})

describe('GET /manage/v1/projects/{id}/triggers/{trigger_id}/size', () => {
  it('counts the whole audience while a throttle holds the messages back', async () => {
    const project = await service.project()
    await givenMany(service, project, 30, 'size')
    await givenCampaign(service, project, { throttle_per_second: 1 })
    const id = await triggered(project, everyone)
    const size = (of: string) => service.manage('GET', `/projects/${project.id}/triggers/${of}/size`)
    assert.deepEqual((await size(id)).json, { devices: 30, complete: true })
    const { counts } = (await project.call('GET', `/api/v1/triggers/${id}`)).json
    assert.ok(counts.sent < 30, JSON.stringify(counts))
    await cancel(project, id)
    const named = await triggered(project, users('size-user-1', 'size-user-2', 'nobody'))
    assert.deepEqual((await size(named)).json, { devices: 3, complete: true })
    assert.equal((await size('0199c0de-0000-7000-8000-000000000001')).status, 404)
    const foreign = await service.project()
    assert.equal((await service.manage('GET', `/projects/${foreign.id}/triggers/${id}/size`)).status, 404)
  })
})

describe('GET /api/v1/triggers/{trigger_id}/explain', () => {
  const explain = async (project: TestProject, id: string, user: string): Promise<Json> => {
    const reply = await project.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=${user}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.json
  }
  const stops = ({ gates }: Json) => gates.filter((gate: Json) => !gate.passed).map((gate: Json) => gate.reason)

  it('names the cancel where it kept messages from being written: of a batch that waited, and before the time of a trigger', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'cx-1')
    await givenUser(project, 'ben', 'cx-2')
    await givenCampaign(service, project, { quiet_hours: quietNow('hold') })
    const held = await triggered(project, users('ana'))
    await eventually(async () => assert.equal((await readTrigger(project, held)).counts.pending, 1))
    const scheduled = await triggered(project, {
      ...users('ana'),
      send_at: new Date(Date.now() + 3_600_000).toISOString()
    })
    for (const id of [held, scheduled]) {
      await cancel(project, id)
      const { gates, devices } = await explain(project, id, 'ana')
      assert.deepEqual(stops({ gates }), [])
      assert.deepEqual(devices, [
        {
          device_id: 'cx-1',
          message_id: null,
          state: 'skipped',
          gates: [
            {
              gate: 'rules',
              passed: false,
              reason: 'canceled',
              message: 'The trigger was canceled before the batch was sent.'
            }
          ]
        }
      ])
      assert.deepEqual(stops(await explain(project, id, 'ben')), ['not_targeted'])
    }
  })

  it('lists each gate in order, for users who received the message and users who did not', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'e-1', 'e-2')
    await givenUser(project, 'bo', 'e-3')
    await givenUser(project, 'cy')
    await put(project, 'ana', { plan: 'premium' })
    await putDevice(project, { id: 'e-2', platform: 'IOS', is_push_permission_granted: false })
    await givenCampaign(service, project, { segment: { attribute: 'user.plan', operator: 'equals', value: 'premium' } })
    const { trigger_id: id } = await run(project, users('ana', 'bo'))
    const ana = await explain(project, id, 'ana')
    assert.deepEqual(
      ana.gates.map(({ gate }: Json) => gate),
      ['audience', 'user', 'segment', 'device']
    )
    assert.deepEqual(stops(ana), [])
    const byDevice = new Map(ana.devices.map((device: Json) => [device.device_id, device]))
    assert.equal((byDevice.get('e-1') as Json).state, 'accepted')
    assert.deepEqual([(byDevice.get('e-2') as Json).state, stops(byDevice.get('e-2'))], ['skipped', ['no_push_token']])
    assert.deepEqual(stops(await explain(project, id, 'bo')), ['not_in_segment'])
    assert.deepEqual(stops(await explain(project, id, 'cy')), ['not_targeted', 'not_in_segment', 'no_device'])
    await put(project, 'ana', { plan: 'free' })
    await put(project, 'bo', { plan: 'premium' })
    assert.deepEqual(stops(await explain(project, id, 'ana')), [], 'what happened, and not what would happen now')
    assert.deepEqual(stops(await explain(project, id, 'bo')), ['not_in_segment'])
    assert.deepEqual(stops(await explain(project, id, 'who')), ['not_targeted', 'unknown_user'])
    const { trigger_id: nobody } = await run(project)
    assert.equal(stops(await explain(project, nobody, 'ana'))[0], 'no_audience')
    assert.equal((await project.call('GET', `/api/v1/triggers/${id}/explain`)).status, 400)
    assert.equal((await project.call('GET', `/api/v1/triggers/x/explain?project_user_id=a`)).status, 404)
  })

  it('says until when a device is deferred, and why a template fails', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'w-1')
    const clock = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString().slice(11, 16)
    const quiet_hours = { from: clock(-3_600_000), to: clock(3_600_000), timezone: 'UTC' }
    await givenCampaign(service, project, { quiet_hours })
    const held = await triggered(project, users('ana'))
    const waits = await eventually(async () => {
      const [device] = (await explain(project, held, 'ana')).devices
      assert.deepEqual([device?.state, device && stops(device)], ['pending', ['quiet_hours']])
      return device
    })
    assert.match(waits.gates[0].message, /^Quiet hours defer the message until \d\d:\d\d, [A-Z][\w/]+ \(\d{4}-/)
    await cancel(project, held)
    await givenCampaign(service, project, { message: { title: '{{ trigger.missing }}' } })
    const { trigger_id: id } = await run(project, users('ana'))
    const [failed] = (await explain(project, id, 'ana')).devices
    assert.deepEqual([failed.state, stops(failed)], ['failed', ['template_failed']])
    assert.equal(failed.gates[0].message, 'The message cannot be rendered: title and body are empty')
  })
})

describe('a test send', () => {
  it('goes to chosen devices, whatever segment and status are, and makes no trigger', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'ts-1')
    await givenCampaign(service, project, {
      status: 'draft',
      segment: { any: [] },
      message: { title: 'Hi {{ user.id }} {{ trigger.a }}' }
    })
    const test = (json: Json) => service.manage('POST', `/projects/${project.id}/campaigns/news:test`, { json })
    const reply = await test({ device_ids: ['ts-1'], properties: { a: 7 } })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    assert.equal((sender.to('ts-1')[0]!.content as Json).notification.title, 'Hi ana 7')
    assert.equal((await test({ device_ids: ['who'] })).json.details[0].path, 'device_ids[0]')
    for (const device_ids of [[], Array.from({ length: 21 }, (_, n) => `d${n}`)])
      assert.equal((await test({ device_ids })).status, 400)
    assert.equal((await project.call('GET', '/api/v1/triggers')).json.items.length, 0)
  })
})

describe('the stream of a trigger', () => {
  const watch = (project: TestProject, id: string) =>
    new Promise<{ status: number; type: string | undefined; events: Json[] }>((resolve, reject) => {
      const { hostname, port } = new URL(service.url)
      const path = `/manage/v1/projects/${project.id}/triggers/${id}/stream`
      const headers = { authorization: `Bearer ${service.adminToken}` }
      request({ hostname, port, path, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('error', reject)
        response.on('end', () => {
          const events = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data]) => ({
            name,
            ...JSON.parse(data!)
          }))
          resolve({ status: response.statusCode!, type: response.headers['content-type'], events })
        })
      })
        .on('error', reject)
        .end()
    })

  it('shows counters that grow and add up, and ends with the trigger', async () => {
    const project = await service.project()
    await givenMany(service, project, 60, 'sse')
    await givenCampaign(service, project, { throttle_per_second: 30 })
    const id = await triggered(project, everyone)
    const { status, type, events } = await watch(project, id)
    assert.deepEqual([status, type], [200, 'text/event-stream'])
    assert.ok(events.length >= 2, JSON.stringify(events))
    for (const { counts } of events)
      assert.equal(counts.targeted, counts.sent + counts.failed + counts.skipped + counts.pending)
    const last = events.at(-1)
    assert.deepEqual([last.name, last.state, last.counts.sent], ['ended', 'completed', 60])
    assert.ok(events.slice(0, -1).every(({ name }) => name === 'progress'))
    const again = await watch(project, id)
    assert.deepEqual(
      again.events.map(({ name }) => name),
      ['ended']
    )
    assert.equal((await watch(project, 'x')).status, 404)
  })
})

describe('the retention of triggers', () => {
  it('goes with the project', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'gone-1')
    await givenCampaign(service, project)
    await run(project, devices('gone-1', 'none'))
    await service.manage('DELETE', `/projects/${project.id}`)
    await eventually(async () => {
      for (const table of ['campaigns', 'campaign_versions', 'triggers', 'trigger_skips', 'messages', 'projects']) {
        const [{ n }] = await service.sql(`select count(*)::int as n from ${table} where project_id = $1`, [project.id])
        assert.equal(n, 0, table)
      }
    })
  })
})
