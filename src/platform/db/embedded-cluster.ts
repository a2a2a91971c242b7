import { createHash } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.ts'
import { folderProblem } from './data-folder.ts'
import { type Binaries, copyBinaries, findBinaries, mendLinks } from './embedded-binaries.ts'
import { type Identity, ownerOf, spawnAs } from './embedded-identity.ts'
import { explain } from './embedded-log.ts'

/** One PostgreSQL on disk, and what is needed to run it. */
export interface Cluster {
  dataDir: string
  /** The folder of PostgreSQL itself, in the data folder. */
  folder: string
  log: string
  socketDir: string
  binaries: Binaries
  identity: Identity
}

/** The major version that the binaries read and write. */
const major = '18'

/**
 * Written once into postgresql.conf, where an operator may change them. What the launcher depends on is given on the
 * command line at each start instead. The values suit a small machine: PostgreSQL itself idles at some 30 MB.
 */
const settings = {
  max_connections: '100',
  shared_buffers: '128MB',
  // Compiling queries and huge pages pay for long analytic queries on large machines, and cost memory on small ones.
  jit: 'off',
  huge_pages: 'off',
  io_workers: '1',
  max_wal_size: '1GB',
  min_wal_size: '80MB',
  // Disks today seek for next to nothing.
  random_page_cost: '1.1',
  log_checkpoints: 'off'
}

/** Finds or makes the PostgreSQL of a data folder that is held. */
export async function openCluster(dataDir: string, identity: Identity, say: (line: string) => void): Promise<Cluster> {
  const folder = join(dataDir, 'postgres')
  try {
    const exists = await checkVersion(folder)
    const cluster: Cluster = {
      dataDir,
      folder,
      log: join(dataDir, 'postgres.log'),
      socketDir: await makeSocketFolder(dataDir, identity),
      binaries: await usableBinaries(dataDir, identity),
      identity
    }
    if (exists) await takeOver(cluster, say)
    else await initialise(cluster)
    return cluster
  } catch (error) {
    throw folderProblem(dataDir, error)
  }
}

async function checkVersion(folder: string): Promise<boolean> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
  if (version === undefined) {
    // A folder of that name that is not ours is never written over.
    if (await stat(folder).catch(() => undefined)) {
      throw new OperatorError(
        `${folder} exists but holds no PostgreSQL. Move it away, or set DATA_DIR to another folder.`
      )
    }
    return false
  }
  if (version.trim() === major) return true
  throw new OperatorError(
    `${folder} was written by PostgreSQL ${version.trim()}, and this Tidings brings PostgreSQL ${major}. ` +
      'Start the Tidings that wrote it, or set DATA_DIR to another folder.'
  )
}

/** initdb works in a folder aside, which gets its name when all of it is on disk: a kill leaves nothing half-made. */
async function initialise(cluster: Cluster): Promise<void> {
  const { folder, identity, binaries } = cluster
  const aside = `${folder}.new`
  await rm(aside, { recursive: true, force: true })
  await mkdir(aside, { mode: 0o700 })
  await chmod(aside, 0o700)
  if (((await stat(aside)).mode & 0o077) !== 0) {
    await rm(aside, { recursive: true })
    throw new OperatorError(
      `The filesystem of ${cluster.dataDir} keeps no permissions, which PostgreSQL needs. Set DATA_DIR to a folder on a local disk.`
    )
  }
  await giveTo(aside, identity)
  // Names sort by code point, which no update of a system library can change under an index; case follows Unicode.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8']
  // Whoever can enter the folder of the socket is let in, and only its owner can; there is no other way in.
  const access = ['--username=tidings', '--auth-local=trust', '--auth-host=reject']
  const tuned = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // initdb itself syncs all it wrote before it ends, so what is renamed is durable. Skipping that gains 50 ms of 600.
  const args = [...locale, ...access, ...tuned, '--data-checksums', '--no-instructions']
  const child = spawnAs(identity, binaries.initdb, aside, args, ['ignore', 'pipe'])
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) {
    await rm(aside, { recursive: true, force: true })
    throw explain(cluster, errors)
  }
  await rename(aside, folder)
}

/** A data folder may have been used by another user before: root may change the owner, anybody else can only be told. */
async function takeOver({ folder, identity }: Cluster, say: (line: string) => void): Promise<void> {
  const { uid } = await stat(folder)
  if (uid === ownerOf(identity).uid) return
  if (process.getuid?.() !== 0) {
    throw new OperatorError(`${folder} belongs to the user id ${uid}. Start Tidings as that user, or change its owner.`)
  }
  say(`giving ${folder} to the user PostgreSQL now runs as`)
  await giveTo(folder, identity)
}

/** The folder itself comes last, so that a change of owner that was interrupted is done again. */
async function giveTo(folder: string, identity: Identity): Promise<void> {
  const { uid, gid } = ownerOf(identity)
  for (const entry of await readdir(folder, { recursive: true })) await lchown(join(folder, entry), uid, gid)
  await lchown(folder, uid, gid)
}

/**
 * The path of a socket may have some 100 bytes only, and a data folder may be deep: the socket lives under the folder
 * for temporary files. Its name follows from the identity of the data folder, so that it is the same at each start.
 */
async function makeSocketFolder(dataDir: string, identity: Identity): Promise<string> {
  const { dev, ino } = await stat(dataDir, { bigint: true })
  const name = `tidings-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)}`
  const place = Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp'
  const path = join(place, name)
  await mkdir(path, { mode: 0o700 }).catch((error) => {
    if (error.code !== 'EEXIST')
      throw new OperatorError(`${place} is not writable, and PostgreSQL needs a folder there.`)
  })
  const owner = ownerOf(identity)
  const found = await lstat(path)
  const ours = found.uid === owner.uid || found.uid === process.getuid?.() || process.getuid?.() === 0
  // Somebody else may have made it first, to get between us and PostgreSQL.
  if (!found.isDirectory() || !ours)
    throw new OperatorError(`${path} belongs to another user. Remove it, then start again.`)
  await chmod(path, 0o700)
  if (found.uid !== owner.uid) await lchown(path, owner.uid, owner.gid)
  return path
}

async function usableBinaries(dataDir: string, identity: Identity): Promise<Binaries> {
  const installed = findBinaries()
  if (identity !== 'nobody') return (await mendLinks(installed)) ? installed : copyBinaries(installed, dataDir)
  for (const place of [dataDir, tmpdir()]) {
    if (await everybodyCanEnter(place)) return copyBinaries(installed, place)
  }
  throw new OperatorError(`PostgreSQL does not run as root. Set DATA_DIR to a folder that every user can enter.`)
}

async function everybodyCanEnter(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & 0o001) === 0) return false
  return dirname(folder) === folder || everybodyCanEnter(dirname(folder))
}
