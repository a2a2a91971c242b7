// All benchmarks, or those that are named, one after the other, each with a time limit:
//   npm run bench -- [name …] [--full] [--list] [--dry]
// Prints one table, appends what was found to bench/results/ and draws the charts of docs/performance.md; with --dry it only
// prints. The quick form takes about twenty minutes, the full one (--full), which also shows growth, a few hours. Everything
// listens on the loopback address only.
import { spawn } from 'node:child_process'
import { accessSync, chmodSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { usualCacheMb } from '../../src/platform/db/embedded/cache.ts'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import type { Figure } from '../support/figures.ts'
import { stopFamily } from './families.ts'
import { drawPage } from './page.ts'
import { type Bench, plan } from './plan.ts'
import { append, commit, machine, type Result } from './results.ts'
import { tableOf } from './table.ts'

const usage = 'npm run bench -- [name …] [--full] [--list] [--dry]'
const { values: flags, positionals: names } = given()
if (flags.help) {
  console.log(`${usage}\n--list shows the names; --full takes longer and shows growth; --dry only prints.`)
  process.exit(0)
}
const form = flags.full ? 'full' : 'quick'
const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'tb-'))
// As root, PostgreSQL runs as another user, who must reach its own folder below this one.
chmodSync(folder, 0o711)
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let running: number | undefined
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => void (running ? stopFamily(running) : Promise.resolve()).then(() => process.exit(1)))

function given() {
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({ allowPositionals: true, options: { full: flag, list: flag, dry: flag, help: flag } })
  } catch (error) {
    console.error(`${(error as Error).message.split('. ')[0]}: ${usage}`)
    process.exit(1)
  }
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((place) => {
    try {
      accessSync(join(place, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Runs a benchmark to its end or to its limit. Returns the reason if it did not end well. */
async function ranBench(bench: Bench, figures: string, database: string | undefined): Promise<string | undefined> {
  const { BENCH_DATABASE_URL: _, ...env } = process.env
  const child = spawn(process.execPath, [join(root, 'bench', `${bench.name}.ts`), ...bench[form]], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...env,
      HOST: '127.0.0.1',
      TMPDIR: folder,
      BENCH_FIGURES: figures,
      ...(database && { BENCH_DATABASE_URL: database })
    }
  })
  running = child.pid
  const seconds = bench.seconds[form === 'quick' ? 0 : 1]
  let late = false
  const timer = setTimeout(() => {
    late = true
    void stopFamily(child.pid!)
  }, seconds * 1_000)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearTimeout(timer)
  running = undefined
  if (late) return `stopped after ${seconds} s`
  return code === 0 ? undefined : `ended with ${code}`
}

/** The server of benchmarks that need one: that of BENCH_DATABASE_URL, or an embedded one for this benchmark. */
async function withDatabase<Value>(bench: Bench, work: (url?: string) => Promise<Value>): Promise<Value> {
  if (!bench.database) return work()
  if (process.env.BENCH_DATABASE_URL) return work(process.env.BENCH_DATABASE_URL)
  const dataDir = join(folder, `db-${bench.name}`)
  // The full form has a million users: as a service has it that starts with their database.
  const cacheMb = usualCacheMb(form === 'full' ? 2 * 1024 ** 3 : 0)
  const server = await startEmbedded({ dataDir, say: console.error, cacheMb })
  try {
    return await work(server.url)
  } finally {
    await server.stop()
  }
}

async function measure(bench: Bench): Promise<Result> {
  const file = join(folder, `${bench.name}.jsonl`)
  const incomplete = await withDatabase(bench, (url) => ranBench(bench, file, url))
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const figures = lines.map((line) => JSON.parse(line) as Figure)
  const at = { date: new Date().toISOString(), commit: commit(), form, machine: machine() } as const
  return { ...at, bench: bench.name, figures, ...(incomplete && { incomplete }) }
}

const unknown = names.filter((name) => !plan.some((bench) => bench.name === name))
if (unknown.length > 0) {
  console.error(`no benchmark is called ${unknown.join(' or ')}; --list shows their names`)
  process.exit(2)
}
const chosen = names.length === 0 ? plan : plan.filter(({ name }) => names.includes(name))
if (flags.list) {
  for (const { name, seconds, measures } of chosen) console.log(`${name} (at most ${seconds[0]} s): ${measures}`)
  process.exit(0)
}
const results: Result[] = []
const troubles: string[] = []
for (const bench of chosen) {
  const missing = Object.entries(bench.needs ?? {}).filter(([program]) => !isInstalled(program))
  if (missing.length > 0) {
    troubles.push(`${bench.name} was left out: install ${missing.map(([, name]) => name).join(' and ')} (Debian)`)
    continue
  }
  console.log(`\n== ${bench.name}`)
  const result = await measure(bench)
  if (result.incomplete) troubles.push(`${bench.name} ${result.incomplete}`)
  if (result.figures.length > 0) results.push(result)
  if (result.figures.length > 0 && !flags.dry) append(result)
}
console.log(`\n${tableOf(results.flatMap(({ figures }) => figures))}`)
for (const trouble of troubles) console.log(trouble)
if (!flags.dry && results.length > 0) console.log(`written: ${drawPage().join(', ')}`)
process.exit(troubles.length === 0 ? 0 : 1)
