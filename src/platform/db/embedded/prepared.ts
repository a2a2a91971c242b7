import { createHash } from 'node:crypto'
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  fchownSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { readMigrations } from '../migrations.ts'
import type { Binaries } from './binaries.ts'
import { renew, segmentOf } from './control.ts'
import { initdbArgs } from './initdb.ts'

/** Where scripts/cluster.ts writes in a checkout, beside the bundle. The published package has none. */
export const preparedPlace = join(import.meta.dirname, '../../../../node_modules/.cache/tidings-start')

/** All files of a PostgreSQL that was made, migrated and stopped, in one file: copying it takes a tenth of making one. */
interface Prepared {
  folders: string[]
  files: PreparedFile[]
}

type Owner = { uid: number; gid: number }

interface PreparedFile {
  path: string
  /** Its bytes without the zeros at their end. Files with the same bytes share them. */
  bytes: Uint8Array
  size: number
}

const control = join('global', 'pg_control')
/** Files that describe a running server. */
const ofRun = ['postmaster.pid', 'postmaster.opts']
/** Open files at a time: a process may be allowed 1,024. */
const syncedAtOnce = 256

/** The file of one in a folder. Its name says what it was made from: another PostgreSQL, machine, setting or migration has another. */
export function preparedFile(place: string, { native }: Binaries): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'))
  const madeFrom = [1, process.platform, process.arch, version, initdbArgs, hasSharedMemory(), readMigrations()]
  return join(place, `cluster-${createHash('sha256').update(JSON.stringify(madeFrom)).digest('hex').slice(0, 16)}`)
}

/** initdb chooses another kind of shared memory without it. */
function hasSharedMemory(): boolean {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Reads the folder of a PostgreSQL that was stopped cleanly. */
export function packCluster(folder: string): Buffer {
  const segment = segmentOf(readFileSync(join(folder, control)))
  const prepared: Prepared = { folders: [], files: [] }
  const known = new Map<string, Uint8Array>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name))
    if (entry.isDirectory()) prepared.folders.push(path)
    else if (!ofRun.includes(path) && (!isSegment(path) || entry.name === segment)) {
      const whole = readFileSync(join(folder, path))
      const bytes = withoutZeros(whole)
      const hash = createHash('sha256').update(bytes).digest('hex')
      if (!known.has(hash)) known.set(hash, bytes)
      prepared.files.push({ path, bytes: known.get(hash)!, size: whole.length })
    }
  }
  // A folder comes before those in it.
  prepared.folders.sort()
  return serialize(prepared)
}

const isSegment = (path: string) => dirname(path) === 'pg_wal'

function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.subarray(0, end)
}

/** Writes the files into an empty folder of their owner, with an identifier of their own, and syncs all, as initdb does. */
export async function unpackCluster(packed: Buffer, folder: string, owner: Owner): Promise<void> {
  const { folders, files }: Prepared = deserialize(packed)
  giveIdentity(files)
  const foreign = owner.uid !== process.getuid!()
  for (const path of folders) {
    mkdirSync(join(folder, path), { mode: 0o700 })
    if (foreign) chownSync(join(folder, path), owner.uid, owner.gid)
  }
  for (const { path, bytes, size } of files) {
    const file = openSync(join(folder, path), 'wx', 0o600)
    try {
      if (foreign) fchownSync(file, owner.uid, owner.gid)
      writeWhole(file, bytes)
      // Zeros and not a hole: PostgreSQL expects to have the space of its files.
      if (size > bytes.length) writeWhole(file, Buffer.alloc(size - bytes.length))
    } finally {
      closeSync(file)
    }
  }
  // All are written before the first is synced, so that the file system writes its journal for all of them at once.
  const paths = [...files.map(({ path }) => path), ...folders, '']
  while (paths.length > 0) await Promise.all(paths.splice(0, syncedAtOnce).map((path) => sync(join(folder, path))))
}

function giveIdentity(files: PreparedFile[]): void {
  const find = (isIt: (path: string) => boolean): PreparedFile => {
    const file = files.find(({ path }) => isIt(path))
    if (!file) throw new Error('a file is missing')
    return file
  }
  const [own, wal] = [find((path) => path === control), find(isSegment)]
  const whole = Buffer.alloc(own.size)
  whole.set(own.bytes)
  const renewed = renew(whole, Buffer.from(wal.bytes))
  own.bytes = renewed.control
  wal.bytes = renewed.wal
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length; ) from += writeSync(file, bytes, from)
}

const syncFile = promisify(fsync)

async function sync(path: string): Promise<void> {
  const file = openSync(path, 'r')
  await syncFile(file).finally(() => closeSync(file))
}
