import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findBinaries } from '../../platform/db/embedded/binaries.ts'
import { checkCluster } from '../../platform/db/embedded/cluster.ts'
import { canRun, chooseIdentity } from '../../platform/db/embedded/identity.ts'
import { readPidFile, sendSignal } from '../../platform/db/embedded/previous.ts'
import { OperatorError } from '../../platform/errors.ts'
import { type Finding, fail, ok, warn } from './check.ts'

const name = 'PostgreSQL'

interface CheckedEmbedded {
  findings: Finding[]
  /** Whether there is a database that does not run. */
  isStopped: boolean
}

/** Checks whether the embedded PostgreSQL could start, without starting it. */
export async function checkEmbedded(dataDir: string): Promise<CheckedEmbedded> {
  try {
    const { native, postgres } = findBinaries()
    const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string }
    const runs = (await canRun('self', postgres)) || (await linksAreMissing(native))
    if (!runs) {
      const message = `the embedded one does not run here (see ${postgres} --version). Set DATABASE_URL instead.`
      return { findings: [fail(name, message)], isStopped: false }
    }
    await chooseIdentity()
    const folder = join(dataDir, 'postgres')
    const exists = await checkCluster(folder)
    const file = exists ? await readPidFile(folder) : undefined
    const alive = file !== undefined && file.pid > 0 && sendSignal(file.pid, 0)
    const state = alive ? `running (pid ${file.pid})` : exists ? 'not running' : 'set up at the first start'
    return {
      findings: [ok(name, `embedded ${version}, ${state}`), ...(await checkLeftover(dataDir, alive))],
      isStopped: exists && !alive
    }
  } catch (error) {
    if (error instanceof OperatorError) return { findings: [fail(name, error.message)], isStopped: false }
    throw error
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

/** A PostgreSQL without a Tidings belongs to a process that was just killed. */
async function checkLeftover(dataDir: string, alive: boolean): Promise<Finding[]> {
  const pid = Number(await readFile(join(dataDir, 'tidings.pid'), 'utf8').catch(() => ''))
  if (!alive || (pid > 0 && sendSignal(pid, 0))) return []
  return [warn(name, 'still running after its Tidings was killed. The next start waits until it stops.')]
}
