import type { ConsoleState } from '../../console/console.ts'
import type { Config } from '../../platform/config/config.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { createLog, type Log } from '../../platform/log.ts'
import type { NodeRole } from '../../platform/nodes/nodes.ts'
import { version } from '../../platform/version.ts'
import { greeting, introduction } from './greeting.ts'

/** npm forwards Ctrl-C, so one arrives twice: only a signal after this time means "stop at once". */
const repeatMs = 2_000

/** Runs the service until a signal stops it, and returns the exit code. With `json`, it prints one document. */
export async function serve(config: Config, role: NodeRole, { json = false } = {}): Promise<number> {
  const say = (line: string) => void (json ? process.stderr : process.stdout).write(`${line}\n`)
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>()
  const starting = new AbortController()
  let askedAtMs = 0

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (askedAtMs === 0) {
        askedAtMs = Date.now()
        say('Stopping: finishing open requests and jobs…')
        starting.abort()
        stop(0)
      } else if (Date.now() - askedAtMs > repeatMs) {
        say('Stopping at once.')
        process.exit(1)
      }
    })
  }

  // PostgreSQL starts while the rest of the code loads.
  const opening = openDatabase(config, say, { signal: starting.signal })
  opening.catch(() => {}) // Reported where it is awaited.
  const log = await createLog(config.LOG_LEVEL)
  const { startApp } = await import('../../app.ts')
  const database = await opening.catch((error) => {
    if (askedAtMs > 0) return undefined
    throw error
  })
  if (!database) return 0
  try {
    const console: ConsoleState = { waiting: 'The console is being built, only this time. It opens by itself…' }
    const app = await startApp({ config, database, log, role, say, console })
    if (json) process.stdout.write(`${JSON.stringify(introduction(app, config), null, 2)}\n`)
    else say(greeting(app, config, role))
    if (role !== 'worker') void fillConsole(console, config.DATA_DIR, log)
    log.info({ url: app.baseUrl, role, version, database: database.name }, 'started')
    void database.exited.then(() => {
      log.fatal('PostgreSQL has ended and does not start again')
      stop(1)
    })
    const code = await stopped
    await app.close()
    log.info('stopped')
    return code
  } finally {
    await database.stop()
    if (askedAtMs > 0) say('Stopped.')
  }
}

/** Builds the console after the start, which does not wait for it. */
async function fillConsole(state: ConsoleState, dataDir: string, log: Log): Promise<void> {
  const { builtConsole, readFiles } = await import('../../console/console.ts')
  try {
    state.files = await readFiles(await builtConsole(dataDir))
  } catch (error) {
    const { message, cause } = error as Error
    log.error(message)
    if (cause) log.debug({ cause: String((cause as Error).message ?? cause) }, 'the console was not built')
    state.waiting = `${message} The API works without it.`
  }
}
