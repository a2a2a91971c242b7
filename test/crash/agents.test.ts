import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { givenCampaign } from '../support/campaigns.ts'
import { put } from '../support/devices.ts'
import { ask, type Json } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()

/** A node in a separate process on the same database, and an agent that calls it. */
async function doomed(t: TestContext, project: TestProject) {
  const env = { DATABASE_URL: service.databaseUrl, MASTER_KEY: service.config.MASTER_KEY!.toString('base64') }
  const program = startProgram(t, { ...env, DATA_DIR: await temporaryFolder(t), BOOTSTRAP_PROJECT_ID: 'other' })
  return { program, agent: agentOf({ url: await program.ready }, project, 'plain') }
}

describe('after kill -9', () => {
  it('every task ends within 15 s, and none is done twice', async (t) => {
    const project = await service.project()
    const { program, agent: dying } = await doomed(t, project)
    await put(project, { id: 'dying-phone', platform: 'IOS' })
    const event = { skill: 'track-event', eventName: 'buy', deviceId: 'dying-phone' }
    const sending = Array.from({ length: 100 }, () => dying.send(event).catch(() => undefined))
    const count = async (what: string) => {
      const [{ n }] = await service.sql(`select count(*)::int as n from ${what} and project_id = $1`, [project.id])
      return n as number
    }
    await eventually(async () => assert.ok((await count('a2a_tasks where true')) > 0))
    process.kill(program.pid, 'SIGKILL')
    await Promise.all(sending)
    await eventually(async () => assert.equal(await count('a2a_tasks where due_at is not null'), 0), 15_000)
    const tasks = await count('a2a_tasks where true')
    assert.equal(await count(`a2a_tasks where state = 'completed'`), tasks, 'each was done')
    assert.equal(await count(`events where device_id = 'dying-phone'`), tasks, 'and none twice')
  })

  it('a tool call of MCP that is repeated with its idempotencyKey on another node was done once', async (t) => {
    const project = await service.project()
    const { program, agent } = await doomed(t, project)
    const url = await program.ready
    await put(project, { id: 'mcp-phone', platform: 'IOS' })
    const call = async (base: string, index: number): Promise<Json> => {
      const args = { eventName: 'buy', deviceId: 'mcp-phone', idempotencyKey: `buy-${index}` }
      const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'track-event', arguments: args } }
      const headers = { ...agent.headers, accept: 'application/json, text/event-stream' }
      const { text } = await ask(base, 'POST', '/mcp', { json, headers })
      return JSON.parse(/^data: (.*)$/m.exec(text)![1]!).result
    }
    await call(url, 0)
    const calls = Array.from({ length: 100 }, (_, index) => index)
    let answered = 0
    const sending = calls.map(async (index) => {
      if (await call(url, index).catch(() => undefined)) answered += 1
    })
    await eventually(() => assert.ok(answered > 5))
    process.kill(program.pid, 'SIGKILL')
    await Promise.all(sending)
    for (const index of calls)
      await eventually(async () => {
        const result = await call(service.url, index)
        assert.deepEqual(result.structuredContent, { trackedEvents: 1, eventName: 'buy' }, JSON.stringify(result))
      }, 15_000)
    const [{ n }] = await service.sql('select count(*)::int as n from events where project_id = $1', [project.id])
    assert.equal(n, calls.length)
  })

  it('another node returns the same response to every message, and none is lost', async (t) => {
    const project = await service.project()
    const { program, agent: dying } = await doomed(t, project)
    const living = agentOf(service, project, 'plain')
    const answered = new Map<string, Json>()
    const messages = Array.from({ length: 400 }, (_, index) =>
      dying.message({ skill: 'create-user', projectUserId: `u${index}` })
    )
    const sending = messages.map(async (message) => {
      const reply = await dying.call('send', { message }).catch(() => undefined)
      if (reply?.status === 200) answered.set(message.messageId, reply.json)
    })
    await eventually(() => assert.ok(answered.size > 30))
    process.kill(program.pid, 'SIGKILL')
    await Promise.all(sending)
    assert.ok(answered.size < messages.length, 'some were under way')
    for (const message of messages.filter(({ messageId }) => answered.has(messageId)))
      assert.deepEqual((await living.call('send', { message })).json, answered.get(message.messageId))
    // Tasks without a response were taken over or never begun. After a repeated message, each is done once.
    for (const message of messages.filter(({ messageId }) => !answered.has(messageId)))
      await eventually(async () => {
        const reply = await living.call('send', { message })
        assert.equal(reply.json.result?.task.status.state, 'completed', reply.text)
      }, 25_000)
    const [{ n }] = await service.sql('select count(*)::int as n from a2a_tasks where project_id = $1', [project.id])
    assert.equal(n, messages.length)
  })

  it('each yes to a broadcast led to one trigger, and a repeat on another node returns it', async (t) => {
    const project = await service.project()
    await givenCampaign(service, project)
    const { program, agent: dying } = await doomed(t, project)
    const living = agentOf(service, project, 'plain')
    const asked: Json[] = []
    for (let n = 0; n < 40; n++) asked.push(await dying.send('Trigger campaign news for all users'))
    const idOf = (task: Json) => task.status.message.parts[1].data.confirmationId as string
    let answered = 0
    const yeses = asked.map((task) =>
      dying.send('yes', { taskId: task.id }).then(
        () => answered++,
        () => undefined
      )
    )
    await eventually(() => assert.ok(answered > 3))
    process.kill(program.pid, 'SIGKILL')
    await Promise.all(yeses)
    assert.ok(answered < asked.length, 'some were under way')
    const triggers = new Set<string>()
    for (const task of asked) {
      const repeat = await living.send({ confirmationId: idOf(task), confirm: true })
      assert.equal(repeat.status.state, 'completed', JSON.stringify(repeat.status))
      triggers.add(repeat.artifacts[0].parts[0].data.triggerId)
    }
    assert.equal(triggers.size, asked.length)
    // The dead node's tasks are taken over and reach the triggers that the repeats returned.
    await eventually(async () => {
      const open = await service.sql(`select id from a2a_tasks where project_id = $1 and state = 'working'`, [
        project.id
      ])
      assert.deepEqual(open, [])
    }, 20_000)
    const [{ n }] = await service.sql('select count(*)::int as n from triggers where project_id = $1', [project.id])
    assert.equal(n, asked.length)
  })

  it('a cancel that met the work of the dead node told the truth, and every task ends with it', async (t) => {
    const project = await service.project({ mode: 'simulator', limits: { requests_per_second: 0 } })
    const device = { platform: 'IOS', project_user_id: 'ana', device_id: 'ana-phone' }
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, { json: device })
    await service.manage('PUT', `/projects/${project.id}/simulator/faults`, { json: { all: { latency_ms: 300 } } })
    const { program, agent: dying } = await doomed(t, project)
    const living = agentOf(service, project, 'plain')
    const asked = await Promise.all(Array.from({ length: 40 }, () => living.send('Send a push to user ana')))
    const answering = asked.map(({ id }: Json, index) =>
      dying.call('send', { message: dying.message({ title: `n-${index}` }, { taskId: id }) }).catch(() => undefined)
    )
    const sentOf = (index: number) =>
      service.sql(
        `select message_id, state from messages
          where project_id = $1 and content #>> '{notification,title}' = $2 and state <> 'skipped'`,
        [project.id, `n-${index}`]
      )
    await eventually(async () => {
      const [{ n }] = await service.sql('select count(*)::int as n from messages where project_id = $1', [project.id])
      assert.ok(n > 0)
    })
    const canceling = asked.map(({ id }: Json) => living.call('cancel', { id }))
    process.kill(program.pid, 'SIGKILL')
    await Promise.all(answering)
    const canceled = await Promise.all(canceling)
    for (const [index, { id }] of asked.entries()) {
      const task = await eventually(async () => {
        const found = await living.get(id)
        assert.match(found.status.state, /^(completed|failed|canceled)$/)
        return found
      }, 30_000)
      const { error, result } = canceled[index]!.json
      assert.deepEqual([error?.code, result?.status.state], error ? [-32002, undefined] : [undefined, 'canceled'])
      if (task.status.state === 'canceled') assert.deepEqual(await sentOf(index), [], `n-${index}`)
      else {
        assert.ok(error, 'a task that was done is not canceled')
        const [message] = await sentOf(index)
        assert.equal(
          task.artifacts[0]?.parts[0].data.results[0].messageId,
          message?.message_id,
          JSON.stringify(task.status)
        )
      }
    }
    const states = canceled.map(({ json }) => (json.error ? 'done' : 'canceled'))
    t.diagnostic(`${states.filter((state) => state === 'done').length} of ${states.length} were done`)
  })
})
