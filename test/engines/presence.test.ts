import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Pool } from '../../src/platform/db/db.ts'
import { createListener, type Listener } from '../../src/platform/db/listen.ts'
import { testPool } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { silentLog } from '../support/log.ts'

const nameOf = (listener: Listener) =>
  eventually(() => listener.presence.name ?? assert.fail('it is not known to the database'))

async function present(pool: Pool): Promise<{ listener: Listener; name: number }> {
  const listener = createListener(pool, silentLog, { judgesAfterMs: 0 })
  return { listener, name: await nameOf(listener) }
}

it('a process that lost nothing but the connection it is known by is not taken for dead, and one that ended is', async (t) => {
  const pool = await testPool(t)
  const [lost, asking] = await Promise.all([present(pool), present(pool)])
  t.after(() => Promise.all([lost.listener.close(), asking.listener.close()]))
  const isGone = () => pool.transaction((tx) => asking.listener.presence.isGone(tx, lost.name))
  assert.equal(await isGone(), false)

  // Only a connection that has lasted for a moment is reopened at once.
  await new Promise((resolve) => setTimeout(resolve, 150))
  await pool.adhoc(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = $1::oid and objsubid = 2`,
    [lost.name]
  )
  assert.equal(await isGone(), false)
  assert.equal(await nameOf(lost.listener), lost.name)

  await lost.listener.close()
  assert.equal(await isGone(), true)
  assert.equal(await isGone(), true)
})
