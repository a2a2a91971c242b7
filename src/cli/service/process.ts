// One process of `tidings serve --processes`. Its parent tells it what to do over the channel between them. Without its
// parent it ends: Node sees to that.
import { type App, startApp } from '../../app.ts'
import { readConfig } from '../../platform/config/config.ts'
import { OperatorError } from '../../platform/errors.ts'
import { freeIdleMemory } from '../../platform/idle-memory.ts'
import { createLog, type Log } from '../../platform/log.ts'
import type { MetricReport } from '../../platform/metrics.ts'
import { Line } from '../../platform/siblings/line.ts'
import type { GroupState, Siblings } from '../../platform/siblings/siblings.ts'
import { newConsole } from './console-files.ts'
import type { OfParent, Outcome, Start } from './processes/questions.ts'

/** The parent does nothing that takes time. */
const reportsMs = 5_000
const takeMs = 1_000

const line = new Line<OfParent>({ send: (message) => void process.send?.(message) }, answer)
let state: GroupState = { wanted: 1, serving: 1, deaths: 0 }
let starting: Promise<App> | undefined
let log: Log | undefined
let stopping = false

function answer(question: OfParent): unknown {
  if (question.kind === 'start') return started(question)
  if (question.kind === 'report') return starting?.then((app) => app.report())
  if (question.kind === 'state') state = question.state
  else void stop()
  return undefined
}

async function started(question: Start): Promise<Outcome> {
  try {
    starting = start(question)
    const { baseUrl, port, consoleUrl, bootstrapped } = await starting
    return { app: { baseUrl, port, consoleUrl, bootstrapped } }
  } catch (error) {
    const { message, stack } = error as Error
    const expected = error instanceof OperatorError
    return { failure: expected ? message : (stack ?? message), exitCode: expected ? error.exitCode : 1 }
  }
}

async function start({ env, role, json, connection, parentId, first, port }: Start): Promise<App> {
  const config = readConfig(env)
  log = (await createLog(config.LOG_LEVEL)).child({ process: process.pid })
  const say = (text: string) => void (json ? process.stderr : process.stdout).write(`${text}\n`)
  const siblings: Siblings = {
    parentId,
    first,
    port,
    sharesPort: process.platform === 'linux',
    state: () => state,
    reports: () => line.ask<MetricReport[]>({ kind: 'reports' }, reportsMs),
    take: (hosts, buckets) => line.ask<unknown[][]>({ kind: 'take', hosts, buckets }, takeMs)
  }
  const console = newConsole(role)
  const app = await startApp({ config, database: { connection }, log, role, say, console: console.state, siblings })
  console.fill(config.DATA_DIR, log)
  freeIdleMemory()
  log.info('process started')
  return app
}

/** A process that is stopped while it starts finishes its start first. */
async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  const app = await starting?.catch(() => undefined)
  await app?.close()
  log?.info('process stopped')
  process.exit(0)
}

// A terminal sends Ctrl-C to every process, and systemd SIGTERM. A process that alone is asked to stop is replaced.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop())
process.on('message', (message) => void line.receive(message))
