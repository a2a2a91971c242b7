import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { keyFiles } from '../../platform/secrets/rotation.ts'
import { checkName, open, readKeyFile } from '../../platform/secrets/secrets.ts'
import { type Finding, fail, ok, warn } from './check.ts'

const name = 'Master key'

/** What is known of the database that the key belongs to. */
interface Sealed {
  sealedCheck: string | undefined
  /** Whether the database cannot be asked, because it does not run. */
  isStopped: boolean
  /** Whether a service has started on the data folder before, which made a key unless it had one. */
  hasStarted: boolean
}

/** Checks that the key exists and belongs to this database. Unlike a start, it creates none. */
export async function checkMasterKey(
  given: Buffer | undefined,
  dataDir: string,
  { sealedCheck, isStopped, hasStarted }: Sealed
): Promise<Finding> {
  const file = join(dataDir, 'master.key')
  const source = given ? 'MASTER_KEY' : file
  const found = given ? undefined : await stat(file).catch(() => undefined)
  if (!given && !found) {
    if (sealedCheck === undefined && isStopped) return hasStarted ? fail(name, lacks(file)) : warn(name, mayLack(file))
    if (sealedCheck === undefined) return ok(name, `${file} is created at the first start`)
    return fail(name, `${file} is missing, and this database has secrets. Restore it from a backup, or set MASTER_KEY.`)
  }
  const key = given ?? Buffer.from((await readFile(file, 'utf8').catch(() => '')).trim(), 'base64')
  if (key.length !== 32)
    return fail(name, `${file} does not contain a key. Restore it from a backup, or set MASTER_KEY.`)
  if (sealedCheck !== undefined && !opens(key, sealedCheck)) {
    const next = await readKeyFile(keyFiles(dataDir).next).catch(() => undefined)
    if (!given && next && opens(next, sealedCheck))
      return warn(name, `a rotation was interrupted. The next start replaces it by ${file}.new.`)
    const message = `${source} is not the key of this database. Copy MASTER_KEY or master.key from the node that set it up.`
    return fail(name, message)
  }
  if (found && (found.mode & 0o077) !== 0) return warn(name, `other users can read ${file}. Run: chmod 600 ${file}`)
  if (isStopped)
    return warn(
      name,
      `${source} was not compared: the database is stopped. A start refuses any key but the one it was set up with.`
    )
  return ok(name, sealedCheck === undefined ? source : `${source} opens the secrets of the database`)
}

const lacks = (file: string) =>
  `${file} is missing, and a start refuses a database that has secrets without it. Restore it from a backup, or set ` +
  'MASTER_KEY. If it is lost for good: `tidings secrets forget`, then start.'
const mayLack = (file: string) =>
  `${file} is missing, and whether the database has secrets cannot be seen: it is stopped. If it has, a start refuses; ` +
  'then restore the file from a backup, or set MASTER_KEY.'

function opens(key: Buffer, sealed: string): boolean {
  try {
    open(key, checkName, sealed)
    return true
  } catch {
    return false
  }
}
