import { access, mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { gap, spool } from '../db/embedded/archiving.ts'
import { type Base, basesIn, listBases, makeBase, writeSynced } from './base.ts'
import { carrySegments, carryTimeline, removeSegments } from './segments.ts'

export interface ArchiverOptions {
  /** The address of the embedded PostgreSQL, and its folder. */
  url: string
  folder: string
  archive: string
  /** For how many days every moment can be restored. */
  days: number
  say: (line: string) => void
}

const lookMs = 1_000
const dayMs = 86_400_000
/** The shortest interval between two reports of a failure, and between two attempts to copy all files. */
const repeatMs = 60_000
const stopMs = 10_000

/**
 * Carries the WAL of the embedded PostgreSQL into a folder, and copies all of its files there once a day: with both, the
 * database can be restored as it was at any moment (docs/guides/backups.md).
 */
export function startArchiver({ url, folder, archive, days, say }: ArchiverOptions) {
  const stopping = new AbortController()
  let failedAtMs = Number.NEGATIVE_INFINITY
  let isFailing = false
  /** Whether the archive was seen to belong to this database. */
  let isOurs = false
  let renewedAtMs = Number.NEGATIVE_INFINITY
  /** Why the last attempt to renew the archive failed. It stays until one succeeds: WAL alone restores nothing. */
  let unrenewed: Error | undefined
  let renewal: Promise<void> | undefined

  function note(error: Error | undefined): void {
    // A stop cuts a copy off.
    if (error?.name === 'AbortError') return
    if (!error && isFailing) say(`Archiving to ${archive} works again.`)
    isFailing = error !== undefined
    if (!error || performance.now() - failedAtMs < repeatMs) return
    failedAtMs = performance.now()
    say(`Warning: archiving to ${archive} fails, and the WAL stays in ${folder} until it works: ${error.message}`)
  }

  /** One at a time, and beside the loop: the copy of a large database takes long, and its WAL must be carried meanwhile. */
  function startRenewal(): void {
    if (renewal || performance.now() - renewedAtMs <= repeatMs) return
    renewedAtMs = performance.now()
    renewal = renew()
      .then(
        () => undefined,
        (error: Error) => error
      )
      .then((failure) => {
        unrenewed = failure
        renewal = undefined
      })
  }

  async function look(): Promise<void> {
    try {
      // The first renewal also finds out whether the archive is ours.
      startRenewal()
      if (isOurs) await carrySegments(join(folder, spool), archive)
      note(unrenewed)
    } catch (error) {
      note(error as Error)
    }
  }

  /**
   * Removes what is too old, and makes a base if the newest one is a day old, or the WAL since then is not whole. The removal
   * comes first: on a full disk it makes the room for the base.
   */
  async function renew(): Promise<void> {
    await makeFolder(archive)
    const client = new pg.Client({ connectionString: url, application_name: 'tidings archive' })
    client.on('error', () => {})
    await client.connect()
    try {
      const timeline = await checkOwner(client, folder, archive)
      isOurs = true
      await removeOld(archive, days)
      const gapFile = join(folder, spool, gap)
      const newest = (await listBases(archive)).at(-1)
      const isOld = !newest || Date.now() - Date.parse(newest.began_at) > dayMs
      if (isOld || newest.wal.slice(0, 8) !== timeline || (await exists(gapFile))) {
        const { name } = await makeBase(client, folder, archive, stopping.signal)
        await rm(gapFile, { force: true })
        say(`Copied the database to ${join(basesIn(archive), name)}, from which any later moment can be restored.`)
      }
    } finally {
      await client.end().catch(() => {})
    }
  }

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await look()
      await sleep(lookMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()

  return {
    /** Carries what is closed by now. Call it before PostgreSQL stops, so that a stop leaves little behind. */
    async stop(): Promise<void> {
      stopping.abort()
      // A disk that does not respond must not hold the stop.
      const over = loop.then(() => renewal).then(() => true)
      const isOver = await Promise.race([over, sleep(stopMs, false, { ref: false })])
      if (!isOver || !isOurs) return
      await closeSegment(url).catch(() => {})
      await carrySegments(join(folder, spool), archive).catch(note)
    }
  }
}

/** Not by the recursive option of Node, which tries for ever where the system refuses a folder as absent (/proc). */
async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => error)
  if (!made || made.code === 'EEXIST') return
  if (made.code !== 'ENOENT' || (await exists(dirname(path)))) throw made
  await makeFolder(dirname(path))
  await mkdir(path, { mode: 0o700 })
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false
  )

/** Closes the segment in use and waits a moment for PostgreSQL to copy it. */
async function closeSegment(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000, query_timeout: 2_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name')
    for (let look = 0; look < 20; look += 1) {
      const { rows: archived } = await client.query('select last_archived_wal >= $1 as done from pg_stat_archiver', [
        rows[0]!.name
      ])
      if (archived[0]?.done) return
      await sleep(100)
    }
  } finally {
    await client.end().catch(() => {})
  }
}

/** Segments of two databases have the same names, so an archive belongs to one. Returns the timeline, as files name it. */
async function checkOwner(client: pg.Client, folder: string, archive: string): Promise<string> {
  const { rows } = await client.query<{ system: string; timeline: string }>(
    `select system_identifier::text as system, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline
       from pg_control_system()`
  )
  const { system, timeline } = rows[0]!
  const file = join(archive, 'archive.json')
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known === undefined) await writeSynced(file, JSON.stringify({ system }))
  const isSame = known === undefined || JSON.parse(known).system === system
  if (!isSame || !(await carryTimeline(folder, archive, timeline)))
    throw new Error('the folder belongs to another database. Set ARCHIVE_DIR to an empty folder')
  return timeline
}

/** Keeps every base of the last days, and one before them. */
async function removeOld(archive: string, days: number): Promise<void> {
  const bases = await listBases(archive)
  const isKept = ({ ended_at }: Base) => Date.now() - Date.parse(ended_at) < days * dayMs
  const kept = bases.findIndex(isKept)
  const first = Math.max(0, (kept < 0 ? bases.length : kept) - 1)
  for (const { name } of bases.slice(0, first)) await rm(join(basesIn(archive), name), { recursive: true, force: true })
  if (bases[first]) await removeSegments(archive, bases[first].wal)
}
