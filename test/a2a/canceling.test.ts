import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, givenCampaign, readTrigger } from '../support/campaigns.ts'
import { put } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'
import { agentOf } from './agent.ts'

// Settled 5: `canceled` means that nothing was done. Gateways, campaigns and keys are the real ones.
const service = await startService()

async function shop() {
  const project = await service.project({ mode: 'simulator' })
  const device = { platform: 'IOS', project_user_id: 'ana', device_id: 'ana-phone' }
  const made = await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json: device })
  assert.equal(made.status, 201, made.text)
  await givenCampaign(service, project)
  return { project, agent: agentOf(service, project, 'plain') }
}
const count = async (project: TestProject, what: string): Promise<number> =>
  (await service.sql(`select count(*)::int as n from ${what} and project_id = $1`, [project.id]))[0].n
/** Messages that were dispatched to a gateway, or will be. */
const sent = (project: TestProject) => count(project, `messages where state <> 'skipped'`)
const setPaused = async (project: TestProject, paused: boolean) =>
  assert.equal((await service.manage('POST', `/projects/${project.id}:${paused ? 'pause' : 'resume'}`)).status, 200)

const toAna = { skill: 'trigger-campaign', campaignId: 'news', targets: [{ projectUserId: 'ana' }] }
const push = { skill: 'send-push-notification', projectUserId: 'ana', title: 'Hi' }

/** Leaves a task in the state of a node that died after the effect and before it wrote the end. */
async function unwritten(project: TestProject, { id }: Json, request: Json): Promise<void> {
  const { skill, ...fields } = request
  const [{ content }] = await service.sql('select content from a2a_tasks where project_id = $1 and id = $2', [
    project.id,
    id
  ])
  const left = { ...content, log: content.log.slice(0, 2), artifacts: [], request: { skill, fields } }
  await service.sql(
    `update a2a_tasks set state = 'working', content = $3, due_at = now() - interval '1 second'
      where project_id = $1 and id = $2`,
    [project.id, id, JSON.stringify(left)]
  )
}
const forgotten = ({ id }: Json) => service.sql(`delete from idempotency_keys where key like $1`, [`${id}.%`])
/** Cancels while the recovery job works on the task. */
async function canceledWhileRecovered(agent: ReturnType<typeof agentOf>, id: string) {
  const reply = agent.call('cancel', { id })
  await eventually(async () => {
    await service.hurry('a2a.look_after')
    assert.notEqual((await agent.get(id)).status.state, 'working')
  }, 15_000)
  return (await reply).json
}

describe('a cancel that meets the run of a node that died', () => {
  it('cancels a task whose effect has not begun, and keeps the effect from beginning', async () => {
    for (const request of [toAna, push]) {
      const { project, agent } = await shop()
      await setPaused(project, true)
      const task = await agent.send(request)
      await unwritten(project, task, request)
      await forgotten(task)
      const canceled = await agent.result('cancel', { id: task.id })
      assert.equal(canceled.status.state, 'canceled')
      const [{ n }] = await service.sql(`select count(*)::int as n from idempotency_keys where key like $1`, [
        `${task.id}.%`
      ])
      assert.equal(n, 1, 'the key of the effect belongs to the cancel')
    }
  })

  it('cancels the trigger before anything was sent, and the task then is canceled and names the trigger', async () => {
    const { project, agent } = await shop()
    await setPaused(project, true)
    const task = await agent.send(toAna)
    const { triggerId } = task.artifacts[0].parts[0].data
    await unwritten(project, task, toAna)
    const { result } = await canceledWhileRecovered(agent, task.id)
    assert.equal(result.status.state, 'canceled')
    assert.match(result.status.message.parts[0].text, /before anything was sent/)
    assert.deepEqual(result.status.message.parts[1].data, { triggerId })
    await setPaused(project, false)
    assert.equal((await readTrigger(project, triggerId)).state, 'canceled')
    assert.equal(await sent(project), 0)
  })

  it('cancels a push that no gateway has, and the task is canceled', async () => {
    const { project, agent } = await shop()
    await setPaused(project, true)
    const task = await agent.send(push)
    await unwritten(project, task, push)
    const { result } = await canceledWhileRecovered(agent, task.id)
    assert.equal(result.status.state, 'canceled')
    assert.match(result.status.message.parts[0].text, /before anything was sent/)
    await setPaused(project, false)
    assert.deepEqual(await service.sql('select state, reason from messages where project_id = $1', [project.id]), [
      { state: 'skipped', reason: 'CANCELED' }
    ])
  })

  it('is refused where the campaign was sent, and the task shows the trigger', async () => {
    const { project, agent } = await shop()
    const task = await agent.send(toAna)
    const { triggerId } = task.artifacts[0].parts[0].data
    assert.equal((await ended(project, triggerId)).counts.sent, 1)
    await unwritten(project, task, toAna)
    const { error } = await canceledWhileRecovered(agent, task.id)
    assert.equal(error.code, -32002)
    const now = await agent.get(task.id)
    assert.equal(now.status.state, 'completed')
    assert.deepEqual(now.artifacts[0].parts[0].data, { triggerId })
    assert.equal(await count(project, 'triggers where true'), 1)
  })

  it('is refused where the push was sent, and the task shows the results', async () => {
    const { project, agent } = await shop()
    const task = await agent.send(push)
    await unwritten(project, task, push)
    const { error } = await canceledWhileRecovered(agent, task.id)
    assert.equal(error.code, -32002)
    const now = await agent.get(task.id)
    assert.deepEqual(now.artifacts[0].parts, task.artifacts[0].parts)
    assert.equal(await sent(project), 1)
  })

  it('is refused where an event may have been tracked: it is, once', async () => {
    const { project, agent } = await shop()
    await put(project, { id: 'phone', platform: 'IOS' })
    const event = { skill: 'track-event', eventName: 'buy', deviceId: 'phone' }
    const task = await agent.send(event)
    await unwritten(project, task, event)
    const { error } = await canceledWhileRecovered(agent, task.id)
    assert.equal(error.code, -32002)
    assert.equal((await agent.get(task.id)).status.state, 'completed')
    assert.equal(await count(project, `events where name = 'buy'`), 1)
  })
})

describe('a cancel that meets a push at a slow gateway', () => {
  it('waits for it and is refused, also on another node and when it comes twice; the task has the results', async () => {
    const { project, agent } = await shop()
    const there = agentOf(await service.another(), project, 'official')
    await service.manage('PUT', `/projects/${project.id}/simulator/faults`, { json: { all: { latency_ms: 1_500 } } })
    const sending = agent.send(push, { contextId: 'slow' })
    await eventually(async () => assert.equal(await count(project, `messages where state = 'handed'`), 1))
    const [{ id }] = (await agent.result('list', { contextId: 'slow' })).tasks
    const refused = await Promise.all([
      there.error('cancel', { id }),
      there.error('cancel', { id }),
      agent.error('cancel', { id })
    ])
    assert.deepEqual(
      refused.map(({ code }) => code),
      [-32002, -32002, -32002]
    )
    const task = await sending
    assert.equal(task.status.state, 'completed')
    assert.equal(task.artifacts[0].parts[0].data.totalSent, 1)
    assert.equal(await sent(project), 1)
  })
})

describe('a yes and a cancel at the same moment', () => {
  /** The contradictions of one round: effects under a canceled task, or missing effects under another. */
  async function round(
    { project, agent }: Awaited<ReturnType<typeof shop>>,
    question: Json,
    answer: Json,
    apartMs: number
  ): Promise<{ task: Json; refused: boolean }> {
    const asked = await agent.send(question)
    assert.equal(asked.status.state, 'input-required', JSON.stringify(asked.status))
    const yes = agent.call('send', { message: agent.message(answer, { taskId: asked.id }) })
    await sleep(apartMs)
    const canceled = (await agent.call('cancel', { id: asked.id })).json
    await yes
    const task = await agent.get(asked.id)
    if (canceled.error) assert.equal(canceled.error.code, -32002)
    else assert.equal(canceled.result.status.state, 'canceled')
    assert.equal(task.status.state === 'canceled', canceled.error === undefined, project.id)
    return { task, refused: canceled.error !== undefined }
  }
  const rounds = Array.from({ length: 12 }, (_, index) => index)

  it('leave no user under a canceled task', async () => {
    const made = await shop()
    for (const index of rounds) {
      const { task, refused } = await round(made, 'Create a user', `user-${index}`, index)
      const users = await count(made.project, `users where project_user_id = 'user-${index}'`)
      assert.deepEqual([users, task.artifacts.length], refused ? [1, 1] : [0, 0])
    }
  })

  it('leave no push under a canceled task', async () => {
    const made = await shop()
    for (const index of rounds) {
      const before = await sent(made.project)
      const { task, refused } = await round(made, 'Send a push to user ana', `"Hi ${index}"`, index)
      assert.equal((await sent(made.project)) - before, refused ? 1 : 0)
      if (refused) assert.equal(task.artifacts[0].parts[0].data.totalSent, 1)
    }
  })

  it('leave no trigger that sends under a canceled task', async () => {
    const made = await shop()
    const { project } = made
    for (const index of rounds) {
      const before = await sent(project)
      const { task, refused } = await round(made, 'Trigger campaign news for all users', 'yes', index)
      const [newest] = (await project.call('GET', '/api/v1/triggers?limit=1')).json.items
      if (refused) {
        const { triggerId } = task.artifacts[0].parts[0].data
        assert.equal(triggerId, newest.trigger_id)
        await ended(project, triggerId)
        continue
      }
      const named = task.status.message.parts[1]?.data.triggerId
      if (named) assert.deepEqual([newest.trigger_id, (await ended(project, named)).state], [named, 'canceled'])
      assert.equal(await sent(project), before)
    }
  })

  it('leave no trigger under a canceled question, where the yes is a message of its own', async () => {
    const { project, agent } = await shop()
    const ask = async () => {
      const asked = await agent.send('Trigger campaign news for all users')
      const { confirmationId } = asked.status.message.parts[1].data
      return { asked, yes: () => agent.send({ confirmationId, confirm: true }) }
    }
    for (const index of rounds) {
      const { asked, yes } = await ask()
      const answered = yes()
      await sleep(index * 2)
      const canceled = (await agent.call('cancel', { id: asked.id })).json
      const task = await answered
      if (canceled.error) assert.equal(canceled.error.code, -32002)
      const state = canceled.error ? 'completed' : /^(rejected|input-required)$/
      assert.match(task.status.state, new RegExp(state), JSON.stringify([canceled, task.status]))
    }
    const { asked, yes } = await ask()
    assert.equal((await agent.result('cancel', { id: asked.id })).status.state, 'canceled')
    const again = await yes()
    assert.equal(again.status.state, 'input-required')
    assert.match(again.status.message.parts[0].text, /What this confirmationId stood for was canceled\./)
    const [{ n }] = await service.sql('select count(*)::int as n from triggers where project_id = $1', [project.id])
    assert.ok(n <= rounds.length)
  })

  it('cancel a task that asks about something else, whatever confirmation it names', async () => {
    const { agent } = await shop()
    const asked = await agent.send('Trigger campaign news for all users')
    const { confirmationId } = asked.status.message.parts[1].data
    assert.equal((await agent.send({ confirmationId, confirm: true })).status.state, 'completed')
    const long = randomBytes(6_000).toString('base64')
    for (const fields of [
      { campaignId: 'news', segment: 'x', confirmationId },
      { targets: [{ projectUserId: 'ana' }], confirmationId: long }
    ]) {
      const task = await agent.send({ skill: 'trigger-campaign', ...fields })
      assert.equal(task.status.state, 'input-required', JSON.stringify(task.status))
      assert.equal((await agent.result('cancel', { id: task.id })).status.state, 'canceled')
    }
  })
})
