import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBeside } from '../../src/platform/db/embedded/beside.ts'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { bare, binary, ranBinary } from '../cli/service.ts'
import { preparedFolder, query, startServer, stopServer, tempFolder, until } from '../embedded/support/embedded.ts'
import { contentsOf, rowsIn } from './support/backups.ts'

/** Enough that a backup and a restore can be killed half-way. The long mode measures a large installation. */
const users = process.env.TIDINGS_LONG ? 1_000_000 : 15_000

/** Makes a project and many users in a migrated embedded PostgreSQL that no service runs. */
async function fill(dataDir: string): Promise<void> {
  const server = await startEmbedded({ dataDir, say: () => {} })
  try {
    await query(
      server.url,
      `insert into projects (project_id, name, mode, plan, limits, retention, created_at)
       values ('big', 'Big', 'simulator', 'standard', '{}', '{}', now())`
    )
    await query(
      server.url,
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
       select 'big', gen_random_uuid(), 'user-' || n,
              jsonb_build_object('plan', case n % 3 when 0 then 'premium' else 'free' end, 'city', md5((n % 500)::text), 'age', n % 90),
              now(), now() from generate_series(1, ${users}) n`
    )
  } finally {
    await server.stop()
  }
}

/** Starts a command and kills it when `when` holds. Returns whether it was still running. */
async function killed(args: string[], env: Record<string, string>, when: () => Promise<boolean>): Promise<boolean> {
  const child = spawn(process.execPath, [binary, ...args], { env: bare(env), stdio: 'ignore' })
  const closed = once(child, 'close')
  while (child.exitCode === null && !(await when().catch(() => false))) await sleep(20)
  const running = child.kill('SIGKILL')
  await closed
  return running && child.signalCode === 'SIGKILL'
}

const loading = (dataDir: string) => async () => {
  const url = await findBeside(dataDir)
  if (!url) return false
  const [found] = await query(
    url,
    `select count(*)::int as count from pg_stat_activity where query ~ '^copy users' and state = 'active'`
  )
  return found!.count === 1
}

describe('kill -9 of a backup and of a restore, and from embedded to embedded', () => {
  it('leaves no file under the name, nothing in the database, and both work afterwards', async (t) => {
    const dataDir = await preparedFolder(t)
    const folder = await tempFolder(t)
    const file = join(folder, 'one.backup')
    await t.test('the embedded PostgreSQL is started for a backup if none runs', async () => {
      const empty = await ranBinary(['backup', file], { env: { DATA_DIR: dataDir } })
      assert.equal(empty.code, 1)
      assert.match(empty.stderr, /holds no Tidings/)
      const migrated = await ranBinary(['migrate'], { env: { DATA_DIR: dataDir } })
      assert.equal(migrated.code, 0, migrated.stderr)
      // Otherwise the backup may meet the server of that command while it stops, and say that a connection was lost.
      await until('nothing runs', async () => (await findBeside(dataDir)) === undefined)
      const made = await ranBinary(['backup', file], { env: { DATA_DIR: dataDir } })
      assert.deepEqual([made.code, made.stderr], [0, ''])
      await rm(file)
    })
    await fill(dataDir)
    // While another process runs the embedded PostgreSQL, as a service does.
    const server = startServer(t, { dataDir })
    const url = await server.url
    const hasPart = async () => {
      const part = (await readdir(folder)).find((name) => name.endsWith('.part'))
      return part !== undefined && (await stat(join(folder, part))).size > 100_000
    }
    assert.ok(await killed(['backup', file], { DATA_DIR: dataDir }, hasPart), 'killed half-way')
    assert.equal((await readdir(folder)).filter((name) => name === 'one.backup').length, 0)
    let beganMs = Date.now()
    const made = await ranBinary(['backup', file, '--json'], { env: { DATA_DIR: dataDir } })
    assert.deepEqual([made.code, made.stderr.replace(/^Backing up: .*\n/gm, '')], [0, ''])
    assert.deepEqual(await readdir(folder), ['one.backup'], 'the part of the killed one is gone')
    t.diagnostic(
      `backup of ${users} users: ${Date.now() - beganMs} ms, ${(await stat(file)).size} bytes, ${made.stdout.replace(/\s+/g, ' ')}`
    )

    // The way to a new major version of the engine: the same data folder, the old cluster moved away.
    const target = join(await tempFolder(t), 'data')
    await mkdir(target)
    await copyFile(join(dataDir, 'postgres.log'), join(target, 'postgres.log'))
    const env = { DATA_DIR: target, MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }
    assert.ok(await killed(['restore', file], env, loading(target)), 'killed half-way')
    const fresh = startServer(t, { dataDir: target })
    assert.deepEqual(await query(await fresh.url, `select from pg_tables where schemaname = 'public'`), [])
    await stopServer(fresh)
    beganMs = Date.now()
    const restored = await ranBinary(['restore', file], { env })
    assert.equal(restored.code, 0, restored.stderr)
    assert.match(restored.stdout, /is paused/)
    t.diagnostic(`restore: ${Date.now() - beganMs} ms`)
    await until('nothing runs', async () => (await findBeside(target)) === undefined)
    const resumed = await ranBinary(['resume'], { env })
    assert.deepEqual([resumed.code, resumed.stderr], [0, ''])
    assert.match(resumed.stdout, /is resumed/)
    await until('nothing runs', async () => (await findBeside(target)) === undefined)
    const second = startServer(t, { dataDir: target })
    if (process.env.TIDINGS_LONG) {
      assert.deepEqual(await query(await second.url, 'select count(*)::int as count from users'), [{ count: users }])
    } else {
      const contents = await contentsOf(file)
      const found = await rowsIn(await second.url, contents)
      assert.deepEqual(found.users, contents.tables.users!.rows)
      assert.deepEqual((await rowsIn(url, contents)).users, contents.tables.users!.rows)
    }
    await stopServer(second)
    await stopServer(server)
  })
})
