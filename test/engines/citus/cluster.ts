import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** Where the programs of a PostgreSQL with Citus are: PG_BIN, or those of the highest version that Debian installed. */
const bin =
  process.env.PG_BIN ?? ['18', '17', '16', '15'].map((major) => `/usr/lib/postgresql/${major}/bin`).find(existsSync)

/** A sentence if this machine cannot start a PostgreSQL other than the embedded one. */
export const whyNoServer = (): string | undefined =>
  bin && existsSync(join(bin, 'initdb'))
    ? undefined
    : 'There is no PostgreSQL server here: install one (Debian: postgresql), or set PG_BIN to the folder of its programs.'

/** A sentence if this machine cannot start Citus. */
export async function whyNoCitus(): Promise<string | undefined> {
  const why = whyNoServer()
  if (why || !bin) return why
  const folder = (await output(join(bin, 'pg_config'), ['--pkglibdir'])).trim()
  if (existsSync(join(folder, 'citus.so'))) return undefined
  return `The PostgreSQL in ${bin} has no Citus. Build it from its source (./configure PG_CONFIG=${join(bin, 'pg_config')}; make install) or install its package; docs/guides/distributed.md says how.`
}

async function output(program: string, given: string[]): Promise<string> {
  const child = spawn(program, given, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const part of child.stdout) text += part
  return text
}

/** PostgreSQL refuses to run as root, so root starts it as the user of Debian's package. */
function identity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const line = readFileSync('/etc/passwd', 'utf8').match(/^postgres:[^:]*:(\d+):(\d+)/m)
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : { uid: 65_534, gid: 65_534 }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

export interface Server {
  port: number
  /** Its first process, the parent of all others. */
  pid(): number
  /** The address of a database on this server. */
  url(database?: string): string
  start(): Promise<void>
  /** `SIGINT` ends sessions and the server; `SIGQUIT` is a crash, after which it recovers. */
  end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
}

async function createServerIn(folder: string, settings: Record<string, string>): Promise<Server> {
  const who = identity()
  mkdirSync(folder, { recursive: true })
  if (who.uid !== undefined) chownSync(folder, who.uid, who.gid!)
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  await ended(
    spawn(
      join(bin!, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C.UTF-8'],
      { ...who, cwd: folder, stdio: 'ignore' }
    )
  )
  const port = await freePort()
  const given = Object.entries({
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    ...settings
  })
  let child: ReturnType<typeof spawn> | undefined
  const url = (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`
  return {
    port,
    url,
    pid: () => child!.pid!,
    async start() {
      child = spawn(
        join(bin!, 'postgres'),
        ['-D', data, ...given.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { ...who, cwd: folder, stdio: ['ignore', 'ignore', openSync(log, 'a')] }
      )
      await answering(url(), log)
    },
    async end(signal) {
      if (!child || child.exitCode !== null) return
      const over = new Promise((resolve) => child!.once('exit', resolve))
      child.kill(signal)
      await over
    }
  }
}

async function ended(child: ReturnType<typeof spawn>): Promise<void> {
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}`)
}

async function answering(url: string, log: string): Promise<void> {
  const untilMs = Date.now() + 60_000
  for (;;) {
    try {
      return await onServer(url, async (query) => void (await query('select 1')))
    } catch (error) {
      if (Date.now() > untilMs) throw new Error(`PostgreSQL does not start, see ${log}`, { cause: error })
      await sleep(100)
    }
  }
}

export async function onServer<Result>(
  url: string,
  work: (query: (text: string, values?: unknown[]) => Promise<Record<string, string>[]>) => Promise<Result>
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(async (text, values) => (await client.query(text, values)).rows)
  } finally {
    await client.end().catch(() => {})
  }
}

export interface CitusCluster {
  coordinator: Server
  workers: Server[]
  /** Makes an empty database with Citus on all servers. Returns its address at the coordinator. */
  database(name: string): Promise<string>
  stop(): Promise<void>
}

const settings = {
  max_connections: '400',
  max_worker_processes: '400',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off'
}
const citusSettings = {
  ...settings,
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  max_prepared_transactions: '400',
  'citus.node_conninfo': 'sslmode=prefer',
  'citus.recover_2pc_interval': '5s'
}

/** A coordinator and two workers on this machine. */
export async function startCitus(folder: string): Promise<CitusCluster> {
  const names = ['coordinator', 'worker-1', 'worker-2']
  const servers = await Promise.all(names.map((name) => createServerIn(join(folder, name), citusSettings)))
  await Promise.all(servers.map((server) => server.start()))
  const [coordinator, ...workers] = servers as [Server, ...Server[]]
  return {
    coordinator,
    workers,
    async database(name) {
      await Promise.all(servers.map((server) => onServer(server.url(), (query) => query(`create database ${name}`))))
      await Promise.all(servers.map((server) => onServer(server.url(name), (query) => query('create extension citus'))))
      await joined(coordinator, workers, name)
      return coordinator.url(name)
    },
    async stop() {
      await Promise.all(servers.map((server) => server.end('SIGINT')))
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Tells the coordinator where it and its workers are. */
export const joined = (coordinator: Server, workers: Server[], name: string) =>
  onServer(coordinator.url(name), async (query) => {
    await query(`select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
    for (const { port } of workers) await query(`select citus_add_node('127.0.0.1', ${port})`)
  })

/** The same PostgreSQL without Citus, to compare with. */
export async function startPlain(folder: string, given: Record<string, string> = settings) {
  const server = await createServerIn(join(folder, 'plain'), given)
  await server.start()
  return server
}
