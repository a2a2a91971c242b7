import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { type Settlement, settleMessages } from '../../src/messages/settle-store.ts'
import { claimDueMessages } from '../../src/messages/store.ts'
import { newId } from '../../src/platform/ids.ts'
import { steadyMs } from '../../src/platform/time.ts'
import { messagesAlone, projectId } from './messages-alone.ts'

const [me, other] = [newId(), newId()]

/** A message that this node has written and not dispatched yet. */
async function given(t: TestContext) {
  const { pool, sql, sender, messages, draft } = await messagesAlone(t, { nodeId: me })
  const triggerId = newId()
  const rows = await pool.transaction((tx) =>
    messages.persist(tx, projectId, [draft(triggerId, 'a')], { owner: 'untimed' })
  )
  return { pool, sql, sender, messages, rows, row: rows[0]!, triggerId }
}

it('a release that is repeated, because its response was lost, takes no message from the run that owns it', async (t) => {
  const { pool, sql, row } = await given(t)
  const release = { ...row, state: 'queued' as const, due_at: new Date(), claimed: { owner: me, due_at: null } }
  const settle = (settlement: Settlement) =>
    pool.transaction((tx) => settleMessages(tx, projectId, [settlement], new Date()))
  const say = async () => (await settle(release)).length
  assert.equal(await say(), 1)
  const until = new Date(Date.now() + 30_000)
  for (const owner of [other, me]) {
    await sql('update messages set due_at = $1, owner = null', [release.due_at])
    const taking = { at: new Date(), until, owner, living: [me, other], followed: [] }
    assert.equal((await claimDueMessages(pool, projectId, taking)).length, 1)
    assert.equal(await say(), 0)
    const [found] = await sql('select state, owner, due_at from messages')
    assert.deepEqual([found.state, found.owner, found.due_at], ['handed', owner, until])
  }
  const accepted = { ...release, state: 'accepted' as const, due_at: null }
  assert.equal((await settle(accepted)).length, 1, 'an end counts in any case')
})

it('a message is claimed from a dead owner by a node that would have noticed an outage', async (t) => {
  const { sql, sender, messages, row, triggerId } = await given(t)
  await sql('update messages set owner = $1', [other])
  const join = `insert into nodes (id, role, host, pid, version, started_at, seen_at, steady_since)
                values ($1, 'all', 'h', 1, 'v', now(), now(), now() - interval '1 hour')`
  for (const id of [me, other]) await sql(join, [id])
  const handOver = async () => {
    await sql('update nodes set seen_at = now() where id = $1', [me])
    const found = await messages.findUnanswered(projectId, [triggerId])
    for (const one of found) one.endpoint = row.endpoint
    return (await messages.dispatch(projectId, found, { deadline: steadyMs() + 5_000 })).length
  }
  assert.equal(await handOver(), 1, 'its owner beats')
  await sql(`update nodes set seen_at = now() - interval '9 seconds' where id = $1`, [other])
  assert.equal(await handOver(), 1, 'its owner may be on its way back')
  await sql(`update nodes set seen_at = now() - interval '1 minute' where id = $1`, [other])
  await sql(`update nodes set steady_since = now() - interval '9 seconds' where id = $1`, [me])
  assert.equal(await handOver(), 1, 'this node has been away itself')
  assert.equal(sender.pushes.length, 0)
  await sql(`update nodes set steady_since = now() - interval '11 seconds' where id = $1`, [me])
  assert.equal(await handOver(), 0)
  assert.equal(sender.pushes.length, 1)
})

it('messages of a node that has left are claimed at once, also by a node that has just started', async (t) => {
  const { sql, sender, messages, row, triggerId } = await given(t)
  await sql('update messages set owner = $1', [other])
  const found = await messages.findUnanswered(projectId, [triggerId])
  for (const one of found) one.endpoint = row.endpoint
  assert.deepEqual(await messages.dispatch(projectId, found, { deadline: steadyMs() + 5_000 }), [])
  assert.equal(sender.pushes.length, 1)
})

it('a message that waits in one run of this process for room at the gateway is not sent by another run too', async (t) => {
  const { sender, messages, rows, row, triggerId } = await given(t)
  const options = () => ({ deadline: steadyMs() + 5_000 })
  sender.shut()
  const first = messages.dispatch(projectId, rows, options())
  // Runs as a job that runs again because its lease was lost while the database could not be reached.
  const found = await messages.findUnanswered(projectId, [triggerId])
  for (const one of found) one.endpoint = row.endpoint
  const second = messages.dispatch(projectId, found, options())
  await new Promise((resolve) => setTimeout(resolve, 300))
  sender.open()
  await Promise.all([first, second])
  assert.equal(sender.pushes.length, 1)
  assert.deepEqual([row.state, found[0]!.state], ['accepted', 'accepted'], 'both runs learn its end')
})
