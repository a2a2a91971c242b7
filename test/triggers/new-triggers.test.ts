import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { Db } from '../../src/platform/db/db.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { addToCounters, startTriggers } from '../../src/triggers/counting/counter-store.ts'
import { noChange } from '../../src/triggers/counting/delta.ts'
import { learnTriggers } from '../../src/triggers/counting/statistics-store.ts'
import { elsewhere, testPool } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const project = 'busy' as ProjectId
const size = 3_000
/** Twenty triggers are locked, changed and returned. A plan that reads the project reads thousands. */
const mostRead = 200

/** A table of triggers that the server has never analyzed. */
async function given(t: TestContext) {
  const pool = await testPool(t)
  await pool.adhoc('alter table triggers set (autovacuum_enabled = off)', [])
  await pool.adhoc(`insert into projects values ($1, 'P', 'live', 'standard', '{}', '{}', now())`, [project])
  const add = async (count: number) => {
    const ids = Array.from({ length: count }, () => newId())
    await pool.adhoc(
      `insert into triggers (project_id, id, campaign_id, campaign_version, state, audience, properties, accepted_at, cursor, chunks,
         open_chunks, targeted, sent, failed, skipped, delivered, tapped, skipped_for, failed_for, wake_at)
       select $1, id, 'news', 1, 'running', '{}', '{}', now(), '', 0, 1, 0, 0, 0, 0, 0, 0, '{}', '{}', now()
         from unnest($2::uuid[]) id`,
      [project, ids]
    )
    return ids
  }
  const reads = async () => {
    const [row] = await pool.adhoc<{ read: number }>(
      `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as read from pg_stat_user_tables where relname = 'triggers'`,
      []
    )
    return row!.read
  }
  const count = (ids: string[]) =>
    pool.transaction(async (tx) => {
      await tx.adhoc('select pg_stat_force_next_flush()', [])
      const deltas = ids.map((id) => ({ ...noChange(id), targeted: 1 }))
      return addToCounters(tx, project, deltas, async () => {})
    })
  return { pool, add, reads, count }
}

it('the triggers of a new installation are counted without reading others, as soon as there are some hundred', async (t) => {
  const { pool, add, reads, count } = await given(t)
  // The plan that is kept from here on is that of a small table.
  const few = await add(120)
  for (let round = 0; round < 8; round += 1) assert.equal((await count(few.slice(0, 20))).length, 20)
  await learnTriggers(pool, few.length)
  const many = await add(size)
  for (let round = 0; round < 2; round += 1) {
    const before = await reads()
    const counted = await count(many.slice(0, 20))
    assert.deepEqual(
      counted.map(({ counts }) => counts.targeted),
      Array(20).fill(round + 1)
    )
    await eventually(async () => assert.ok((await reads()) > before))
    const read = (await reads()) - before
    assert.ok(read <= mostRead, `${read} rows were read`)
  }
})

it('two transactions that count or start the same triggers add up, and start each once', async (t) => {
  const { pool, add } = await given(t)
  const [id] = await add(20)
  const one = [{ ...noChange(id!), targeted: 1 }]
  const start = [{ ...noChange(id!), targeted: 5, reason: 'first' }]
  const ignore = async () => {}
  /** Runs both, the second while the first has locked the trigger and has not committed. */
  async function race<Result>(work: (tx: Db) => Promise<Result>): Promise<[Result, Result]> {
    let second: Promise<Result> | undefined
    const first = await pool.transaction(async (tx) => {
      const result = await work(tx)
      second = elsewhere(() => pool.transaction(work))
      await eventually(async () => {
        const waiting = await elsewhere(() =>
          pool.adhoc(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            []
          )
        )
        assert.equal(waiting.length, 1)
      })
      return result
    })
    return [first, await second!]
  }
  const counted = await race((tx) => addToCounters(tx, project, one, ignore))
  assert.deepEqual(
    counted.map(([row]) => row!.counts.targeted),
    [1, 2]
  )
  const started = await race((tx) => startTriggers(tx, project, start, ignore))
  assert.deepEqual(
    started.map((rows) => rows.map(({ counts }) => counts.targeted)),
    [[7], []]
  )
})

it('the server analyzes triggers after each tenfold, unless it knows of as many', async (t) => {
  const { pool, add } = await given(t)
  await add(1_200)
  const learned = []
  for (const started of [60, 60, 60, 300, 600]) learned.push(await learnTriggers(pool, started))
  // It was analyzed with 1,200 rows when 120 had been started, so the next look finds enough.
  assert.deepEqual(learned, [false, true, false, false, false])
  await add(12_000)
  assert.equal(await learnTriggers(pool, 9_000), true)
  const afterRestart = { ...pool }
  assert.equal(await learnTriggers(afterRestart, 5_000), false)
})
