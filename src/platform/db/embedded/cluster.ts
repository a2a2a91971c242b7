import { chmod, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../../errors.ts'
import type { Binaries } from './binaries.ts'
import { syncFolders } from './data-folder.ts'
import { giveTo, type Identity, ownerOf, spawnAs } from './identity.ts'
import { initdbArgs } from './initdb.ts'
import { explain } from './log.ts'
import { unpackCluster } from './prepared.ts'
import { endWithUs } from './watch.ts'

/** One PostgreSQL on disk, and the paths to run it. */
export interface Cluster {
  dataDir: string
  /** The folder of PostgreSQL itself, in the data folder. */
  folder: string
  log: string
  socketDir: string
  binaries: Binaries
  identity: Identity
  /** The file of a prepared one that a new one may be a copy of. It may be missing. */
  prepared?: string | undefined
  /** Memory for pages of the database, in MB. */
  cacheMb: number
  /** Whether its WAL is archived. */
  archives?: boolean | undefined
  /** Set for a start that recovers from an archive, up to a moment or to its end. */
  recovery?: { at?: Date | undefined } | undefined
}

/** The major version that the binaries read and write. */
const major = '18'

/** Whether the data folder contains a PostgreSQL, which must then be one that we can use. Changes nothing. */
export async function checkCluster(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined)
  if (!found) return false
  const user = process.getuid?.()
  if (user !== 0 && user !== found.uid) {
    throw new OperatorError(
      `${folder} belongs to the user id ${found.uid}. Start Tidings as that user, or change its owner.`
    )
  }
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  if (version === major) return true
  throw new OperatorError(
    version
      ? `${folder} was written by PostgreSQL ${version}, and this Tidings brings PostgreSQL ${major}. Make a backup with the Tidings that wrote it (\`tidings backup\`), move this folder away, and restore: docs/guides/backups.md.`
      : `${folder} holds no PostgreSQL. Move it away, or set DATA_DIR to another folder.`
  )
}

/** Another user may have used the data folder before. Only root gets here, and may change the owner. */
export async function takeOver({ folder, identity }: Cluster, say: (line: string) => void): Promise<void> {
  if ((await stat(folder)).uid === ownerOf(identity).uid) return
  say(`giving ${folder} to the user that PostgreSQL now runs as`)
  await giveTo(identity, folder)
}

/** Makes a new PostgreSQL: a copy of the prepared one, or else by initdb, which takes two seconds. */
export async function initialise(cluster: Cluster, signal?: AbortSignal, launched?: () => void): Promise<void> {
  if (cluster.prepared && (await copyPrepared(cluster, cluster.prepared))) return
  signal?.throwIfAborted()
  launched?.()
  await makeAside(cluster, (aside) => runInitdb(cluster, aside, signal))
}

/** Whatever prevents a copy, such as a full disk: initdb either works without it or gives the reason. */
async function copyPrepared(cluster: Cluster, file: string): Promise<boolean> {
  try {
    const packed = await readFile(file)
    await makeAside(cluster, (aside) => unpackCluster(packed, aside, ownerOf(cluster.identity)))
    return true
  } catch {
    return false
  }
}

/**
 * Fills a temporary folder, which is renamed when all of it is on disk: a kill in between leaves nothing half-made. The
 * folder is a new one each time, because an initdb that survived its parent deletes the folder whose name it knows.
 */
async function makeAside(cluster: Cluster, fill: (aside: string) => Promise<void>): Promise<void> {
  const { dataDir, folder, identity } = cluster
  for (const name of await readdir(dataDir)) if (name.startsWith('postgres.new-')) await clear(join(dataDir, name))
  const aside = await mkdtemp(`${folder}.new-`)
  try {
    await chmod(aside, 0o700)
    if (((await stat(aside)).mode & 0o077) !== 0) {
      throw new OperatorError(
        `The filesystem of ${dataDir} keeps no permissions, which PostgreSQL needs. Set DATA_DIR to a folder on a local disk.`
      )
    }
    await giveTo(identity, aside)
    await fill(aside)
    await rename(aside, folder)
    await syncFolders(dataDir)
  } catch (error) {
    await clear(aside)
    throw error
  }
}

async function runInitdb(cluster: Cluster, aside: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const child = spawnAs(cluster.identity, cluster.binaries.initdb, aside, initdbArgs, ['ignore', 'pipe'])
  const closed = new Promise<unknown>((resolve) => {
    child.on('error', resolve)
    child.on('close', resolve)
  })
  if (child.pid) endWithUs(child.pid, closed)
  const interrupt = () => child.kill('SIGINT')
  signal?.addEventListener('abort', interrupt)
  let written = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  const end = await closed
  signal?.removeEventListener('abort', interrupt)
  signal?.throwIfAborted()
  if (end !== 0) throw explain(cluster, end instanceof Error ? `error: ${end.message}` : written)
}

/** Retries for a while: a process that survived its parent may still be writing there. */
async function clear(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 })
}
