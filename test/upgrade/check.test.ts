import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkPending } from '../../src/cli/upgrade/pending.ts'
import { readMigration, readMigrations } from '../../src/platform/db/migrations.ts'
import { run, startService, temporaryFolder } from '../cli/service.ts'
import { preparedFolder } from '../embedded/support/embedded.ts'
import { databaseUrl, emptyDatabase, withClient } from '../support/database.ts'
import { startProgram } from '../support/program.ts'

interface Report {
  ok: boolean
  checks: { name: string; status: string; message: string }[]
}

async function check(env: Record<string, string>) {
  const ran = await run(['upgrade', '--check', '--json'], { env })
  const report = ran.json<Report>()
  assert.equal(ran.code, report.ok ? 0 : 1, ran.stdout)
  return { ...report, of: (name: string) => report.checks.filter((one) => one.name === name) }
}

describe('tidings upgrade --check', () => {
  it('looks at a running service, and says that nothing would change', async (t) => {
    const { dataDir, databaseUrl: url } = await startService(t)
    const { ok, of } = await check({ DATA_DIR: dataDir, DATABASE_URL: url })
    assert.ok(ok)
    assert.match(of('Migrations')[0]!.message, /^all \d+ are applied; this version changes nothing$/)
    assert.match(of('Nodes')[0]!.message, /^all run this version: .*pid \d+/)
    assert.equal(of('Settings')[0]!.message, 'valid; none is new')
    assert.equal(of('Backup')[0]!.status, 'warn')
  })

  it('names pending migrations, nodes of older code, and settings that are new or gone', async (t) => {
    const { dataDir, databaseUrl: url } = await startService(t)
    const newest = readMigrations().at(-1)!
    await withClient(url, async (client) => {
      await client.query('delete from migrations where id = $1', [newest.id])
      await client.query(
        `update nodes set newest_migration = $1, settings = array_append(array_remove(settings, 'PORT'), 'OLD_PORT')`,
        [newest.id - 1]
      )
    })
    const { ok, of } = await check({ DATA_DIR: dataDir, DATABASE_URL: url, OLD_PORT: '1' })
    assert.ok(ok)
    assert.ok(of('Migrations')[0]!.message.startsWith(newest.name))
    assert.match(of('Older nodes')[0]!.message, /^can run beside/)
    assert.match(of('Nodes')[0]!.message, /^1 node of 1 to restart/)
    assert.deepEqual(
      of('Settings').map(({ status, message }) => `${status} ${message}`),
      ['ok valid; new: PORT', 'warn OLD_PORT is gone, and set here: this version ignores it. See the changelog.']
    )
  })

  it('works on an embedded database while its service runs, and stops nothing', async (t) => {
    const env = { DATA_DIR: await preparedFolder(t) }
    const program = startProgram(t, env)
    const url = await program.ready
    const { ok, of } = await check(env)
    assert.ok(ok)
    assert.match(of('Migrations')[0]!.message, /^all \d+ are applied/)
    assert.match(of('Disk space')[0]!.message, /free at /)
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    program.child.kill('SIGTERM')
    assert.equal((await program.exited).code, 0)
  })

  it('fails on a database that is too new, and on one that does not respond', async (t) => {
    const { url } = await emptyDatabase(t)
    const env = { DATA_DIR: await temporaryFolder(t), DATABASE_URL: url }
    assert.equal((await check(env)).of('Migrations')[0]!.message, 'the database is empty; the first start sets it up')
    const migrated = await run(['migrate'], { env })
    assert.equal(migrated.code, 0, migrated.stderr)
    await withClient(url, (client) =>
      client.query(`insert into migrations (id, name, applied_at, beside) values (9998, '9998-beside', now(), true)`)
    )
    assert.match((await check(env)).of('Migrations')[0]!.message, /9998-beside\), and this version can run on it$/)
    await withClient(url, (client) => client.query('update migrations set beside = false where id = 9998'))
    const newer = await check(env)
    assert.deepEqual([newer.ok, newer.of('Migrations')[0]!.status], [false, 'fail'])
    const away = await check({ ...env, DATABASE_URL: databaseUrl('no_such_database') })
    assert.deepEqual([away.ok, away.of('Upgrade')[0]!.status], [false, 'fail'])
  })

  it('estimates how long requests wait, and asks for a stop where older nodes cannot go on', () => {
    const known = [
      readMigration('0001-index', 'create index users_nick on users (project_id, nickname);'),
      readMigration(
        '0002-name',
        '-- Stop older nodes first: they write the old name.\nalter table users rename column a to b;'
      )
    ]
    const sizes = new Map([['users', { name: 'users', rows: 2_000_000, bytes: 600e6 }]])
    const node = { role: 'all' as const, host: 'h', pid: 1, version: '0.1.0', newest_migration: null, settings: null }
    const findings = checkPending({ known, applied: [], sizes, nodes: [node] })
    assert.deepEqual(
      findings.map(({ status }) => status),
      ['warn', 'ok', 'fail']
    )
    assert.match(
      findings[0]!.message,
      /builds the index users_nick of users \(2,000,000 rows, .*its writes wait for about 20 s\)/
    )
    assert.match(findings[2]!.message, /^cannot run beside 0002-name\. Stop all nodes/)
  })
})

it('tidings upgrade prints the steps of an upgrade', async () => {
  const { code, stdout } = await run(['upgrade'], {})
  assert.equal(code, 0)
  assert.match(stdout, /^1\. Read .*\n2\. Install .*--check/)
})
