import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTotals } from '../../src/a2a/tasks/totals.ts'
import { Unavailable } from '../../src/platform/errors.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { eventually, startService } from '../support/service.ts'
import { type Agent, agentOf, names } from './agent.ts'

const service = await startService({}, { agents: { streams: { ofProject: 2, ofNode: 3, recheckMs: 50 } } })
const noPlaceTaken = () => eventually(() => assert.equal(service.app.agents.stats().places, 0))

/** A stream that stays open until the test ends it. */
async function subscribed(agent: Agent, id: string): Promise<() => void> {
  const told = Promise.withResolvers<() => void>()
  agent.stream('subscribe', { id }, (_, stop) => told.resolve(stop)).catch(told.reject)
  return told.promise
}

for (const name of names) {
  describe(`a ${name} agent`, () => {
    it('is refused a stream too many with 429, and nothing is done; one that closes makes room', async () => {
      const project = await service.project()
      const agent = agentOf(service, project, name)
      const { id } = await agent.send({ skill: 'create-user' })
      const stops = [await subscribed(agent, id), await subscribed(agent, id)]
      const message = agent.message({ skill: 'create-user', projectUserId: 'never' })
      for (const refused of [await agent.call('subscribe', { id }), await agent.call('stream', { message })]) {
        assert.equal(refused.status, 429)
        assert.deepEqual(refused.json, { error: 'Too Many Requests' })
        assert.deepEqual(
          [refused.headers['retry-after'], refused.headers['x-service-error-code']],
          ['1', 'too_many_streams']
        )
        assert.match(String(refused.headers['x-service-error-detail']), /2 streams open on this node/)
        assert.ok(refused.headers['x-request-id'])
      }
      assert.equal((await service.manage('GET', `/projects/${project.id}/users/never`)).status, 404)

      const other = agentOf(service, await service.project(), name)
      const theirs = await other.send({ skill: 'create-user' })
      stops.push(await subscribed(other, theirs.id))
      const full = await other.call('subscribe', { id: theirs.id })
      assert.deepEqual([full.status, full.headers['retry-after']], [503, '1'], 'the node is full, not their project')
      assert.equal((await agent.call('get', { id })).status, 200, 'what does not stream goes on')

      stops.shift()!()
      const { events } = await eventually(async () => {
        const stream = await agent.stream('stream', { message })
        assert.equal(stream.status, 200)
        return stream
      })
      assert.ok(events.length > 0)
      for (const stop of stops) stop()
      await noPlaceTaken()
    })

    it('whose key is revoked hears no more from its streams, and another one goes on', async () => {
      const project = await service.project()
      const keys = `/projects/${project.id}/keys`
      const { id, key } = (await service.manage('POST', keys, { json: { kind: 'secret', name: 'leaked' } })).json
      const [agent, leaked] = [project.secretKey, key].map((secretKey) => agentOf(service, { secretKey }, name))
      const task = await agent!.send({ skill: 'create-user' })
      const begun = Promise.withResolvers<void>()
      const ended = leaked!.stream('subscribe', { id: task.id }, () => begun.resolve())
      const stop = await subscribed(agent!, task.id)
      await begun.promise
      await service.manage('DELETE', `${keys}/${id}`)
      assert.equal((await ended).events.length, 1)
      assert.equal(service.app.agents.stats().open, 1)
      stop()
      await noPlaceTaken()
    })

    it('gives its place back when a stream cannot begin', async () => {
      const agent = agentOf(service, await service.project(), name)
      for (let index = 0; index < 5; index += 1) {
        const { text } = await agent.stream('stream', { message: agent.message({ skill: 'none' }) })
        assert.equal(JSON.parse(text).error.data[0].reason, 'SKILL_NOT_FOUND')
      }
      await noPlaceTaken()
    })

    it('may not go on for ever with one task', async () => {
      const agent = agentOf(service, await service.project(), name)
      const asked = await agent.send({ skill: 'create-user' })
      const [{ content }] = await service.sql('select content from a2a_tasks where id = $1', [asked.id])
      const long = { ...content, log: Array.from({ length: 1_000 }, () => content.log.at(-1)) }
      await service.sql('update a2a_tasks set content = $2 where id = $1', [asked.id, JSON.stringify(long)])
      const answer = { message: agent.message({ projectUserId: 'a' }, { taskId: asked.id }) }
      const error = await agent.error('send', answer)
      assert.equal(error.code, -32004)
      assert.match(error.message, /Send one without its id/)
      assert.equal((await agent.error('stream', answer)).code, -32004)
      assert.equal((await agent.get(asked.id)).status.state, agent.state('input-required'))
      assert.equal((await agent.result('cancel', { id: asked.id })).status.state, agent.state('canceled'))
    })
  })
}

describe('the total of a list', () => {
  const [one, two] = ['one' as ProjectId, 'two' as ProjectId]
  const all = { contextId: undefined, state: undefined, changedAfter: undefined }
  /** Responds as the test sets it, and records the requests. */
  function database() {
    const asked: unknown[][] = []
    const answer = { total: 0, fails: false, atOnce: 0, most: 0 }
    const adhoc = async (_: string, values: unknown[]) => {
      asked.push(values)
      answer.most = Math.max(answer.most, ++answer.atOnce)
      await new Promise((resolve) => setTimeout(resolve, 5))
      answer.atOnce -= 1
      if (answer.fails) throw new Error('away')
      return [{ total: answer.total }]
    }
    return { asked, answer, totals: createTotals({ adhoc } as never) }
  }

  it('is counted anew while it is small', async () => {
    const { asked, answer, totals } = database()
    for (const total of [1, 2, 9_999]) {
      answer.total = total
      assert.equal(await totals.of(one, all), total)
    }
    assert.equal(asked.length, 3)
  })

  it('is believed for a while when it is large, by project and by what is asked for', async () => {
    const { asked, answer, totals } = database()
    answer.total = 10_000
    const calls = Array.from({ length: 20 }, () => totals.of(one, all))
    assert.deepEqual(new Set(await Promise.all(calls)), new Set([10_000]))
    assert.equal(asked.length, 1)
    await totals.of(one, { ...all, contextId: 'a' })
    await totals.of(two, all)
    assert.deepEqual(asked, [['one'], ['one', 'a'], ['two']])
  })

  it('counts one list at a time in a project, and a failure affects no other count', async () => {
    const { answer, totals } = database()
    answer.fails = true
    const failing = totals.of(one, all)
    const next = totals.of(one, { ...all, state: 'failed' })
    await assert.rejects(failing, /away/)
    answer.fails = false
    answer.total = 3
    assert.equal(await next, 3)
    assert.equal(answer.most, 1)
  })

  it('is refused where many wait to be counted in the same project, and only there', async () => {
    const { asked, totals } = database()
    const calls = Array.from({ length: 30 }, (_, index) => totals.of(one, { ...all, contextId: `${index}` }))
    const other = totals.of(two, all)
    const outcomes = await Promise.allSettled(calls)
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refused.length, 9, 'one is counted, 20 wait')
    assert.ok(refused.every(({ reason }) => reason instanceof Unavailable))
    assert.equal(await other, 0)
    assert.equal(asked.length, 22)
    assert.equal(await totals.of(one, all), 0, 'later there is room again')
  })
})
