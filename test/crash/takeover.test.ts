import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { givenMany } from '../support/campaigns.ts'
import { cluster, secretKey } from '../support/cluster.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

const people = 1_200
/** Longer than any test: a node that is killed with these pushes has received no response. */
const neverMs = 600_000
const withinMs = 15_000
const everyone = { audience: { broadcast: true } }

/** A node that dispatches pushes and never gets a response. */
async function aNodeThatWillDie(t: TestContext) {
  const nodes = await cluster(t)
  const dying = nodes.start('all', neverMs)
  const url = await dying.ready
  await givenMany({ sql: nodes.sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  await nodes.call(url, 'PUT', '/campaigns/news', { name: 'News', status: 'active', message: { title: 'Hi' } })
  return { ...nodes, dying, url }
}

it('other nodes take over the batches of a broadcast and the push of an agent from a killed node within 15 s', async (t) => {
  const { start, call, sql, entries, dying, url } = await aNodeThatWillDie(t)
  const context = { contextId: 'dying' }
  const push = { skill: 'send-push-notification', deviceId: 'p-7', title: 'Of an agent' }
  const asking = agentOf({ url }, { secretKey }, 'plain')
    .send(push, context)
    .catch(() => undefined)
  await eventually(() => assert.equal(entries().length, 1))
  const { trigger_id: id } = await call(url, 'POST', '/api/v1/campaigns/news:trigger', everyone)
  await eventually(() => assert.equal(entries().length, 100))
  const left = await sql('select number from trigger_chunks')
  assert.ok(left.length > 0, 'it owns batches')
  const other = start('all', 1)
  const agent = agentOf({ url: await other.ready }, { secretKey }, 'plain')
  assert.equal(new Set(entries().map(({ pid }) => pid)).size, 1, 'no other process has run any part of it so far')

  process.kill(dying.pid, 'SIGKILL')
  await dying.exited
  const killedMs = Date.now()
  const after = () => `${((Date.now() - killedMs) / 1000).toFixed(1)} s after the kill`
  const byOther = () => entries().filter(({ pid }) => pid === other.pid)
  const chunks = eventually(async () => {
    assert.ok(byOther().length > 1)
    const still = await sql('select number from trigger_chunks where number = any($1)', [
      left.map(({ number }) => number)
    ])
    assert.deepEqual(still, [])
    t.diagnostic(`the chunks were taken over and done ${after()}`)
  }, withinMs)
  const task = eventually(async () => {
    const [found] = (await agent.result('list', context)).tasks
    assert.equal(found.status.state, 'completed', JSON.stringify(found.status))
    assert.equal((await agent.get(found.id)).artifacts[0].parts[0].data.totalSent, 1)
    t.diagnostic(`the task of the agent had ended ${after()}`)
  }, withinMs)
  await Promise.all([chunks, task])
  await asking

  await eventually(async () => {
    const { state, counts } = await call(await other.ready, 'GET', `/api/v1/triggers/${id}`)
    assert.deepEqual([state, counts.targeted, counts.sent], ['completed', people, people])
  }, 60_000)
  const twice = [...Map.groupBy(entries(), ({ collapseId }) => collapseId).values()].filter(({ length }) => length > 1)
  assert.equal(twice.length, 100, 'what was with the gateways may have arrived: it is repeated under its id')
  assert.equal(byOther().length, people + 1)
})

it('messages of a broadcast and of a small trigger on a killed node are not sent by another if they were canceled', async (t) => {
  const { start, call, sql, entries, dying, url } = await aNodeThatWillDie(t)
  const few = { audience: { targets: ['p-1', 'p-2', 'p-3'].map((device_id) => ({ device_id })) } }
  const { trigger_id: small } = await call(url, 'POST', '/api/v1/campaigns/news:trigger', few)
  await eventually(() => assert.equal(entries().length, 3))
  const { trigger_id: broadcast } = await call(url, 'POST', '/api/v1/campaigns/news:trigger', everyone)
  await eventually(() => assert.equal(entries().length, 100))
  process.kill(dying.pid, 'SIGKILL')
  await dying.exited
  // They are due again while their cancel waits, and long after: the job that repeats messages may come first.
  await sql(`update messages set due_at = now() where due_at is not null`)
  // A node that takes over could be faster than the call, on a slow machine: this one runs no jobs.
  const api = await start('api', 1).ready
  for (const id of [small, broadcast]) await call(api, 'POST', `/api/v1/triggers/${id}:cancel`)
  const other = await start('all', 1).ready
  await eventually(async () => {
    const { state, counts } = await call(other, 'GET', `/api/v1/triggers/${small}`)
    assert.deepEqual([state, counts.sent, counts.skipped, counts.pending], ['canceled', 0, 3, 0])
  }, 60_000)
  await eventually(async () => {
    const { state, counts } = await call(other, 'GET', `/api/v1/triggers/${broadcast}`)
    assert.deepEqual([state, counts.sent, counts.pending], ['canceled', 0, 0])
    assert.equal(counts.skipped, counts.targeted)
  }, 60_000)
  assert.equal(entries().length, 100, 'only those that were with the gateways before')
})
