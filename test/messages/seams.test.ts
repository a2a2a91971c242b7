import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Draft } from '../../src/channels/channels.ts'
import type { Outcome } from '../../src/gateways/gateways.ts'
import type { OutcomeChange } from '../../src/messages/messages.ts'
import type { Db } from '../../src/platform/db/db.ts'
import { newId } from '../../src/platform/ids.ts'
import { steadyMs } from '../../src/platform/time.ts'
import { accepted, lost, rejected, retry } from '../support/sender.ts'
import { eventually } from '../support/service.ts'
import { messagesAlone, projectId } from './messages-alone.ts'

/** The messages capability, the outcomes that its subscribers got, and the state of each message. */
async function given(t: TestContext, onSettled?: (tx: Db, changes: OutcomeChange[]) => Promise<void>) {
  const settled: OutcomeChange[] = []
  const alone = await messagesAlone(t, {
    onSettled: [
      async (tx, _, changes) => {
        await onSettled?.(tx, changes)
        settled.push(...changes)
      }
    ]
  })
  const states = async () =>
    Object.fromEntries(
      (await alone.sql('select device_id, state from messages order by device_id')).map((row) => [
        row.device_id,
        row.state
      ])
    )
  return { ...alone, settled, states }
}

const soon = () => ({ deadline: steadyMs() + 5_000 })

describe('messages of triggers', () => {
  it('persist writes drafts once: rows of an earlier run stand, with their ids and outcomes', async (t) => {
    const { pool, messages, draft, sender } = await given(t)
    const triggerId = newId()
    const first = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(triggerId, 'a'), draft(triggerId, 'b')])
    )
    await messages.dispatch(projectId, first.slice(0, 1), soon())
    const again = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(triggerId, 'a'), draft(triggerId, 'b'), draft(triggerId, 'c')])
    )
    assert.deepEqual(
      again.map(({ device_id, state }) => [device_id, state]),
      [
        ['a', 'accepted'],
        ['b', 'queued'],
        ['c', 'queued']
      ]
    )
    assert.deepEqual(
      again.slice(0, 2).map(({ message_id }) => message_id),
      first.map(({ message_id }) => message_id)
    )
    await messages.dispatch(projectId, again, soon())
    assert.deepEqual(
      sender.pushes.map(({ deviceId }) => deviceId),
      ['a', 'b', 'c'],
      'each once'
    )
  })

  it('subscribers get each outcome once, in the transaction that settles it', async (t) => {
    const { pool, sql, messages, draft, sender, settled } = await given(t, async (tx, changes) => {
      const statement = { name: 'test.count', text: 'update settings set value = value::int + $1', acrossProjects: '' }
      await tx.run(statement, [changes.length])
    })
    await sql(`insert into settings values ('settled', '0')`)
    const triggerId = newId()
    sender.script('b', rejected('TOKEN_INVALID'))
    sender.script('c', lost(), accepted())
    sender.script('d', retry('PROJECT_RATE_LIMITED', { notBefore: Date.now() + 60_000 }))
    const drafts = ['a', 'b', 'c', 'd', 'e'].map((id) =>
      draft(triggerId, id, id === 'e' ? { notAfter: Date.now() - 1 } : {})
    )
    const rows = await pool.transaction((tx) => messages.persist(tx, projectId, drafts))
    await messages.dispatch(projectId, rows, soon())
    assert.deepEqual(
      settled.map(({ deviceId, to, reason, campaignId }) => [deviceId, to, reason, campaignId].join(' ')).sort(),
      ['a accepted  welcome', 'b failed TOKEN_INVALID welcome', 'c accepted  welcome', 'e failed EXPIRED welcome']
    )
    const [{ value }] = await sql(`select value from settings where name = 'settled'`)
    assert.equal(value, '4')
    const [job] = await sql(
      `select key, run_at > now() + interval '30 s' as later from jobs where name = 'delivery.retry'`
    )
    assert.deepEqual(job, { key: 'p', later: true })
  })

  it('an accepted message is not sent again, even if a subscriber fails for good', async (t) => {
    const { pool, messages, draft, states } = await given(t, async () => {
      throw new Error('a bug elsewhere')
    })
    const rows = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(newId(), 'a'), draft(newId(), 'b')])
    )
    await messages.dispatch(projectId, rows, soon())
    assert.deepEqual(await states(), { a: 'accepted', b: 'accepted' })
  })

  it('an outcome with characters that the database refuses is settled, and the message is not sent again', async (t) => {
    const { pool, sql, messages, draft, sender, settled } = await given(t)
    const unstorable = { message: 'cut in two: \ud83d', gatewayCode: 'Raw\0' }
    sender.script('a', { ...rejected('PAYLOAD_INVALID'), ...unstorable } as Outcome)
    sender.script('b', { kind: 'accepted', gatewayMessageId: 'name\0' })
    const rows = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(newId(), 'a'), draft(newId(), 'b')])
    )
    await messages.dispatch(projectId, rows, soon())
    const found = await sql(
      'select state, reason_message, gateway_code, gateway_message_id from messages order by device_id'
    )
    assert.deepEqual(found, [
      { state: 'failed', reason_message: 'cut in two: \ufffd', gateway_code: 'Raw', gateway_message_id: null },
      { state: 'accepted', reason_message: null, gateway_code: null, gateway_message_id: 'name' }
    ])
    assert.equal(settled.length, 2)
  })

  it('dispatch is at most a few hundred responses ahead of the database, and continues when it keeps up', async (t) => {
    let waits: Promise<void> | undefined
    const { pool, messages, draft, sender, states } = await given(t, async () => waits)
    const rows = await pool.transaction((tx) => {
      const triggerId = newId()
      return messages.persist(
        tx,
        projectId,
        Array.from({ length: 2_000 }, (_, n) => draft(triggerId, `d${n}`))
      )
    })
    const gate = Promise.withResolvers<void>()
    waits = gate.promise
    // As a gateway far away: fifty at a time.
    const window = 50
    let inFlight = 0
    const { submit } = sender
    sender.submit = (push, done) => {
      if (inFlight >= window) return false
      inFlight += 1
      return submit(push, (outcome) => {
        inFlight -= 1
        done(outcome)
      })
    }
    const handing = messages.dispatch(projectId, rows, { deadline: steadyMs() + 100_000 })
    await eventually(() => assert.ok(sender.pushes.length >= 700))
    for (let before = 0; before < sender.pushes.length; ) {
      before = sender.pushes.length
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    assert.ok(sender.pushes.length <= 800, `${sender.pushes.length} were handed over and not recorded`)
    gate.resolve()
    await handing
    assert.deepEqual(new Set(Object.values(await states())), new Set(['accepted']))
    assert.equal(sender.pushes.length, 2_000)
  })

  it('dispatch skips messages that were canceled meanwhile', async (t) => {
    const { pool, messages, draft, sender, settled, states } = await given(t)
    const triggerId = newId()
    const rows = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(triggerId, 'a'), draft(triggerId, 'b'), draft(newId(), 'c')])
    )
    assert.equal(await pool.transaction((tx) => messages.cancel(tx, projectId, triggerId)), 2)
    assert.equal(await pool.transaction((tx) => messages.cancel(tx, projectId, triggerId)), 0)
    await messages.dispatch(projectId, rows, soon())
    assert.deepEqual(await states(), { a: 'skipped', b: 'skipped', c: 'accepted' })
    assert.deepEqual(
      sender.pushes.map(({ deviceId }) => deviceId),
      ['c']
    )
    assert.deepEqual(
      rows.map(({ state, reason }) => [state, reason]),
      [
        ['skipped', 'CANCELED'],
        ['skipped', 'CANCELED'],
        ['accepted', null]
      ]
    )
    assert.equal(settled.filter(({ to }) => to === 'skipped').length, 2)
  })

  it('rows of a batch have no due time, and release gives one to open rows', async (t) => {
    const { pool, sql, messages, draft, sender } = await given(t)
    const triggerId = newId()
    sender.script('b', 'silence')
    const drafts = ['a', 'b'].map((id) => draft(triggerId, id))
    const rows = await pool.transaction((tx) => messages.persist(tx, projectId, drafts, { owner: 'untimed' }))
    const found = () => sql('select device_id, state, due_at is not null as timed from messages order by device_id')
    assert.deepEqual(await found(), [
      { device_id: 'a', state: 'handed', timed: false },
      { device_id: 'b', state: 'handed', timed: false }
    ])
    await messages.dispatch(projectId, rows, { deadline: steadyMs() + 500 })
    await pool.transaction((tx) => messages.release(tx, projectId, rows))
    assert.deepEqual(await found(), [
      { device_id: 'a', state: 'accepted', timed: false },
      { device_id: 'b', state: 'handed', timed: true }
    ])
    assert.deepEqual(
      rows.map(({ due_at }) => due_at !== null),
      [false, true]
    )
  })

  it('a run after a failure does not dispatch messages that this process still follows', async (t) => {
    const { pool, messages, draft, sender, states } = await given(t)
    const [triggerId, answer] = [newId(), Promise.withResolvers<ReturnType<typeof accepted>>()]
    sender.script('a', answer.promise)
    const rows = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(triggerId, 'a')], { owner: 'untimed' })
    )
    await messages.dispatch(projectId, rows, { deadline: steadyMs() + 50 })
    const again = await messages.findUnanswered(projectId, [triggerId])
    assert.equal(again.length, 1)
    await messages.dispatch(projectId, again, { deadline: steadyMs() + 50 })
    assert.equal(sender.pushes.length, 1)
    answer.resolve(accepted())
    await eventually(async () => assert.deepEqual(await states(), { a: 'accepted' }))
  })

  it('the outcome of a message is settled though its user was merged meanwhile', async (t) => {
    const { pool, sql, messages, draft, settled, sender, at } = await given(t)
    const [other, answer] = [newId(), Promise.withResolvers<ReturnType<typeof accepted>>()]
    await sql(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at) values ($1, $2, 'bob', '{}', $3, $3)`,
      [projectId, other, at]
    )
    sender.script('a', answer.promise)
    const rows = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(newId(), 'a')], { owner: 'untimed' })
    )
    const handing = messages.dispatch(projectId, rows, soon())
    await sql('update messages set user_id = $1', [other])
    answer.resolve(accepted())
    await handing
    assert.deepEqual(
      settled.map(({ userId, to }) => [userId, to]),
      [[other, 'accepted']]
    )
  })

  it('dispatch leaves messages alone that another process claimed meanwhile', async (t) => {
    const { pool, sql, messages, draft, sender } = await given(t)
    const triggerId = newId()
    const rows = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(triggerId, 'a'), draft(triggerId, 'b')])
    )
    await sql(
      `update messages set state = 'handed', due_at = (due_at at time zone 'UTC' + interval '10 s') at time zone 'UTC' where device_id = 'a'`
    )
    await messages.dispatch(projectId, rows, soon())
    assert.deepEqual(
      sender.pushes.map(({ deviceId }) => deviceId),
      ['b']
    )
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['handed', 'accepted']
    )
  })

  it('dispatch stops on its signal, and releases the rest', async (t) => {
    const { pool, messages, draft, sender, states } = await given(t)
    sender.shut()
    const stop = new AbortController()
    const rows = await pool.transaction((tx) =>
      messages.persist(
        tx,
        projectId,
        ['a', 'b'].map((id) => draft(newId(), id))
      )
    )
    const handing = messages.dispatch(projectId, rows, { deadline: steadyMs() + 50_000, signal: stop.signal })
    stop.abort()
    await handing
    assert.deepEqual(await states(), { a: 'queued', b: 'queued' })
    assert.deepEqual(sender.pushes, [])
  })

  it('persist writes nothing for a deleted user, or a project that is being erased', async (t) => {
    const { pool, sql, messages, draft } = await given(t)
    const write = (drafts: Draft[]) => pool.transaction((tx) => messages.persist(tx, projectId, drafts))
    const rows = await write([draft(newId(), 'a', { userId: newId() }), draft(newId(), 'b')])
    assert.deepEqual(
      rows.map(({ device_id }) => device_id),
      ['b']
    )
    await sql('update projects set deleted_at = now()')
    await assert.rejects(write([draft(newId(), 'a')]), { code: 'invalid_api_key' })
  })
})
