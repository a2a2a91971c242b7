import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'
import { agentOf, names, toldState } from './agent.ts'
import { conformance } from './conformance-agent.ts'

// The cases of the public kits, asked in every spelling (the ids of the cases stand in the names).
const service = await startService({ WEBHOOK_ALLOW_PRIVATE: 'true' }, { agents: conformance })

for (const name of names) {
  // The kits wait for a slow agent.
  describe(`a ${name} conformance kit`, { concurrency: true }, async () => {
    const project = await service.project()
    const agent = agentOf(service, project, name)
    let count = 0
    const message = (prefix: string, more: Json = {}) =>
      agent.message('Hello', { messageId: `${prefix}-${name}-${count++}`, ...more })
    const send = async (prefix: string, more?: Json, configuration?: Json) =>
      agent.taskOf(
        await agent.result('send', { message: message(prefix, more), ...(configuration && { configuration }) })
      )
    const isTask = (task: Json) => {
      assert.ok(task.id && task.contextId && task.status.state)
      assert.match(task.status.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }

    it('gets a task of the right shape (CORE-SEND-001, DM-TASK, DM-STATUS, DM-SERIAL)', async () => {
      const task = await send('tck-complete-task')
      isTask(task)
      assert.equal(task.status.state, agent.state('completed'))
      const said = task.status.message
      assert.ok(said.messageId && said.role && said.parts[0].text)
      assert.equal(said.role, name === 'official' ? 'ROLE_AGENT' : 'agent')
    })

    it('gets artifacts of every kind (DM-ART, DM-PART)', async () => {
      const part = async (prefix: string) => {
        const task = await send(prefix)
        assert.ok(task.artifacts[0].artifactId)
        return task.artifacts[0].parts[0]
      }
      const [text, raw, url, data] = [
        await part('tck-artifact-text'),
        await part('tck-artifact-file'),
        await part('tck-artifact-file-url'),
        await part('tck-artifact-data')
      ]
      assert.equal(text.text, 'Generated text content')
      assert.deepEqual(data.data, { key: 'value', count: 42 })
      if (name === 'legacy') {
        assert.deepEqual(raw, { kind: 'file', file: { bytes: 'aGVsbG8=', name: 'output.txt', mimeType: 'text/plain' } })
        assert.equal(url.file.uri, 'https://example.com/output.txt')
      } else {
        assert.deepEqual([raw.raw, raw.filename, raw.mediaType], ['aGVsbG8=', 'output.txt', 'text/plain'])
        assert.equal(url.url, 'https://example.com/output.txt')
      }
    })

    it('finds blocking to end terminal or interrupted, and no waiting to answer at once (EXECUTION-MODE)', async () => {
      assert.equal((await send('tck-input-required')).status.state, agent.state('input-required'))
      assert.equal((await send('tck-reject-task')).status.state, agent.state('rejected'))
      const wait = name === 'legacy' ? { blocking: false } : { returnImmediately: true }
      const task = await send('tck-stream-002', {}, wait)
      assert.ok(['submitted', 'working'].includes(toldState(task)))
      await eventually(async () => assert.equal((await agent.get(task.id)).status.state, agent.state('completed')))
    })

    it('goes on with what waits, and not with what has ended (CORE-SEND-002, MULTI)', async () => {
      const asked = await send('tck-input-required')
      const done = await send('more', { taskId: asked.id })
      assert.deepEqual(
        [done.id, done.contextId, done.status.state],
        [asked.id, asked.contextId, agent.state('completed')]
      )
      assert.equal((await agent.error('send', { message: message('more', { taskId: done.id }) })).code, -32004)
      const kept = await send('tck-complete-task', { contextId: `kept-${name}` })
      assert.equal(kept.contextId, `kept-${name}`)
      assert.notEqual((await send('tck-complete-task', { contextId: `kept-${name}` })).id, kept.id)
    })

    it('cancels what waits (CANCEL-001..003)', async () => {
      const asked = await send('tck-input-required')
      assert.equal((await agent.result('cancel', { id: asked.id })).status.state, agent.state('canceled'))
    })

    it('sees streams begin, go in order and close (STREAM-001..003, ORDER-001..004, SUB-001..004)', async () => {
      const { events } = await agent.stream('stream', { message: message('tck-stream-001') })
      const states = events.map(toldState).filter((state) => state !== 'undefined')
      assert.deepEqual(states, name === 'plain' ? ['submitted', 'completed'] : ['submitted', 'working', 'completed'])
      let id = ''
      const open = agent.stream('stream', { message: message('test-resubscribe-message-id') }, (event) => {
        id ||= event.task?.id ?? event.statusUpdate?.taskId ?? event.id
      })
      await eventually(() => assert.ok(id))
      const joined = await agent.stream('subscribe', { id })
      assert.equal(toldState(joined.events.at(-1)), 'completed')
      assert.deepEqual(joined.events.at(-1), (await open).events.at(-1))
    })

    it('is called back with its credentials (PUSH-CREATE, DELIVER-001..003)', async (t) => {
      const heard: Json[] = []
      const server = createServer((request, response) => {
        let body = ''
        request.on('data', (chunk) => (body += chunk))
        request.on('end', () => {
          heard.push({ headers: request.headers, body: JSON.parse(body) })
          response.end()
        })
      }).listen(0, '127.0.0.1')
      t.after(() => server.close())
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as { port: number }
      const url = `http://127.0.0.1:${port}/hook`
      const config =
        name === 'legacy'
          ? { url, authentication: { schemes: ['Bearer'], credentials: 'c' } }
          : { url, authentication: { scheme: 'Bearer', credentials: 'c' } }
      const wish = name === 'legacy' ? { pushNotificationConfig: config } : { taskPushNotificationConfig: config }
      await send('tck-complete-task', {}, wish)
      await eventually(() => assert.equal(heard.length, 3))
      for (const { headers } of heard) assert.equal(headers.authorization, 'Bearer c')
      const bodies = heard.map(({ body }) => (name === 'plain' ? body.params.result : body))
      assert.deepEqual(bodies.map(toldState).sort(), ['completed', 'submitted', 'working'])
    })

    it('gets through with odd but legal requests: unicode, long texts, nulls, unknown fields', async () => {
      const odd = message('odd', {
        parts: [
          { ...(name === 'legacy' && { kind: 'text' }), text: '😀 привет '.repeat(20_000), metadata: null, extra: 1 }
        ]
      })
      const task = agent.taskOf(await agent.result('send', { message: odd, metadata: null, unknown: {} }))
      assert.equal(task.history[0].parts[0].text, odd.parts[0].text)
      const several = await Promise.all(Array.from({ length: 20 }, () => send('tck-complete-task')))
      assert.equal(new Set(several.map(({ id }) => id)).size, 20)
    })
  })
}
