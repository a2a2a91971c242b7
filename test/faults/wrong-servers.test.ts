import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readConfig } from '../../src/platform/config/config.ts'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { chooseIdentity, giveTo, spawnAs } from '../../src/platform/db/embedded/identity.ts'
import { usableBinaries } from '../../src/platform/db/embedded/places.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { checkServer } from '../../src/platform/db/server-check.ts'
import { OperatorError } from '../../src/platform/errors.ts'
import { run } from '../cli/service.ts'
import { atEnd, preparedFolder } from '../embedded/support/embedded.ts'
import { limitedRole, migratedDatabase, withClient } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { databaseProxy } from '../support/proxy.ts'
import { transactionPooler } from '../support/transaction-pooler.ts'

/** Starts the program, which must end with a sentence and without a stack trace. */
async function refusedStart(t: TestContext, url: string): Promise<string> {
  const program = startProgram(t, { DATA_DIR: await temporaryFolder(t), DATABASE_URL: url })
  program.ready.catch(() => {})
  assert.deepEqual(await program.exited, { code: 78, signal: null })
  assert.doesNotMatch(program.stderr(), /\n\s+at /)
  return program.stderr()
}

/** A copy of a server that follows a primary which it cannot reach. */
async function standby(t: TestContext): Promise<string> {
  const identity = await chooseIdentity()
  const dataDir = await preparedFolder(t)
  const folder = join(dataDir, 'postgres')
  await writeFile(join(folder, 'standby.signal'), '')
  const sockets = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  await chmod(sockets, 0o755)
  for (const one of [folder, sockets]) await giveTo(identity, one)
  const { postgres } = await usableBinaries(findBinaries(), dataDir, identity)
  const settings = ['listen_addresses=', `unix_socket_directories=${sockets}`].flatMap((one) => ['-c', one])
  const child = spawnAs(identity, postgres, folder, settings, ['ignore', 'ignore'])
  const ended = new Promise((resolve) => child.once('exit', resolve))
  atEnd(t, () => rm(sockets, { recursive: true, force: true }))
  atEnd(t, async () => {
    child.kill('SIGQUIT')
    await ended
  })
  const url = `postgres://tidings@localhost/tidings?host=${encodeURIComponent(sockets)}&sslmode=disable`
  await eventually(() => withClient(url, (client) => client.query('select 1')), 30_000)
  return url
}

describe('a server on which Tidings cannot run', () => {
  it('a start and doctor refuse a standby with the reason', async (t) => {
    const url = await standby(t)
    assert.match(await refusedStart(t, url), /is a standby, which takes no writes\. Set DATABASE_URL to the primary/)
    const { code, stdout } = await run(['doctor'], { env: { DATA_DIR: await temporaryFolder(t), DATABASE_URL: url } })
    assert.equal(code, 1)
    assert.match(stdout, /^fail +PostgreSQL +.* is a standby/m)
  })

  it('a pooler in transaction mode is refused with the reason', async (t) => {
    const { url } = await migratedDatabase(t)
    assert.match(await refusedStart(t, await transactionPooler(url)), /is a pooler that lends connections for a trans/)
  })

  it('a pooler that refuses a start parameter is reported with its own message', async (t) => {
    // The error text of pgbouncer.
    const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: statement_timeout', '']
    const body = Buffer.from(fields.map((field) => `${field}\0`).join(''))
    const size = Buffer.alloc(4)
    size.writeInt32BE(body.length + 4)
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), size, body])))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    await assert.rejects(
      checkServer({ connectionString: `postgres://u@127.0.0.1:${port}/tidings?sslmode=disable` }, 'db'),
      (error) =>
        error instanceof OperatorError &&
        /^db is a pooler that refuses a parameter \(unsupported startup .*ignore_startup_parameters/.test(error.message)
    )
  })

  it('a database whose role may only read is refused with the reason', async (t) => {
    const { name, url } = await migratedDatabase(t)
    await withClient(url, (client) => client.query(`alter database ${name} set default_transaction_read_only = on`))
    await assert.rejects(checkServer({ connectionString: url }, 'db'), /default_transaction_read_only is on/)
  })

  it('a server and a proxy that forwards connections unchanged are accepted', async (t) => {
    const { url } = await migratedDatabase(t)
    await checkServer({ connectionString: url }, 'db')
    await checkServer({ connectionString: (await databaseProxy(url)).url }, 'db')
  })

  it('a start at the connection limit names the limit to raise', async (t) => {
    const { url, another } = await limitedRole(t, 1)
    const taken = await another()
    t.after(() => taken.end())
    await assert.rejects(
      openDatabase({ DATABASE_URL: url, DATA_DIR: '/nowhere' }, () => {}, { patienceMs: 0 }),
      /has no connection left: too many connections for role .*\. Raise max_connections, or the limit of the role/
    )
  })

  for (const [url, reason] of [
    ['postgres://u:p@one:5432,,two:5433/tidings', /DATABASE_URL: has an empty place in its list of hosts/],
    ['postgres://one:x,two/tidings', /DATABASE_URL: names the port x/],
    ['postgres://u:p%40@one%2Ctwo/tidings', /DATABASE_URL: must separate its hosts by a plain comma/]
  ] as const)
    it(`a wrong list of hosts is refused with the reason: ${url}`, () => {
      assert.throws(() => readConfig({ DATABASE_URL: url }), reason)
    })

  it('a folder of sockets with a comma in its name is one host', () => {
    const url = 'postgres://localhost/tidings?host=%2Ftmp%2Fa%2Cb'
    assert.equal(readConfig({ DATABASE_URL: url }).DATABASE_URL, url)
  })
})
