import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { run, temporaryFolder } from '../cli/service.ts'
import { givenCampaign, readTrigger, triggered, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser, read, results, succeed, to } from '../support/messages.ts'
import { eventually, startNode, startService, type TestProject, type TestService } from '../support/service.ts'
import { here, killedInTheMiddle, restored, resumed } from './support/restored.ts'

/** A backup of a project in which a trigger, a push and three tasks of agents were under way. */
async function backedUp(t: TestContext) {
  const service = await startService()
  const project = await service.project({ mode: 'simulator' })
  await givenUser(project, 'ana', { id: 'ana-phone', push_token: 'aa'.repeat(32) })
  await givenUser(project, 'ben', { id: 'ben-phone', push_token: 'bb'.repeat(32) })
  await givenCampaign(service, project)
  const faults = { json: { apns: { down: true } } }
  assert.equal((await service.manage('PUT', `/projects/${project.id}/simulator/faults`, faults)).status, 200)
  const running = await triggered(project, users('ana', 'ben'))
  const open = 'select 1 from messages where trigger_id = $1'
  await eventually(async () => assert.equal((await service.sql(open, [running])).length, 2))
  assert.equal((await service.manage('POST', `/projects/${project.id}:pause`, {})).status, 200)
  const [sent] = await results(project, [to('ana', { title: 'A push' })])
  const agent = agentOf(service, project, 'plain')
  const begun = async (asked: Json): Promise<string> => {
    const { id, status } = await agent.send(asked)
    assert.equal(status.state, 'completed')
    return id
  }
  const asked = {
    fresh: { skill: 'send-push-notification', projectUserId: 'ana', title: 'Nothing done' },
    sending: { skill: 'send-push-notification', projectUserId: 'ben', title: 'Sending' },
    triggering: { skill: 'trigger-campaign', campaignId: 'news', targets: [{ projectUserId: 'ben' }] }
  }
  const ids = {
    running,
    push: sent.message_id as string,
    fresh: await begun(asked.fresh),
    sending: await begun(asked.sending),
    triggering: await begun(asked.triggering)
  }
  await service.app.idle()
  await service.close()
  // Only now: a running node would take the tasks over.
  await leaveTask(service, ids.fresh, asked.fresh, false)
  await leaveTask(service, ids.sending, asked.sending, true)
  await leaveTask(service, ids.triggering, asked.triggering, true)
  // The project ran when the backup was made, and its processes were in the middle of their work.
  await service.sql(`update messages set state = 'handed', owner = gen_random_uuid()`)
  await service.sql('update projects set paused_at = null')
  const file = join(await temporaryFolder(t), 'one.backup')
  const made = await run(['backup', file], { env: { DATABASE_URL: service.databaseUrl } })
  assert.equal(made.code, 0, made.stderr)
  return { file, project, ids }
}

/** Leaves a task as a node does that dies before it wrote the end, with or without the effect. */
async function leaveTask({ sql }: TestService, id: string, asked: Json, done: boolean): Promise<void> {
  const [{ content }] = await sql('select content from a2a_tasks where id = $1', [id])
  const { skill, ...fields } = asked
  const left = { ...content, log: content.log.slice(0, 2), artifacts: [], request: { skill, fields } }
  const text = JSON.stringify(left)
  await sql(`update a2a_tasks set state = 'working', due_at = now(), content = $2 where id = $1`, [id, text])
  if (done) return
  await sql('delete from idempotency_keys where key like $1', [`${id}.%`])
  await sql('delete from messages where content::text like $1', [`%${fields.title}%`])
}

async function inboxOf(node: TestService, { id }: TestProject): Promise<string[]> {
  const { items } = (await node.manage('GET', `/projects/${id}/simulator/inbox`)).json
  return items.map(({ title }: Json) => title).sort()
}

/** The state of a task, and its last words. */
async function endOf(node: TestService, project: TestProject, id: string): Promise<[state: string, words: string]> {
  const { status } = await agentOf(node, project, 'plain').get(id)
  return [status.state, status.message?.parts[0]?.text ?? '']
}

/** Restores the backup, begins a discard of what was due, and does something before a node starts. */
async function discarded(t: TestContext, before: (env: Record<string, string>, ids: Ids) => Promise<void>) {
  const { file, project: old, ids } = await backedUp(t)
  const env = await restored(t, file)
  const asked = await run(['resume', '--discard', '--yes', '--json'], { env })
  assert.equal(asked.json<{ discarding: boolean }>().discarding, true)
  await before(env, ids)
  const node = await startNode(env)
  const project = here(node, old)
  await node.manage('DELETE', `/projects/${project.id}/simulator/faults`)
  await resumed(node)
  const open = `select 'task' from a2a_tasks where due_at is not null union all
                select 'trigger' from triggers where ended_at is null union all
                select 'message' from messages where state in ('queued', 'handed', 'unknown')`
  await eventually(async () => assert.deepEqual(await node.sql(open), []), 30_000)
  return { node, project, ids }
}

type Ids = Awaited<ReturnType<typeof backedUp>>['ids']

const byDiscard = /Canceled by resume --discard/

it('resume --discard ends tasks of agents that had begun, and nothing of them is sent', async (t) => {
  const { node, project, ids } = await discarded(t, async () => {})
  const [state, words] = await endOf(node, project, ids.fresh)
  assert.equal(state, 'canceled', 'nothing had been done')
  assert.match(words, byDiscard)
  // Something had been done: a push existed. The task tells what became of it.
  const [sending, told] = await endOf(node, project, ids.sending)
  assert.equal(sending, 'failed')
  assert.match(told, byDiscard)
  // A trigger had been accepted: it is canceled, and so is the task.
  const [{ id, ...ofAgent }] = await node.sql(`select id, state, reason from triggers where id <> $1`, [ids.running])
  assert.deepEqual(ofAgent, { state: 'canceled', reason: 'discarded' }, id)
  assert.equal((await endOf(node, project, ids.triggering))[0], 'canceled')
  assert.deepEqual(await inboxOf(node, project), [])
})

it('resume --discard=none ends a discard that is under way, and sends what was not canceled yet', async (t) => {
  const { node, project, ids } = await discarded(t, async (env, { running }) => {
    await killedInTheMiddle(t, env, running)
    const stopped = await run(['resume', '--discard=none', '--json'], { env })
    assert.deepEqual([stopped.code, stopped.json<{ resumed: boolean }>().resumed], [0, true], stopped.stderr)
  })
  // What was canceled stays so. Tasks come first.
  assert.equal((await endOf(node, project, ids.fresh))[0], 'canceled')
  // The killed node had marked this trigger. The statement on its messages, which waited, may still have taken effect.
  const { state, reason, counts } = await readTrigger(project, ids.running)
  assert.deepEqual([state, reason, counts.failed], ['canceled', 'discarded', 0])
  assert.ok(counts.sent + counts.skipped === 2, JSON.stringify(counts))
  // Single messages come last.
  assert.equal((await read(project, ids.push)).json.status, succeed)
  const inbox = await inboxOf(node, project)
  for (const title of ['A push', 'Sending']) assert.ok(inbox.includes(title), `${title}: ${inbox}`)
  assert.ok(inbox.filter((title) => title === 'Hello').length >= counts.sent, 'that of the agent may be among them')
  assert.ok(!inbox.includes('Nothing done'))
})
