import assert from 'node:assert/strict'
import fs, { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startArchiver } from '../../src/platform/archive/archiver.ts'
import { recover } from '../../src/platform/archive/recovery.ts'
import { holdDataFolder } from '../../src/platform/db/embedded/data-folder.ts'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { run } from '../cli/service.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd, preparedFolder, query, tempFolder } from './support/embedded.ts'

async function archived(t: TestContext) {
  const env = { DATA_DIR: await preparedFolder(t), ARCHIVE_DIR: join(await tempFolder(t), 'archive') }
  const said: string[] = []
  return {
    env,
    warnings: () => said.filter((line) => /Warning/.test(line)),
    /** Runs work on the database as a service does, and ends it. */
    async using(bases: number, work: (url: string) => Promise<unknown>, archives = true) {
      const given = {
        DATABASE_URL: undefined,
        DATA_DIR: env.DATA_DIR,
        ...(archives && { ARCHIVE_DIR: env.ARCHIVE_DIR })
      }
      const database = await openDatabase(given, (line) => void said.push(line), { archives })
      try {
        await eventually(async () => {
          const names = await readdir(join(env.ARCHIVE_DIR, 'base')).catch(() => [])
          assert.equal(names.filter((name) => !/part$/.test(name)).length, bases)
        }, 60_000)
        await work(database.connection.connectionString!)
      } finally {
        await database.stop()
      }
    }
  }
}

async function momentAfter(work: Promise<unknown>): Promise<Date> {
  await work
  await sleep(20)
  const at = new Date()
  await sleep(20)
  return at
}

const noted = async (url: string) => (await query(url, 'select value from noted order by 1')).map(({ value }) => value)

/** Writes a base that was copied at a time. Its files are of a PostgreSQL that none of ours reads. */
async function plantBase(archive: string, at: Date): Promise<void> {
  const folder = join(archive, 'base', String(at.getTime()))
  await mkdir(join(folder, 'postgres'), { recursive: true })
  await writeFile(join(folder, 'postgres', 'PG_VERSION'), '7\n')
  const base = { began_at: at.toISOString(), ended_at: at.toISOString(), wal: '000000010000000000000001' }
  await writeFile(join(folder, 'base.json'), JSON.stringify(base))
}

/** The system fails calls of a function that concern a path, with a code, until the test ends. */
function failing(t: TestContext, name: 'rename' | 'copyFile', code: string, concerns: (from: string) => boolean) {
  const real: (from: string, to: string) => Promise<void> = fs[name]
  const made = t.mock.method(fs, name, async (from: string, to: string) => {
    if (concerns(from)) throw Object.assign(new Error(`${code}: ${name} '${from}' -> '${to}'`), { code })
    return real(from, to)
  })
  syncBuiltinESMExports()
  atEnd(t, () => {
    made.mock.restore()
    syncBuiltinESMExports()
  })
}

it('a database that cannot be moved aside stays as it was, and the error says why', async (t) => {
  const [archive, dataDir] = [await tempFolder(t), await tempFolder(t)]
  await plantBase(archive, new Date())
  const folder = join(dataDir, 'postgres')
  await mkdir(folder)
  await writeFile(join(folder, 'row'), 'mine')
  // As a folder that is a mount is refused.
  failing(t, 'rename', 'EBUSY', (from) => from === folder)
  const given = { archive, dataDir, at: undefined, replace: true, say: () => {}, finish: async () => {} }
  await assert.rejects(recover(given), { name: 'OperatorError', message: /cannot be moved aside.*EBUSY/ })
  assert.equal(await readFile(join(folder, 'row'), 'utf8'), 'mine')
  assert.deepEqual((await readdir(dataDir)).sort(), ['postgres', 'tidings.lock'])
})

it('a data folder in use is refused before an archive is restored into it', async (t) => {
  const [archive, dataDir] = [await tempFolder(t), await tempFolder(t)]
  await plantBase(archive, new Date())
  const hold = await holdDataFolder(dataDir)
  atEnd(t, hold.release)
  const given = { archive, dataDir, at: undefined, replace: true, say: () => {}, finish: async () => {} }
  await assert.rejects(recover(given), /Tidings already runs on/)
  await hold.release()
  // A base that no PostgreSQL of ours reads is refused later.
  await assert.rejects(recover(given), /was written by PostgreSQL 7/)
})

it('an archive that cannot be used is reported until it works, and a stop does not wait for it', async (t) => {
  const foreign = await tempFolder(t)
  await writeFile(join(foreign, 'archive.json'), '{"system":"1"}')
  for (const [ARCHIVE_DIR, cause] of [
    [foreign, /belongs to another database/],
    // Linux refuses a folder there as if its parent were absent.
    ['/proc/tidings-archive', /ENOENT/]
  ] as const) {
    const said: string[] = []
    const given = { DATABASE_URL: undefined, DATA_DIR: await preparedFolder(t), ARCHIVE_DIR }
    const database = await openDatabase(given, (line) => void said.push(line), { archives: true })
    await eventually(() => assert.match(said.join(), cause), 30_000)
    // The archiver looks each second, and tries again after a minute.
    await sleep(2_500)
    assert.doesNotMatch(said.join(), /works again/)
    await database.stop()
  }
})

it('an archive on a full disk removes what no moment needs before it copies the database', async (t) => {
  const [dataDir, archive] = [await preparedFolder(t), join(await tempFolder(t), 'archive')]
  const server = await startEmbedded({ dataDir, say: () => {}, archives: true })
  atEnd(t, server.stop)
  const daysAgo = [9, 8, 2].map((days) => new Date(Date.now() - days * 86_400_000))
  for (const at of daysAgo) await plantBase(archive, at)
  const { url, folder } = server
  failing(t, 'copyFile', 'ENOSPC', (from) => from.startsWith(folder))
  const said: string[] = []
  const archiver = startArchiver({ url, folder, archive, days: 1, say: (line) => void said.push(line) })
  await eventually(() => assert.match(said.join(), /ENOSPC/), 30_000)
  await archiver.stop()
  const kept = await readdir(join(archive, 'base'))
  assert.deepEqual(kept, [String(daysAgo[2]!.getTime())], 'the newest base before the kept days')
})

it('an archive restores the embedded database as it was at a moment', async (t) => {
  const { env, using, warnings } = await archived(t)
  let at = new Date(0)
  await using(1, async (url) => {
    await query(url, 'create table noted (value int)')
    at = await momentAfter(query(url, 'insert into noted values (1)'))
    await query(url, 'insert into noted select generate_series(2, 1000)')
  })
  const given = { archive: env.ARCHIVE_DIR, dataDir: env.DATA_DIR, say: () => {}, finish: async () => {} }
  await assert.rejects(recover({ ...given, at: new Date(0), replace: true }), /begins at .*, and 1970-.* was before/)
  await assert.rejects(recover({ ...given, at, replace: false }), /holds a database already.*--replace/)
  let values: unknown[] = []
  const finish = async (url: string) => {
    values = await noted(url)
  }
  const { aside } = await recover({ ...given, at, replace: true, finish })
  assert.deepEqual([values, warnings()], [[1], []])
  assert.match(aside!, /postgres\.before-\d+$/)
})

it('an archive gets the WAL also while the database is being copied into it', async (t) => {
  const [dataDir, archive] = [await preparedFolder(t), join(await tempFolder(t), 'archive')]
  const server = await startEmbedded({ dataDir, say: () => {}, archives: true })
  atEnd(t, server.stop)
  const { url, folder } = server
  const background = `select pid from pg_stat_activity where backend_type = 'checkpointer'`
  const checkpointer = Number((await query(url, background))[0]!.pid)
  const namesIn = (place: string): Promise<string[]> => readdir(join(archive, place)).catch(() => [])
  const bases = async () => (await namesIn('base')).filter((name) => !name.endsWith('.part')).length
  // A copy begins with a checkpoint, and waits for it.
  process.kill(checkpointer, 'SIGSTOP')
  const archiver = startArchiver({ url, folder, archive, days: 7, say: () => {} })
  try {
    const copying = `select 1 from pg_stat_activity where state = 'active' and query like 'select pg_backup_start%'`
    await eventually(async () => assert.equal((await query(url, copying)).length, 1), 20_000)
    await query(url, 'create table noted (value int)')
    const [closed] = await query(url, 'select pg_walfile_name(pg_switch_wal()) as name')
    await eventually(async () => assert.ok((await namesIn('wal')).includes(`${closed!.name}.zst`)), 20_000)
    assert.equal(await bases(), 0)
  } finally {
    process.kill(checkpointer, 'SIGCONT')
  }
  await eventually(async () => assert.equal(await bases(), 1), 60_000)
  await archiver.stop()
})

it('an archive restores a moment at which the next base was being copied', async (t) => {
  const { env, using } = await archived(t)
  let at = new Date(0)
  await using(1, async (url) => {
    await query(url, 'create table noted (value int)')
    await query(url, 'insert into noted values (1)')
    const [first] = await query(url, 'select pg_walfile_name(pg_current_wal_lsn()) as wal')
    const began_at = new Date().toISOString()
    await query(url, 'select pg_switch_wal()')
    at = await momentAfter(query(url, 'insert into noted values (2)'))
    await query(url, 'select pg_switch_wal()')
    await query(url, 'insert into noted values (3)')
    await query(url, 'select pg_switch_wal()')
    const later = join(env.ARCHIVE_DIR, 'base', 'later')
    await mkdir(later)
    await writeFile(
      join(later, 'base.json'),
      JSON.stringify({ began_at, ended_at: new Date().toISOString(), wal: first!.wal })
    )
  })
  let values: unknown[] = []
  const finish = async (url: string) => {
    values = await noted(url)
  }
  const given = { archive: env.ARCHIVE_DIR, dataDir: env.DATA_DIR, say: () => {}, finish }
  await recover({ ...given, at, replace: true })
  assert.deepEqual(values, [1, 2])
})

// Ten starts of PostgreSQL.
if (process.env.TIDINGS_LONG)
  it('a restored database is paused and goes on with its archive, from which moments on both timelines and after a gap are restored', async (t) => {
    const { env, using, warnings } = await archived(t)
    assert.equal((await run(['migrate'], { env })).code, 0)
    const restore = async (...more: string[]) => {
      const { code, stderr } = await run(['restore', env.ARCHIVE_DIR, '--replace', '--yes', ...more], { env })
      assert.equal(code, 0, stderr)
    }
    let [before, after] = [new Date(0), new Date(0)]
    await using(1, async (url) => {
      await query(url, 'create table noted (value int)')
      before = await momentAfter(query(url, 'insert into noted values (1)'))
      after = await momentAfter(query(url, 'insert into noted values (2)'))
      await query(url, 'insert into noted values (3)')
    })
    assert.match((await run(['doctor'], { env })).stdout, /^ok +Archive +\S+, every moment since /m)
    await restore('--at', before.toISOString())
    await using(2, async (url) => {
      assert.deepEqual(await noted(url), [1])
      const [pause] = await query(url, `select value from settings where name = 'paused'`)
      assert.equal(JSON.parse(String(pause!.value)).backup_made_at, before.toISOString())
      await query(url, 'insert into noted values (10)')
    })
    // The first timeline, beyond the moment at which the second one left it.
    await restore('--at', after.toISOString())
    await using(3, async (url) => assert.deepEqual(await noted(url), [1, 2]))
    await using(3, (url) => query(url, 'insert into noted values (20)'), false)
    await using(4, (url) => query(url, 'insert into noted values (21)'))
    await restore()
    await using(5, async (url) => {
      assert.deepEqual(await noted(url), [1, 2, 20, 21])
      await query(url, 'insert into noted values (30)')
    })
    assert.deepEqual(warnings(), [])
    const segments = join(env.ARCHIVE_DIR, 'wal')
    const last = (await readdir(segments))
      .filter((name) => /^[0-9A-F]{24}\.zst$/.test(name))
      .sort()
      .at(-1)!
    await writeFile(join(segments, last), 'damaged')
    const { code, stderr } = await run(['restore', env.ARCHIVE_DIR, '--replace', '--yes'], { env })
    assert.deepEqual([code, stderr.includes(`${last} is damaged`)], [0, true], stderr)
  })
