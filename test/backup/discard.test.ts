import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../src/platform/ids.ts'
import { agentOf } from '../a2a/agent.ts'
import { run, temporaryFolder } from '../cli/service.ts'
import { givenCampaign, readTrigger, triggered, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { failed, givenUser, pending, read, results, to } from '../support/messages.ts'
import { eventually, startNode, startService, type TestProject, type TestService } from '../support/service.ts'
import { here, killedInTheMiddle, restored, resumed } from './support/restored.ts'

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** A project in which one of everything waits, some of it until later, in a file of `tidings backup`. */
async function backedUp(t: TestContext) {
  const service = await startService()
  const project = await service.project({ mode: 'simulator' })
  await givenUser(project, 'ana', 'ana-phone')
  await givenUser(project, 'ben', 'ben-phone')
  await givenCampaign(service, project)
  const ofEvent = (campaign_id: string, event: string, more: Json = {}) =>
    givenCampaign(service, project, { campaign_id, type: 'event_triggered', event_trigger: { event, ...more } })
  await ofEvent('soon', 'ordered', { delay: '1s' })
  await ofEvent('later', 'ordered', { delay: '1h' })
  await ofEvent('at-once', 'paid')
  await givenCampaign(service, project, {
    campaign_id: 'daily',
    type: 'scheduled',
    schedule: { cron: '0 9 * * *' },
    default_audience: { broadcast: true }
  })
  const channel = await project.call('POST', '/api/v1/live-activity-channels', {
    json: { attributes_type: 'Match', storage: 'none' }
  })
  assert.equal(channel.status, 200, channel.text)
  const manage = (method: string, path: string, json?: Json) =>
    service.manage(method, `/projects/${project.id}${path}`, json === undefined ? {} : { json })
  // A message that the gateway refuses for now is under way.
  await manage('PUT', '/simulator/faults', { apns: { down: true } })
  const running = await triggered(project, users('ana', 'ben'))
  await eventually(async () => {
    const open = 'select 1 from messages where trigger_id = $1'
    assert.equal((await service.sql(open, [running])).length, 2)
  })
  assert.equal((await manage('POST', ':pause')).status, 200)
  const ids = {
    running,
    accepted: await triggered(project, users('ana')),
    due: await triggered(project, { ...users('ana'), send_at: new Date(Date.now() + 1_000).toISOString() }),
    later: await triggered(project, { ...users('ana'), send_at: inAnHour() }),
    ...(await sends(project)),
    task: await interruptedTask(service, project)
  }
  await project.call('POST', `/api/v1/live-activity-channels/${channel.json.channel_id}:update`, {
    json: { content_state: { goals: 1 } }
  })
  await project.call('POST', '/api/v1/events', { json: { events: [{ device_id: 'ana-phone', name: 'ordered' }] } })
  await eventually(async () => assert.equal((await service.sql('select 1 from journeys')).length, 2))
  await service.app.idle()
  await service.close()
  await sleep(1_000)
  await makeWait(service, project, ids)
  const file = join(await temporaryFolder(t), 'one.backup')
  const made = await run(['backup', file], { env: { DATABASE_URL: service.databaseUrl } })
  assert.equal(made.code, 0, made.stderr)
  return { file, project, ids }
}

async function sends(project: TestProject) {
  const [push] = await results(project, [to('ana')])
  const [laterPush] = await results(project, [to('ana', { send_at: inAnHour() })])
  const [ofLarge] = await results(project, [to('ben')])
  assert.deepEqual([push.status, laterPush.status, ofLarge.status], [pending, pending, pending])
  return {
    push: push.message_id as string,
    laterPush: laterPush.message_id as string,
    ofLarge: ofLarge.message_id as string
  }
}

/** A push of an agent whose node died before it had an effect. */
async function interruptedTask(service: TestService, project: TestProject): Promise<string> {
  const fields = { projectUserId: 'ana', title: 'Hi' }
  const { id } = await agentOf(service, project, 'plain').send({ skill: 'send-push-notification', ...fields })
  const [{ content }] = await service.sql('select content from a2a_tasks where id = $1', [id])
  const request = { skill: 'send-push-notification', fields }
  const left = { ...content, log: content.log.slice(0, 2), artifacts: [], request }
  await service.sql(`update a2a_tasks set state = 'working', content = $2 where id = $1`, [id, JSON.stringify(left)])
  await service.sql('delete from idempotency_keys where key like $1', [`${id}.%`])
  await service.sql(`delete from messages where content::text like '%"Hi"%'`)
  return id
}

/** The project ran when the backup was made, and its processes were in the middle of their work. */
async function makeWait(service: TestService, { id }: TestProject, { running, ofLarge }: Ids): Promise<void> {
  await service.sql(`update messages set state = 'handed', owner = gen_random_uuid() where trigger_id = $1`, [running])
  // The rows of a large send have no time, and its job knows them.
  await service.sql(
    `update messages set state = 'handed', owner = gen_random_uuid(), due_at = null, handed_at = created_at
      where message_id = $1`,
    [ofLarge]
  )
  await service.sql(
    `insert into jobs (id, name, project_id, payload, ready, run_at, attempts, max_attempts, created_at, queue)
     values ($1, 'delivery.release_send', $2, $3, false, now() + interval '36 s', 0, 10, now(), 'retries')`,
    [newId(), id, JSON.stringify({ projectId: id, first: ofLarge, last: ofLarge })]
  )
  await service.sql(
    `update schedules set next_at = now() - interval '1 minute', done_until = now() - interval '2 minutes'`
  )
  await service.sql(
    `insert into event_queue (project_id, id, event_at, event_id) select project_id, $2, at, id from events where project_id = $1`,
    [id, newId()]
  )
  await service.sql(`update events set name = 'paid' where project_id = $1`, [id])
  await service.sql('update projects set paused_at = null')
}

const waiting = {
  triggers: { due: 3, later: 1 },
  messages: { due: 4, later: 1 },
  journeys: { due: 1, later: 1 },
  schedules: { due: 1, later: 0 },
  events: { due: 1, later: 0 },
  channel_updates: { due: 1, later: 0 },
  agent_tasks: { due: 1, later: 0 }
}

type Ids = Awaited<ReturnType<typeof backedUp>>['ids']

/** What was due ended as canceled, and nothing of it reached a phone. */
async function assertCanceled(node: TestService, project: TestProject, ids: Ids): Promise<void> {
  const skipped = { running: 2, accepted: 0, due: 0 }
  for (const [name, count] of Object.entries(skipped)) {
    const { state, reason, counts } = await readTrigger(project, ids[name as keyof Ids])
    assert.deepEqual([state, reason, counts.skipped, counts.pending], ['canceled', 'discarded', count, 0], name)
  }
  for (const id of [ids.push, ids.ofLarge]) {
    const push = (await read(project, id)).json
    assert.equal(push.status, failed)
    assert.match(push.additional_params.failure_reason, /^\[CANCELED\] Canceled by resume --discard/)
  }
  const task = await agentOf(node, project, 'plain').get(ids.task)
  assert.equal(task.status.state, 'canceled')
  assert.match(task.status.message.parts[0].text, /resume --discard/)
  const one = async (text: string) => (await node.sql(text))[0]
  assert.deepEqual(await one(`select state, reason from journeys where campaign_id = 'soon'`), {
    state: 'stopped',
    reason: 'discarded'
  })
  assert.deepEqual(await one('select state, reason from live_activity_changes'), {
    state: 'failed',
    reason: 'CANCELED'
  })
  assert.deepEqual(await one('select count(*)::int as n from event_queue'), { n: 0 })
  assert.deepEqual(await one(`select count(*)::int as n from triggers where campaign_id in ('daily', 'at-once')`), {
    n: 0
  })
  const inbox = await node.manage('GET', `/projects/${project.id}/simulator/inbox`)
  assert.deepEqual(
    inbox.json.items.filter(({ title }: Json) => title !== 'After the restore'),
    []
  )
}

it('resume --discard cancels what was due, keeps what is due later, and sends what came after the restore', async (t) => {
  const { file, project: old, ids } = await backedUp(t)
  const env = await restored(t, file)
  const counted = await run(['resume', '--dry-run', '--json'], { env })
  assert.deepEqual(counted.json<{ waiting: Json }>().waiting, waiting)
  const unsure = await run(['resume', '--discard'], { env })
  assert.equal(unsure.code, 2, 'it asks')
  assert.match(unsure.stderr, /3 triggers, and 1 due later, which stay/)

  const node = await startNode(env)
  const project = here(node, old)
  const [fresh] = await results(project, [to('ana', { title: 'After the restore' })])
  assert.equal(fresh.status, pending)
  assert.deepEqual((await node.manage('GET', '/installation/waiting')).json, waiting)
  await node.manage('DELETE', `/projects/${project.id}/simulator/faults`)
  const asked = await node.manage('POST', '/installation:resume', { json: { discard: 'due' } })
  assert.deepEqual([asked.status, asked.json], [200, { discarding: true }])
  await resumed(node)
  await assertCanceled(node, project, ids)
  await eventually(async () => {
    const { items } = (await node.manage('GET', `/projects/${project.id}/simulator/inbox`)).json
    assert.deepEqual(
      items.map(({ title }: Json) => title),
      ['After the restore']
    )
  })
  assert.equal((await readTrigger(project, ids.later)).state, 'scheduled')
  assert.equal((await read(project, ids.laterPush)).json.status, pending)
  const [entry] = (await node.manage('GET', `/projects/${project.id}/audit?action=project.discard`)).json.items
  const { discard, triggers, messages, journeys } = entry.details
  assert.deepEqual([discard, triggers, messages, journeys], ['due', 3, 4, 1])
  const again = await node.manage('POST', '/installation:resume', { json: {} })
  assert.equal(again.status, 409)
  await node.close()

  const other = await restored(t, file)
  const all = await run(['resume', '--discard=all', '--yes', '--json'], { env: other })
  assert.equal(all.json<{ discarding: boolean }>().discarding, true)
  const refused = await run(['resume'], { env: other })
  assert.match(refused.stderr, /is being canceled/)
  await killedInTheMiddle(t, other, ids.running)
  const next = await startNode(other)
  await resumed(next)
  await assertCanceled(next, here(next, old), ids)
  assert.equal((await readTrigger(here(next, old), ids.later)).state, 'canceled')
  assert.equal((await read(here(next, old), ids.laterPush)).json.status, failed)
  assert.deepEqual(await next.sql(`select 1 from journeys where state = 'waiting'`), [])
})
