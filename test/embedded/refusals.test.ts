import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyBinaries, findBinaries, mendLinks } from '../../src/platform/db/embedded/binaries.ts'
import { holdDataFolder } from '../../src/platform/db/embedded/data-folder.ts'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { canRun } from '../../src/platform/db/embedded/identity.ts'
import { explain } from '../../src/platform/db/embedded/log.ts'
import { makeSocketFolder } from '../../src/platform/db/embedded/places.ts'
import { copiedCheckout, isRoot, startServer, tempFolder } from './support/embedded.ts'

const silent = () => {}
const operatorError = (message: string | RegExp) => ({ name: 'OperatorError', message })

test('a folder that another major version wrote is refused and not touched', async (t) => {
  const dataDir = await tempFolder(t)
  const folder = join(dataDir, 'postgres')
  await mkdir(folder)
  await writeFile(join(folder, 'PG_VERSION'), '17\n')
  const before = await stat(folder)
  await assert.rejects(
    startEmbedded({ dataDir, say: silent }),
    operatorError(
      `${folder} was written by PostgreSQL 17, and this Tidings brings PostgreSQL 18. Make a backup with the Tidings that wrote it (\`tidings backup\`), move this folder away, and restore: docs/guides/backups.md.`
    )
  )
  assert.deepEqual(await readdir(folder), ['PG_VERSION'])
  assert.deepEqual((await stat(folder)).ctime, before.ctime)
})

test('a folder named postgres that holds something else is refused and not touched', async (t) => {
  const dataDir = await tempFolder(t)
  await mkdir(join(dataDir, 'postgres'))
  await writeFile(join(dataDir, 'postgres/letter.txt'), 'mine')
  await assert.rejects(
    startEmbedded({ dataDir, say: silent }),
    operatorError(/postgres holds no PostgreSQL\. Move it away/)
  )
  assert.equal(await readFile(join(dataDir, 'postgres/letter.txt'), 'utf8'), 'mine')
})

test('a data folder that is a file is refused, and so is one below a file', async (t) => {
  const file = join(await tempFolder(t), 'file')
  await writeFile(file, '')
  for (const dataDir of [file, join(file, 'data')]) {
    const sentence = `${dataDir} is not a folder. Set DATA_DIR to a folder.`
    await assert.rejects(startEmbedded({ dataDir, say: silent }), operatorError(sentence))
  }
})

test('a data folder that may not be written is refused by name', async (t) => {
  const checkout = await copiedCheckout(t)
  const closed = join(checkout, 'closed')
  await mkdir(closed, { mode: 0o555 })
  for (const dataDir of [closed, join(closed, 'data')]) {
    const server = startServer(t, { dataDir, checkout, ...(isRoot && { uid: 1 }) })
    await assert.rejects(
      server.url,
      operatorError(new RegExp(`^The data folder ${dataDir} is not writable for this user`))
    )
  }
})

test('a data folder that cannot be made is refused, at once and by name', async (t) => {
  const told = (dataDir: string) =>
    operatorError(`The data folder ${dataDir} cannot be made. Set DATA_DIR to another folder.`)
  for (const dataDir of ['/proc/tidings', '/proc/tidings/data'])
    if (process.platform === 'linux') await assert.rejects(startServer(t, { dataDir }).url, told(dataDir))
})

test('a data folder on a disk that is read-only is refused as such', async (t) => {
  const disk = await tempFolder(t)
  const before = [
    ...['unshare', '--map-root-user', '--mount', 'sh', '-c'],
    ...[`mount -t tmpfs -o ro none '${disk}' && exec "$@"`, 'sh']
  ]
  try {
    execFileSync('unshare', [...before.slice(1), 'true'], { stdio: 'ignore' })
  } catch {
    return
  }
  for (const dataDir of [disk, join(disk, 'new'), join(disk, 'new/data')])
    await assert.rejects(
      startServer(t, { dataDir, before }).url,
      operatorError(`The data folder ${dataDir} is on a read-only filesystem. Set DATA_DIR to another folder.`)
    )
})

test('a full disk is named, and the unfinished database is deleted', async (t) => {
  const dataDir = await tempFolder(t)
  const places = { dataDir, log: join(dataDir, 'postgres.log') }
  const sentence = `The disk that holds ${dataDir} is full. Free some space, then start again.`
  assert.equal(explain(places, 'initdb: error: could not write: No space left on device\n').message, sentence)

  // If namespaces are allowed, even an ordinary user may mount a disk that is too small, in a separate namespace.
  const before = [
    'unshare',
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    `mount -t tmpfs -o size=4m none '${dataDir}' && exec "$@"`,
    'sh'
  ]
  try {
    execFileSync('unshare', [...before.slice(1), 'true'], { stdio: 'ignore' })
  } catch {
    return
  }
  await assert.rejects(startServer(t, { dataDir, before }).url, operatorError(sentence))
})

test('an unknown reason is passed on with the path of the log', () => {
  const written = '2030-01-01 00:00:00 UTC [7] FATAL:  the moon is full.\n2030-01-01 UTC [7] LOG:  shut down\n'
  const { message } = explain({ dataDir: '/d', log: '/d/postgres.log' }, written)
  assert.equal(message, 'PostgreSQL does not start on /d: the moon is full. Its log is /d/postgres.log.')
  assert.match(explain({ dataDir: '/d', log: '/l' }, '').message, /it gave no reason/)
  assert.match(
    explain({ dataDir: '/d', log: '/l' }, "postgres: version `GLIBC_9' not found").message,
    /Set DATABASE_URL/
  )
})

test('the error of a system without a package asks for a PostgreSQL of its own', () => {
  assert.throws(
    () => findBinaries('linux-riscv64'),
    operatorError(
      'There is no PostgreSQL for linux-riscv64 among the installed packages. Set DATABASE_URL to a PostgreSQL 15 or newer instead.'
    )
  )
})

test('a data folder is held by one at a time and can be held again after its release', async (t) => {
  const dataDir = await tempFolder(t)
  const alias = join(await tempFolder(t), 'alias')
  await symlink(dataDir, alias)
  const hold = await holdDataFolder(dataDir)
  await assert.rejects(holdDataFolder(alias), operatorError(/^Tidings already runs on /))
  await hold.release()
  await hold.release()
  const next = await holdDataFolder(alias)
  await next.release()
})

test('missing links between libraries are made again, by two at once if need be', async (t) => {
  const native = join(await tempFolder(t), 'native')
  execFileSync('cp', ['-a', findBinaries().native, native])
  const binaries = { native, initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres') }
  const links: { target: string; source: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  )
  for (const { target } of links) await rm(join(native, '..', target), { force: true })
  assert.deepEqual(await Promise.all([mendLinks(binaries), mendLinks(binaries), mendLinks(binaries)]), [
    true,
    true,
    true
  ])
  for (const { target, source } of links) assert.ok(source.endsWith(await readlink(join(native, '..', target))))
  assert.equal(await canRun('self', binaries.postgres), true)
})

test('binaries are copied once, whole, and for everybody to read', async (t) => {
  const place = await tempFolder(t)
  const [one, two] = await Promise.all([copyBinaries(findBinaries(), place), copyBinaries(findBinaries(), place)])
  assert.deepEqual(one, two)
  assert.equal((await readdir(place)).length, 1)
  assert.equal((await stat(one.postgres)).mode & 0o777, 0o555)
  if (isRoot && process.platform === 'linux') assert.equal(await canRun('nobody', one.postgres), true)
})

test('a folder for the socket that another user made first is refused', async (t) => {
  const place = await tempFolder(t)
  const path = join(place, 'socket')
  await mkdir(path, { mode: 0o777 })
  await writeFile(join(path, '.s.PGSQL.5432.lock'), '1\n')
  await makeSocketFolder(path, place, 'self')
  assert.deepEqual(await readdir(path), [], 'leftovers of our own are cleared away')
  assert.equal((await stat(path)).mode & 0o777, 0o700)
  if (!isRoot) return
  await chmod(path, 0o777)
  execFileSync('chown', ['1:1', path])
  await assert.rejects(
    makeSocketFolder(path, place, 'self'),
    operatorError(`${path} belongs to another user. Remove it, then start again.`)
  )
})
