import type { Config } from '../../platform/config/config.ts'
import type { Pool } from '../../platform/db/db.ts'
import type { Opening } from '../../platform/db/open.ts'
import { OperatorError } from '../../platform/errors.ts'
import { interrupted } from '../client.ts'
import { exit, Failure } from '../exit.ts'
import { interruption, remark, type Shell } from '../shell.ts'

/** The database of a command that works on it directly, without a service. */
export interface OnDatabase {
  pool: Pool
  /** The name of the database for people, without a password. */
  name: string
  interrupt: AbortSignal
}

/**
 * Opens the database, or starts the embedded one, and closes it after the work. With `mustExist` it refuses a database
 * without Tidings, and makes none.
 */
export async function onDatabase<Result>(
  shell: Shell,
  config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR' | 'LOG_LEVEL'> &
    Partial<Pick<Config, 'DATABASE_POOLER' | 'DATABASE_LISTEN_URL'>>,
  work: (database: OnDatabase) => Promise<Result>,
  { interrupt = interruption(shell), ...opening }: Omit<Opening, 'signal'> & { interrupt?: AbortSignal } = {}
): Promise<Result> {
  const [{ openDatabase }, { openPool }, { createLog }] = await Promise.all([
    import('../../platform/db/open.ts'),
    import('../../platform/db/db.ts'),
    import('../../platform/log.ts')
  ])
  const log = await createLog(config.LOG_LEVEL)
  const orInterrupted = (error: unknown) => {
    throw interrupt.aborted ? interrupted() : error
  }
  const database = await openDatabase(config, (line) => remark(shell, line), {
    ...opening,
    signal: interrupt
  }).catch(orInterrupted)
  const pool = openPool(database.connection, log, 2)
  try {
    if (opening.mustExist) await refuseEmpty(pool, database.name, config.DATABASE_URL).catch(orInterrupted)
    return await work({ pool, name: database.name, interrupt }).catch(orInterrupted)
  } finally {
    await pool.close()
    await database.stop()
  }
}

async function refuseEmpty(pool: Pool, name: string, url: string | undefined): Promise<void> {
  const { holdsTidings } = await import('../../platform/db/store.ts')
  if (await holdsTidings(pool)) return
  const setting = url === undefined ? 'DATA_DIR' : 'DATABASE_URL'
  throw new OperatorError(`The database ${name} holds no Tidings. Check ${setting}.`)
}

/** Call it under the lock of migrations, which keeps nodes from starting. */
export async function refuseWhileNodesRun(pool: Pool, why: string): Promise<void> {
  const { listNodes } = await import('../../platform/nodes/nodes.ts')
  const nodes = await listNodes(pool)
  if (nodes.length === 0) return
  const where = nodes.map(({ host, pid }) => `${host} (pid ${pid})`).join(', ')
  throw new Failure(
    exit.failure,
    'nodes_alive',
    `Stop the nodes first, ${why}: ${where}. A killed node disappears from this list after 7 seconds.`
  )
}
