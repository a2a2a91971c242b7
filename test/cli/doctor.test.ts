import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../src/platform/db/open.ts'
import { checkName, seal } from '../../src/platform/secrets/secrets.ts'
import { preparedFolder, query } from '../embedded/support/embedded.ts'
import { emptyDatabase } from '../support/database.ts'
import { run, startService, temporaryFolder } from './service.ts'

interface Report {
  ok: boolean
  checks: { name: string; status: string; message: string }[]
}

async function doctor(env: Record<string, string>) {
  const ran = await run(['doctor', '--json'], { env })
  const report = ran.json<Report>()
  assert.equal(ran.code, report.ok ? 0 : 1)
  assert.equal(report.ok, !report.checks.some(({ status }) => status === 'fail'))
  const of = (name: string) => report.checks.filter((check) => check.name === name)
  return { ...report, of, statuses: (name: string) => of(name).map(({ status }) => status) }
}

test('doctor finds no problem with a running service', async (t) => {
  const { dataDir, databaseUrl, url } = await startService(t)
  const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, PORT: new URL(url).port }

  await t.test('doctor prints a line for each check, and that all passed', async () => {
    const { code, stdout } = await run(['doctor'], { env })
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^ok {4}Port +127\.0\.0\.1:\d+ is used by Tidings$/m)
    assert.match(stdout, /^ok {4}Service +http:\S+ is ready$/m)
    assert.match(stdout, /^ok {4}Migrations +all \d+ applied$/m)
    assert.match(stdout, /^ok {4}Master key +\S+ opens the secrets of the database$/m)
    assert.match(stdout, /^ok {4}Clock +agrees with the database$/m)
    assert.match(stdout, /\n\nAll checks passed\.\n$/)
  })

  await t.test('doctor looks for the service at the address of its last start', async () => {
    const { ok, of } = await doctor({ ...env, PORT: '0' })
    assert.ok(ok)
    assert.equal(of('Service')[0]!.message, `${url} is ready`)
  })

  await t.test('doctor asks no other installation, although the folder has its credentials', async (t) => {
    const copied = await stoppedFolder(t)
    for (const name of ['credentials.json', 'master.key']) await copyFile(join(dataDir, name), join(copied, name))
    const { ok, of } = await doctor({ DATA_DIR: copied, PORT: '0' })
    assert.deepEqual([ok, of('Service'), of('Keys'), of('Projects')], [true, [], [], []])
  })

  await t.test(
    'doctor reports a Tidings of another folder at the port, while that of this folder is stopped',
    async (t) => {
      const settings = { PORT: env.PORT, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
      const fresh = join(await temporaryFolder(t), 'data')
      for (const folder of [await stoppedFolder(t), fresh]) {
        const { ok, of } = await doctor({ DATA_DIR: folder, ...settings })
        assert.deepEqual([ok, of('Port').length, of('Port')[0]!.status, of('Service')], [false, 1, 'fail', []])
        const { message } = of('Port')[0]!
        assert.match(message, /is used by another Tidings: .* could not start\. Stop the other, or set PORT/)
        assert.ok(message.includes(folder))
      }
    }
  )

  await t.test('doctor warns of a key that expires within 7 days, and not of a later one', async () => {
    const env7 = { env: { DATA_DIR: dataDir } }
    await run(['key', 'create', 'later', '--kind', 'secret', '--expires', '8d'], env7)
    assert.deepEqual((await doctor(env)).statuses('Keys'), ['ok'])
    const { stdout } = await run(['key', 'create', 'soon', '--kind', 'secret', '--expires', '6d', '--json'], env7)
    const { ok, of } = await doctor(env)
    assert.deepEqual([ok, of('Keys').map(({ status }) => status)], [true, ['warn']])
    assert.match(of('Keys')[0]!.message, /^soon \(svc_sk_[\w-]+…\) of demo expires at 2\S+Z\. /)
    const [, advice] = /Replace it: tidings (.*)$/.exec(of('Keys')[0]!.message)!
    const rotated = await run(advice!.split(' '), env7)
    assert.equal(rotated.code, 0, `pasted as it stands: ${rotated.stderr}`)
    assert.deepEqual((await doctor(env)).statuses('Keys'), ['ok'], 'it is replaced')
    const revoked = await run(['key', 'revoke', JSON.parse(stdout).id], env7)
    assert.equal(revoked.code, 0, revoked.stderr)
  })

  await t.test('doctor fails on another master key, and warns of files that other users can read', async () => {
    const other = await doctor({ ...env, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') })
    assert.deepEqual(other.statuses('Master key'), ['fail'])
    await chmod(join(dataDir, 'credentials.json'), 0o644)
    const open = await doctor(env)
    assert.deepEqual([open.ok, open.statuses('Credentials')], [true, ['warn']])
    assert.match(open.of('Credentials')[0]!.message, /chmod 600/)
  })

  await t.test('doctor fails on a database that is newer than the code', async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(`insert into migrations (id, name, applied_at) values (9999, '9999-future', now())`)
    await client.end()
    const { of } = await doctor(env)
    assert.equal(of('Migrations')[0]!.status, 'fail')
    assert.match(of('Migrations')[0]!.message, /9999-future/)
  })
})

/** A data folder with a database that does not run, as after a restore. */
async function stoppedFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'postgres'))
  await writeFile(join(folder, 'postgres', 'PG_VERSION'), '18\n')
  return folder
}

test('doctor says that a start needs the master key, and that it cannot be compared with a stopped database', async (t) => {
  const env = { DATA_DIR: await stoppedFolder(t), PORT: '0' }
  const keyOf = async (more = {}) => (await doctor({ ...env, ...more })).of('Master key')[0]!
  const unknown = await keyOf()
  assert.equal(unknown.status, 'warn', 'such a database may come from `tidings migrate`')
  assert.match(unknown.message, /master\.key is missing, and whether the database has secrets cannot be seen/)
  await writeFile(join(env.DATA_DIR, 'credentials.json'), '{}', { mode: 0o600 })
  const missing = await keyOf()
  assert.equal(missing.status, 'fail', 'a service has started on this folder')
  assert.match(missing.message, /master\.key is missing, .* Restore it from a backup, or set MASTER_KEY\./)
  const key = Buffer.alloc(32, 7).toString('base64')
  await writeFile(join(env.DATA_DIR, 'master.key'), `${key}\n`, { mode: 0o600 })
  for (const more of [{}, { MASTER_KEY: key }]) {
    const { status, message } = await keyOf(more)
    assert.equal(status, 'warn')
    assert.match(message, /(master\.key|MASTER_KEY) was not compared: the database is stopped\./)
  }
})

test('doctor compares the master key with an embedded database that runs', async (t) => {
  const DATA_DIR = await preparedFolder(t)
  const key = Buffer.alloc(32, 7)
  const database = await openDatabase({ DATABASE_URL: undefined, DATA_DIR }, () => {})
  t.after(database.stop)
  const url = database.connection.connectionString!
  await query(url, 'create table settings (name text, value text)')
  await query(url, `insert into settings values ('${checkName}', '${seal(key, checkName, checkName)}')`)
  const keyOf = async (given?: Buffer) => {
    const MASTER_KEY = given?.toString('base64') ?? ''
    return (await doctor({ DATA_DIR, MASTER_KEY, PORT: '0' })).of('Master key')[0]!
  }
  assert.deepEqual(
    [await keyOf(key), await keyOf(Buffer.alloc(32, 8)), await keyOf()].map(({ status }) => status),
    ['ok', 'fail', 'fail']
  )
  assert.match((await keyOf(key)).message, /^MASTER_KEY opens the secrets of the database$/)
})

test('before the first start doctor changes nothing', async (t) => {
  const { url } = await emptyDatabase(t)
  const parent = await temporaryFolder(t)
  for (const DATABASE_URL of [url, '']) {
    const { ok, of } = await doctor({ DATA_DIR: join(parent, 'data'), PORT: '0', DATABASE_URL })
    assert.ok(ok)
    assert.match(of('Data folder')[0]!.message, /created at the first start/)
    assert.match(of('Master key')[0]!.message, /created at the first start/)
  }
  assert.deepEqual(await readdir(parent), [])
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`select 1 from pg_tables where schemaname = 'public'`)
  await client.end()
  assert.equal(rows.length, 0)
})

test('doctor reports what is broken', async (t) => {
  const folder = await temporaryFolder(t)

  await t.test('doctor reports a port that another program uses', async (t) => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close().closeAllConnections())
    const { of } = await doctor({ DATA_DIR: folder, PORT: String((server.address() as AddressInfo).port) })
    assert.match(of('Port')[0]!.message, /used by another program\. Stop it, or set PORT/)
  })

  await t.test('doctor reports an address that this machine does not have', async () => {
    const { of } = await doctor({ DATA_DIR: folder, HOST: '192.0.2.1' })
    assert.match(of('Port')[0]!.message, /Set HOST/)
  })

  await t.test('doctor reports a database that does not respond, without its password', async () => {
    const { of } = await doctor({ DATA_DIR: folder, PORT: '0', DATABASE_URL: 'postgres://me:hush@127.0.0.1:9/nope' })
    assert.deepEqual([of('PostgreSQL')[0]!.status, of('Migrations')], ['fail', []])
    assert.match(of('PostgreSQL')[0]!.message, /127\.0\.0\.1:9\/nope .*DATABASE_URL/)
    assert.ok(!JSON.stringify(of('PostgreSQL')).includes('hush'))
  })

  await t.test('doctor reports a data folder that is a file, wrong settings and broken files', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    assert.deepEqual((await doctor({ DATA_DIR: file, PORT: '0' })).statuses('Data folder'), ['fail'])
    assert.deepEqual((await doctor({ PORT: 'x' })).statuses('Settings'), ['fail'])
    await writeFile(join(folder, 'credentials.json'), '{')
    await writeFile(join(folder, 'master.key'), 'short')
    const broken = await doctor({ DATA_DIR: folder, PORT: '0' })
    assert.deepEqual([...broken.statuses('Credentials'), ...broken.statuses('Master key')], ['fail', 'fail'])
  })
})
