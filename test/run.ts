// Runs everything, or the files given: `node test/run.ts [--external] [file ...]`.
// On an embedded server of its own, or with --external on the one that TEST_DATABASE_URL names.
// Everything is the suite, and then the crash and fuzz runs, each with a summary of its own.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { builtConsole } from '../src/console/console.ts'
import { type EmbeddedServer, startEmbedded } from '../src/platform/db/embedded.ts'
import { inLanes } from './lanes.ts'
import { createDatabase, dropDatabase, withClient } from './support/database.ts'
import { bootstrappedDatabase } from './support/service.ts'

const external = process.argv.includes('--external')
const chosen = process.argv.slice(2).filter((argument) => argument !== '--external')
const long = Boolean(process.env.TIDINGS_LONG)
/** What kills processes at their work, and what makes up requests by the thousand. */
const ordeals = /^test\/(crash|fuzz)\//
const all = globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort()
const textOf = (file: string) => readFileSync(file, 'utf8')
// The long mode is for the tests that know it: those that try more the longer they may. Another server is for the tests
// that reach it: the rest does the same whatever it is.
const meant = all.filter(
  (file) => (!long || textOf(file).includes('TIDINGS_LONG')) && (!external || reachesServer(file))
)

function reachesServer(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false
  seen.add(file)
  const text = textOf(file)
  if (text.includes('process.env.TEST_DATABASE_URL')) return true
  const imported = [...text.matchAll(/^(?:import|export)\b(?:[^;'"`=()]*?\bfrom)?\s*'(\.[^']+)'/gm)].map(([, target]) =>
    join(dirname(file), target!)
  )
  return imported.some((target) => target.startsWith('test/') && reachesServer(target, seen))
}

// Programs that tests start build the console, and tests kill many of them before they have done so. So it is built first;
// where it cannot be, the suite cannot pass, and says why before anything else.
if (chosen.length === 0) {
  await builtConsole(tmpdir()).catch((error: Error) => {
    console.error(error.message)
    process.exit(1)
  })
}
const server = external ? undefined : await startServer()
const url = server?.url ?? process.env.TEST_DATABASE_URL
if (!url) {
  console.error('Set TEST_DATABASE_URL to a PostgreSQL 15 or newer whose role may create databases.')
  process.exit(78)
}
process.env.TEST_DATABASE_URL = url
const migrated = await createDatabase('migrated')
process.env.TEST_DATABASE_TEMPLATE = migrated
const bootstrapped = await bootstrappedDatabase()
const folder = await mkdtemp(join(tmpdir(), 'tidings-suite-'))
let stopped = false
let failed = 0

if (chosen.length > 0 || long) failed = await ran(chosen.length > 0 ? chosen : meant, 4, long ? 60 : 3)
else {
  // More lanes than processors, because tests often wait for something. Fewer where something must be taken over in time.
  failed += await phase('The suite', 5, (file) => !ordeals.test(file))
  failed += await phase('Crash and fuzz runs', 3, (file) => ordeals.test(file))
}
await rm(folder, { recursive: true, force: true })
if (!server) for (const name of [migrated, bootstrapped]) await dropDatabase(name)
await server?.stop()
process.exit(failed > 0 ? 1 : 0)

async function phase(title: string, lanes: number, belongs: (file: string) => boolean): Promise<number> {
  if (stopped) return 1
  const beganAt = Date.now()
  console.log(`\n== ${title}`)
  const programs = await inLanes(meant.filter(belongs), join(folder, title), lanes)
  // One more for those who want a process of their own.
  const code = await ran(programs, lanes + 1, 60)
  console.log(`== ${title}: ${Math.round((Date.now() - beganAt) / 1000)} s`)
  return code
}

/** Runs files, each in a process. The limit is for all that one of them does. */
function ran(files: string[], atOnce: number, limitMinutes: number): Promise<number> {
  // Node would look for tests by itself.
  if (files.length === 0) throw new Error('there are no such tests')
  const runner = spawn(
    process.execPath,
    [
      '--test',
      '--test-reporter=spec',
      `--test-concurrency=${atOnce}`,
      `--test-timeout=${limitMinutes * 60_000}`,
      ...files
    ],
    {
      stdio: 'inherit',
      env: {
        // Each process loads most of the service: compiled once is enough.
        NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
        ...process.env,
        TEST_SERVICE_TEMPLATE: bootstrapped
      }
    }
  )
  // Ctrl-C reaches the runner too; it ends by itself, and then so do we.
  const stop = (signal: NodeJS.Signals) => {
    stopped = true
    runner.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  return new Promise((resolve) => {
    runner.on('exit', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
      resolve(code ?? 1)
    })
  })
}

async function startServer(): Promise<EmbeddedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-suite-'))
  const embedded = await startEmbedded({ dataDir, say: console.error })
  // Nothing here has to outlive the suite. What survives a crash is tried on servers that the tests start themselves.
  await withClient(embedded.url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum'])
      await client.query(`alter system set ${setting} = off`)
    await client.query('select pg_reload_conf()')
  })
  return {
    ...embedded,
    async stop() {
      await embedded.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}
