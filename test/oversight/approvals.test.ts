import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentOf, toldState } from '../a2a/agent.ts'
import { ended, givenCampaign, givenMany, put } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'
import { agentKey, setPolicy } from './keys.ts'

const sender = scriptedSender()
const service = await startService({ PUBLIC_URL: 'https://tidings.example' }, { sender })

const everyone = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
const textOf = (task: Json) => task.status.message.parts.map(({ text }: Json) => text ?? '').join(' ')

async function given(policy: Json = { approval_above: 2 }, count = 5) {
  const project = await service.project()
  await givenMany(service, project, count, project.id)
  await givenCampaign(service, project)
  const key = await agentKey(service, project, policy)
  const path = `/projects/${project.id}/approvals`
  const agent = agentOf(service, key, 'plain')
  return {
    project,
    key,
    agent,
    path,
    list: async (state = ''): Promise<Json[]> =>
      (await service.manage('GET', `${path}${state && `?state=${state}`}`)).json.items,
    approve: (id: string, json: Json = {}) => service.manage('POST', `${path}/${id}:approve`, { json }),
    reject: (id: string, json: Json = {}) => service.manage('POST', `${path}/${id}:reject`, { json }),
    triggers: async (): Promise<Json[]> => (await project.call('GET', '/api/v1/triggers')).json.items,
    reaches: (task: Json, state: string) =>
      eventually(async () => {
        const now = await agent.get(task.id)
        assert.equal(now.status.state, state, JSON.stringify(now.status))
        return now
      })
  }
}
const approvalIn = (task: Json): string => task.status.message.metadata.approvalId

describe('an approval (B.5)', () => {
  it('is asked for with facts and a link; nothing is sent before, and a person’s yes sends it', async () => {
    const { agent, key, project, list, approve, triggers, reaches } = await given()
    const task = await agent.send(everyone, { metadata: { agentName: 'planner' } })
    assert.equal(task.status.state, 'auth-required')
    const { metadata } = task.status.message
    const { approvalId } = metadata
    assert.deepEqual(metadata, { approvalId, recipients: 5, devices: 5, campaignVersion: 1 })
    assert.match(textOf(task), /would reach 5 users, and the policy of the key wants a person to approve more than 2/)
    assert.ok(textOf(task).includes(`https://tidings.example/console/p/${project.id}/approvals/${approvalId}`))
    assert.deepEqual(await triggers(), [])
    const [asked] = await list('pending')
    assert.deepEqual(
      [asked!.id, asked!.task_id, asked!.skill, asked!.recipients, asked!.devices, asked!.campaign_version],
      [approvalId, task.id, 'trigger-campaign', 5, 5, 1]
    )
    assert.deepEqual([asked!.key, asked!.agent], [{ id: key.keyId, name: 'agent' }, 'planner'])
    assert.deepEqual(asked!.command, { campaignId: 'news', broadcast: true })
    assert.equal(asked!.sample[0].title, 'Hello')
    const approved = await approve(approvalId, { note: 'fine' })
    assert.deepEqual(
      [approved.status, approved.json.state, approved.json.note],
      [200, 'approved', 'fine'],
      approved.text
    )
    const done = await reaches(task, 'completed')
    const account = await service.manage('GET', `/projects/${project.id}/agent-tasks/${task.id}`)
    const agreed = account.json.steps.find(({ text }: Json) => text?.startsWith('Approved'))
    assert.deepEqual([agreed?.state, agreed?.text], ['working', `Approved by ${approved.json.decided_by}: fine`])
    const { triggerId } = done.artifacts[0].parts[0].data
    const end = await ended(project, triggerId)
    assert.equal(end.counts.sent, 5)
    assert.deepEqual(
      (await list('approved')).map(({ id }) => id),
      [approvalId]
    )
    const { items } = (await service.manage('GET', `/projects/${project.id}/audit`)).json
    const actions = items
      .filter(({ target }: Json) => target === approvalId)
      .map(({ action, actor }: Json) => [action, actor.split(' ')[0]])
    assert.deepEqual(actions, [
      ['approval.approve', 'token'],
      ['approval.request', 'key']
    ])
  })

  it('that is rejected ends the task with the note', async () => {
    const { agent, reject, triggers } = await given()
    const task = await agent.send(everyone)
    const rejected = await reject(approvalIn(task), { note: 'Not before Monday' })
    assert.deepEqual([rejected.status, rejected.json.state], [200, 'rejected'])
    const now = await agent.get(task.id)
    assert.equal(now.status.state, 'rejected')
    assert.match(textOf(now), /Not before Monday/)
    assert.deepEqual(await triggers(), [])
  })

  it('goes on by no message: texts, data and yeses leave it as it is', async () => {
    const { agent, project, list, triggers } = await given()
    const task = await agent.send(everyone)
    for (const content of [
      'yes',
      'go ahead',
      'What is the status?',
      'no',
      { confirm: true },
      { ...everyone, targets: [] }
    ]) {
      const now = await agent.send(content, { taskId: task.id })
      assert.deepEqual(
        [now.status.state, approvalIn(now)],
        ['auth-required', approvalIn(task)],
        JSON.stringify(content)
      )
      assert.match(textOf(now), /^This waits for an approval by a person, and no message can take its place\./)
      assert.ok(textOf(now).endsWith(textOf(task)), 'the reason and the link where to decide')
    }
    const streamed: string[] = []
    const message = agent.message('and now?', { taskId: task.id })
    await agent.stream('stream', { message }, (event) => streamed.push(toldState(event)))
    assert.deepEqual(streamed, ['auth-required'])
    const { steps } = (await service.manage('GET', `/projects/${project.id}/agent-tasks/${task.id}`)).json
    const states = new Set(steps.flatMap(({ state }: Json) => state ?? []))
    assert.deepEqual([...states], ['submitted', 'auth-required'], 'it was never working')
    assert.equal((await list('pending')).length, 1)
    assert.deepEqual(await triggers(), [])
  })

  it('is canceled with its task', async () => {
    const { agent, approve, list } = await given()
    const task = await agent.send(everyone)
    await agent.result('cancel', { id: task.id })
    assert.equal((await agent.get(task.id)).status.state, 'canceled')
    const late = await approve(approvalIn(task))
    assert.deepEqual([late.status, late.json.code], [409, 'conflict'])
    assert.equal((await list())[0]!.state, 'canceled')
  })

  it('is asked for anew where the campaign or the audience has changed; the old one is superseded', async () => {
    const { agent, project, approve, list, triggers, reaches } = await given()
    const task = await agent.send(everyone)
    await givenCampaign(service, project, { message: { title: 'Other' } })
    const changed = await approve(approvalIn(task))
    assert.deepEqual([changed.status, changed.json.code], [409, 'conflict'])
    const asked = await agent.get(task.id)
    assert.equal(asked.status.state, 'auth-required')
    assert.notEqual(approvalIn(asked), approvalIn(task))
    assert.equal(asked.status.message.metadata.campaignVersion, 2)
    assert.ok(changed.json.error.includes(approvalIn(asked)))
    const [now, old] = await list()
    assert.deepEqual([now!.state, old!.state, old!.superseded_by], ['pending', 'superseded', now!.id])
    assert.equal(now!.sample[0].title, 'Other')
    const again = await approve(approvalIn(task))
    assert.equal(again.status, 409)
    await project.call('DELETE', `/api/v1/users/${project.id}-user-1`)
    const fewer = await approve(approvalIn(asked))
    assert.deepEqual([fewer.status, fewer.json.code], [409, 'conflict'])
    assert.match(fewer.json.error, /4 instead of 5 recipients/)
    assert.deepEqual(await triggers(), [])
    const last = await agent.get(task.id)
    assert.equal((await approve(approvalIn(last))).status, 200)
    await reaches(task, 'completed')
  })

  it('that is asked for anew says the present numbers in its text, on its page and in its metadata', async () => {
    const { agent, project, key, approve, list } = await given()
    const task = await agent.send(everyone)
    for (const name of ['ana', 'bo']) await givenUser(project, name, `${name}-phone`)
    assert.equal((await approve(approvalIn(task))).status, 409)
    const grown = await agent.get(task.id)
    assert.equal(grown.status.message.metadata.recipients, 7)
    assert.match(textOf(grown), /would reach 7 users, and the policy of the key wants a person to approve more than 2/)
    assert.doesNotMatch(textOf(grown), /5 users/)
    assert.match((await list('pending'))[0]!.reason, /would reach 7 users/)
    await setPolicy(service, key, { approval_above: 50 })
    await project.call('DELETE', `/api/v1/users/${project.id}-user-1`)
    assert.equal((await approve(approvalIn(grown))).status, 409)
    const fewer = textOf(await agent.get(task.id))
    assert.match(fewer, /6 instead of 7 recipients\. The action would reach 6 users now\./)
  })

  it('is asked for anew where as many other people match, or the same people would read another text', async () => {
    const { agent, project, approve, triggers, reaches } = await given()
    const user = (n: number) => `${project.id}-user-${n}`
    for (const n of [1, 2, 3]) await put(project, user(n), { grp: 'a', name: 'Friend' })
    const segment = { all: [{ attribute: 'user.grp', operator: 'equals', value: 'a' }] }
    await givenCampaign(service, project, { message: { title: 'Hi {{ user.name }}' }, segment })
    const task = await agent.send(everyone)
    assert.deepEqual(task.status.message.metadata.recipients, 3)
    await put(project, user(1), { grp: 'b' })
    await put(project, user(4), { grp: 'a', name: 'Friend' })
    const others = await approve(approvalIn(task))
    assert.equal(others.status, 409)
    assert.match(others.json.error, /people or the texts that were shown have changed/)
    await put(project, user(4), { name: 'fool' })
    const asked = await agent.get(task.id)
    assert.equal((await approve(approvalIn(asked))).status, 409)
    assert.deepEqual(await triggers(), [])
    const last = await agent.get(task.id)
    assert.equal((await approve(approvalIn(last))).status, 200)
    await reaches(task, 'completed')
  })

  it('of a push to a device names its user, and is asked for anew where the device has another user', async () => {
    const { agent, project, list, approve } = await given({ approval_above: 0 })
    const device = `${project.id}-1`
    const task = await agent.send({ skill: 'send-push-notification', deviceId: device, title: 'Hello', body: 'You' })
    assert.equal((await list())[0]!.sample[0].project_user_id, `${project.id}-user-1`)
    await service.sql(
      `update devices set user_id = (select id from users where project_id = $1 and project_user_id = $2)
        where project_id = $1 and id = $3`,
      [project.id, `${project.id}-user-2`, device]
    )
    const moved = await approve(approvalIn(task))
    assert.equal(moved.status, 409, moved.text)
    assert.equal((await list('pending'))[0]!.sample[0].project_user_id, `${project.id}-user-2`)
    assert.equal(sender.to(device).length, 0)
  })

  it('of ten people who decide at once one wins, the others get 409, and there is one trigger', async () => {
    const { agent, approve, reject, triggers, list } = await given()
    const node = await service.another()
    const task = await agent.send(everyone)
    const id = approvalIn(task)
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 3 === 2 ? reject(id, { note: 'no' }) : approve(id)))
    )
    const statuses = replies.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, ...Array(9).fill(409)])
    const [decided] = await list()
    await eventually(async () => {
      const now = await agent.get(task.id)
      assert.equal(now.status.state, decided!.state === 'approved' ? 'completed' : 'rejected')
    })
    assert.equal((await triggers()).length, decided!.state === 'approved' ? 1 : 0)
    await node.close()
  })

  it('expires after 24 hours: the task has failed', async () => {
    const { agent, approve, list, project } = await given()
    const task = await agent.send(everyone)
    await service.sql(`update approvals set expires_at = now() - interval '1 second' where project_id = $1`, [
      project.id
    ])
    const late = await approve(approvalIn(task))
    assert.equal(late.status, 409)
    assert.match(late.json.error, /has expired/)
    await service.hurry('oversight.approvals')
    await eventually(async () => assert.equal((await list())[0]!.state, 'expired'))
    const now = await agent.get(task.id)
    assert.equal(now.status.state, 'failed')
    assert.match(textOf(now), /no decision came within 24 hours/)
    assert.equal((await approve(approvalIn(task))).status, 409)
  })

  it('by a key that was revoked is rejected; by one that may no longer do it, it waits', async () => {
    const { agent, key, project, approve, triggers } = await given()
    const task = await agent.send(everyone)
    await setPolicy(service, key, { approval_above: 2, max_recipients: 3 })
    const refused = await approve(approvalIn(task))
    assert.equal(refused.status, 409)
    assert.match(refused.json.error, /still waits\. .*may reach 3 at once/)
    assert.equal((await agent.get(task.id)).status.state, 'auth-required')
    await service.manage('DELETE', `/projects/${project.id}/keys/${key.keyId}`)
    const gone = await approve(approvalIn(task))
    assert.equal(gone.status, 409)
    const shown = await service.manage('POST', `/projects/${project.id}/a2a`, {
      json: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: task.id } },
      headers: { 'a2a-version': '1.0' }
    })
    assert.match(shown.text, /rejected/)
    assert.deepEqual(await triggers(), [])
  })

  it('while the project is paused is carried out, and what was accepted waits', async () => {
    const { agent, project, approve, reaches, triggers } = await given()
    const task = await agent.send(everyone)
    await service.manage('POST', `/projects/${project.id}:pause`)
    assert.equal((await approve(approvalIn(task))).status, 200)
    await reaches(task, 'completed')
    assert.equal((await triggers())[0]!.counts.sent, 0)
    await service.manage('POST', `/projects/${project.id}:resume`)
    await ended(project, (await triggers())[0]!.trigger_id)
  })

  it('limits what is sent to what was shown, where the audience grows after it', async () => {
    const { agent, project, approve, reaches, triggers } = await given({ approval_above: 2 }, 40)
    const task = await agent.send(everyone)
    await service.manage('POST', `/projects/${project.id}:pause`)
    assert.equal((await approve(approvalIn(task))).status, 200)
    await reaches(task, 'completed')
    const [row] = await service.sql('select most_recipients from triggers where project_id = $1', [project.id])
    assert.equal(row!.most_recipients, 42, 'five percent more than the 40 that were shown')
    assert.equal((await triggers()).length, 1)
  })

  it('of a single push shows its text', async () => {
    const { agent, project, list, approve, reaches } = await given({ approval_above: 0 })
    const push = { skill: 'send-push-notification', projectUserId: `${project.id}-user-1`, title: 'Hello', body: 'You' }
    const task = await agent.send(push)
    assert.equal(task.status.state, 'auth-required')
    assert.deepEqual(task.status.message.metadata, { approvalId: approvalIn(task), recipients: 1, devices: 1 })
    const [asked] = await list()
    assert.deepEqual(asked!.sample, [{ project_user_id: `${project.id}-user-1`, title: 'Hello', body: 'You' }])
    assert.equal(sender.to(`${project.id}-1`).length, 0)
    assert.equal((await approve(approvalIn(task))).status, 200)
    await reaches(task, 'completed')
    assert.equal(sender.to(`${project.id}-1`).length, 1)
  })

  it('is asked for once by a repeated message, and by a stream and a blocking call alike', async () => {
    const { agent, list } = await given()
    const more = { messageId: 'same' }
    const [one, two] = [await agent.send(everyone, more), await agent.send(everyone, more)]
    assert.deepEqual(two, one)
    const later = await agent.send(everyone, {}, { returnImmediately: true })
    assert.equal(later.status.state, 'auth-required')
    assert.equal((await list('pending')).length, 2)
  })

  it('tells a stream of the task', async () => {
    const { agent, approve } = await given()
    const task = await agent.send(everyone)
    const states: string[] = []
    const told = Promise.withResolvers<void>()
    const stream = agent.stream('subscribe', { id: task.id }, (event, stop) => {
      states.push(toldState(event))
      if (states.length === 1) void approve(approvalIn(task))
      if (states.at(-1) !== 'completed') return
      stop()
      told.resolve()
    })
    await Promise.race([told.promise, stream, sleep(10_000, undefined, { ref: false })])
    assert.deepEqual(states, ['auth-required', 'completed'], 'this dialect shows the first and the final state only')
  })

  it('is decided by editors and admins of its own project, never by a key', async () => {
    const [mine, other] = [await given(), await given()]
    const task = await mine.agent.send(everyone)
    const path = `${mine.path}/${approvalIn(task)}`
    const viewer = (await service.manage('POST', '/tokens', { json: { name: 'v', role: 'viewer' } })).json.token
    const by = (token: string, method = 'POST', verb = ':approve') =>
      service.manage(method, `${path}${verb}`, { headers: { authorization: `Bearer ${token}` } })
    assert.equal((await by(viewer)).status, 403)
    assert.equal((await by(viewer, 'GET', '')).status, 200)
    assert.equal((await by(mine.key.secretKey)).status, 401)
    const elsewhere = await service.manage('POST', `${other.path}/${approvalIn(task)}:approve`)
    assert.equal(elsewhere.status, 404)
    assert.deepEqual(await other.list(), [])
    const note = 'x'.repeat(2_001)
    assert.equal((await mine.approve(approvalIn(task), { note })).status, 400)
    assert.equal((await mine.approve('none')).status, 404)
    assert.equal((await service.manage('GET', `${mine.path}?state=maybe`)).status, 400)
  })

  it('of a task that is gone gets 409', async () => {
    const { agent, approve, project } = await given()
    const task = await agent.send(everyone)
    // As an erasure did before it ended such approvals.
    await service.sql('delete from a2a_tasks where project_id = $1', [project.id])
    const late = await approve(approvalIn(task))
    assert.deepEqual([late.status, late.json.code], [409, 'conflict'], late.text)
  })

  it('lists are paged, newest first', async () => {
    const { agent, path } = await given()
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.unshift(approvalIn(await agent.send(everyone)))
    const first = (await service.manage('GET', `${path}?limit=2`)).json
    const second = (await service.manage('GET', `${path}?limit=2&cursor=${first.next_cursor}`)).json
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }: Json) => id),
      ids
    )
    assert.equal(second.next_cursor, null)
  })

  it('is gone with its project', async () => {
    const { agent, project } = await given()
    await agent.send(everyone)
    await service.manage('DELETE', `/projects/${project.id}`)
    await eventually(async () => {
      const rows = await service.sql('select id from approvals where project_id = $1', [project.id])
      assert.deepEqual(rows, [])
    })
  })
})
