import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import { put } from '../support/devices.ts'
import { eventually, startService } from '../support/service.ts'
import { agentOf, doubles, names } from './agent.ts'

const service = await startService({}, { agents: { messages: doubles.messages, triggers: doubles.triggers } })
const project = await service.project()
await givenCampaign(service, project, { campaign_id: 'welcome' })
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

for (const name of names) {
  const agent = agentOf(service, project, name)
  const { state } = agent

  describe(`a ${name} agent`, () => {
    it('creates a user and finds the task again', async () => {
      const task = await agent.send({ skill: 'create-user', projectUserId: `ana-${name}`, properties: { plan: 'pro' } })
      assert.equal(task.status.state, state('completed'))
      assert.match(task.status.timestamp, timestamp)
      const [artifact] = task.artifacts
      assert.equal(artifact.name, 'user-result')
      const { userId, projectUserId } = artifact.parts[0].data
      assert.equal(projectUserId, `ana-${name}`)
      const stored = await service.manage('GET', `/projects/${project.id}/users/ana-${name}`)
      assert.deepEqual([stored.json.user_id ?? stored.json.id, stored.json.properties], [userId, { plan: 'pro' }])
      assert.deepEqual(await agent.get(task.id), task)
      assert.equal(task.kind, name === 'legacy' ? 'task' : undefined)
      assert.equal(artifact.parts[0].kind, name === 'legacy' ? 'data' : undefined)
    })

    it('does the other three skills', async () => {
      await put(project, { id: `phone-${name}`, platform: 'IOS' })
      const tracked = await agent.send({
        skill: 'track-event',
        eventName: 'buy',
        deviceId: `phone-${name}`,
        properties: { amount: 5 }
      })
      assert.equal(tracked.status.state, state('completed'))
      assert.deepEqual(
        [tracked.artifacts[0].name, tracked.artifacts[0].parts[0].data],
        ['event-result', { trackedEvents: 1, eventName: 'buy' }]
      )
      const sent = await agent.send({
        skill: 'send-push-notification',
        projectUserId: 'ana',
        title: 'Hi',
        imageUrl: 'https://a/b'
      })
      assert.equal(sent.artifacts[0].name, 'delivery-results')
      const { totalSent, results } = sent.artifacts[0].parts[0].data
      assert.deepEqual([totalSent, results.length, results[0].status], [1, 1, 'DELIVERY_RESULT_STATUS_SUCCEED'])
      const { target, notification } = doubles.sent.at(-1)
      assert.deepEqual(target, { projectUserId: 'ana' })
      assert.deepEqual(notification, { title: 'Hi', imageUrl: 'https://a/b' })
      const triggered = await agent.send({
        skill: 'trigger-campaign',
        campaignId: 'welcome',
        targets: [{ projectUserId: 'a' }, { deviceId: 'b' }, { userId: 'c' }],
        properties: { x: 1 }
      })
      assert.equal(triggered.artifacts[0].name, 'trigger-result')
      assert.match(triggered.artifacts[0].parts[0].data.triggerId, /^[0-9a-f-]{36}$/)
      assert.deepEqual(doubles.triggered.at(-1), {
        audience: {
          targets: [
            ['project_user_id', 'a'],
            ['device_id', 'b'],
            ['user_id', 'c']
          ]
        },
        properties: { x: 1 }
      })
      for (const targets of [[], 'junk', null, {}, [5]]) {
        const everyone = { skill: 'trigger-campaign', campaignId: 'welcome', broadcast: true, targets }
        assert.equal((await agent.send(everyone)).status.state, agent.state('completed'), JSON.stringify(targets))
        assert.deepEqual(doubles.triggered.at(-1), { audience: { broadcast: true }, properties: {} })
      }
      const half = await agent.send({ skill: 'trigger-campaign', broadcast: true, targets: [null] })
      const named = await agent.send('welcome', { taskId: half.id })
      assert.match(named.status.message.parts[0].text, /everyone/)
      assert.equal((await agent.send('yes', { taskId: half.id })).status.state, agent.state('completed'))
      assert.deepEqual(doubles.triggered.at(-1), { audience: { broadcast: true }, properties: {} })
      const some = { skill: 'trigger-campaign', campaignId: 'welcome', broadcast: false, targets: 'junk' }
      assert.equal((await agent.send(some)).status.state, agent.state('rejected'))
      await agent.send({ skill: 'trigger-campaign', campaignId: 'welcome' })
      assert.deepEqual(doubles.triggered.at(-1), { audience: null, properties: {} })
    })

    it('tracks events of users too', async () => {
      const user = await agent.send({ skill: 'create-user', projectUserId: `eve-${name}` })
      const { userId } = user.artifacts[0].parts[0].data
      for (const who of [{ projectUserId: `eve-${name}` }, { userId }])
        assert.equal(
          (await agent.send({ skill: 'track-event', eventName: 'seen', ...who })).status.state,
          state('completed')
        )
      const events = await service.sql('select device_id, name from events where project_id = $1 and user_id = $2', [
        project.id,
        userId
      ])
      assert.deepEqual(events, [
        { device_id: null, name: 'seen' },
        { device_id: null, name: 'seen' }
      ])
      const unknown = await agent.send({ skill: 'track-event', eventName: 'seen', projectUserId: randomUUID() })
      assert.equal(unknown.status.state, state('rejected'))
    })

    it('is asked for a missing field, and goes on with it', async () => {
      const asked = await agent.send({ skill: 'create-user', properties: { a: 1 } })
      assert.equal(asked.status.state, state('input-required'))
      assert.match(asked.status.message.parts[0].text, /projectUserId/)
      assert.equal(asked.status.message.role, name === 'official' ? 'ROLE_AGENT' : 'agent')
      const done = await agent.send({ projectUserId: `late-${name}` }, { taskId: asked.id })
      assert.deepEqual([done.id, done.contextId, done.status.state], [asked.id, asked.contextId, state('completed')])
      assert.equal(done.history.length, 3, 'both messages and the question')
      const stored = await service.manage('GET', `/projects/${project.id}/users/late-${name}`)
      assert.deepEqual(stored.json.properties, { a: 1 })
    })

    it('is asked for the skill, and for data where there is only text', async () => {
      const asked = await agent.send({ projectUserId: `who-${name}` })
      assert.match(
        asked.status.message.parts[0].text,
        /skill, one of send-push-notification, trigger-campaign, create-user, track-event/
      )
      const done = await agent.send({ skill: 'create-user' }, { taskId: asked.id })
      assert.equal(done.status.state, state('completed'))
      const text = await agent.send('qwertz uiop')
      assert.equal(text.status.state, state('input-required'))
    })

    it('has a wrong type rejected, and what the domain refuses', async () => {
      for (const [wrong, words] of [
        [{ skill: 'create-user', projectUserId: 5 }, /projectUserId: must be a string/],
        [{ skill: 'create-user', projectUserId: '' }, /projectUserId: must not be empty/],
        [
          { skill: 'create-user', projectUserId: 5, properties: { a: {}, b: [] } },
          /^projectUserId: must be a string; properties\.a: must be a string, a number, a boolean or null\.$/
        ],
        [{ skill: 'create-user', projectUserId: 'a', properties: { a: [] } }, /properties/],
        [{ skill: 'track-event', eventName: 'a', deviceId: 'unknown' }, /deviceId: no device/],
        [{ skill: 'send-push-notification', deviceId: 'a', userId: 'b', title: 'c' }, /only one of/],
        [
          { skill: 'send-push-notification', deviceId: 'a', title: 'c', imageUrl: 'ftp://x' },
          /^imageUrl: must begin with http:\/\/ or https:\/\/\.$/
        ],
        [{ skill: 'trigger-campaign', campaignId: 'other' }, /Failed to send/]
      ] as const) {
        const task = await agent.send(wrong)
        assert.equal(task.status.state, state('rejected'), JSON.stringify(wrong))
        assert.match(task.status.message.parts[0].text, words)
      }
    })

    it('hears of a push that failed, and is asked to set up a gateway that is missing', async () => {
      const failed = await agent.send({ skill: 'send-push-notification', projectUserId: 'nobody', title: 'a' })
      assert.equal(failed.status.state, state('failed'))
      assert.match(failed.status.message.parts[0].text, /^\[USER_NOT_FOUND\]/)
      assert.equal(failed.artifacts[0].parts[0].data.totalSent, 0)
      const live = await agent.send({ skill: 'send-push-notification', projectUserId: 'live', title: 'a' })
      assert.equal(live.status.state, state('auth-required'))
      const again = await agent.send('I have set it up', { taskId: live.id })
      assert.equal(again.status.state, state('auth-required'))
      const other = await agent.send({ projectUserId: 'ana' }, { taskId: live.id })
      assert.equal(other.status.state, state('completed'))
      assert.equal(
        (await agent.send({ skill: 'send-push-notification', projectUserId: 'crash', title: 'a' })).status.state,
        state('failed')
      )
    })

    it('gets its own and generated contexts back, and may not mix them', async () => {
      const own = await agent.send({ skill: 'create-user' }, { contextId: `talk-${name}` })
      assert.equal(own.contextId, `talk-${name}`)
      const mixed = await agent.error('send', {
        message: agent.message({ projectUserId: 'a' }, { taskId: own.id, contextId: 'another' })
      })
      assert.equal(mixed.code, -32602)
      const made = await agent.send({ skill: 'create-user' })
      assert.match(made.contextId, /^[0-9a-f-]{36}$/)
      assert.notEqual(made.id, own.id)
      const long = await agent.error('send', {
        message: agent.message({ skill: 'create-user' }, { contextId: 'x'.repeat(129) })
      })
      assert.equal(long.code, -32602)
    })

    it('is refused what cannot be done, by code', async () => {
      const done = await agent.send({ skill: 'create-user', projectUserId: 'a' })
      const unknown = randomUUID()
      const say = (content: object, more = {}) => ({ message: agent.message(content, more) })
      const skillCode = name === 'plain' ? -32007 : -32602
      const cases: [Parameters<typeof agent.error>[0], object, number, string][] = [
        ['send', say({ skill: 'no-such' }), skillCode, 'SKILL_NOT_FOUND'],
        ['send', say({ projectUserId: 'b' }, { taskId: done.id }), -32004, 'UNSUPPORTED_OPERATION'],
        ['send', say({ skill: 'create-user' }, { taskId: unknown }), -32001, 'TASK_NOT_FOUND'],
        ['send', say({ skill: 'create-user' }, { taskId: 'not-a-uuid' }), -32001, 'TASK_NOT_FOUND'],
        ['send', say({ skill: 'create-user' }, { messageId: undefined }), -32602, 'INVALID_PARAMS'],
        ['send', say({ skill: 'create-user' }, { parts: [] }), -32602, 'INVALID_PARAMS'],
        ['send', say({}, { parts: [{ url: 'https://a/b' }] }), -32005, 'CONTENT_TYPE_NOT_SUPPORTED'],
        ['send', say({}, { parts: [{ raw: 'AAAA' }] }), -32005, 'CONTENT_TYPE_NOT_SUPPORTED'],
        [
          'send',
          say({}, { parts: [{ data: { skill: 'create-user' } }, { data: { skill: 'create-user' } }] }),
          -32602,
          'INVALID_PARAMS'
        ],
        ['get', { id: unknown }, -32001, 'TASK_NOT_FOUND'],
        ['get', {}, -32602, 'INVALID_PARAMS'],
        ['get', { id: done.id, historyLength: -1 }, -32602, 'INVALID_PARAMS'],
        ['cancel', { id: done.id }, -32002, 'TASK_NOT_CANCELABLE'],
        ['cancel', { id: unknown }, -32001, 'TASK_NOT_FOUND'],
        ['subscribe', { id: unknown }, -32001, 'TASK_NOT_FOUND'],
        ['list', { status: 'nonsense' }, -32602, 'INVALID_PARAMS']
      ]
      for (const [method, params, code, reason] of cases) {
        const error = await agent.error(method, params)
        assert.deepEqual([error.code, error.data[0].reason], [code, reason], `${method} ${JSON.stringify(params)}`)
        assert.deepEqual(Object.keys(error).sort(), ['code', 'data', 'message'])
        assert.equal(error.data[0]['@type'], 'type.googleapis.com/google.rpc.ErrorInfo')
      }
      assert.equal((await agent.error('send', say({ skill: 'no-such' }))).code, skillCode)
    })

    it('sees as much history as it wants, the latest', async () => {
      const asked = await agent.send({ skill: 'create-user' })
      const task = await agent.send({ projectUserId: 'h' }, { taskId: asked.id })
      const all = await agent.get(task.id)
      assert.deepEqual(
        all.history.map(({ role }: { role: string }) => role.replace('ROLE_', '').toLowerCase()),
        ['user', 'agent', 'user']
      )
      assert.deepEqual((await agent.get(task.id, { historyLength: 2 })).history, all.history.slice(1))
      assert.equal('history' in (await agent.get(task.id, { historyLength: 0 })), false)
      assert.equal(
        'history' in (await agent.send({ skill: 'create-user', projectUserId: 'h' }, {}, { historyLength: 0 })),
        false
      )
      assert.equal(all.history[0].taskId, task.id)
    })

    it('need not wait: a worker does it', async () => {
      const immediately = name === 'legacy' ? { blocking: false } : { returnImmediately: true }
      const task = await agent.send({ skill: 'create-user', projectUserId: `later-${name}` }, {}, immediately)
      assert.equal(task.status.state, state('submitted'))
      const done = await eventually(async () => {
        const now = await agent.get(task.id)
        assert.equal(now.status.state, state('completed'))
        return now
      })
      assert.equal(done.artifacts[0].name, 'user-result')
    })

    it('cancels what waits, and what runs', async () => {
      const waiting = await agent.send({ skill: 'create-user' })
      assert.equal((await agent.result('cancel', { id: waiting.id })).status.state, state('canceled'))
      if (name === 'official')
        assert.equal((await agent.result('cancel', { id: waiting.id })).status.state, state('canceled'))
      else assert.equal((await agent.error('cancel', { id: waiting.id })).code, -32002)
      const contextId = randomUUID()
      const running = agent.send({ skill: 'send-push-notification', projectUserId: 'slow', title: 'a' }, { contextId })
      const found = await eventually(async () => {
        const listed = await agent.result('list', { contextId })
        const [first] = name === 'legacy' ? listed : listed.tasks
        assert.equal(first.status.state, state('working'))
        return first
      })
      const canceled = await agent.result('cancel', { id: found.id })
      assert.equal(canceled.status.state, state('canceled'))
      assert.equal((await running).status.state, state('canceled'), 'the waiting call returns at once')
    })
  })
}
