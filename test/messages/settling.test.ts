import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { messageMonths } from '../../src/messages/jobs.ts'
import type { MessageRow } from '../../src/messages/message.ts'
import { settleMessages } from '../../src/messages/settle-store.ts'
import { findMessages, insertMessages } from '../../src/messages/store.ts'
import { makePartitions } from '../../src/platform/db/partitions.ts'
import { againIfRaced } from '../../src/platform/db/races.ts'
import { firstIdAt, newId, type ProjectId } from '../../src/platform/ids.ts'
import { testPool } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const projectId = 'p' as ProjectId
/** Four weeks. Messages at 0, 4 and 8 weeks from now lie in two or three months, whose tables are made ahead. */
const monthMs = 28 * 24 * 3_600_000

/** Messages of two users in two or three months, and another session with a transaction that has just begun. */
async function given(t: TestContext) {
  const pool = await testPool(t)
  const at = new Date()
  await makePartitions(pool, messageMonths, at)
  const other = await pool.connect()
  t.after(() => other.end())
  const users = [newId(), newId()]
  await other.query(`insert into projects values ($1, 'P', 'live', 'standard', '{}', '{}', $2)`, [projectId, at])
  for (const id of users)
    await other.query(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at) values ($1, $2, $3, '{}', $4, $4)`,
      [projectId, id, id, at]
    )
  const rows = Array.from({ length: 60 }, (_, place): MessageRow => {
    const id = firstIdAt(at.getTime() + (place % 3) * monthMs)
    return {
      trigger_id: id,
      device_id: `d${place}`,
      message_id: newId(),
      push_id: newId(),
      user_id: users[place % 2]!,
      campaign_id: null,
      variant: null,
      language: null,
      step: null,
      place,
      state: 'handed',
      due_at: new Date(at.getTime() + 30_000),
      not_after: at,
      content: {} as MessageRow['content'],
      collapse_id: '',
      priority: 'high',
      gateway: null,
      environment: null,
      activity_type: null,
      activity_id: null,
      attempts: 0,
      retries: {},
      gateway_message_id: null,
      reason: null,
      reason_message: null,
      gateway_code: null,
      simulated: false,
      created_at: at,
      handed_at: at,
      settled_at: null,
      delivered_at: null,
      tapped_at: null,
      owner: null
    }
  })
  assert.equal(await insertMessages(pool, projectId, rows, false), rows.length)
  await other.query('begin')
  /** Settles the messages while the other session holds their locks, and returns those that were settled. */
  async function settleMeanwhile(as: Pick<MessageRow, 'state' | 'due_at'> = { state: 'accepted', due_at: null }) {
    const settlements = rows.map((row) => ({ ...row, ...as, attempts: 1, claimed: row }))
    const settled = againIfRaced(() => pool.transaction((tx) => settleMessages(tx, projectId, settlements, new Date())))
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await eventually(async () => {
      // Within a transaction, the server repeats the list of sessions that it read first.
      await other.query('select pg_stat_clear_snapshot()')
      assert.equal((await other.query(waits)).rowCount, 1)
    })
    await other.query('commit')
    return settled
  }
  return { pool, other, users, rows, settleMeanwhile }
}

it('outcomes of several months are settled while another transaction changes some of the messages', async (t) => {
  const { pool, other, users, rows, settleMeanwhile } = await given(t)
  // Some move to the other user, as when two users are merged, and devices report on some.
  await other.query(`update messages set user_id = $1 where user_id = $2 and place < 20`, [users[1], users[0]])
  await other.query(`update messages set delivered_at = now() where place % 4 = 1`)
  const settled = await settleMeanwhile()
  assert.equal(settled.length, rows.length)
  const now = await findMessages(pool, projectId, rows)
  assert.deepEqual(
    [...new Set(now.map(({ state, due_at, attempts }) => `${state} ${due_at} ${attempts}`))],
    ['accepted null 1']
  )
  assert.equal(now.filter(({ delivered_at }) => delivered_at).length, 15)
  assert.deepEqual(
    settled.map(({ device_id, user_id }) => `${device_id} ${user_id}`).sort(),
    now.map(({ device_id, user_id }) => `${device_id} ${user_id}`).sort(),
    'each is told with the user whose it is now'
  )
  assert.ok(settled.some(({ device_id, user_id }) => device_id === 'd0' && user_id === users[1]))
})

it('a message that is deleted while its outcome is settled stays deleted, and the others have theirs', async (t) => {
  const { pool, other, rows, settleMeanwhile } = await given(t)
  await other.query('delete from messages where place in (7, 8, 9)')
  assert.equal((await settleMeanwhile()).length, rows.length - 3)
  const now = await findMessages(pool, projectId, rows)
  assert.deepEqual(
    now.map(({ place }) => place).sort((one, two) => one - two),
    rows.map(({ place }) => place).filter((place) => place < 7 || place > 9)
  )
  assert.ok(now.every(({ state }) => state === 'accepted'))
})

it('a message that is settled or claimed while it is released for a retry stays as it is', async (t) => {
  const { pool, other, rows, settleMeanwhile } = await given(t)
  await other.query(`update messages set state = 'skipped', due_at = null where place = 7`)
  await other.query(`update messages set owner = $1 where place = 8`, [newId()])
  const settled = await settleMeanwhile({ state: 'queued', due_at: new Date() })
  assert.equal(settled.length, rows.length - 2)
  const now = await findMessages(pool, projectId, rows)
  const stateOf = (at: number) => now.find(({ place }) => place === at)!.state
  assert.deepEqual([6, 7, 8, 9].map(stateOf), ['queued', 'skipped', 'handed', 'queued'])
})

for (const others of ['the trigger', 'the month'])
  it(`recording what gateways accepted reads these messages, and not all others of ${others}`, async (t) => {
    const { pool, other, rows } = await given(t)
    await other.query('rollback')
    const many = Array.from({ length: 4_000 }, (_, n) => ({
      ...rows[0]!,
      ...(others === 'the month' && { trigger_id: newId() }),
      device_id: `of-many-${n}`,
      message_id: newId(),
      due_at: null
    }))
    assert.equal(await insertMessages(pool, projectId, many, true), many.length)
    const settlements = many.slice(0, 200).map((row) => ({
      ...row,
      state: 'accepted' as const,
      attempts: 1,
      gateway_message_id: row.push_id,
      claimed: row
    }))
    const settled = await pool.transaction(async (tx) => {
      // Otherwise a session reports what it read after ten seconds.
      await tx.adhoc('select pg_stat_force_next_flush()', [])
      return settleMessages(tx, projectId, settlements, new Date())
    })
    assert.equal(settled.length, 200)
    // The months of a server that has just started have no statistics, which is when a plan goes wrong.
    const counters = `select sum(n_tup_upd)::int as changed, sum(idx_tup_fetch + seq_tup_read)::int as read
    from pg_stat_user_tables where relname ~ '^messages_'`
    await eventually(async () => {
      const [counted] = (await other.query(counters)).rows
      assert.equal(counted.changed, 200)
      assert.ok(counted.read <= 1_000, `${counted.read} messages were read`)
    })
  })

for (const meanwhile of [false, true])
  it(`what gateways accepted of many triggers in several months is recorded row by row${meanwhile ? ', also of rows that change meanwhile' : ''}`, async (t) => {
    const { pool, other, users, rows } = await given(t)
    // In each month the first messages are written last, so places of rows in different months are the same, and the order of
    // places is not that of keys.
    const many = Array.from({ length: 90 }, (_, n) => ({
      ...rows[n % 60]!,
      trigger_id: firstIdAt(Date.now() + (n % 3) * monthMs + 1_000 - n),
      device_id: `of-many-${n % 7}`,
      message_id: newId(),
      push_id: newId(),
      due_at: null
    }))
    await insertMessages(pool, projectId, many, true)
    const chosen = many.filter((_, n) => n % 10 !== 0)
    const settlements = chosen.map((row, n) => ({
      ...row,
      state: 'accepted' as const,
      attempts: 1,
      gateway_message_id: n % 2 ? row.push_id : `of gateway ${n}`,
      claimed: row
    }))
    if (meanwhile)
      await other.query(`update messages set user_id = $1 where user_id = $2 and device_id = 'of-many-3'`, users)
    const settling = againIfRaced(() =>
      pool.transaction((tx) => settleMessages(tx, projectId, settlements, new Date()))
    )
    if (meanwhile)
      await eventually(async () => {
        await other.query('select pg_stat_clear_snapshot()')
        const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        assert.equal((await other.query(waits)).rowCount, 1)
      })
    await other.query('commit')
    const settled = await settling
    const stored = new Map((await findMessages(pool, projectId, many)).map((row) => [row.message_id, row]))
    assert.deepEqual(
      settled.map(({ message_id, user_id }) => [message_id, user_id]).sort(),
      chosen.map(({ message_id }) => [message_id, stored.get(message_id)!.user_id]).sort()
    )
    for (const { message_id, gateway_message_id } of settlements) {
      const { state, gateway_message_id: id, settled_at } = stored.get(message_id)!
      assert.deepEqual([state, id, settled_at !== null], ['accepted', gateway_message_id, true])
    }
    for (const { message_id } of many.filter((_, n) => n % 10 === 0))
      assert.equal(stored.get(message_id)!.state, 'handed', 'the others stay as they are')
    const again = await pool.transaction((tx) => settleMessages(tx, projectId, settlements, new Date()))
    assert.deepEqual(again, [], 'a repeat settles none')
  })

it('messages that are said to be new and are not fail as a lost race does, and a repeat keeps those that exist', async (t) => {
  const { pool, other, rows } = await given(t)
  await other.query('rollback')
  const more = [
    { ...rows[0]!, push_id: newId() },
    { ...rows[0]!, device_id: 'another', message_id: newId(), push_id: newId() }
  ]
  const tries: boolean[] = []
  const written = await againIfRaced((again) => {
    tries.push(again)
    return pool.transaction((tx) => insertMessages(tx, projectId, more, !again))
  })
  assert.deepEqual([tries, written], [[false, true], 1])
  const [kept] = await findMessages(pool, projectId, [more[0]!])
  assert.equal(kept!.push_id, rows[0]!.push_id)
})
