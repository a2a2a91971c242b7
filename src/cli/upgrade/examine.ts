import { statfs } from 'node:fs/promises'
import { type Config, readConfig, settings } from '../../platform/config/config.ts'
import { openPool } from '../../platform/db/db.ts'
import { findBeside } from '../../platform/db/embedded/beside.ts'
import { newestMigration, readMigrations } from '../../platform/db/migrations.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { OperatorError, Unavailable } from '../../platform/errors.ts'
import { createLog } from '../../platform/log.ts'
import { version } from '../../platform/version.ts'
import { type Finding, fail, ok, warn } from '../doctor/check.ts'
import { readApplied } from '../doctor/store.ts'
import { bytes, counted } from '../output.ts'
import { interruption, remark, type Shell } from '../shell.ts'
import { checkPending } from './pending.ts'
import * as store from './store.ts'

/** A migration that builds an index needs room for it, and PostgreSQL room for its log. */
const roomShare = 0.2
const roomLeast = 200e6

/** Looks at a running installation with the eyes of this version. It only reads. */
export async function examineUpgrade(shell: Shell): Promise<Finding[]> {
  const first = ok('Tidings', `this is ${version}`)
  try {
    const config = readConfig(shell.env)
    return [first, ...(await checkInstallation(shell, config))]
  } catch (error) {
    if (!(error instanceof OperatorError) && !(error instanceof Unavailable)) throw error
    return [first, fail('Upgrade', error.message.replace(/\s*\n\s*/g, ' '))]
  }
}

async function checkInstallation(shell: Shell, config: Config): Promise<Finding[]> {
  const signal = interruption(shell)
  const running = config.DATABASE_URL ?? (await findBeside(config.DATA_DIR))
  const opened = running === undefined ? config : { ...config, DATABASE_URL: running }
  const database = await openDatabase(opened, (line) => remark(shell, line), { signal, patienceMs: 0 })
  const pool = openPool(database.connection, await createLog('silent'), 1)
  try {
    const client = await pool.connect()
    try {
      // Settings of a transaction, not of the session: a pooler lends the session to nodes, which could not write then.
      await client.query('begin read only')
      await client.query(`set local statement_timeout = '10s'`)
      const facts = await store.readFacts(client)
      const server = ok('PostgreSQL', `${database.name}, version ${facts.version}, ${bytes(facts.bytes)}`)
      if (!facts.set_up) return [server, ok('Migrations', 'the database is empty; the first start sets it up')]
      const [applied, sizes, nodes, open] = [
        await readApplied(client),
        await store.readSizes(client),
        await store.readNodes(client),
        await store.readTransactions(client)
      ]
      return [
        server,
        ...checkPending({ known: readMigrations(), applied, sizes, nodes }),
        checkNodes(nodes),
        ...checkSettings(nodes, shell.env),
        checkTransactions(open),
        await checkRoom(config, facts),
        warn('Backup', 'the time of the last one is not known here. Make one before you upgrade.')
      ]
    } finally {
      await client.query('rollback').catch(() => {})
      await client.end().catch(() => {})
    }
  } finally {
    await pool.close()
    await database.stop()
  }
}

function checkNodes(nodes: store.KnownNode[]): Finding {
  const name = 'Nodes'
  if (nodes.length === 0) return ok(name, 'none runs')
  const newest = newestMigration()
  const older = nodes.filter((node) => node.version !== version || (node.newest_migration ?? 0) < newest)
  const list = (some: store.KnownNode[]) =>
    some.map(({ host, pid, role, version: own }) => `${host} (pid ${pid}, ${role}, ${own})`).join(', ')
  return older.length === 0
    ? ok(name, `all run this version: ${list(nodes)}`)
    : ok(name, `${counted(older.length, 'node')} of ${nodes.length} to restart with this version: ${list(older)}`)
}

/** Compares the settings that this version knows with those of the running nodes. */
function checkSettings(nodes: store.KnownNode[], env: NodeJS.ProcessEnv): Finding[] {
  const known = Object.keys(settings)
  const before = new Set(nodes.flatMap((node) => node.settings ?? []))
  if (before.size === 0) return [ok('Settings', 'valid')]
  const added = known.filter((name) => !before.has(name))
  const gone = [...before].filter((name) => !known.includes(name))
  return [
    ok('Settings', `valid; ${added.length > 0 ? `new: ${added.join(', ')}` : 'none is new'}`),
    ...gone.map((name) =>
      env[name] === undefined
        ? ok('Settings', `${name} is gone`)
        : warn('Settings', `${name} is gone, and set here: this version ignores it. See the changelog.`)
    )
  ]
}

function checkTransactions(open: store.OpenTransaction[]): Finding {
  const [oldest] = open
  if (!oldest) return ok('Transactions', 'none is open for long')
  const { who, pid, seconds } = oldest
  return warn(
    'Transactions',
    `one of ${who} (pid ${pid}) has been open for ${seconds} s; a migration waits for its end`
  )
}

/** Only the disk of the embedded database can be seen from here. */
async function checkRoom({ DATABASE_URL, DATA_DIR }: Config, { bytes: size }: store.Facts): Promise<Finding> {
  const name = 'Disk space'
  const needed = Math.max(roomLeast, size * roomShare)
  if (DATABASE_URL !== undefined)
    return ok(name, `see to it that the disk of your PostgreSQL has ${bytes(needed)} of free space`)
  const { bavail, bsize } = await statfs(DATA_DIR)
  const free = `${bytes(bavail * bsize)} free at ${DATA_DIR}`
  return bavail * bsize < needed
    ? fail(name, `${free}, which is less than the ${bytes(needed)} to have`)
    : ok(name, free)
}
