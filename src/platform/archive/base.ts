import { copyFile, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { source, spool } from '../db/embedded/archiving.ts'

/** A copy of the files of PostgreSQL, from which recovery replays the WAL. */
export interface Base {
  /** The name of its folder. */
  name: string
  began_at: string
  /** Recovery must come at least this far: before, the files are of different moments. */
  ended_at: string
  /** The first segment of the WAL that recovery needs. */
  wal: string
}

/** Files that a running PostgreSQL makes for itself. Those below folders are left out, and the folders stay. */
const leftOut = /^(postmaster\.(pid|opts)|recovery\.signal|standby\.signal|backup_label.*|core(\..*)?)$/
const emptied = new Set([
  'pg_wal',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans'
])
const lanes = 16
const temporary = /^(pgsql_tmp|pg_internal\.init)/

export const basesIn = (archive: string) => join(archive, 'base')

/** All bases of an archive, the oldest first. One that was cut off has no description, or a broken one. */
export async function listBases(archive: string): Promise<Base[]> {
  const names = await readdir(basesIn(archive)).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(basesIn(archive), name, 'base.json'), 'utf8').catch(() => '')
      const read = described(text)
      return read ? [{ ...read, name }] : []
    })
  )
  return found.flat().sort((one, two) => (one.ended_at < two.ended_at ? -1 : 1))
}

function described(text: string): Omit<Base, 'name'> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Copies the files of a running PostgreSQL. Whatever changes meanwhile is in the WAL, which recovery replays over it. */
export async function makeBase(client: pg.Client, folder: string, archive: string, signal: AbortSignal): Promise<Base> {
  const began = new Date()
  const name = began.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const part = join(basesIn(archive), `.${name}.part`)
  for (const left of await readdir(basesIn(archive)).catch(() => []))
    if (left.endsWith('.part')) await rm(join(basesIn(archive), left), { recursive: true, force: true })
  await mkdir(join(part, 'postgres'), { recursive: true, mode: 0o700 })
  try {
    await client.query('set statement_timeout = 0')
    await client.query(`select pg_backup_start('tidings', true)`)
    await copyAll(folder, join(part, 'postgres'), signal)
    const { rows } = await client.query<{ label: string; ended: Date }>(
      'select labelfile as label, clock_timestamp() as ended from pg_backup_stop(false)'
    )
    const { label, ended } = rows[0]!
    await writeSynced(join(part, 'postgres', 'backup_label'), label)
    const wal = /START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/.exec(label)![1]!
    const base = { began_at: began.toISOString(), ended_at: ended.toISOString(), wal }
    await writeSynced(join(part, 'base.json'), JSON.stringify(base))
    await rename(part, join(basesIn(archive), name))
    // Recovery needs the WAL until the end of the copy: its last segment is closed now.
    await client.query('select pg_switch_wal()')
    return { ...base, name }
  } catch (error) {
    // The next attempt removes what cannot be removed now; this error is the one to report.
    await rm(part, { recursive: true, force: true }).catch(() => {})
    throw error
  }
}

/**
 * Each file is synced, which waits for the disk far more than it copies: several at once share the waits. All lanes have ended
 * when it fails, so that none writes into a folder that is being removed.
 */
async function copyAll(from: string, to: string, signal: AbortSignal): Promise<void> {
  const files: string[] = []
  await makeFolders(from, to, '', files)
  const next = files.values()
  const failed: unknown[] = []
  const lane = async () => {
    for (const path of next) {
      if (failed.length > 0) return
      signal.throwIfAborted()
      await copyOne(join(from, path), join(to, path))
    }
  }
  await Promise.all(Array.from({ length: lanes }, () => lane().catch((error) => failed.push(error))))
  if (failed.length > 0) throw failed[0]
}

async function makeFolders(from: string, to: string, below: string, files: string[]): Promise<void> {
  for (const entry of await readdir(join(from, below), { withFileTypes: true })) {
    const path = join(below, entry.name)
    if (temporary.test(entry.name) || (below === '' && leftOut.test(entry.name))) continue
    if (path === spool || path === source) continue
    if (entry.isDirectory()) {
      await mkdir(join(to, path), { mode: 0o700 })
      if (path === 'pg_wal') await mkdir(join(to, path, 'archive_status'), { mode: 0o700 })
      if (!emptied.has(path)) await makeFolders(from, to, path, files)
    } else if (entry.isFile()) files.push(path)
  }
}

/** A file may disappear while it is copied: the WAL knows that too. */
async function copyOne(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const handle = await open(to, 'r+')
  await handle.chmod(0o600)
  await handle.sync().finally(() => handle.close())
}

export async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'w', 0o600)
  await writeFile(handle, text)
  await handle.sync().finally(() => handle.close())
}
