import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { run } from '../cli/service.ts'
import { eventually } from '../support/eventually.ts'
import { silentLog } from '../support/log.ts'
import { temporaryFolder } from '../support/program.ts'
import { replicated } from '../support/replicated.ts'
import { startNode } from '../support/service.ts'

const look = statement(
  'test.read_values',
  `select current_setting('unix_socket_directories') as sockets, (select count(*)::int from noted) as rows`
)
const write = statement('test.write_value', 'insert into noted (value) values ($1)')

it('DATABASE_REPLICA_URL serves reads', async (t) => {
  const { primary, standby, promote } = await replicated(t)
  await t.test('serves lists and exports of the service, which doctor and the metrics tell', async () => {
    const env = {
      DATA_DIR: await temporaryFolder(t),
      DATABASE_URL: primary.url,
      DATABASE_REPLICA_URL: standby.url,
      BOOTSTRAP_ADMIN_TOKEN: 'svc_at_replica'
    }
    const { url, close } = await startNode(env)
    const manage = async (path: string, body?: unknown) => {
      const reply = await fetch(url + path, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: 'Bearer svc_at_replica',
          ...(body !== undefined && { 'content-type': 'application/json' })
        },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const text = await reply.text()
      assert.equal(reply.status, 200, text)
      return text
    }
    await eventually(async () =>
      assert.match(await manage('/metrics'), /^tidings_database_replica\{figure="usable"\} 1$/m)
    )
    await manage('/manage/v1/projects/demo/users', { project_user_id: 'new-one', properties: { plan: 'premium' } })
    for (const path of [
      'users',
      'users?search=new',
      'users:export',
      'messages',
      'messages:minutes',
      'events',
      'devices',
      'triggers',
      'audit',
      'actors',
      'agent-tasks',
      'agent-tasks:export',
      'webhook-deliveries',
      'api/v1/stats'
    ])
      assert.equal(
        (await manage(`/manage/v1/projects/demo/${path}`)).includes('new-one'),
        path.startsWith('users'),
        path
      )
    const [, replica] = /^tidings_database_replica_reads_total\{server="replica"\} (\d+)$/m.exec(
      await manage('/metrics')
    )!
    assert.equal(Number(replica), 14)
    assert.match(
      (await run(['doctor'], { env })).stdout,
      /^ok +Replica +\S+, a standby that is less than 500 ms behind$/m
    )
    await standby.kill()
    assert.match(await manage('/manage/v1/projects/demo/users'), /new-one/)
    assert.match(
      (await run(['doctor'], { env })).stdout,
      /^warn +Replica +.* cannot be used .* The primary serves its reads/m
    )
    await close()
    await standby.start()
  })

  await t.test(
    'serves a read that sees every commit before it; a replica that lags, is away or was promoted serves none',
    async () => {
      const pool = openPool({ connectionString: primary.url, replica: standby.url }, silentLog, 3)
      t.after(() => pool.close())
      await pool.adhoc('create table noted (value int)', [])
      const reads = () => pool.reading((db) => db.one(look))
      const isUsed = (used: boolean) => () => assert.equal(pool.replica!.stats().why === undefined, used)
      assert.deepEqual(await reads(), { sockets: primary.sockets, rows: 0 })
      pool.replica!.open()
      await eventually(isUsed(true))
      for (let rows = 1; rows <= 20; rows += 1) {
        await pool.run(write, [rows])
        assert.deepEqual(await reads(), { sockets: standby.sockets, rows })
      }
      assert.deepEqual(pool.replica!.stats().reads, { replica: 20, primary: 1 })
      // A write that got into a read does not reach the replica.
      assert.equal(await pool.reading((db) => db.run(write, [21])), 1)

      await standby.query('select pg_wal_replay_pause()')
      await pool.run(write, [22])
      assert.deepEqual(await reads(), { sockets: primary.sockets, rows: 22 })
      assert.match(pool.replica!.stats().why!, /^lags more than 500 ms/)
      await standby.query('select pg_wal_replay_resume()')
      await eventually(isUsed(true))

      standby.freeze()
      assert.deepEqual(await reads(), { sockets: primary.sockets, rows: 22 })
      standby.thaw()
      await eventually(isUsed(true))
      await standby.kill()
      assert.deepEqual(await reads(), { sockets: primary.sockets, rows: 22 })
      await eventually(isUsed(false))
      await standby.start()
      await eventually(isUsed(true))
      await promote()
      assert.deepEqual(await reads(), { sockets: primary.sockets, rows: 22 })
      assert.equal(pool.replica!.stats().why, 'is not a standby')
    }
  )
})
