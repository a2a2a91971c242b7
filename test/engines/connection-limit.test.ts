import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { Unavailable } from '../../src/platform/errors.ts'
import { limitedRole } from '../support/database.ts'
import { silentLog } from '../support/log.ts'
import { eventually, startNode } from '../support/service.ts'

const nap = statement('test.nap', 'select pg_sleep(0.05), pg_backend_pid() as pid')

it('at the connection limit of the server all requests are served by the connections the process has', async (t) => {
  const { url, another } = await limitedRole(t, 3)
  const taken = await another()
  const pool = openPool({ connectionString: url }, silentLog, 10)
  t.after(async () => {
    await taken.end()
    await pool.close()
  })
  const plain = Array.from({ length: 20 }, () => pool.one<{ pid: number }>(nap))
  const inside = Array.from({ length: 20 }, () => pool.transaction((tx) => tx.one<{ pid: number }>(nap)))
  const pids = new Set((await Promise.all([...plain, ...inside])).map((row) => row!.pid))
  assert.equal(pids.size, 2, 'those that the others left')
})

it('a process without any connection waits for one, and no longer than it waits for its own', async (t) => {
  const { url, another } = await limitedRole(t, 1)
  const taken = await another()
  const pool = openPool({ connectionString: url }, silentLog, 10)
  t.after(() => pool.close())
  await assert.rejects(
    pool.one(nap),
    (error) => error instanceof Unavailable && /too many connections/.test(error.message)
  )
  const waiting = pool.one(nap)
  setTimeout(() => void taken.end(), 300)
  assert.ok(await waiting)
})

it('a connection of its own, to listen or to hold leases, is one of the pool where the server gives no other', async (t) => {
  const { url } = await limitedRole(t, 3)
  const pool = openPool({ connectionString: url }, silentLog, 10)
  t.after(() => pool.close())
  await Promise.all([pool.one(nap), pool.one(nap), pool.one(nap)])
  const own = await pool.connect()
  const { rows } = await own.query('select 1 as one')
  assert.deepEqual(rows, [{ one: 1 }])
  await Promise.all(Array.from({ length: 10 }, () => pool.one(nap)))
  await own.end()
  await Promise.all(Array.from({ length: 10 }, () => pool.one(nap)))
  assert.ok(pool.stats().total <= 3)
})

it('a service whose role may have four connections answers a burst without a 503', async (t) => {
  const { url } = await limitedRole(t, 4)
  const service = await startNode({
    DATABASE_URL: url,
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_limit',
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64')
  })
  t.after(() => service.close())
  const project = await service.project({ limits: { requests_per_second: 0 } })
  const calls = Array.from({ length: 100 }, (_, n) =>
    project.call('GET', `/api/v1/users/nobody-${n}`).then(({ status, text }) => (status === 404 ? status : text))
  )
  assert.deepEqual([...new Set(await Promise.all(calls))], [404])
})

it('a process takes DATABASE_POOL_SIZE connections and three more, as docs/guides/self-hosting.md says', async (t) => {
  const { url } = await limitedRole(t, 50)
  const service = await startNode({
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: '5',
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_limit',
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64')
  })
  t.after(() => service.close())
  const project = await service.project({ limits: { requests_per_second: 0 } })
  const burst = () => Array.from({ length: 100 }, (_, n) => project.call('GET', `/api/v1/users/nobody-${n}`))
  const of = `select count(*)::int as n from pg_stat_activity where application_name = 'tidings' and usename = $1`
  // A connection that the process has just closed still exists for a moment.
  await eventually(async () => {
    // The pool grows only while requests wait for a connection, so a fast burst may need fewer.
    await Promise.all(burst())
    assert.equal((await service.sql(of, [new URL(url).username]))[0].n, 5 + 3)
  }, 30_000)
})
