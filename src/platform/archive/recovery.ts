import { cp, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { source } from '../db/embedded/archiving.ts'
import { checkCluster } from '../db/embedded/cluster.ts'
import { holdDataFolder, makeDataFolder } from '../db/embedded/data-folder.ts'
import { startEmbedded } from '../db/embedded/embedded.ts'
import { OperatorError } from '../errors.ts'
import { type Base, basesIn, listBases } from './base.ts'
import { unpackSegments } from './segments.ts'

export interface Recovery {
  archive: string
  dataDir: string
  /** The moment to recover; without it, the end of the archive. */
  at: Date | undefined
  /** Whether a database that is in the data folder may be moved aside. */
  replace: boolean
  say: (line: string) => void
  /** Runs on the recovered database. If it fails, so does the recovery. */
  finish: (url: string) => Promise<void>
  signal?: AbortSignal
}

export interface Recovered {
  base: Base
  segments: number
  /** Where the former database is. */
  aside: string | undefined
}

/**
 * Chooses the newest base that was whole before the moment, and the first one that began after it. A base that was being copied
 * at the moment is neither: recovery needs segments beyond its beginning.
 */
export async function chooseBase(
  archive: string,
  at: Date | undefined
): Promise<{ base: Base; next: Base | undefined }> {
  const bases = await listBases(archive)
  if (bases.length === 0)
    throw new OperatorError(`${archive} holds no copy of a database. Name the folder that ARCHIVE_DIR had.`)
  const index = at ? bases.findLastIndex(({ ended_at }) => Date.parse(ended_at) <= at.getTime()) : bases.length - 1
  if (index < 0)
    throw new OperatorError(`${archive} begins at ${bases[0]!.ended_at}, and ${at!.toISOString()} was before.`)
  return { base: bases[index]!, next: at && bases.find(({ began_at }) => Date.parse(began_at) > at.getTime()) }
}

/**
 * Restores the files of a base and lets PostgreSQL replay the WAL up to the moment. The data folder is locked meanwhile: a
 * service that starts during the copy would write to a database that is then moved aside.
 */
export async function recover(recovery: Recovery): Promise<Recovered> {
  const { base, next } = await chooseBase(recovery.archive, recovery.at)
  const dataDir = await makeDataFolder(recovery.dataDir)
  const hold = await holdDataFolder(dataDir)
  try {
    return await replace({ ...recovery, dataDir }, base, next)
  } finally {
    await hold.release()
  }
}

/** The new database gets its name when all files are there. If the recovery fails, the former database is put back. */
async function replace(recovery: Recovery, base: Base, next: Base | undefined): Promise<Recovered> {
  const { archive, dataDir, at, say, finish, signal } = recovery
  const folder = join(dataDir, 'postgres')
  const exists = (await stat(folder).catch(() => undefined)) !== undefined
  if (exists && !recovery.replace)
    throw new OperatorError(
      `${folder} holds a database already. Set DATA_DIR to a new folder, or give --replace, which moves it aside.`
    )
  if (exists) await refuseRunning(folder)
  const fresh = await mkdtemp(`${folder}.new-`)
  let aside: string | undefined
  /** Until then `folder` is the former database, which must stay. */
  let isPlaced = false
  try {
    await cp(join(basesIn(archive), base.name, 'postgres'), fresh, { recursive: true })
    const { segments, damaged } = await unpackSegments(archive, join(fresh, source), base, next)
    if (damaged) say(`Warning: ${damaged} is damaged. What was written in it and after it cannot be restored.`)
    await writeFile(join(fresh, 'recovery.signal'), '')
    if (exists) aside = await moveAside(folder)
    await rename(fresh, folder)
    isPlaced = true
    await checkCluster(folder)
    const server = await startEmbedded({ dataDir, say, isHeld: true, recovery: { at }, ...(signal && { signal }) })
    await finish(server.url).finally(server.stop)
    await rm(join(folder, source), { recursive: true, force: true })
    return { base, segments, aside }
  } catch (error) {
    if (isPlaced) await rm(folder, { recursive: true, force: true })
    if (aside) await rename(aside, folder)
    await rm(fresh, { recursive: true, force: true })
    throw explained(error, archive, at)
  }
}

async function moveAside(folder: string): Promise<string> {
  const aside = `${folder}.before-${Date.now()}`
  await rename(folder, aside).catch((error: Error) => {
    throw new OperatorError(
      `${folder} cannot be moved aside, and stays as it was: ${error.message}. If it is a mount, set DATA_DIR to a new folder.`,
      1,
      { cause: error }
    )
  })
  return aside
}

async function refuseRunning(folder: string): Promise<void> {
  const { readPidFile, sendSignal } = await import('../db/embedded/previous.ts')
  const file = await readPidFile(folder)
  if (file && file.pid > 0 && sendSignal(file.pid, 0))
    throw new OperatorError(`Stop the service first: PostgreSQL runs in ${folder} (pid ${file.pid}).`)
}

function explained(error: unknown, archive: string, at: Date | undefined): unknown {
  if (at && error instanceof Error && /before configured recovery target was reached/.test(error.message))
    return new OperatorError(
      `The archive ${archive} does not reach ${at.toISOString()}. Leave --at out to restore everything that it holds.`
    )
  return error
}
