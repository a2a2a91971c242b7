import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { chooseIdentity, giveTo, spawnAs } from '../../src/platform/db/embedded/identity.ts'
import { usableBinaries } from '../../src/platform/db/embedded/places.ts'
import { atEnd, preparedFolder } from '../embedded/support/embedded.ts'
import { withClient } from './database.ts'
import { eventually } from './eventually.ts'
import { descendantsOf } from './processes.ts'

/** A PostgreSQL of a pair. */
export interface ReplicaServer {
  /** The folder of its socket. */
  sockets: string
  url: string
  query(text: string): Promise<Record<string, unknown>[]>
  /** Stops at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again, or for the first time. */
  start(): Promise<void>
  /** Stops every process of the server without ending it, and lets it go on. */
  freeze(): void
  thaw(): void
}

/** The address of several servers, in the form of a list of hosts. */
export const listOf = (...servers: Pick<ReplicaServer, 'sockets'>[]): string =>
  `postgres://tidings@localhost/tidings?sslmode=disable&host=${encodeURIComponent(servers.map(({ sockets }) => sockets).join(','))}`

/**
 * A primary and a standby that follows it by streaming, of the embedded binaries. These lack pg_basebackup, so the
 * files are copied between the start and the stop of a backup.
 */
export async function replicated(t: TestContext, { synchronous = false } = {}) {
  const first = await makeServer(t, await preparedFolder(t))
  await first.start()
  const folder = join(await mkdtemp(join(tmpdir(), 'tidings-test-')), 'data')
  atEnd(t, () => rm(join(folder, '..'), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  await mkdir(folder)
  await chmod(join(folder, '..'), 0o755)
  await copyOf(first, folder)
  const second = await makeServer(t, folder)
  await second.start()
  if (synchronous) {
    await first.query(`alter system set synchronous_standby_names = '*'`)
    await first.query('select pg_reload_conf()')
    await eventually(async () => {
      const [row] = await first.query(`select 1 as there from pg_stat_replication where sync_state = 'sync'`)
      if (!row) throw new Error('the standby is not synchronous yet')
    }, 20_000)
  }
  return {
    primary: first,
    standby: second,
    url: listOf(first, second),
    /** Makes the standby the primary. The former primary is its synchronous standby, if it comes back at all. */
    async promote(): Promise<void> {
      // The new primary has no standby to wait for.
      await second.query(`alter system set synchronous_standby_names = ''`)
      await second.query('select pg_promote(true, 30)')
    }
  }
}

type Made = ReplicaServer & { folder: string }

async function makeServer(t: TestContext, dataDir: string): Promise<Made> {
  const identity = await chooseIdentity()
  const folder = join(dataDir, 'postgres')
  const sockets = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  await chmod(sockets, 0o755)
  for (const one of [folder, sockets]) await giveTo(identity, one)
  const { postgres } = await usableBinaries(findBinaries(), dataDir, identity)
  const url = listOf({ sockets })
  let child: ReturnType<typeof spawnAs> | undefined
  let ended: Promise<unknown> = Promise.resolve()
  const query = (text: string) => withClient(url, async (client) => (await client.query(text)).rows)
  const signal = (name: NodeJS.Signals) => {
    if (child?.pid === undefined) return
    child.kill(name)
    for (const { pid } of descendantsOf(child.pid))
      try {
        process.kill(pid, name)
      } catch {} // It ended meanwhile.
  }

  async function kill(): Promise<void> {
    signal('SIGCONT')
    child?.kill('SIGQUIT')
    await ended
    child = undefined
  }

  atEnd(t, () => rm(sockets, { recursive: true, force: true }))
  atEnd(t, kill)
  return {
    sockets,
    folder,
    url,
    query,
    kill,
    async start() {
      const settings = ['listen_addresses=', `unix_socket_directories=${sockets}`, 'wal_level=replica', 'fsync=off']
      const args = settings.flatMap((one) => ['-c', one])
      const started = spawnAs(identity, postgres, folder, args, ['ignore', 'ignore'])
      child = started
      ended = new Promise((resolve) => started.once('exit', resolve))
      await eventually(() => query('select 1'), 30_000)
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT')
  }
}

/** Copies the server while it runs, as a standby of it. */
async function copyOf(primary: Made, dataDir: string): Promise<void> {
  const folder = join(dataDir, 'postgres')
  await withClient(primary.url, async (client) => {
    await client.query(`select pg_backup_start('standby', true)`)
    await mkdir(folder, { mode: 0o700 })
    const copied = (await readdir(primary.folder)).filter((name) => !/^(postmaster\.(pid|opts)|pg_wal)$/.test(name))
    // Node's own copy takes more than a second of a processor for these thousand files.
    await promisify(execFile)('cp', ['-a', ...copied.map((name) => join(primary.folder, name)), folder])
    await mkdir(join(folder, 'pg_wal', 'archive_status'), { recursive: true, mode: 0o700 })
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
    await writeFile(join(folder, 'backup_label'), rows[0].labelfile)
  })
  await writeFile(join(folder, 'standby.signal'), '')
  const source = `host=${primary.sockets} user=tidings application_name=standby`
  await writeFile(
    join(folder, 'postgresql.auto.conf'),
    `primary_conninfo = '${source}'\nwal_retrieve_retry_interval = 200\n`
  )
}
