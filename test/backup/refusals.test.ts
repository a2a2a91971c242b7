import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { createFrames, magic } from '../../src/platform/backup/format.ts'
import { openPool } from '../../src/platform/db/db.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { readMigrations } from '../../src/platform/db/migrations.ts'
import { ranBinary, ranUnread, run, temporaryFolder } from '../cli/service.ts'
import { databaseUrl, emptyDatabase, limitedRole, migratedDatabase, withClient } from '../support/database.ts'
import { silentLog } from '../support/log.ts'
import { startNode, startService } from '../support/service.ts'
import { contentsOf } from './support/backups.ts'

const key = Buffer.alloc(32, 'suite').toString('base64')
const folder = await mkdtemp(join(tmpdir(), 'tidings-test-'))
after(() => rm(folder, { recursive: true, force: true }))

/** A backup of a service with a few rows, which all tests share. */
const one = await oneBackup()

async function oneBackup() {
  const service = await startService()
  const project = await service.project()
  await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
  await service.sql(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
     select $1, gen_random_uuid(), 'u' || n, jsonb_build_object('n', md5(n::text)), now(), now() from generate_series(1, 3000) n`,
    [project.id]
  )
  const file = join(folder, 'one.backup')
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: join(folder, 'data'), MASTER_KEY: key }
  const made = await run(['backup', file], { env })
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^Wrote 3,0\d\d rows of 2 projects .*\nThe master key is not in the file: .*\n$/)
  return { service, file, env }
}

async function emptyTarget(t: TestContext) {
  const { url } = await emptyDatabase(t)
  return { url, env: { DATABASE_URL: url, DATA_DIR: await temporaryFolder(t), MASTER_KEY: key } }
}

const tablesIn = (url: string) =>
  withClient(url, async (client) => (await client.query(`select from pg_tables where schemaname = 'public'`)).rowCount)

describe('a restore refuses, and leaves nothing behind', () => {
  it('a file that was cut off, altered, or is something else', async (t) => {
    const { file } = one
    const whole = await readFile(file)
    const bad = join(await temporaryFolder(t), 'bad.backup')
    const middle = Math.floor(whole.length / 2)
    const altered = Buffer.from(whole)
    altered[middle]! ^= 1
    // The same rows with a word changed, compressed again.
    const changed = Buffer.concat([
      whole.subarray(0, magic.length),
      zstdCompressSync(await framesWith(file, 'u17\t', 'u71\t'))
    ])
    const cases: [string, Buffer, RegExp][] = [
      ['half', whole.subarray(0, middle), /damaged or was cut off/],
      ['all but the last bytes', whole.subarray(0, -20), /damaged or was cut off/],
      ['a bit changed', altered, /damaged|not whole/],
      ['a row changed', changed, /damaged|not whole/],
      ['nothing', Buffer.alloc(0), /not a backup of Tidings/],
      ['text', Buffer.from('select 1;\n'.repeat(100)), /not a backup of Tidings/],
      ['only the first line', whole.subarray(0, magic.length), /damaged or was cut off/],
      ['a later format', Buffer.from('tidings-backup 2\nabc'), /format that this version does not know/]
    ]
    const { url, env } = await emptyTarget(t)
    for (const [what, bytes, sentence] of cases) {
      await writeFile(bad, bytes)
      for (const args of [
        ['restore', bad],
        ['restore', '--check', bad]
      ]) {
        const refused = await run(args, { env })
        assert.deepEqual([refused.code, refused.stdout], [1, ''], `${what}: ${args.join(' ')}`)
        assert.match(refused.stderr, sentence, what)
        // A slow machine also gets lines about the progress.
        assert.doesNotMatch(refused.stderr.replace(/^(Restoring|Checking): .*\n/gm, ''), /\n.*\n/, what)
      }
      assert.equal(await tablesIn(url), 0, what)
    }
    assert.equal((await run(['restore', '--check', file], { env: {} })).code, 0)
  })

  it('a wrong or missing master key, before the database is touched', async (t) => {
    const { file } = one
    const { url, env } = await emptyTarget(t)
    const { MASTER_KEY: _, ...keyless } = env
    const wrong = { ...env, MASTER_KEY: Buffer.alloc(32, 'other').toString('base64') }
    for (const [given, sentence] of [
      [keyless, /was made with a master key, and .*master\.key is not there/],
      [wrong, /MASTER_KEY is not the master key of the backup/]
    ] as const) {
      const refused = await run(['restore', file], { env: given })
      assert.equal(refused.code, 78)
      assert.match(refused.stderr, sentence)
      assert.equal(await tablesIn(url), 0)
    }
    const lost = await run(['restore', file, '--key-lost'], { env: keyless })
    assert.deepEqual([lost.code, lost.stderr], [0, ''])
    assert.match(lost.stdout, /tidings secrets forget/)
  })

  it('a backup of a newer version, and one with tables that its schema does not have', async (t) => {
    const { file } = one
    const { header } = await contentsOf(file)
    const made = join(await temporaryFolder(t), 'made.backup')
    const write = async (change: object, table?: string) => {
      const frames = createFrames()
      const parts = [frames.header({ ...header, ...change })]
      if (table) parts.push(frames.table({ table, columns: ['name'] }), frames.tableEnd({ rows: 0, sha256: 'none' }))
      parts.push(frames.trailer(0, 0))
      await writeFile(made, Buffer.concat([Buffer.from(magic), zstdCompressSync(Buffer.concat(parts))]))
    }
    const { url, env } = await emptyTarget(t)
    for (const [change, table, sentence] of [
      [{ migrations: [...header.migrations, '9999-tomorrow'] }, undefined, /made by a newer Tidings .*9999-tomorrow/],
      [{}, 'pg_authid', /pg_authid that its own schema does not have/],
      [{}, undefined, /not whole/],
      [{ months: ['users; drop table x'] }, undefined, /not one of a month/]
    ] as const) {
      await write(change, table)
      const refused = await run(['restore', made], { env })
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, sentence)
      assert.equal(await tablesIn(url), 0)
    }
  })

  it('a database in use, unless it is replaced, and never while nodes run', async (t) => {
    const { file, env: source } = one
    const { url } = await migratedDatabase(t)
    const env = { ...source, DATABASE_URL: url }
    const node = await startNode({ ...env, BOOTSTRAP_ADMIN_TOKEN: 'svc_at_here' })
    const inUse = await run(['restore', file], { env })
    assert.equal(inUse.code, 1)
    assert.match(inUse.stderr, /in use already.*Nothing was changed.*--replace/)
    const running = await run(['restore', file, '--replace', '--yes', '--json'], { env })
    assert.deepEqual([running.code, JSON.parse(running.stderr).code], [1, 'nodes_alive'])
    await node.close()
    assert.equal((await run(['restore', file, '--replace'], { env })).code, 2, 'nothing is replaced without a yes')
    const replaced = await run(['restore', file, '--replace', '--yes'], { env })
    assert.deepEqual([replaced.code, replaced.stderr], [0, ''])
    const rows = await withClient(url, (client) => client.query(`select from users where project_user_id = 'u17'`))
    assert.equal(rows.rowCount, 1)
  })
})

/** The content of a backup, uncompressed, with a text replaced. */
async function framesWith(file: string, old: string, fresh: string): Promise<Buffer> {
  const bytes = zstdDecompressSync((await readFile(file)).subarray(magic.length))
  const at = bytes.indexOf(old)
  assert.ok(at > 0 && old.length === fresh.length)
  bytes.write(fresh, at)
  return bytes
}

describe('a backup', () => {
  it('replaces no file unless it is told to, and travels through pipes', async (t) => {
    const { file, env } = one
    const again = await run(['backup', file], { env })
    assert.equal(again.code, 1)
    assert.match(again.stderr, /exists already\. Name another file, or give --overwrite\./)
    assert.equal((await run(['backup', file, '--overwrite'], { env })).code, 0)
    const parent = dirname(file)
    for (const more of [[], ['--overwrite']]) {
      const folderGiven = await run(['backup', parent, ...more], { env })
      assert.equal(folderGiven.code, 1)
      assert.equal(
        folderGiven.stderr,
        `${parent} is a folder. Name a file, such as ${join(parent, 'tidings.backup')}.\n`
      )
    }
    const nowhere = await run(['backup', join(file, 'no')], { env })
    assert.equal(nowhere.code, 1)
    assert.match(nowhere.stderr, /cannot be written/)

    const whole = await readFile(file)
    const { url, env: target } = await emptyTarget(t)
    const piped = await ranBinary(['restore', '-'], { env: target, input: whole as unknown as string })
    assert.deepEqual([piped.code, piped.stderr], [0, ''])
    assert.equal(
      (await withClient(url, (client) => client.query(`select from users where project_user_id = 'u17'`))).rowCount,
      1
    )
  })

  it('fails where its output is not written completely; a list that its reader has left does not', async () => {
    const { env } = one
    for (const into of ['full disk', 'closed pipe'] as const) {
      const { code, stderr } = await ranUnread(['backup', '-'], { env }, into)
      assert.equal(code, 1, into)
      assert.match(stderr, /^The output was not written completely: .*(ENOSPC|closed the pipe).*\n$/, into)
    }
    assert.deepEqual(await ranUnread(['--help'], { env }, 'closed pipe'), { code: 0, stderr: '' })
  })

  it('says what is wrong with a database without Tidings, and with a role without rights', async (t) => {
    const { env } = await emptyTarget(t)
    const file = join(await temporaryFolder(t), 'none.backup')
    const none = await run(['backup', file], { env })
    assert.equal(none.code, 1)
    assert.match(none.stderr, /holds no Tidings\. Check DATABASE_URL\.\n$/)

    const { url } = await limitedRole(t, 10)
    const name = new URL(url).pathname.slice(1)
    const role = new URL(url).username
    await withClient(databaseUrl(name), (client) => client.query(`revoke select on users from ${role}`))
    const refused = await run(['backup', file], { env: { ...env, DATABASE_URL: url } })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /lacks a right: permission denied for table users.*Use the role that owns/)
    await assert.rejects(readFile(file))
    const { file: good } = one
    await withClient(databaseUrl(name), async (client) => {
      await client.query('drop table users cascade')
      await client.query('drop table settings, projects, migrations, nodes cascade')
      await client.query(`revoke create on schema public from ${role}`)
    })
    const denied = await run(['restore', good], { env: { ...env, DATABASE_URL: url } })
    assert.equal(denied.code, 1)
    assert.match(denied.stderr, /lacks a right: (permission denied|must be owner)/)
  })

  it('of an older schema is restored and migrated', async (t) => {
    const { url: old } = await emptyDatabase(t)
    const pool = openPool({ connectionString: old }, silentLog, 2)
    const all = readMigrations()
    const known = all.filter(({ id }) => id <= 12)
    await migrate(pool, undefined, { migrations: known }).finally(() => pool.close())
    await withClient(old, async (client) => {
      await client.query(
        `insert into projects (project_id, name, mode, plan, limits, retention, created_at)
         values ('old', 'Old', 'simulator', 'standard', '{}', '{}', now())`
      )
    })
    const file = join(await temporaryFolder(t), 'old.backup')
    const { url, env } = await emptyTarget(t)
    // Another version's command would write it; this one reads any schema.
    assert.equal((await run(['backup', file], { env: { ...env, DATABASE_URL: old } })).code, 0)
    assert.equal((await contentsOf(file)).header.migrations.length, known.length)
    const restored = await run(['restore', file, '--json'], { env })
    assert.deepEqual([restored.code, restored.stderr], [0, ''])
    assert.deepEqual(
      restored.json<{ migrated: string[] }>().migrated,
      all.filter(({ id }) => id > 12).map(({ name }) => name)
    )
    const rows = await withClient(url, (client) => client.query('select paused_at from projects'))
    assert.ok(rows.rows[0].paused_at)
    const node = await startNode({ ...env, BOOTSTRAP_ADMIN_TOKEN: 'svc_at_here' })
    await node.close()
  })
})

it('backup, resume, copy and secrets make no database where there is none', async (t) => {
  const { url, env: empty } = await emptyTarget(t)
  const parent = await temporaryFolder(t)
  const [data, file] = [join(parent, 'data'), join(parent, 'one.backup')]
  const commands = [
    ['backup', file],
    ['resume'],
    ['resume', '--dry-run'],
    ['copy', url],
    ['secrets', 'rotate'],
    ['secrets', 'forget', '--yes']
  ]
  for (const args of commands) {
    const { code, stdout, stderr } = await run(args, { env: { DATA_DIR: data } })
    assert.deepEqual([code, stdout], [78, ''], args.join(' '))
    assert.equal(stderr, `There is no Tidings in ${data}. Set DATA_DIR to its data folder, or DATABASE_URL.\n`)
  }
  assert.deepEqual(await readdir(parent), [])
  for (const args of commands.filter(([name]) => name !== 'copy')) {
    const { code, stdout, stderr } = await run(args, { env: empty })
    assert.deepEqual([code, stdout], [1, ''], args.join(' '))
    assert.match(stderr, /^The database \S+ holds no Tidings\. Check DATABASE_URL\.\n$/, args.join(' '))
  }
  assert.equal(await tablesIn(url), 0)
})
