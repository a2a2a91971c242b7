import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { findBeside } from '../../platform/db/embedded/beside.ts'
import { findBinaries } from '../../platform/db/embedded/binaries.ts'
import { checkCluster } from '../../platform/db/embedded/cluster.ts'
import { canRun, chooseIdentity } from '../../platform/db/embedded/identity.ts'
import { readPidFile, sendSignal } from '../../platform/db/embedded/previous.ts'
import { OperatorError } from '../../platform/errors.ts'
import { type Finding, fail, ok, warn } from './check.ts'
import { readSealedCheck } from './store.ts'

const name = 'PostgreSQL'
const limitMs = 3_000

interface CheckedEmbedded {
  findings: Finding[]
  /** Unusable: it cannot run here, or its folder is not one of PostgreSQL 18. */
  state: 'new' | 'running' | 'stopped' | 'unusable'
  /** Whether a Tidings uses the data folder, which may be about to start its database. */
  isHeld?: boolean
  /** As in `CheckedDatabase`, if it runs and lets itself be asked. */
  sealedCheck?: string
}

/** Checks whether the embedded PostgreSQL could start, without starting it. */
export async function checkEmbedded(dataDir: string): Promise<CheckedEmbedded> {
  try {
    const { native, postgres } = findBinaries()
    const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string }
    const runs = (await canRun('self', postgres)) || (await linksAreMissing(native))
    if (!runs) {
      const message = `the embedded one does not run here (see ${postgres} --version). Set DATABASE_URL instead.`
      return { findings: [fail(name, message)], state: 'unusable' }
    }
    await chooseIdentity()
    const folder = join(dataDir, 'postgres')
    const exists = await checkCluster(folder)
    const file = exists ? await readPidFile(folder) : undefined
    const alive = file !== undefined && file.pid > 0 && sendSignal(file.pid, 0)
    const shown = alive ? `running (pid ${file.pid})` : exists ? 'not running' : 'set up at the first start'
    const isHeld = await isFolderHeld(dataDir)
    const sealedCheck = alive ? await sealedCheckIn(dataDir) : undefined
    return {
      findings: [ok(name, `embedded ${version}, ${shown}`), ...(alive && !isHeld ? [leftover] : [])],
      isHeld,
      state: alive ? 'running' : exists ? 'stopped' : 'new',
      ...(sealedCheck !== undefined && { sealedCheck })
    }
  } catch (error) {
    if (error instanceof OperatorError) return { findings: [fail(name, error.message)], state: 'unusable' }
    throw error
  }
}

/** Undefined also if it cannot be asked now: it starts or stops, or belongs to another user. */
async function sealedCheckIn(dataDir: string): Promise<string | undefined> {
  const url = await findBeside(dataDir).catch(() => undefined)
  if (url === undefined) return undefined
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: limitMs, query_timeout: limitMs })
  client.on('error', () => {})
  try {
    await client.connect()
    return await readSealedCheck(client)
  } catch {
    return undefined
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Whether links between libraries are missing. If npm ran no install scripts, the first start makes them; before that
 * the binaries cannot run.
 */
async function linksAreMissing(native: string): Promise<boolean> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = JSON.parse(text) as { target: string }[]
  const there = await Promise.all(
    links.map(({ target }) =>
      access(join(dirname(native), target)).then(
        () => true,
        () => false
      )
    )
  )
  return there.includes(false)
}

async function isFolderHeld(dataDir: string): Promise<boolean> {
  const pid = Number(await readFile(join(dataDir, 'tidings.pid'), 'utf8').catch(() => ''))
  return pid > 0 && sendSignal(pid, 0)
}

/** A PostgreSQL without a Tidings belongs to a process that was just killed. */
const leftover = warn(name, 'still running after its Tidings was killed. The next start waits until it stops.')
