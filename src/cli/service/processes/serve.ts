import type { Config } from '../../../platform/config/config.ts'
import { openDatabase } from '../../../platform/db/open.ts'
import { OperatorError } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { createLog } from '../../../platform/log.ts'
import { checkAddress } from '../../../platform/net/listening.ts'
import type { NodeRole } from '../../../platform/nodes/nodes.ts'
import { version } from '../../../platform/version.ts'
import { exit } from '../../exit.ts'
import { greeting, introduction } from '../greeting.ts'
import { stopOnSignals } from '../stopping.ts'
import { ProcessGroup } from './group.ts'
import { prepareMembers } from './member.ts'

/** The embedded PostgreSQL takes 200 connections; some are left for other commands. */
const embeddedConnections = 190
/** A process keeps this many besides its pool. */
const besidePool = 3
/** How much longer than its own limits a process may take to stop. */
const reserveMs = 10_000

export interface Serving {
  wanted: number
  role: NodeRole
  json: boolean
  env: Record<string, string | undefined>
}

/**
 * Runs the service in several processes until a signal stops them, and returns the exit code. This process, their
 * parent, runs the embedded database, accepts connections and holds the buckets of rate limits; it serves no request.
 */
export async function serveInProcesses(config: Config, { wanted, role, json, env }: Serving): Promise<number> {
  checkConnections(config, wanted)
  const say = (line: string) => void (json ? process.stderr : process.stdout).write(`${line}\n`)
  const { stopped, stop, signal, isAsked } = stopOnSignals(say)
  const log = await createLog(config.LOG_LEVEL)
  const database = await openDatabase(config, say, { signal, archives: true, prepared: true }).catch((error) => {
    if (isAsked()) return undefined
    throw error
  })
  if (!database) return 0
  const start = { env, role, json, connection: database.connection, parentId: newId() }
  const group = new ProcessGroup({ wanted, start, log })
  try {
    await checkAddress(config.HOST, config.PORT)
    prepareMembers()
    const app = await Promise.race([group.open(), stopped])
    if (typeof app === 'number') return app
    if (json) process.stdout.write(`${JSON.stringify(introduction(app, config), null, 2)}\n`)
    else say(greeting(app, config, role))
    log.info({ url: app.baseUrl, role, version, database: database.name, processes: wanted }, 'started')
    void database.exited.then(() => {
      log.fatal('PostgreSQL has ended and does not start again')
      stop(1)
    })
    return await stopped
  } finally {
    await group.stop((config.DRAIN_SECONDS + 2 * config.SHUTDOWN_SECONDS) * 1000 + reserveMs)
    log.info('stopped')
    await database.stop()
    if (isAsked()) say('Stopped.')
  }
}

function checkConnections({ DATABASE_URL, DATABASE_POOL_SIZE: size }: Config, wanted: number): void {
  const needed = wanted * (size + besidePool)
  if (DATABASE_URL !== undefined || needed <= embeddedConnections) return
  throw new OperatorError(
    `${wanted} processes would keep ${needed} connections (DATABASE_POOL_SIZE and ${besidePool} more each), and the ` +
      `embedded database takes ${embeddedConnections}. Lower --processes or DATABASE_POOL_SIZE, or set DATABASE_URL.`,
    exit.configuration
  )
}
