import { createHash } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { OperatorError } from '../../errors.ts'
import { type Binaries, copyBinaries, mendLinks } from './binaries.ts'
import { canRun, type Identity, ownerOf, trusted } from './identity.ts'

/**
 * The path of a socket is limited to some 100 bytes, and a data folder may be deep: so the socket lies among the
 * temporary files. Its name derives from the data folder itself, not from its path, and differs for every PostgreSQL.
 */
export async function socketFolder(dataDir: string, identity: Identity): Promise<string> {
  const { dev, ino } = await stat(dataDir, { bigint: true })
  const name = `tidings-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)}`
  const fits = Buffer.byteLength(tmpdir()) <= 60 && (identity === 'self' || (await everybodyCanEnter(tmpdir())))
  return join(fits ? tmpdir() : '/tmp', name)
}

/** Makes the folder of the socket, empty: leftovers of a killed PostgreSQL could hinder the next one. */
export async function makeSocketFolder(path: string, dataDir: string, identity: Identity): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  // Another user may have made it first, to intercept connections.
  const ours = !found || trusted(identity).has(found.uid) || found.uid === (await stat(dataDir)).uid
  if (!ours) throw new OperatorError(`${path} belongs to another user. Remove it, then start again.`)
  try {
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { mode: 0o700 })
    await chmod(path, 0o700)
    const { uid, gid } = ownerOf(identity)
    await lchown(path, uid, gid)
  } catch (cause) {
    throw new OperatorError(`PostgreSQL needs ${path} for its socket, which cannot be made: ${cause}.`, 1, { cause })
  }
}

/** The installed binaries, or a copy if they cannot be used at their path. */
export async function usableBinaries(installed: Binaries, dataDir: string, identity: Identity): Promise<Binaries> {
  const whole = await mendLinks(installed)
  if (whole && (identity === 'self' || (await canRun(identity, installed.postgres)))) return installed
  for (const place of [dataDir, tmpdir(), '/tmp']) {
    if (identity === 'self' || (await everybodyCanEnter(place))) return copyBinaries(installed, place)
  }
  throw new OperatorError('PostgreSQL does not run as root here. Set DATA_DIR to a folder that every user can enter.')
}

async function everybodyCanEnter(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined)
  if (!found || (found.mode & 0o001) === 0) return false
  return dirname(folder) === folder || everybodyCanEnter(dirname(folder))
}
