import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { keyFiles } from '../../platform/rotation.ts'
import { checkName, open, readKeyFile } from '../../platform/secrets.ts'
import { type Finding, fail, ok, warn } from './check.ts'

const name = 'Master key'

/** Whether there is a key, and whether it is the one of this database. Unlike a start it makes none. */
export async function checkMasterKey(
  given: Buffer | undefined,
  dataDir: string,
  sealedCheck: string | undefined
): Promise<Finding> {
  const file = join(dataDir, 'master.key')
  const source = given ? 'MASTER_KEY' : file
  const found = given ? undefined : await stat(file).catch(() => undefined)
  if (!given && !found) {
    if (sealedCheck === undefined) return ok(name, `${file} is made at the first start`)
    return fail(name, `${file} is missing, and this database has one. Restore it from a backup, or set MASTER_KEY.`)
  }
  const key = given ?? Buffer.from((await readFile(file, 'utf8').catch(() => '')).trim(), 'base64')
  if (key.length !== 32) return fail(name, `${file} does not hold a key. Restore it from a backup, or set MASTER_KEY.`)
  if (sealedCheck !== undefined && !opens(key, sealedCheck)) {
    const next = await readKeyFile(keyFiles(dataDir).next).catch(() => undefined)
    if (!given && next && opens(next, sealedCheck))
      return warn(name, `It was being changed when that was cut off. The next start puts ${file}.new in its place.`)
    const message = `${source} is not the key of this database. Copy MASTER_KEY or master.key from the node that set it up.`
    return fail(name, message)
  }
  if (found && (found.mode & 0o077) !== 0)
    return warn(name, `${file} can be read by other users. Run: chmod 600 ${file}`)
  return ok(name, sealedCheck === undefined ? source : `${source} opens the secrets of the database`)
}

function opens(key: Buffer, sealed: string): boolean {
  try {
    open(key, checkName, sealed)
    return true
  } catch {
    return false
  }
}
