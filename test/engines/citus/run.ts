// Runs Tidings on a Citus cluster of a coordinator and two workers, which this program starts on this machine:
//   npm run test:citus -- [distribute] [suite] [kills] [ratios] [file …]
// Without a name all four parts run: the command that distributes a database; the suite's requests; kills of the servers
// under load; the throughput beside the same PostgreSQL without Citus. Given files run on the cluster instead.
// It needs PostgreSQL with Citus (PG_BIN is the folder of its programs) and says so if there is none.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CitusCluster, startCitus, startPlain, whyNoCitus } from './cluster.ts'

const parts = ['distribute', 'suite', 'kills', 'ratios'] as const
/** These look at the locks, the statistics and the counters of the one server that holds the rows. */
const ofOneServer = ['test/messages/settling.test.ts', 'test/campaigns/new-project.test.ts']
const root = resolve(import.meta.dirname, '../../..')
const given = process.argv.slice(2)
const files = given.filter((one) => one.endsWith('.ts'))
const chosen = given.filter((one) => !files.includes(one))
const unknown = chosen.filter((one) => !parts.includes(one as (typeof parts)[number]))
const why = unknown.length > 0 ? `There is no part ${unknown.join(', ')}: ${parts.join(', ')}.` : await whyNoCitus()
if (why) {
  console.error(why)
  process.exit(78)
}
const wants = (part: (typeof parts)[number]) => (given.length === 0 ? true : chosen.includes(part))

const folder = await mkdtemp(join(tmpdir(), 'tidings-citus-'))
await chmod(folder, 0o755)
const cluster = await startCitus(folder)
const control = await serveCrashes(cluster)
const url = cluster.coordinator.url()
const env = {
  ...process.env,
  TEST_DATABASE_URL: url,
  TEST_CITUS_WORKERS: cluster.workers.map(({ port }) => `127.0.0.1:${port}`).join(','),
  TEST_CITUS_CONTROL: control.url
}
let failed = 0
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end().then(() => process.exit(143)))
try {
  if (files.length > 0) failed += await tests(files)
  if (wants('distribute')) failed += await tests(['test/engines/citus/distribute.citus.ts'])
  if (wants('suite')) failed += await tests(aboutRequests())
  if (wants('kills')) failed += await tests(['test/engines/citus/kills.citus.ts'])
  if (wants('ratios')) await ratios()
} finally {
  await end()
}
process.exit(failed > 0 ? 1 : 0)

/** Tests of requests, and of what follows from them. Left out are tests that need a plain server of their own. */
function aboutRequests(): string[] {
  const folders = [
    'spec',
    'messages',
    'segments',
    'triggers',
    'campaigns',
    'journeys',
    'schedules',
    'stats',
    'webhooks',
    'oversight',
    'a2a',
    'activity-channels'
  ]
  return globSync(
    folders.map((name) => `test/${name}/**/*.test.ts`),
    { cwd: root, exclude: ofOneServer }
  ).sort()
}

async function tests(names: string[]): Promise<number> {
  const child = spawn(process.execPath, ['test/run.ts', '--external', '--shared', ...names], {
    cwd: root,
    env,
    stdio: 'inherit'
  })
  return (await new Promise<number | null>((done) => child.once('exit', done))) === 0 ? 0 : 1
}

async function ratios(): Promise<void> {
  const { printRatios } = await import('./ratios.ts')
  const { migrateOnCitus } = await withWorkers()
  const plain = await startPlain(folder)
  const distributed = await cluster.database('ratios')
  await migrateOnCitus(distributed)
  const engines = {
    plain: { url: plain.url(), servers: { server: [plain] } },
    citus: { url: distributed, servers: { coordinator: [cluster.coordinator], workers: cluster.workers } }
  }
  await printRatios(engines, 5).finally(() => plain.end('SIGINT'))
}

async function withWorkers() {
  Object.assign(process.env, { TEST_CITUS_WORKERS: env.TEST_CITUS_WORKERS })
  return import('../../support/citus-databases.ts')
}

/** Lets tests, which run in other processes, crash a server and start it again after a while. */
async function serveCrashes({ coordinator, workers }: CitusCluster) {
  const named = new Map([
    ['coordinator', coordinator],
    ...workers.map((one, index) => [`worker-${index + 1}`, one] as const)
  ])
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://localhost')
    const victim = named.get(searchParams.get('server') ?? '')
    try {
      if (!victim) throw new Error('there is no such server')
      await victim.end('SIGQUIT')
      await sleep(Number(searchParams.get('away')))
      await victim.start()
      response.end()
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

async function end(): Promise<void> {
  control.close()
  await cluster.stop()
  await rm(folder, { recursive: true, force: true })
}
