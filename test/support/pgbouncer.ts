import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { chooseIdentity, ownerOf } from '../../src/platform/db/embedded/identity.ts'
import { withClient } from './database.ts'
import { poolerSetting } from './pooled.ts'

export interface Pgbouncer {
  /** An address through the pooler to any database of the server. */
  url: string
  /** Ends it as an operator's restart does, without waiting for clients, and starts it again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export type PoolMode = 'transaction' | 'session' | 'statement'

const program = 'pgbouncer'
const environment = { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }
/** A moment in which it starts on any machine. */
const startMs = 15_000

/** Fails with a sentence if Debian's package is missing. */
export async function requirePgbouncer(): Promise<void> {
  await promisify(execFile)(program, ['--version'], { env: environment }).catch(() => {
    throw new Error('These tests need pgbouncer: apt-get install pgbouncer')
  })
}

/** Starts pgbouncer before the server of an address, which may be the folder of a socket. */
export async function startPgbouncer(
  serverUrl: string,
  mode: PoolMode = 'transaction',
  settings: Record<string, string | number> = {}
): Promise<Pgbouncer> {
  await requirePgbouncer()
  const folder = await mkdtemp(join(tmpdir(), 'tidings-pgbouncer-'))
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, configuration(new URL(serverUrl), mode, port, settings))
  await chmod(folder, 0o755)
  const url = new URL(serverUrl)
  Object.assign(url, { hostname: '127.0.0.1', port: String(port), search: '?sslmode=disable' })
  let child = await run(file, url.href)
  return {
    url: url.href,
    async restart() {
      await end(child)
      child = await run(file, url.href)
    },
    async stop() {
      await end(child)
      await rm(folder, { recursive: true, force: true })
    }
  }
}

function configuration(server: URL, mode: PoolMode, port: number, settings: Record<string, string | number>): string {
  const host = server.searchParams.get('host') ?? server.hostname
  const password = server.password && ` password=${decodeURIComponent(server.password)}`
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    // Every client is let in under the name of the role that the tests have.
    auth_type: 'any',
    pool_mode: mode,
    max_client_conn: 5_000,
    default_pool_size: 10,
    // Each test has a database of its own, whose connections are soon not needed any more.
    server_idle_timeout: 5,
    server_lifetime: 60,
    ...settings
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  const target = `host=${host} port=${server.port || 5432} user=${decodeURIComponent(server.username)}${password}`
  return `[databases]\n* = ${target}\n[pgbouncer]\n${lines.join('\n')}\n`
}

async function run(file: string, url: string): Promise<ChildProcess> {
  // Like PostgreSQL, it does not run as root, and only the user of a socket may enter its folder.
  const identity = await chooseIdentity()
  const [command, args] =
    identity === 'namespace'
      ? ['unshare', ['--user', '--map-user=65534', '--map-group=65534', '--', program, file]]
      : [program, [file]]
  const child = spawn(command as string, args as string[], {
    env: { ...environment, ...(process.env[runMark] && { [runMark]: process.env[runMark] }) },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(identity === 'nobody' && ownerOf(identity))
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-20_000)
    })
  for (const untilMs = Date.now() + startMs; ; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${said}`)
    const answers = await withClient(url, (client) => client.query('select 1')).then(
      () => true,
      () => false
    )
    if (answers) return child
    if (Date.now() > untilMs) throw new Error(`pgbouncer did not start:\n${said}`)
  }
}

/** The variable by which test/run.ts recognises processes of its run. */
const runMark = 'TIDINGS_TEST_RUN'

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Lets all services that tests start reach the server of the suite through a pooler. */
export async function poolSuite(serverUrl: string): Promise<Pgbouncer> {
  const pgbouncer = await startPgbouncer(serverUrl)
  process.env[poolerSetting] = pgbouncer.url
  return pgbouncer
}
