import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { findNamed, findNamedReachable, loadRecipients } from '../../src/campaigns/audience/recipients-store.ts'
import type { Db } from '../../src/platform/db/db.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { learnProjects } from '../../src/users/users.ts'
import { testPool } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const fresh = 'fresh' as ProjectId
const size = 3_000
/** Three rows for each of twenty devices, and what learnProjects read. A plan that reads the project for each takes 60,000. */
const mostRead = 1_500

/** A project that the server's statistics know, and one that was filled after they were made. */
async function given(t: TestContext) {
  const pool = await testPool(t)
  await pool.transaction(async (tx) => {
    for (const project of ['known', fresh]) {
      await tx.adhoc(`insert into projects values ($1, 'P', 'live', 'standard', '{}', '{}', now())`, [project])
      await tx.adhoc(
        `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
         select $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'user-' || n, '{}', now(), now()
           from generate_series(1, ${size}) n`,
        [project]
      )
      await tx.adhoc(
        `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
         select project_id, 'device-' || substr(project_user_id, 6), id, 'IOS', true, '{}', now(), now(), now()
           from users where project_id = $1`,
        [project]
      )
      await tx.adhoc(
        `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
         select project_id, sha256((project_id || id || old)::bytea), id, case old when 0 then id else 'old' end, 'APNS',
                'production', now() - interval '1 hour' * old
           from devices, generate_series(0, 1) old where project_id = $1 and (old = 0 or id = 'device-7')`,
        [project]
      )
      if (project === 'known') await tx.adhoc('analyze users, devices, push_tokens', [])
    }
    // Otherwise the session reports what it read after ten seconds.
    await tx.adhoc('select pg_stat_force_next_flush()', [])
  })
  const counters = `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as read from pg_stat_user_tables
    where relname in ('users', 'devices', 'push_tokens')`
  const reads = async () => (await pool.adhoc<{ read: number }>(counters, []))[0]!.read
  /** The rows that the work returns, and the number of those that the server read for it. */
  async function readBy<Rows>(work: (tx: Db) => Promise<Rows>): Promise<[rows: Rows, read: number]> {
    const before = await reads()
    const rows = await pool.transaction(async (tx) => {
      await tx.adhoc('select pg_stat_force_next_flush()', [])
      return work(tx)
    })
    await eventually(async () => assert.ok((await reads()) > before))
    return [rows, (await reads()) - before]
  }
  assert.equal(await learnProjects(pool, ['known' as ProjectId]), false)
  assert.equal(await learnProjects(pool, ['known' as ProjectId, fresh]), true)
  assert.equal(await learnProjects(pool, [fresh]), false)
  return { readBy }
}

describe('in a project that the statistics of the server did not know', () => {
  const numbers = Array.from({ length: 20 }, (_, n) => n + 1)

  it('the devices of a batch are found without reading others', async (t) => {
    const { readBy } = await given(t)
    const devices = numbers.map((n) => `device-${n}`)
    const [found, read] = await readBy((tx) => loadRecipients(tx, fresh, devices))
    assert.deepEqual(
      found.map(({ device_id }) => device_id),
      devices.toSorted()
    )
    assert.ok(found.every(({ token, device_id }) => token === device_id))
    assert.ok(read <= mostRead, `${read} rows were read`)
  })

  it('the targets of a trigger are found without reading others', async (t) => {
    const { readBy } = await given(t)
    const targets = numbers.map((n) => ['project_user_id', `user-${n}`] as ['project_user_id', string])
    const [found, read] = await readBy((tx) => findNamed(tx, fresh, targets))
    assert.equal(found.length, 20)
    assert.ok(read <= mostRead, `${read} rows were read`)
    const [{ recipients }, readAll] = await readBy((tx) => findNamedReachable(tx, fresh, targets))
    assert.equal(recipients.size, 20)
    assert.ok(readAll <= mostRead, `${readAll} rows were read`)
  })
})
