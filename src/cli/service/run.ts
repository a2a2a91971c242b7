import type { Config } from '../../platform/config/config.ts'
import { isPassing } from '../../platform/db/db.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { OperatorError } from '../../platform/errors.ts'
import { freeIdleMemory } from '../../platform/idle-memory.ts'
import { createLog } from '../../platform/log.ts'
import type { NodeRole } from '../../platform/nodes/nodes.ts'
import { version } from '../../platform/version.ts'
import { newConsole } from './console-files.ts'
import { greeting, introduction } from './greeting.ts'
import { stopOnSignals } from './stopping.ts'

/** Runs the service until a signal stops it, and returns the exit code. With `json`, it prints one document. */
export async function serve(config: Config, role: NodeRole, { json = false } = {}): Promise<number> {
  const say = (line: string) => void (json ? process.stderr : process.stdout).write(`${line}\n`)
  const { stopped, stop, signal, isAsked } = stopOnSignals(say)

  // PostgreSQL starts while the rest of the code loads, which leaves no moment for a step in between.
  const launched = Promise.withResolvers<void>()
  const opening = openDatabase(config, say, { signal, archives: true, prepared: true, launched: launched.resolve })
  void opening.catch(() => {}).then(() => launched.resolve()) // A failure is reported where it is awaited.
  const log = await createLog(config.LOG_LEVEL)
  await launched.promise
  const { startApp } = await import('../../app.ts')
  const database = await opening.catch((error) => {
    if (isAsked()) return undefined
    throw error
  })
  if (!database) return 0
  try {
    const console = newConsole(role)
    const app = await startApp({ config, database, log, role, say, console: console.state }).catch(
      lostAt(database.name)
    )
    // Before the greeting, so that the greeting stays on the screen.
    log.info({ url: app.baseUrl, role, version, database: database.name }, 'started')
    if (json) process.stdout.write(`${JSON.stringify(introduction(app, config), null, 2)}\n`)
    else say(greeting(app, config, role))
    console.fill(config.DATA_DIR, log)
    void database.exited.then(() => {
      log.fatal('PostgreSQL has ended and does not start again')
      stop(1)
    })
    const memory = freeIdleMemory()
    const code = await stopped
    memory.close()
    await app.close()
    log.info('stopped')
    return code
  } finally {
    await database.stop()
    if (isAsked()) say('Stopped.')
  }
}

/** The database responded a moment ago. If it went away during the start, a sentence says more than a stack trace. */
export const lostAt =
  (name: string) =>
  (error: unknown): never => {
    if (!isPassing(error)) throw error
    throw new OperatorError(`The database ${name} was lost during the start: ${(error as Error).message}. Start again.`)
  }
