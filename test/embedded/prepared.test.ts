import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { segmentOf } from '../../src/platform/db/embedded/control.ts'
import { startEmbedded, startEmbeddedAs } from '../../src/platform/db/embedded/embedded.ts'
import { packCluster, preparedFile, unpackCluster } from '../../src/platform/db/embedded/prepared.ts'
import { readMigrations } from '../../src/platform/db/migrations.ts'
import { atEnd, isRoot, postmasterPid, preparedFolder, query, tempFolder, until } from './support/embedded.ts'

const silent = () => {}
const script = join(import.meta.dirname, '../../scripts/cluster.ts')
const self = { uid: process.getuid!(), gid: process.getgid!() }

const prepare = async (folder: string) => (await promisify(execFile)(process.execPath, [script, folder])).stdout

const place = await mkdtemp(join(tmpdir(), 'tidings-test-'))
after(() => rm(place, { recursive: true, force: true }))
assert.equal(await prepare(place), '')
const file = preparedFile(place, findBinaries())

const identifierOf = async (url: string) =>
  (await query(url, 'select system_identifier::text as id from pg_control_system()'))[0]!.id

/** Half of the prepared one, in another folder. */
async function damaged(folder: string): Promise<string> {
  const half = preparedFile(await mkdtemp(join(folder, 'place-')), findBinaries())
  await copyFile(file, half)
  await truncate(half, 5_000_000)
  return dirname(half)
}

/** Path, kind, mode and owner of everything in a folder. */
const listOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => {
      const { mode, uid, gid } = statSync(join(folder, path))
      return `${path} ${mode.toString(8)} ${uid}:${gid}`
    })
    .sort()

test('a new data folder is a copy with all migrations, an identifier of its own, and the settings that initdb makes if the prepared one is damaged', async (t) => {
  assert.deepEqual(await readdir(place), [file.slice(place.length + 1)], 'nothing else is left')
  const folder = await tempFolder(t)
  const [one, two, usual] = await Promise.all([
    startEmbedded({ dataDir: join(folder, 'one'), say: silent, prepared: place }),
    startEmbedded({ dataDir: join(folder, 'two'), say: silent, prepared: place }),
    startEmbedded({ dataDir: join(folder, 'usual'), say: silent, prepared: await damaged(folder) })
  ])
  for (const server of [one, two, usual]) atEnd(t, () => server.stop())
  const migrations = await query(one.url, 'select name from migrations order by id')
  assert.deepEqual(
    migrations.map(({ name }) => name),
    readMigrations().map(({ name }) => name)
  )
  assert.deepEqual(await query(usual.url, `select to_regclass('migrations') as found`), [{ found: null }])
  assert.deepEqual(await readdir(join(folder, 'usual')), await readdir(join(folder, 'one')))
  const identifiers = await Promise.all([one, two, usual].map(({ url }) => identifierOf(url)))
  assert.equal(new Set(identifiers).size, 3)
  const settings = `select name, setting from pg_settings where name !~ '(_directories|_directory|_file)$' order by name`
  assert.deepEqual(await query(one.url, settings), await query(usual.url, settings))
  const databases =
    'select datname, encoding, datlocprovider, datlocale, datcollate, datdba from pg_database order by 1'
  assert.deepEqual(await query(one.url, databases), await query(usual.url, databases))
  const roles = `select rolname, rolpassword from pg_authid where rolname !~ '^pg_'`
  assert.deepEqual(await query(one.url, roles), [{ rolname: 'tidings', rolpassword: null }])
})

test('a copy survives restarts and kills of PostgreSQL', async (t) => {
  const dataDir = join(await tempFolder(t), 'data')
  const first = await startEmbedded({ dataDir, say: silent, prepared: place })
  const identifier = await identifierOf(first.url)
  await query(first.url, 'create table note as select 1 as n')
  await first.stop()
  const restarts: string[] = []
  const second = await startEmbedded({ dataDir, say: (line) => restarts.push(line), prepared: place })
  atEnd(t, () => second.stop())
  const pid = await postmasterPid(dataDir)
  await query(second.url, 'insert into note values (2)')
  process.kill(pid, 'SIGKILL')
  await until('it has recovered', () => query(second.url, 'select').then(Boolean, () => false))
  assert.equal(restarts[0], 'PostgreSQL was ended by SIGKILL; starting it again…')
  assert.deepEqual(await query(second.url, 'select n from note order by n'), [{ n: 1 }, { n: 2 }])
  assert.equal(await identifierOf(second.url), identifier)
  // Reads every page, and so checks every checksum.
  await query(second.url, 'vacuum (disable_page_skipping)')
})

test('all files of a copy are there, closed to others, and without holes', async (t) => {
  const [dataDir, folder] = [await preparedFolder(t), await tempFolder(t)]
  const [made, copy] = [join(dataDir, 'postgres'), join(folder, 'postgres')]
  await mkdir(copy, { mode: 0o700 })
  await unpackCluster(packCluster(made), copy, self)
  await rm(join(made, 'postmaster.opts'))
  assert.deepEqual(listOf(copy), listOf(made))
  const segment = join('pg_wal', segmentOf(await readFile(join(made, 'global/pg_control'))))
  assert.ok(statSync(join(copy, segment)).blocks * 512 >= 16 * 1024 * 1024)
  const changed = []
  for (const path of readdirSync(made, { recursive: true, encoding: 'utf8' }))
    if (
      statSync(join(made, path)).isFile() &&
      !(await readFile(join(made, path))).equals(await readFile(join(copy, path)))
    )
      changed.push(path)
  assert.deepEqual(changed.sort(), ['global/pg_control', segment])
})

test('a copy belongs to the user that PostgreSQL runs as', { skip: !isRoot }, async (t) => {
  const dataDir = join(await tempFolder(t), 'data')
  const server = await startEmbeddedAs('nobody', { dataDir, say: silent, prepared: place })
  atEnd(t, () => server.stop())
  assert.equal((await query(server.url, 'select from migrations')).length, readMigrations().length)
  assert.deepEqual(
    listOf(join(dataDir, 'postgres')).filter((line) => !line.endsWith(' 65534:65534')),
    []
  )
})

test('it is prepared once, and a folder in which it cannot be is no failure', async (t) => {
  const made = statSync(file)
  assert.equal(await prepare(place), '')
  assert.equal(statSync(file).ino, made.ino)
  assert.equal(made.mode & 0o777, 0o644)
  const occupied = join(await tempFolder(t), 'file')
  await writeFile(occupied, '')
  assert.equal(await prepare(occupied), 'The first start will make its PostgreSQL itself, which takes longer.\n')
})
