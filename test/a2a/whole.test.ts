import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'
import { agentOf, names, toldState } from './agent.ts'

// This test replaces nothing: grammar, delivery, campaigns and webhooks are the real ones.
const service = await startService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
const textOf = (task: Json) => task.status.message.parts[0].text

async function shop() {
  const project = await service.project({ mode: 'simulator' })
  const own = `/projects/${project.id}`
  const device = { platform: 'IOS', project_user_id: 'ana', device_id: 'ana-phone' }
  assert.equal((await service.manage('POST', `${own}/simulator/devices`, { json: device })).status, 201)
  const campaign = {
    campaign_id: 'welcome',
    name: 'Welcome',
    type: 'api_triggered',
    status: 'active',
    message: { title: 'Hi {{ user.id }}' }
  }
  const made = await service.manage('POST', `${own}/campaigns`, { json: campaign })
  assert.ok(made.status < 300, made.text)
  const inbox = async () => (await service.manage('GET', `${own}/simulator/inbox`)).json.items as Json[]
  return { project, inbox }
}

describe('the limit of the plan', () => {
  it('counts what agents trigger with what calls do: 429, nothing of it is kept, and it can be sent again', async () => {
    const { project } = await shop()
    await service.manage('PATCH', `/projects/${project.id}`, { json: { limits: { triggers_per_second: 1 } } })
    const agent = agentOf(service, project, 'plain')
    const request = { skill: 'trigger-campaign', campaignId: 'welcome', targets: [{ projectUserId: 'ana' }] }
    const asked = Array.from({ length: 3 }, () => agent.message(request))
    const [calls, sent, streamed] = await Promise.all([
      Promise.all([1, 2].map(() => project.call('POST', '/api/v1/campaigns/welcome:trigger', { json: {} }))),
      Promise.all(asked.map((message) => agent.call('send', { message }))),
      agent.call('stream', { message: agent.message(request) })
    ])
    const refused = [...sent, streamed].filter(({ status }) => status === 429)
    const accepted = [...calls, ...sent, streamed].filter(({ status }) => status === 200)
    assert.ok(accepted.length < 6, 'calls and agents share one limit')
    assert.ok(refused.length >= 1, sent.map(({ status }) => status).join())
    assert.equal(refused[0]!.text, '{"error":"Too Many Requests"}')
    assert.ok(Number(refused[0]!.headers['retry-after']) >= 1)
    assert.equal(refused[0]!.headers['x-ratelimit-limit'], '1')
    const { totalSize } = await agent.result('list', {})
    assert.equal(totalSize, 4 - refused.length, 'a refused message makes no task')
    const user = await agent.send({ skill: 'create-user', projectUserId: 'bo' })
    assert.equal(user.status.state, 'completed', 'other skills have the limit of requests only')
    const index = sent.findIndex(({ status }) => status === 429)
    const again = asked[index === -1 ? 0 : index]!
    await eventually(async () => {
      const reply = await agent.call('send', { message: again })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.json.result.task.status.state, 'completed')
    })
  })
})

for (const name of names) {
  describe(`a ${name} agent of a whole service`, () => {
    it('has a push arrive and a campaign triggered', async () => {
      const { project, inbox } = await shop()
      const agent = agentOf(service, project, name)
      const push = await agent.send({ skill: 'send-push-notification', projectUserId: 'ana', title: 'Hello' })
      assert.equal(push.status.state, agent.state('completed'))
      const { totalSent, results } = push.artifacts[0].parts[0].data
      assert.deepEqual([totalSent, results[0].status], [1, 'DELIVERY_RESULT_STATUS_SUCCEED'])
      await eventually(async () => {
        const arrived = (await inbox()).map(({ message_id, title }) => [message_id, title])
        assert.deepEqual(arrived, [[results[0].messageId, 'Hello']])
      })
      const triggered = await agent.send({
        skill: 'trigger-campaign',
        campaignId: 'welcome',
        targets: [{ projectUserId: 'ana' }]
      })
      assert.equal(triggered.status.state, agent.state('completed'), JSON.stringify(triggered.status))
      assert.match(triggered.artifacts[0].parts[0].data.triggerId, /^[0-9a-f-]{36}$/)
      await eventually(async () =>
        assert.deepEqual((await inbox()).map(({ title }) => title).sort(), ['Hello', 'Hi ana'])
      )
      const unknown = await agent.send({ skill: 'trigger-campaign', campaignId: 'none' })
      assert.equal(unknown.status.state, agent.state('rejected'))
      const nobody = await agent.send({ skill: 'send-push-notification', projectUserId: 'nobody', title: 'x' })
      assert.equal(nobody.status.state, agent.state('failed'))
      assert.match(textOf(nobody), /^\[USER_NOT_FOUND\]/)
      const bad = await agent.send({
        skill: 'send-push-notification',
        projectUserId: 'ana',
        title: 'x',
        imageUrl: 'no'
      })
      assert.equal(bad.status.state, agent.state('rejected'))
      assert.match(textOf(bad), /imageUrl/)
    })

    it('is asked for a gateway in a live project, and goes on when there is one', async () => {
      const project = await service.project()
      const agent = agentOf(service, project, name)
      await project.call('POST', '/api/v1/devices', {
        json: { devices: [{ id: 'p', platform: 'IOS', push_token: 'ab'.repeat(32), push_token_type: 'APNS' }] }
      })
      const task = await agent.send({ skill: 'send-push-notification', deviceId: 'p', title: 'x' })
      assert.equal(task.status.state, agent.state('auth-required'), JSON.stringify(task.status))
      assert.match(textOf(task), /^\[CREDENTIALS_MISSING\]/)
      const still = await agent.send('done', { taskId: task.id })
      assert.equal(still.status.state, agent.state('auth-required'))
      const unwanted = await agent.send({ skill: 'send-push-notification', deviceId: 'p', title: 'x' })
      const no = await agent.send('do not send it', { taskId: unwanted.id })
      assert.equal(no.status.state, agent.state('canceled'))
      assert.equal(
        (await service.manage('PATCH', `/projects/${project.id}`, { json: { mode: 'simulator' } })).status,
        200
      )
      for (const text of ['What is the status?', 'hold on', 'I think we should wait a bit']) {
        const waits = await agent.send(text, { taskId: task.id })
        assert.equal(waits.status.state, agent.state('auth-required'), text)
        assert.match(textOf(waits), /Say "retry"/)
      }
      await eventually(async () => {
        const again = await agent.send('retry', { taskId: task.id })
        assert.notEqual(again.status.state, agent.state('auth-required'))
      })
    })

    it('may write as people do: it is done, asked about, or confirmed', async () => {
      const { project } = await shop()
      const agent = agentOf(service, project, name)
      const made = await agent.send('Create user bo with plan=premium and age=31')
      assert.equal(made.status.state, agent.state('completed'), JSON.stringify(made.status))
      assert.equal(made.artifacts[0].parts[0].data.projectUserId, 'bo')
      assert.match(textOf(made), /Create or update the user "bo" with plan "premium", age 31/)
      assert.deepEqual((await service.manage('GET', `/projects/${project.id}/users/bo`)).json.properties, {
        plan: 'premium',
        age: 31
      })
      const asked = await agent.send('Create a user')
      assert.equal(asked.status.state, agent.state('input-required'))
      const done = await agent.send('user cleo', { taskId: asked.id })
      assert.equal(done.artifacts[0].parts[0].data.projectUserId, 'cleo')
      const half = await agent.send({ skill: 'create-user' })
      assert.equal(
        (await agent.send('user dora', { taskId: half.id })).artifacts[0].parts[0].data.projectUserId,
        'dora'
      )
      const all = await agent.send('Trigger campaign welcome for all users')
      assert.equal(all.status.state, agent.state('input-required'))
      const unsure = await agent.send({}, { taskId: all.id })
      assert.equal(unsure.status.state, agent.state('input-required'), 'an empty answer is no yes')
      const yes = await agent.send('yes', { taskId: all.id })
      assert.equal(yes.status.state, agent.state('completed'), JSON.stringify(yes.status))
      const declined = await agent.send('no', {
        taskId: (await agent.send('Trigger campaign welcome for all users')).id
      })
      assert.equal(declined.status.state, agent.state('canceled'))
      const not = await agent.send('Do not create user eve')
      assert.equal(not.status.state, agent.state('canceled'))
      assert.equal((await service.manage('GET', `/projects/${project.id}/users/eve`)).status, 404)
    })

    it('is called back in order, signed', async (t) => {
      const heard: Json[] = []
      const server = createServer((request, response) => {
        let body = ''
        request.on('data', (chunk) => {
          body += chunk
        })
        request.on('end', () => {
          heard.push({ headers: request.headers, body: JSON.parse(body) })
          response.end()
        })
      }).listen(0, '127.0.0.1')
      t.after(() => server.close())
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as { port: number }
      const config = { url: `http://127.0.0.1:${port}/`, token: 'tok' }
      const agent = agentOf(service, await service.project(), name)
      const wish = name === 'legacy' ? { pushNotificationConfig: config } : { taskPushNotificationConfig: config }
      const task = await agent.send({ skill: 'create-user' }, {}, wish)
      await agent.send({ projectUserId: 'w' }, { taskId: task.id })
      await eventually(() => assert.equal(heard.length, 4))
      const bodies = heard.map(({ body }) => (name === 'plain' ? body.params.result : body))
      assert.deepEqual(bodies.map(toldState), ['submitted', 'input-required', 'working', 'completed'])
      for (const { headers } of heard) {
        assert.deepEqual([headers['x-a2a-token'], headers['x-a2a-notification-token']], ['tok', 'tok'])
        assert.match(headers['webhook-signature'], /^v1,/)
        assert.equal(headers['content-type'], name === 'official' ? 'application/a2a+json' : 'application/json')
      }
    })
  })
}

describe('webhooks of one task', () => {
  it('do not wait for each other, and one that was removed or moved is called no more', async (t) => {
    const heard: Json[] = []
    const hear = (path: string) => heard.filter((call) => call.path === path).map((call) => toldState(call.event))
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        heard.push({ path: request.url, event: JSON.parse(body).params.result })
        response.statusCode = request.url === '/broken' ? 500 : 200
        response.end()
      })
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const url = (path: string) => `http://127.0.0.1:${port}${path}`
    const project = await service.project()
    const agent = agentOf(service, project, 'plain')
    const { id: taskId } = await agent.send({ skill: 'create-user' })
    for (const [id, path] of [
      ['gone', '/broken'],
      ['moved', '/broken'],
      ['well', '/well']
    ])
      await agent.result('createConfig', { taskId, id, url: url(path!) })
    await agent.send({ projectUserId: 'w' }, { taskId })
    await eventually(() => assert.deepEqual(hear('/well'), ['working', 'completed']))
    await eventually(() => assert.ok(hear('/broken').length >= 2))
    await agent.result('createConfig', { taskId, id: 'moved', url: url('/new') })
    await agent.result('deleteConfig', { taskId, id: 'gone' })
    await eventually(() => assert.deepEqual(hear('/new'), ['completed']))
    const waiting = "select url from webhook_calls where project_id = $1 and state = 'pending'"
    await eventually(async () => assert.deepEqual(await service.sql(waiting, [project.id]), []))
  })
})
