import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { OutgoingCall } from '../../src/a2a/a2a.ts'
import type { Json } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'
import { agentOf, doubles, names, toldState } from './agent.ts'

// Stands in for the webhook sender, which stores calls in the same transaction and makes them afterwards.
const queued: OutgoingCall[] = []
let away = false
const service = await startService(
  {},
  {
    agents: {
      messages: doubles.messages,
      enqueue: async (_tx, _projectId, call) => {
        if (away) throw new Error('the queue is away')
        queued.push(call)
      },
      refuseAddress: async (url) =>
        url.startsWith('https://') ? null : 'must be https; WEBHOOK_ALLOW_PRIVATE allows others'
    }
  }
)
const project = await service.project()
const callsTo = (url: string) => queued.filter((call) => call.url === url)
const freshUrl = () => `https://example.com/${randomUUID()}`

for (const name of names) {
  const agent = agentOf(service, project, name)
  const params = (taskId: string, config: Json) =>
    name === 'legacy'
      ? {
          taskId,
          pushNotificationConfig: {
            ...config,
            ...(config.authentication && {
              authentication: {
                schemes: [config.authentication.scheme],
                credentials: config.authentication.credentials
              }
            })
          }
        }
      : { taskId, ...config }
  const shown = (result: Json) => (name === 'legacy' ? result.pushNotificationConfig : result)
  const ref = (taskId: string, id: string) =>
    name === 'legacy' ? { id: taskId, pushNotificationConfigId: id } : { taskId, id }
  const inline = (url: string) =>
    name === 'legacy'
      ? { pushNotificationConfig: { url, token: 't' } }
      : { taskPushNotificationConfig: { url, token: 't' } }

  describe(`webhooks of a ${name} agent`, () => {
    it('are made, read, listed and removed, and removing twice is fine', async () => {
      const task = await agent.send({ skill: 'create-user' })
      const url = freshUrl()
      const authentication = { scheme: 'Bearer', credentials: 'secret' }
      const made = await agent.result('createConfig', params(task.id, { url, token: 'tok', authentication }))
      assert.equal(made.taskId, task.id)
      const { id } = shown(made)
      assert.ok(id)
      assert.equal(shown(made).url, url)
      assert.equal(shown(await agent.result('getConfig', ref(task.id, id))).url, url)
      const own = await agent.result('createConfig', params(task.id, { id: 'mine', url }))
      assert.equal(shown(own).id, 'mine')
      await agent.result('createConfig', params(task.id, { id: 'mine', url: `${url}/2` }))
      const listed = await agent.result('listConfigs', name === 'legacy' ? { id: task.id } : { taskId: task.id })
      const all = name === 'legacy' ? listed : listed.configs
      assert.deepEqual(
        all.map((one: Json) => shown(one).url),
        [url, `${url}/2`]
      )
      assert.deepEqual(await agent.result('deleteConfig', ref(task.id, id)), name === 'legacy' ? null : {})
      await agent.result('deleteConfig', ref(task.id, id))
      assert.equal((await agent.error('getConfig', ref(task.id, id))).code, -32001)
      const stored = await service.sql('select secrets from a2a_push_configs where task_id = $1', [task.id])
      assert.doesNotMatch(JSON.stringify(stored), /secret"|tok/)
    })

    it('hear of every state, in order, in the body and with the headers of their spelling', async () => {
      const url = freshUrl()
      const task = await agent.send({ skill: 'create-user' }, {}, inline(url))
      await agent.send({ projectUserId: 'w' }, { taskId: task.id })
      const calls = callsTo(url)
      const bodies = calls.map(({ body }) => JSON.parse(body))
      const events = bodies.map((body) => (name === 'plain' ? body.params.result : body))
      assert.deepEqual(events.map(toldState), ['submitted', 'input-required', 'working', 'completed'])
      for (const call of calls) {
        assert.deepEqual(call.source, { kind: 'task', id: task.id })
        assert.equal(call.order, calls[0]!.order)
        assert.equal(call.headers['content-type'], name === 'official' ? 'application/a2a+json' : 'application/json')
        assert.deepEqual([call.headers['x-a2a-token'], call.headers['x-a2a-notification-token']], ['t', 't'])
      }
      assert.equal(new Set(calls.map(({ id }) => id)).size, 4)
      if (name === 'plain') {
        // Contract, section 6: the webhook gets a JSON-RPC request, whose id is that of the call.
        assert.deepEqual(Object.keys(bodies[0]), ['jsonrpc', 'id', 'method', 'params'])
        assert.deepEqual(
          bodies.map(({ id }) => id),
          calls.map(({ id }) => id)
        )
        assert.deepEqual([bodies[0].method, Object.keys(bodies[0].params)], ['tasks/pushNotification', ['result']])
        assert.ok(events[3].statusUpdate.status.timestamp)
      }
      if (name === 'official') assert.deepEqual(Object.keys(bodies[3]), ['statusUpdate'])
      if (name === 'legacy')
        assert.deepEqual([bodies[3].kind, bodies[0].artifacts.length, bodies[3].artifacts.length], ['task', 0, 1])
    })

    it('are read without their secrets, and a config that is sent back as it was read keeps them', async () => {
      const task = await agent.send({ skill: 'create-user' })
      const url = freshUrl()
      const authentication = { scheme: 'Bearer', credentials: 'sec-cred' }
      const made = await agent.result(
        'createConfig',
        params(task.id, { id: 'c', url, token: 'sec-tok', authentication })
      )
      assert.match(JSON.stringify(made), /sec-tok.*sec-cred/, 'its caller has just sent them')
      const got = await agent.result('getConfig', ref(task.id, 'c'))
      const listed = await agent.result('listConfigs', name === 'legacy' ? { id: task.id } : { taskId: task.id })
      assert.deepEqual(name === 'legacy' ? listed : listed.configs, [got])
      assert.doesNotMatch(JSON.stringify([got, listed]), /sec-/)
      assert.equal(shown(got).token, '[redacted]')
      assert.deepEqual(
        [
          shown(got).authentication.scheme ?? shown(got).authentication.schemes[0],
          shown(got).authentication.credentials
        ],
        ['Bearer', '[redacted]']
      )
      assert.deepEqual(await agent.result('createConfig', got), got, 'the response shows no secret either')
      await agent.send({ projectUserId: 'x' }, { taskId: task.id })
      const { headers } = callsTo(url).at(-1)!
      assert.deepEqual([headers.authorization, headers['x-a2a-token']], ['Bearer sec-cred', 'sec-tok'])
    })

    it('send no secret to another address than the one it was registered for', async () => {
      const task = await agent.send({ skill: 'create-user' })
      const url = freshUrl()
      await agent.result('createConfig', params(task.id, { id: 'c', url, token: 'sec-tok' }))
      const strays = [
        { id: 'c', url: freshUrl(), token: '[redacted]' },
        { id: 'other', url, token: '[redacted]' },
        { url, token: '[redacted]' },
        { id: 'c', url, authentication: { scheme: 'Bearer', credentials: '[redacted]' } }
      ]
      for (const config of strays) {
        const { code, message } = await agent.error('createConfig', params(task.id, config))
        assert.deepEqual([code, /send the secret itself/.test(message)], [-32602, true], message)
      }
      assert.equal(shown(await agent.result('getConfig', ref(task.id, 'c'))).url, url)
    })

    it('that move to another address get the present state there', async () => {
      const task = await agent.send({ skill: 'create-user' })
      const [before, after] = [freshUrl(), freshUrl()]
      await agent.result('createConfig', params(task.id, { id: 'moves', url: before }))
      await agent.result('createConfig', params(task.id, { id: 'moves', url: after }))
      const states = callsTo(after).map(({ body }) => {
        const event = JSON.parse(body)
        return toldState(name === 'plain' ? event.params.result : event)
      })
      assert.deepEqual([states, callsTo(before)], [['input-required'], []])
    })

    it('store a body of limited size for each change, however much was said', async () => {
      const url = freshUrl()
      const task = await agent.send({ skill: 'create-user' })
      await agent.result('createConfig', params(task.id, { url }))
      const metadata = { note: 'x'.repeat(500_000) }
      await agent.send({ properties: { plan: 'free' } }, { taskId: task.id, metadata })
      await agent.send({ projectUserId: 'x' }, { taskId: task.id })
      for (const { body } of callsTo(url)) assert.ok(body.length < 100_000, `${body.length} characters`)
    })

    it('present the registered scheme and credentials', async () => {
      const url = freshUrl()
      const task = await agent.send({ skill: 'create-user', projectUserId: 'x' })
      await agent.result(
        'createConfig',
        params(task.id, { url, authentication: { scheme: 'Bearer', credentials: 'abc' } })
      )
      const [call, ...more] = callsTo(url)
      assert.equal(call!.headers.authorization, 'Bearer abc')
      assert.equal(
        toldState(name === 'plain' ? JSON.parse(call!.body).params.result : JSON.parse(call!.body)),
        'completed'
      )
      assert.deepEqual(more, [], 'a task that has ended is told once')
    })

    it('with credentials but no scheme are refused, also beside a message', async () => {
      const task = await agent.send({ skill: 'create-user' })
      for (const scheme of [undefined, '', null]) {
        const config = { url: freshUrl(), authentication: { scheme, credentials: 'abc' } }
        const refused = await agent.error('createConfig', params(task.id, config))
        assert.deepEqual([refused.code, /authentication\.scheme/.test(refused.message)], [-32602, true])
        const beside = await agent.error('send', {
          message: agent.message({ skill: 'create-user' }),
          configuration: { pushNotificationConfig: config }
        })
        assert.deepEqual([beside.code, /authentication\.scheme/.test(beside.message)], [-32602, true])
      }
      const none = await agent.result('createConfig', params(task.id, { url: freshUrl(), authentication: {} }))
      assert.equal(shown(none).authentication, undefined)
    })

    it('to addresses that may not be called are refused, also beside a message, which then does nothing', async () => {
      const task = await agent.send({ skill: 'create-user' })
      const refused = await agent.error('createConfig', params(task.id, { url: 'http://10.0.0.1' }))
      assert.equal(refused.code, -32602)
      assert.match(refused.message, /WEBHOOK_ALLOW_PRIVATE/)
      const message = agent.message({ skill: 'create-user', projectUserId: `never-${name}` })
      assert.equal((await agent.error('send', { message, configuration: inline('http://x') })).code, -32602)
      assert.equal((await service.manage('GET', `/projects/${project.id}/users/never-${name}`)).status, 404)
      for (const bad of [{}, { url: 5 }, { url: freshUrl(), token: 'a\nb' }, { url: freshUrl(), id: {} }])
        assert.equal((await agent.error('createConfig', params(task.id, bad))).code, -32602)
    })

    it('are at most ten to a task', async () => {
      const task = await agent.send({ skill: 'create-user' })
      for (let index = 0; index < 10; index += 1)
        await agent.result('createConfig', params(task.id, { url: freshUrl() }))
      assert.equal((await agent.error('createConfig', params(task.id, { url: freshUrl() }))).code, -32602)
    })
  })
}

describe('a webhook', () => {
  it('keeps the spelling it was registered in, also when another client writes to the task', async () => {
    const [plain, official] = [agentOf(service, project, 'plain'), agentOf(service, project, 'official')]
    const url = freshUrl()
    const task = await official.send({ skill: 'create-user' })
    await plain.result('createConfig', { taskId: task.id, url })
    await plain.send({ projectUserId: 'k' }, { taskId: task.id })
    assert.deepEqual(
      callsTo(url).map(({ body }) => Object.keys(JSON.parse(body))),
      [['statusUpdate'], ['statusUpdate']]
    )
  })

  it('receives tasks that a worker runs, and cancels', async () => {
    const agent = agentOf(service, project, 'plain')
    const url = freshUrl()
    const config = { taskPushNotificationConfig: { url } }
    await agent.send({ skill: 'create-user', projectUserId: 'j' }, {}, { ...config, returnImmediately: true })
    const states = () => callsTo(url).map(({ body }) => toldState(JSON.parse(body).params.result))
    await eventually(() => assert.deepEqual(states(), ['submitted', 'working', 'completed']))
    const waiting = await agent.send({ skill: 'create-user' }, {}, config)
    await agent.result('cancel', { id: waiting.id })
    assert.equal(states().at(-1), 'canceled')
  })

  it('and the state are written together or not at all', async () => {
    const agent = agentOf(service, project, 'plain')
    const task = await agent.send({ skill: 'create-user' }, {}, { taskPushNotificationConfig: { url: freshUrl() } })
    away = true
    const reply = await agent.call('cancel', { id: task.id })
    away = false
    assert.equal(reply.status, 500)
    assert.equal((await agent.get(task.id)).status.state, 'input-required')
  })
})
