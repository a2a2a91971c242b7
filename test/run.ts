// Runs the suite, or the files given: `node test/run.ts [--external] [file ...]`.
// On an embedded server of its own, or with --external on the one that TEST_DATABASE_URL names.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type EmbeddedServer, startEmbedded } from '../src/platform/db/embedded.ts'

const external = process.argv.includes('--external')
const chosen = process.argv.slice(2).filter((argument) => argument !== '--external')
const all = globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort()
const textOf = (file: string) => readFileSync(file, 'utf8')
// The long mode is for the tests that know it: those that try more the longer they may. Another server is for the tests
// that reach it: the rest does the same whatever it is.
const meant = all.filter(
  (file) => (!process.env.TIDINGS_LONG || textOf(file).includes('TIDINGS_LONG')) && (!external || reachesServer(file))
)
const files = chosen.length > 0 ? chosen : meant

function reachesServer(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false
  seen.add(file)
  const text = textOf(file)
  if (text.includes('TEST_DATABASE_URL')) return true
  const imported = [...text.matchAll(/^(?:import|export)\b(?:[^;'"`=()]*?\bfrom)?\s*'(\.[^']+)'/gm)].map(([, target]) =>
    join(dirname(file), target!)
  )
  return imported.some((target) => target.startsWith('test/') && reachesServer(target, seen))
}

const server = external ? undefined : await startServer()
const url = server?.url ?? process.env.TEST_DATABASE_URL
if (!url) {
  console.error('Set TEST_DATABASE_URL to a PostgreSQL 15 or newer whose role may create databases.')
  process.exit(78)
}

const runner = spawn(
  process.execPath,
  [
    '--test',
    '--test-reporter=spec',
    '--test-concurrency=4',
    `--test-timeout=${process.env.TIDINGS_LONG ? 3_600_000 : 180_000}`,
    ...files
  ],
  // Each file is a process of its own, and loads most of the service: compiled once is enough.
  {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'), ...process.env, TEST_DATABASE_URL: url }
  }
)
// Ctrl-C reaches the runner too; it ends by itself, and then so do we.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal))
runner.on('exit', async (code) => {
  await server?.stop()
  process.exit(code ?? 1)
})

async function startServer(): Promise<EmbeddedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-suite-'))
  const embedded = await startEmbedded({ dataDir, say: console.error })
  return {
    ...embedded,
    async stop() {
      await embedded.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}
