// Runs the suite: `node test/run.ts [file ...]`. On TEST_DATABASE_URL where it is set, else on an embedded server of its own.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../src/platform/db/embedded.ts'

const chosen = process.argv.slice(2)
const files = chosen.length > 0 ? chosen : globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort()

const embedded = process.env.TEST_DATABASE_URL ? undefined : await startServer()
const url = process.env.TEST_DATABASE_URL ?? embedded!.url

const runner = spawn(
  process.execPath,
  ['--test', '--test-reporter=spec', '--test-concurrency=4', '--test-timeout=120000', ...files],
  { stdio: 'inherit', env: { ...process.env, TEST_DATABASE_URL: url } }
)
runner.on('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1)
  embedded?.stop().catch(console.error)
})

async function startServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-suite-'))
  const server = await startEmbedded({ dataDir, say: console.error })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}
