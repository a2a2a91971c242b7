import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { OperatorError, Unavailable } from '../../src/platform/errors.ts'
import { run } from '../cli/service.ts'
import { eventually } from '../support/eventually.ts'
import { silentLog } from '../support/log.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { listOf, type ReplicaServer, replicated } from '../support/replicated.ts'

const where = statement('test.where', `select current_setting('unix_socket_directories') as sockets`)
const write = statement('test.write', 'insert into noted (value) values ($1)')

function poolOn(t: TestContext, url: string) {
  const pool = openPool({ connectionString: url }, silentLog, 3)
  t.after(() => pool.close())
  const isAt = async ({ sockets }: ReplicaServer) => assert.deepEqual(await pool.one(where), { sockets })
  return { pool, isAt }
}

/** A server that accepts connections and never says anything. */
async function silentServer(t: TestContext): Promise<string> {
  const open = new Set<Socket>()
  const server = createServer((socket) => void open.add(socket.on('error', () => {})))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('DATABASE_URL with several hosts', () => {
  // One pair for both: what is true while no server takes writes, and then the promotion.
  it('leads to the primary at any place of the list; without it standbys are refused; then to the promoted one', async (t) => {
    const { primary, standby, promote, url } = await replicated(t)
    const [pool, turned] = [poolOn(t, url), poolOn(t, listOf(standby, primary))]
    await pool.isAt(primary)
    await turned.isAt(primary)
    assert.deepEqual(Object.values(turned.pool.servers.inUse()), [0, 1])
    const listening = await pool.pool.connect()
    const ended = new Promise((resolve) => listening.once('end', resolve))
    const env = { DATA_DIR: await temporaryFolder(t), DATABASE_URL: url }
    await t.test('doctor names the primary and the standby', () => namesBoth(env, primary, standby))

    await primary.kill()
    await ended
    await assert.rejects(pool.pool.one(where), Unavailable)
    await t.test('standbys alone are refused at the start, also by doctor, with the reason', (inner) =>
      refusesStandbys(inner, env, standby)
    )
    await promote()
    await eventually(() => Promise.all([pool.isAt(standby), turned.isAt(standby)]), 5_000)
    assert.equal(pool.pool.servers.changes(), 1)
    const again = await pool.pool.connect()
    assert.deepEqual((await again.query(where.text)).rows, [{ sockets: standby.sockets }])
    await again.end()

    // The former primary comes back and believes that it is the primary.
    await primary.start()
    assert.deepEqual(await primary.query('select pg_is_in_recovery() as standby'), [{ standby: false }])
    await pool.isAt(standby)
    await poolOn(t, url).isAt(standby)
    await standby.kill()
    await eventually(() => assert.rejects(pool.pool.one(where), /has the old timeline 1/))
  })

  it('a primary that no longer responds keeps no write waiting once another server is promoted', async (t) => {
    const { primary, standby, promote, url } = await replicated(t)
    const { pool, isAt } = poolOn(t, url)
    await pool.adhoc('create table noted (value int)', [])
    await isAt(primary)
    await eventually(() => standby.query('select from noted'))
    primary.freeze()
    const stuck = assert.rejects(pool.run(write, [1]), Unavailable)
    await promote()
    await stuck
    await eventually(() => isAt(standby), 5_000)
    assert.equal(await pool.run(write, [5]), 1)
    // It goes on where it stopped, and gets no connection.
    primary.thaw()
    assert.equal(await pool.run(write, [6]), 1)
    assert.deepEqual(await standby.query('select value from noted order by 1'), [{ value: 5 }, { value: 6 }])
  })

  it('a demoted server gets no further write and its connections end; a server that says nothing delays no start', async (t) => {
    const { primary, standby, promote, url: pair } = await replicated(t)
    const [address, port] = (await silentServer(t)).split(':')
    const url = `${pair.replace('host=', `host=${address},`)}&port=${port},5432,5432`
    assert.throws(() => openPool({ connectionString: `${url},1` }, silentLog), /3 hosts and 4 ports/)
    const { pool, isAt } = poolOn(t, url)
    await isAt(primary)
    const connection = await pool.connect()
    const ended = new Promise((resolve) => connection.once('end', resolve))
    // An administrator fences the old primary before the promotion, and its sessions stay.
    await primary.query('alter system set default_transaction_read_only = on')
    await primary.query('select pg_reload_conf()')
    await ended
    await eventually(() => assert.rejects(pool.one(where), /default_transaction_read_only on/))
    await promote()
    await eventually(() => isAt(standby), 5_000)
  })
})

const opening = (address: string) =>
  openDatabase({ DATABASE_URL: address, DATA_DIR: '/nowhere' }, () => {}, { patienceMs: 0 })

async function namesBoth(env: { DATABASE_URL: string }, primary: ReplicaServer, standby: ReplicaServer) {
  const { stop, name } = await opening(env.DATABASE_URL)
  await stop()
  assert.equal(name, `${primary.sockets}:5432,${standby.sockets}:5432/tidings`)
  const healthy = await run(['doctor'], { env })
  assert.match(healthy.stdout, /^ok +Server \S+ +primary, takes the writes$/m)
  assert.match(healthy.stdout, /^ok +Server \S+ +standby$/m)
}

async function refusesStandbys(t: TestContext, env: { DATABASE_URL: string }, standby: ReplicaServer) {
  await assert.rejects(opening(env.DATABASE_URL), /^OperatorError: Tidings found no primary at .* is a standby/)
  const sick = await run(['doctor'], { env })
  assert.equal(sick.code, 1)
  assert.match(sick.stdout, /^warn +Server \S+ +does not respond .* cannot take over/m)
  assert.match(sick.stdout, /^fail +PostgreSQL +no server of DATABASE_URL takes writes/m)

  const program = startProgram(t, { ...env, DATABASE_URL: standby.url })
  program.ready.catch(() => {})
  assert.equal((await program.exited).code, 78)
  await assert.rejects(
    opening(`${listOf(standby, standby).replace('%2Ftidings', '%2F%2Ftidings')}`),
    (error) =>
      error instanceof OperatorError && error.exitCode === 78 && /Every server of .* is a standby/.test(error.message)
  )
  const other = await silentServer(t)
  await assert.rejects(
    opening(`postgres://u@${other},${other.replace('127.0.0.1', 'localhost')}/x`),
    /found no primary/
  )
}
