import { mkdtemp, open, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../errors.ts'
import { makeFolders } from '../../folders.ts'

/**
 * Creates the data folder if it does not exist. An existing folder keeps its mode: it may be a mount that the operator
 * set up.
 */
export async function makeDataFolder(dataDir: string): Promise<string> {
  const folder = resolve(dataDir)
  try {
    const first = await makeFolders(folder)
    if (first) await syncFolders(dirname(folder), dirname(first))
    if (!(await stat(folder)).isDirectory()) throw new OperatorError(notAFolder(folder))
  } catch (error) {
    // Its parents exist by now, so the file system itself accepts no folders, as that of /proc.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new OperatorError(`The data folder ${folder} cannot be made. Set DATA_DIR to another folder.`)
    throw folderProblem(folder, error)
  }
  return folder
}

/** Syncs the folders from `folder` up to `last`: without it a power cut may undo the new names in them. */
export async function syncFolders(folder: string, last = folder): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
  if (folder !== last) await syncFolders(dirname(folder), last)
}

/**
 * Locks the data folder, so that no other Tidings uses it until the lock is released or this process ends for any
 * reason.  SQLite locks a file for this, because Node has no such lock. The kernel holds the lock: it ends with the
 * process, also after a `kill -9`, does not depend on process ids, which may be reused, and works between containers
 * that share the folder. The file stays empty and is never deleted, because deleting a lock file is a race. No other
 * code of this process may open the file: closing it would make the kernel drop the lock.
 */
export async function holdDataFolder(dataDir: string): Promise<{ release(): Promise<void> }> {
  const folder = await makeDataFolder(dataDir)
  const pidFile = join(folder, 'tidings.pid')
  const lock = await takeLock(folder, pidFile)
  try {
    await writeFile(pidFile, `${process.pid}\n`)
  } catch (error) {
    lock.close()
    throw folderProblem(folder, error)
  }
  let held = true
  return {
    async release() {
      if (!held) return
      held = false
      await rm(pidFile, { force: true })
      lock.close()
    }
  }
}

async function takeLock(folder: string, pidFile: string): Promise<DatabaseSync> {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(folder, 'tidings.lock'))
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return lock
  } catch (error) {
    lock?.close()
    const busy = 5
    if ((error as { errcode?: number }).errcode === busy) throw await alreadyRuns(folder, pidFile)
    await tryToWrite(folder)
    throw new OperatorError(
      `The file ${join(folder, 'tidings.lock')} cannot be locked (${(error as Error).message}). Give it the right owner, or set DATA_DIR to a folder on a local disk.`
    )
  }
}

async function alreadyRuns(folder: string, pidFile: string): Promise<OperatorError> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim()
  const who = pid ? ` (pid ${pid})` : ''
  return new OperatorError(`Tidings already runs on ${folder}${who}. Stop it first, or set DATA_DIR to another folder.`)
}

/** SQLite does not distinguish a full disk from a missing permission; the system does when asked directly. */
async function tryToWrite(folder: string): Promise<void> {
  try {
    await rmdir(await mkdtemp(join(folder, 'try-')))
  } catch (error) {
    throw folderProblem(folder, error)
  }
}

/** Turns an error of the system about the data folder into a sentence for the operator. Other errors stay unchanged. */
export function folderProblem(folder: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error
  const sentence =
    sentences[String(error.code)] ?? (() => `The data folder ${folder} cannot be used: ${error.message}.`)
  return new OperatorError(sentence(folder), 1, { cause: error })
}

const denied = (folder: string) =>
  `The data folder ${folder} is not writable for this user. Give it the right owner, or set DATA_DIR to another folder.`
const notAFolder = (folder: string) => `${folder} is not a folder. Set DATA_DIR to a folder.`

const sentences: Record<string, (folder: string) => string> = {
  EACCES: denied,
  EPERM: denied,
  EROFS: (folder) => `The data folder ${folder} is on a read-only filesystem. Set DATA_DIR to another folder.`,
  ENOSPC: (folder) => `The disk that holds ${folder} is full. Free some space, then start again.`,
  EDQUOT: (folder) => `The disk quota for ${folder} is used up. Free some space, then start again.`,
  EEXIST: notAFolder,
  ENOTDIR: notAFolder
}
