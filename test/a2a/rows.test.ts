import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf, doubles, type Name, names, toldState } from './agent.ts'

// Rules that must hold between the spellings or in each of them, and that are easily broken in all but one.
const service = await startService({}, { agents: { messages: doubles.messages } })
const create = (projectUserId: string) => ({ skill: 'create-user', projectUserId })
const three = async () => {
  const project = await service.project()
  return { project, agents: names.map((name) => agentOf(service, project, name)) }
}
/** The facts about a task that every spelling must show alike. */
const seen = (task: Json) => [task.id, task.contextId, toldState(task), task.artifacts?.[0]?.artifactId]

describe('a message that comes again in another spelling, version or method', () => {
  for (const first of names)
    it(`is the ${first} one again: done once, and answered as each one asks`, async () => {
      const { agents, project } = await three()
      const messageId = randomUUID()
      const began = agents.find(({ name }) => name === first)!
      const task = await began.send(create('once'), { messageId })
      for (const agent of agents) {
        const again = await agent.send(create('once'), { messageId })
        assert.deepEqual(seen(again), seen(task))
        assert.equal(again.status.state, agent.state('completed'))
        assert.equal(again.kind, agent.name === 'legacy' ? 'task' : undefined)
        const { events } = await agent.stream('stream', { message: agent.message(create('once'), { messageId }) })
        assert.deepEqual([toldState(events[0]), toldState(events.at(-1))], ['submitted', 'completed'])
        const other = await agent.call('send', { message: agent.message(create('other'), { messageId }) })
        assert.deepEqual([other.status, other.json.error.code], [409, -32603])
        assert.ok(other.headers['x-request-id'])
      }
      const [{ n }] = await service.sql('select count(*)::int as n from a2a_tasks where project_id = $1', [project.id])
      assert.equal(n, 1)
    })
})

describe('a task', () => {
  it('keeps the key that asked, and the agent’s name by its message, else by its User-Agent', async () => {
    const { agents, project } = await three()
    const agent = agents[0]!
    const by = async (more: Json, headers: Record<string, string>) => {
      const { json } = await agent.call('send', { message: agent.message(create('ana'), more) }, { headers })
      const task = json.result.task ?? json.result
      const [{ asker }] = await service.sql(
        `select content -> 'by' as asker from a2a_tasks where project_id = $1 and id = $2`,
        [project.id, task.id]
      )
      return asker
    }
    const [{ id: keyId, name: keyName }] = await service.sql(
      `select id, name from api_keys where project_id = $1 and kind = 'secret'`,
      [project.id]
    )
    const key = { actor: `key ${keyId}`, keyId, keyName }
    const headers = { 'user-agent': 'a2a-js/1.3.0 (linux)' }
    assert.deepEqual(await by({ metadata: { agentName: 'Planner' } }, headers), { ...key, agent: 'Planner' })
    assert.deepEqual(await by({}, headers), { ...key, agent: 'a2a-js/1.3.0' })
    assert.deepEqual(await by({ metadata: { agentName: 'x'.repeat(101) } }, headers), { ...key, agent: 'a2a-js/1.3.0' })
  })
})

describe('a webhook', () => {
  const configOf = (agent: { name: Name }, taskId: string, url: string) =>
    agent.name === 'legacy' ? { taskId, pushNotificationConfig: { url } } : { taskId, url }

  it('of a call that shows no spelling is called in the task’s; of a call of 0.3, in that of 0.3', async () => {
    const { agents, project } = await three()
    for (const owner of agents) {
      const { id } = await owner.send({ skill: 'create-user' })
      for (const agent of agents)
        await agent.result('createConfig', configOf(agent, id, `https://example.com/${agent.name}`))
      const rows = await service.sql(
        'select url, dialect from a2a_push_configs where project_id = $1 and task_id = $2 order by url',
        [project.id, id]
      )
      // A task of 0.3 is read in lower case by 1.0.
      const own = owner.name === 'legacy' ? 'plain' : owner.name
      assert.deepEqual(
        rows.map(({ url, dialect }) => [new URL(url).pathname.slice(1), dialect]),
        [
          ['legacy', 'legacy'],
          ['official', own],
          ['plain', own]
        ],
        owner.name
      )
    }
  })

  it('to a private address is refused when it is set, by the guard itself, naming the setting', async () => {
    const { agents } = await three()
    for (const agent of agents) {
      const { id } = await agent.send({ skill: 'create-user' })
      for (const url of [
        'http://example.com/',
        'https://127.0.0.1/',
        'https://0x7f.1/',
        'https://[::ffff:10.0.0.1]/',
        'https://localhost/'
      ]) {
        const error = await agent.error('createConfig', configOf(agent, id, url))
        assert.equal(error.code, -32602)
        assert.match(error.message, /WEBHOOK_ALLOW_PRIVATE/, url)
        assert.equal(error.data[1].fieldViolations[0].field, 'url')
      }
      const user = await agent.error('createConfig', configOf(agent, id, 'https://me:secret@example.com/'))
      assert.match(user.message, /user name/)
    }
  })
})

for (const name of names) {
  describe(`a ${name} agent`, () => {
    it('need not say that it is the user, and may not say that it is the agent', async () => {
      const agent = agentOf(service, await service.project(), name)
      const { role: _, ...without } = agent.message(create('r'))
      const sent = await agent.result('send', { message: without })
      assert.equal(toldState(agent.taskOf(sent)), 'completed')
      const role = name === 'official' ? 'ROLE_AGENT' : 'agent'
      assert.equal((await agent.error('send', { message: agent.message(create('r'), { role }) })).code, -32602)
    })

    it('finds nothing of another project: no task, no webhook, no context, no key', async () => {
      const [mine, other] = [await service.project(), await service.project()].map((one) => agentOf(service, one, name))
      const messageId = randomUUID()
      const open = await mine!.send({ skill: 'create-user' }, { contextId: 'shared', messageId })
      const ofTask = name === 'legacy' ? { id: open.id } : { taskId: open.id }
      const ref = name === 'legacy' ? { id: open.id, pushNotificationConfigId: 'x' } : { taskId: open.id, id: 'x' }
      const config = { id: 'x', url: 'https://example.com/' }
      const wish =
        name === 'legacy' ? { taskId: open.id, pushNotificationConfig: config } : { taskId: open.id, ...config }
      await mine!.result('createConfig', wish)
      for (const [method, params] of [
        ['get', { id: open.id }],
        ['cancel', { id: open.id }],
        ['subscribe', { id: open.id }],
        ['send', { message: other!.message({ projectUserId: 'x' }, { taskId: open.id }) }],
        ['stream', { message: other!.message({ projectUserId: 'x' }, { taskId: open.id }) }],
        ['createConfig', wish],
        ['getConfig', ref],
        ['listConfigs', ofTask],
        ['deleteConfig', ref]
      ] as const)
        assert.equal((await other!.error(method, params)).code, -32001, method)
      const listed = await other!.result('list', { contextId: 'shared' })
      assert.deepEqual(name === 'legacy' ? listed : listed.tasks, [])
      const theirs = await other!.send(create('o'), { contextId: 'shared', messageId })
      assert.equal(toldState(theirs), 'completed', 'a key of one project is no key of another')
      assert.equal((await mine!.get(open.id)).status.state, mine!.state('input-required'))
      assert.ok(await mine!.result('getConfig', ref))
    })

    it('gets streams that no proxy holds back', async () => {
      const agent = agentOf(service, await service.project(), name)
      const { headers } = await agent.stream('stream', { message: agent.message(create('s')) })
      assert.deepEqual([headers['cache-control'], headers['x-accel-buffering']], ['no-cache', 'no'])
    })

    it('sees as much history in the first event of a stream as it wants', async () => {
      const agent = agentOf(service, await service.project(), name)
      const first = async (configuration: Json) => {
        const { events } = await agent.stream('stream', { message: agent.message(create('h')), configuration })
        return events[0].task ?? events[0]
      }
      assert.equal('history' in (await first({ historyLength: 0 })), false)
      if (name !== 'plain') assert.equal((await first({})).history.length, 1)
    })

    it('gets an error for files, in either shape of them', async () => {
      const agent = agentOf(service, await service.project(), name)
      for (const part of [
        { raw: 'AAAA', mediaType: 'image/png' },
        { url: 'https://a/b.png' },
        { kind: 'file', file: { bytes: 'AAAA', mimeType: 'image/png' } },
        { kind: 'file', file: { uri: 'https://a/b.png' } }
      ]) {
        const error = await agent.error('send', { message: agent.message('', { parts: [part] }) })
        assert.equal(error.code, -32005, JSON.stringify(part))
        assert.match(error.message, /send text, or data with a skill/)
      }
    })

    it('is refused pages of a wrong size, and gets its pages to the end', async () => {
      const agent = agentOf(service, await service.project(), name)
      for (let index = 0; index < 3; index += 1) await agent.send(create('p'), { contextId: 'pages' })
      const size = name === 'legacy' ? 'limit' : 'pageSize'
      const spelt = name === 'official' ? { status: 'TASK_STATE_COMPLETED' } : { status: 'completed' }
      for (const wrong of [0, 101, 1.5, '5', -1])
        assert.equal((await agent.error('list', { [size]: wrong })).code, -32602, String(wrong))
      assert.equal((await agent.error('list', { historyLength: -1 })).code, -32602)
      const first = await agent.result('list', { [size]: 2, ...spelt })
      if (name === 'legacy') {
        assert.equal(first.length, 2)
        assert.equal((await agent.result('list', { limit: 2, offset: 2 })).length, 1)
        assert.deepEqual(await agent.result('list', { limit: 2, offset: 3 }), [])
        return
      }
      assert.deepEqual([first.tasks.length, first.pageSize, first.totalSize], [2, 2, 3])
      const next = await agent.result('list', { pageSize: 2, pageToken: first.nextPageToken, ...spelt })
      assert.deepEqual([next.tasks.length, next.nextPageToken, next.totalSize], [1, '', name === 'official' ? 3 : 0])
      assert.deepEqual(Object.keys(next), ['tasks', 'nextPageToken', 'pageSize', 'totalSize'])
    })

    it('is asked in turn for all that is missing, and hears what to do about each error', async () => {
      const agent = agentOf(service, await service.project(), name)
      const asked = await agent.send({ skill: 'send-push-notification' })
      assert.match(asked.status.message.parts[0].text, /: projectUserId or deviceId or userId, and title or body\.$/)
      const more = await agent.send({ projectUserId: 'ana' }, { taskId: asked.id })
      assert.equal(toldState(more), 'input-required')
      assert.match(more.status.message.parts[0].text, /title or body/)
      const done = await agent.send({ title: 'Hi' }, { taskId: asked.id })
      assert.equal(toldState(done), 'completed')
    })
  })
}

describe('X-Request-ID', () => {
  it('stands on 304, 401, 403, 405, 409, 413, 415 and 429 alike', async () => {
    const project = await service.project({ limits: { requests_per_second: 1 } })
    const card = await service.ask('GET', '/.well-known/agent-card.json')
    const key = { 'x-api-key': project.secretKey, 'content-type': 'application/json' }
    const post = (headers: Record<string, string>, body: string | Buffer = '{}') =>
      service.ask('POST', '/a2a', { headers, body })
    const open = await service.project()
    const large = { ...key, 'x-api-key': open.secretKey }
    const replies = [
      await service.ask('GET', '/.well-known/agent-card.json', { headers: { 'if-none-match': card.headers.etag! } }),
      await post({}),
      await post({ 'x-api-key': project.publicKey }),
      await service.ask('GET', '/a2a'),
      await post(large, Buffer.alloc(10 * 1024 * 1024 + 1, 'x')),
      await post({ 'x-api-key': open.secretKey, 'content-type': 'text/plain' }),
      ...(await Promise.all(Array.from({ length: 4 }, () => post(key))))
    ]
    const statuses = new Set(replies.map(({ status }) => status))
    for (const status of [304, 401, 403, 405, 413, 415, 429]) assert.ok(statuses.has(status), String(status))
    for (const { status, headers } of replies) assert.ok(headers['x-request-id'], String(status))
    for (const { status, headers } of replies) if (status === 401) assert.equal(headers['www-authenticate'], 'ApiKey')
  })
})
