// Runs all tests, or the given files: `node test/run.ts [--external] [--pooler] [--statements] [--shared] [file ...]`.
// The tests use an embedded server that this program starts, or with --external the one that TEST_DATABASE_URL names.
// With --pooler, services reach the server through pgbouncer in transaction mode, and only tests that use a server run.
// With --statements, only tests run whose result may depend on how a server understands our statements.
// Each given file runs in a separate process; with --shared, the files share a few processes, as in a whole run.
// A whole run has two parts with a summary each: the suite, then the crash and fuzz runs.
// It always ends: each file has a limit (TIDINGS_FILE_SECONDS), and no process that a test started outlives the run.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedServer, startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import { preparedPlace } from '../src/platform/db/embedded/prepared.ts'
import { inLanes, inProcesses } from './lanes.ts'
import { makePlace } from './place.ts'
import { createDatabase, dropDatabase, withClient } from './support/database.ts'
import { poolSuite } from './support/pgbouncer.ts'
import { descendantsOf, endByForce, processesWith } from './support/processes.ts'
import { watchFiles } from './watch.ts'

const pooler = process.argv.includes('--pooler')
const external = process.argv.includes('--external')
const statements = process.argv.includes('--statements')
const shared = process.argv.includes('--shared')
const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const long = Boolean(process.env.TIDINGS_LONG)
/** Far more than a file takes on a slow machine. The long mode has an hour, because a hundred kills take longer. */
const limitMs = Number(process.env.TIDINGS_FILE_SECONDS ?? (long ? 3_600 : 600)) * 1_000
const graceMs = Math.min(15_000, limitMs)
/** The setting by which processes of this run are recognised, wherever they are. */
const mark = randomUUID()
/** Tests that kill processes at work, and tests that generate thousands of requests. */
const ordeals = /^test\/(crash|fuzz)\//
/**
 * Tests of our statements and of the calls of the contract (4). test/schema.test.ts has the server parse every statement.
 * Not the tests of standbys, which start embedded servers, and of times and failures of jobs, which use the same statements.
 */
const aboutStatements =
  /^test\/engines\/(jobs|jobs-keys|pool|presence|together)\.|^test\/segments\/|^test\/spec\/4|^test\/(schema|locked-months)\./
const all = globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort()
const textOf = (file: string) => readFileSync(file, 'utf8')
/** Tests that cannot run through a pooler, and why. */
const unpooled = new Map([
  ['test/crash/rolling-upgrade.test.ts', 'it starts the test programs of an earlier commit, which know no pooler']
])
// The long mode runs only tests that try more cases if they have more time. With --external or --pooler, only tests that
// use a server run: the result of all others does not depend on it.
const meant = all.filter(
  (file) =>
    (!long || textOf(file).includes('TIDINGS_LONG')) &&
    (!(external || pooler) || reachesServer(file)) &&
    !(pooler && unpooled.has(file)) &&
    (!statements || aboutStatements.test(file))
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

if (pooler && chosen.length === 0) for (const [file, why] of unpooled) console.log(`Without ${file}: ${why}`)

/** Each process loads most of the service, so the compiled code is cached, also for the next run. */
const compileCache = join(tmpdir(), 'node-compile-cache')
process.env.TMPDIR = makePlace()

// Programs that tests start build the console, and tests kill many of them before they have finished. So it is built
// first. If that fails, the suite cannot pass, and reports the reason before anything else.
if (chosen.length === 0) {
  const { builtConsole } = await import('../src/console/console.ts')
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
const bootstrapped = await bootstrappedCopy()
// Only now: a pooler would keep connections to the databases that tests copy.
const pgbouncer = pooler ? await poolSuite(url) : undefined
const folder = await mkdtemp(join(tmpdir(), 'tidings-suite-'))
let stopped = false
let failed = 0

if (chosen.length > 0 || long) {
  const files = chosen.length > 0 ? chosen : meant
  // Otherwise Node would search for tests itself.
  if (files.length === 0) throw new Error('there are no such tests')
  const place = join(folder, 'files')
  failed = await ran(await (shared ? inLanes(files, place, 4, limitMs) : inProcesses(files, place, limitMs)), place, 4)
} else {
  // More lanes than processors, because tests often wait. Fewer for tests in which a takeover has a time limit.
  failed += await phase('The suite', 5, (file) => !ordeals.test(file))
  if (!statements) failed += await phase('Crash and fuzz runs', 3, (file) => ordeals.test(file))
}
failed += await leftBehind()
await rm(folder, { recursive: true, force: true })
await pgbouncer?.stop()
if (!server) for (const name of [migrated, bootstrapped]) await dropDatabase(name)
await server?.stop()
process.exit(failed > 0 ? 1 : 0)

async function phase(title: string, lanes: number, belongs: (file: string) => boolean): Promise<number> {
  if (stopped) return 1
  const beganAt = Date.now()
  console.log(`\n== ${title}`)
  const place = join(folder, title)
  const programs = await inLanes(meant.filter(belongs), place, lanes, limitMs)
  // One more for files that need a separate process.
  const code = await ran(programs, place, lanes + 1)
  console.log(`== ${title}: ${Math.round((Date.now() - beganAt) / 1000)} s`)
  return code
}

/** Runs the programs of a folder, each in a process. */
async function ran(programs: string[], place: string, atOnce: number): Promise<number> {
  const runner = spawn(
    process.execPath,
    ['--test', '--test-reporter=spec', `--test-concurrency=${atOnce}`, ...programs],
    {
      stdio: 'inherit',
      env: {
        NODE_COMPILE_CACHE: compileCache,
        ...process.env,
        // A test of this runner has this variable set; Node would take our tests for tests inside that test, and run
        // nothing.
        NODE_TEST_CONTEXT: undefined,
        TEST_SERVICE_TEMPLATE: bootstrapped,
        TEST_SUITE_FOLDER: folder,
        TIDINGS_TEST_RUN: mark
      }
    }
  )
  const endAll = () => {
    const { pid } = runner
    if (pid !== undefined) endByForce(() => [...descendantsOf(pid), ...processesWith('TIDINGS_TEST_RUN', mark)])
    runner.kill('SIGKILL')
  }
  // Ctrl-C reaches the runner too; it ends by itself, and then this process ends. Tests that block this are killed.
  const stop = (signal: NodeJS.Signals) => {
    if (!stopped) setTimeout(endAll, 8_000).unref()
    stopped = true
    runner.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  const unwatch = watchFiles(place, limitMs, graceMs, endAll)
  const code = await new Promise<number>((resolve) => runner.on('exit', (ended) => resolve(ended ?? 1)))
  unwatch()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
  return code
}

/** Processes that outlive their tests: they get a moment, and are then named and killed. */
async function leftBehind(): Promise<number> {
  const find = () => processesWith('TIDINGS_TEST_RUN', mark)
  for (const untilMs = Date.now() + (stopped ? 0 : 2 * graceMs); find().length > 0 && Date.now() < untilMs; )
    await sleep(100)
  const left = endByForce(find)
  for (const { pid, command } of left) console.error(`✖ A test left a process behind: ${pid} ${command}`)
  return left.length
}

/** A run inside a test of this runner copies the database of the outer run, and need not load the service. */
async function bootstrappedCopy(): Promise<string> {
  if (external && process.env.TEST_SERVICE_TEMPLATE) return createDatabase('bootstrapped')
  const { bootstrappedDatabase } = await import('./support/service.ts')
  return bootstrappedDatabase()
}

async function startServer(): Promise<EmbeddedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-suite-'))
  const embedded = await startEmbedded({ dataDir, say: console.error, prepared: preparedPlace })
  // No data here has to outlive the suite. Tests of crashes start servers themselves.
  await withClient(embedded.url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum'])
      await client.query(`alter system set ${setting} = off`)
    // A copy of a database takes half as much of the processor if the system copies its files. Not every server can.
    await client.query('alter system set file_copy_method = clone').catch(() => {})
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
