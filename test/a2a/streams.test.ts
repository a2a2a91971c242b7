import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import pino from 'pino'
import type { Json } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'
import { type Agent, agentOf, doubles, names, toldState } from './agent.ts'

const logged: string[] = []
const log = pino({ level: 'warn' }, { write: (line) => logged.push(line) })
const service = await startService({}, { agents: { messages: doubles.messages }, log })
const project = await service.project()
const slow = { skill: 'send-push-notification', projectUserId: 'slow', title: 'a' }
const gone = { open: 0, places: 0, beating: false, watched: 0, polling: false, running: 0 }
const create = { skill: 'create-user', projectUserId: 'a' }
const kinds = (agent: Agent, events: Json[]) =>
  events.map((event) => (agent.name === 'legacy' ? event.kind : Object.keys(event)[0]))

for (const name of names) {
  const agent = agentOf(service, project, name)

  describe(`a stream for a ${name} agent`, () => {
    it('replays the log in the order and shape of its spelling, and closes', async () => {
      const { status, headers, events } = await agent.stream('stream', { message: agent.message(create) })
      assert.equal(status, 200)
      assert.match(String(headers['content-type']), /^text\/event-stream/)
      if (name === 'plain') {
        assert.deepEqual(events.map(toldState), ['submitted', 'completed'])
        assert.deepEqual(Object.keys(events[0].statusUpdate.status), ['state'], 'submitted has no timestamp')
        assert.ok(events[1].statusUpdate.status.timestamp)
        for (const { statusUpdate } of events)
          assert.deepEqual(Object.keys(statusUpdate), ['taskId', 'contextId', 'status'])
        return
      }
      const wanted =
        name === 'official'
          ? ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']
          : ['task', 'status-update', 'artifact-update', 'status-update']
      assert.deepEqual(kinds(agent, events), wanted)
      assert.deepEqual(
        [0, 1, 3].map((index) => toldState(events[index])),
        ['submitted', 'working', 'completed']
      )
      const artifact = (events[2].artifactUpdate ?? events[2]).artifact
      assert.equal(artifact.name, 'user-result')
      if (name === 'legacy')
        assert.deepEqual(
          events.map(({ final }) => final),
          [undefined, false, undefined, true]
        )
      else assert.doesNotMatch(JSON.stringify(events), /"final"|"kind"/)
    })

    it('closes when the task asks for something, and when it is rejected', async () => {
      for (const [content, state] of [
        [{ skill: 'create-user' }, 'input-required'],
        [{ skill: 'create-user', projectUserId: 5 }, 'rejected']
      ] as const) {
        const { events } = await agent.stream('stream', { message: agent.message(content) })
        assert.equal(toldState(events[0]), 'submitted')
        assert.equal(toldState(events.at(-1)), state)
      }
    })

    it('goes on with a task that asked', async () => {
      const asked = await agent.send({ skill: 'create-user' })
      const { events } = await agent.stream('stream', {
        message: agent.message({ projectUserId: 'b' }, { taskId: asked.id })
      })
      assert.equal(toldState(events[0]), 'working')
      assert.equal(toldState(events.at(-1)), 'completed')
    })

    it('that cannot begin gets a plain error', async () => {
      const { headers, text } = await agent.stream('stream', { message: agent.message({ skill: 'no-such' }) })
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.equal(JSON.parse(text).error.data[0].reason, 'SKILL_NOT_FOUND')
      assert.equal(JSON.parse(text).id, 7)
    })

    it('that subscribes to a running task hears it end, as all others do; one that leaves harms none', async () => {
      let taskId = ''
      const first = agent.stream('stream', { message: agent.message(slow) }, (event) => {
        taskId ||= (event.task ?? event.statusUpdate ?? event).id ?? event.statusUpdate?.taskId ?? event.taskId
      })
      await eventually(() => assert.ok(taskId))
      const leaving = agent.stream('subscribe', { id: taskId }, (_, stop) => stop())
      const heard = new Set<number>()
      const others = [1, 2].map((other) => agent.stream('subscribe', { id: taskId }, () => heard.add(other)))
      assert.equal((await leaving).events.length, 1)
      await eventually(() => assert.equal(heard.size, 2))
      doubles.finish()
      const [all, ...rest] = await Promise.all([first, ...others])
      for (const { events } of rest) {
        if (name !== 'plain') assert.equal(kinds(agent, events)[0], 'task')
        assert.equal(toldState(events[0]), 'working')
        assert.equal(toldState(events.at(-1)), 'completed')
        assert.deepEqual(
          events.slice(1),
          all!.events.slice(all!.events.length - events.length + 1),
          'the same in the same order'
        )
      }
    })

    it('that subscribes to a task stays open whenever it asks, until it ends', async () => {
      const { id } = await agent.send({ skill: 'create-user' })
      const opened = Promise.withResolvers<void>()
      const open = agent.stream('subscribe', { id }, () => opened.resolve())
      await opened.promise
      const again = await agent.send({ properties: { plan: 'free' } }, { taskId: id })
      assert.equal(toldState(again), 'input-required')
      await agent.send({ projectUserId: 'c' }, { taskId: id })
      const { events } = await open
      const steps = ['input-required', 'working', 'input-required', 'working', 'completed']
      assert.deepEqual(
        events.map(toldState).filter((state) => state !== 'undefined'),
        name === 'plain' ? steps.filter((state) => state !== 'working') : steps
      )
      const finals = events.flatMap(({ final }) => (final === undefined ? [] : [final]))
      assert.deepEqual(finals, name === 'legacy' ? [false, false, false, true] : [])
    })

    it('that subscribes to a task ends where an erasure takes the task', async () => {
      const { id } = await agent.send({ skill: 'create-user' })
      const opened = Promise.withResolvers<void>()
      const open = agent.stream('subscribe', { id }, () => opened.resolve())
      await opened.promise
      await service.sql('delete from a2a_tasks where id = $1', [id])
      const { events } = await open
      assert.equal(events.length, 1)
      await eventually(async () => assert.deepEqual(service.app.agents.stats(), gone))
    })

    it('that subscribes to a task that has ended gets its end, or is refused', async () => {
      const task = await agent.send(create)
      const { events, text } = await agent.stream('subscribe', { id: task.id })
      if (name === 'official') assert.equal(JSON.parse(text).error.code, -32004)
      else assert.deepEqual(events.map(toldState), ['completed'])
    })
  })
}

describe('streams', () => {
  it('hear of a task that another node runs, cancels and finishes', async () => {
    const other = await service.another()
    const [here, there] = [agentOf(service, project, 'official'), agentOf(other, project, 'official')]
    let taskId = ''
    const running = here.stream('stream', { message: here.message(slow) }, (event) => (taskId ||= event.task?.id))
    await eventually(() => assert.ok(taskId))
    let watched = 0
    const watching = there.stream('subscribe', { id: taskId }, () => (watched += 1))
    await eventually(() => assert.ok(watched))
    doubles.finish()
    const { events } = await running
    assert.deepEqual((await watching).events.slice(1), events.slice(2), 'what came after its first event')

    taskId = ''
    const stopped = here.stream('stream', { message: here.message(slow) }, (event) => (taskId ||= event.task?.id))
    await eventually(() => assert.ok(taskId))
    await there.result('cancel', { id: taskId })
    assert.equal(toldState((await stopped).events.at(-1)), 'canceled')

    const waiting = await here.send({ skill: 'create-user' })
    const resumed = there.stream('subscribe', { id: waiting.id }, (event) => {
      if (event.task) void here.send({ projectUserId: 'c' }, { taskId: waiting.id })
    })
    assert.deepEqual(
      (await resumed).events.map(toldState).filter((state) => state !== 'undefined'),
      ['input-required', 'working', 'completed']
    )
    await other.close()
  })

  it('of clients that drop leave no listener and no timer behind, and their tasks are done', async () => {
    const agent = agentOf(service, project, 'plain')
    const { agents } = service.app
    await eventually(() => assert.deepEqual(agents.stats(), gone))
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    const before = sockets()
    const contextId = 'dropped'
    const clients = process.env.TIDINGS_LONG ? 1_000 : 150
    const dropped = Array.from({ length: clients }, () =>
      agent.stream('stream', { message: agent.message(slow, { contextId }) }, (_, stop) => stop())
    )
    await Promise.all(dropped)
    await eventually(() => assert.deepEqual({ ...agents.stats(), running: 0 }, gone))
    doubles.finish()
    await eventually(
      async () => assert.equal((await agent.result('list', { contextId, status: 'completed' })).totalSize, clients),
      20_000
    )
    assert.equal(agents.stats().running, 0)
    // Some connections to the database may have been opened in between.
    await eventually(() => assert.ok(sockets() < before + 50, `${sockets()} sockets are open, ${before} were`))
  })

  it('of clients that disconnect before the first event leave nothing behind, and log no error', async () => {
    const agent = agentOf(service, project, 'official')
    const { id } = await agent.send({ skill: 'create-user' })
    const { hostname, port } = new URL(service.url)
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } })
    const leave = () =>
      new Promise<void>((resolve) => {
        const outgoing = request({ hostname, port, method: 'POST', path: '/a2a', headers: agent.headers })
        outgoing.on('error', () => {})
        outgoing.on('close', resolve)
        outgoing.on('finish', () => setTimeout(() => outgoing.destroy(), Math.random() * 20))
        outgoing.end(call)
      })
    await Promise.all(Array.from({ length: 200 }, leave))
    await eventually(() => assert.deepEqual(service.app.agents.stats(), gone))
    await agent.result('cancel', { id })
    assert.deepEqual(logged, [])
  })

  it('end when their node stops', async () => {
    const node = await service.another()
    const agent = agentOf(node, project, 'plain')
    const waiting = await agent.send({ skill: 'create-user' })
    const told = Promise.withResolvers<void>()
    const open = agent.stream('subscribe', { id: waiting.id }, () => told.resolve())
    await told.promise
    await node.close()
    assert.equal((await open).events.length, 1)
  })
})
