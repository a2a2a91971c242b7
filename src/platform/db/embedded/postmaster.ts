import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../errors.ts'
import { archivingSettings, makeSpool } from './archiving.ts'
import type { Cluster } from './cluster.ts'
import { spawnAs } from './identity.ts'
import { boundLog, explain, readLog, sizeOf } from './log.ts'
import { endOrphans, orphansMs } from './orphans.ts'
import { makeSocketFolder } from './places.ts'
import { letPreviousEnd, type PidFile, previousMs, readPidFile, sendSignal } from './previous.ts'
import { endWithUs } from './watch.ts'

/** The first process of a PostgreSQL, the parent of the others. */
export interface Postmaster {
  pid: number
  /** Resolves when it has ended, for any reason, with a description of its exit. */
  ended: Promise<string>
}

type Say = (line: string) => void

/** How long a start may take without a new line in the log. A recovery logs its progress every ten seconds. */
const silenceMs = 600_000

/** Starts PostgreSQL on a folder that no other can be using any more, and waits until it takes connections. */
export async function startPostmaster(
  cluster: Cluster,
  say: Say,
  signal?: AbortSignal,
  launched?: () => void
): Promise<Postmaster> {
  const began = Date.now()
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted()
    await letPreviousEnd(cluster, say, signal)
    await makeSpool(cluster)
    await makeSocketFolder(cluster.socketDir, cluster.dataDir, cluster.identity)
    const result = await launch(cluster, say, signal, launched)
    if (typeof result !== 'string') return result
    // When a postmaster is killed, its children notice within seconds and keep the memory they share until then.
    const shared = result.includes('pre-existing shared memory block')
    const busy = shared || /lock file "[^"]*" already exists/.test(result)
    const waitedMs = Date.now() - began
    if (!busy || waitedMs > previousMs) throw explain(cluster, result)
    if (attempt === 0) say('waiting for the processes of the previous PostgreSQL to end…')
    const ended = shared && waitedMs > orphansMs ? await endOrphans(cluster.folder) : []
    if (ended.length > 0) say(`Processes of the previous PostgreSQL did not end and were killed: ${ended.join(', ')}.`)
    await sleep(200, undefined, { signal })
  }
}

/** Starts PostgreSQL and waits until it is ready. Returns its log if it ends before that. */
async function launch(
  cluster: Cluster,
  say: Say,
  signal?: AbortSignal,
  launched?: () => void
): Promise<Postmaster | string> {
  await boundLog(cluster.log)
  const from = await sizeOf(cluster.log)
  const left = await readPidFile(cluster.folder)
  const postmaster = spawnPostmaster(cluster)
  if (typeof postmaster === 'string') return postmaster
  launched?.()
  try {
    if (await becomesReady(cluster, postmaster, left, say, signal)) return postmaster
  } catch (error) {
    await stopPostmaster(postmaster, say)
    throw error
  }
  return readLog(cluster.log, from)
}

/** Options of the command line at each start. */
export const settingsOf = ({
  socketDir,
  ...cluster
}: Pick<Cluster, 'socketDir' | 'cacheMb' | 'archives' | 'recovery'>): string[] => [
  'listen_addresses=',
  'port=5432',
  // A list of paths, in which quotes keep a path with a comma or a space in one piece.
  `unix_socket_directories="${socketDir.replaceAll('"', '""')}"`,
  'unix_socket_permissions=0700',
  'logging_collector=off',
  'log_destination=stderr',
  `shared_buffers=${cluster.cacheMb}MB`,
  ...archivingSettings(cluster)
]

function spawnPostmaster(cluster: Cluster): Postmaster | string {
  const args = settingsOf(cluster).flatMap((setting) => ['-c', setting])
  const log = openSync(cluster.log, 'a', 0o600)
  let child: ChildProcess
  try {
    child = spawnAs(cluster.identity, cluster.binaries.postgres, cluster.folder, args, [log, log])
  } finally {
    closeSync(log)
  }
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, by) => resolve(by ? `was ended by ${by}` : `ended with code ${code}`))
  })
  if (child.pid === undefined) return 'error: the program could not be started'
  endWithUs(child.pid, ended, cluster)
  return { pid: child.pid, ended }
}

/**
 * Reads the file in which PostgreSQL records that it is ready, which is cheaper than trying to connect again and again.
 * The file that a killed PostgreSQL left does not count: in a container, the next one often has the same process id.
 */
async function becomesReady(
  cluster: Cluster,
  { pid, ended }: Postmaster,
  left: PidFile | undefined,
  say: Say,
  signal?: AbortSignal
) {
  const before = left?.lines.join('\n')
  let replaced = before === undefined
  let alive = true
  void ended.then(() => {
    alive = false
  })
  const began = Date.now()
  let told = began - 8_000
  let heard = { at: began, size: 0 }
  while (alive) {
    signal?.throwIfAborted()
    const file = await readPidFile(cluster.folder)
    replaced ||= file?.lines.join('\n') !== before
    if (replaced && file?.pid === pid && file.status === 'ready') return true
    const now = Date.now()
    const size = await sizeOf(cluster.log)
    if (size !== heard.size) heard = { at: now, size }
    if (now - heard.at > silenceMs) throw new OperatorError(`PostgreSQL does not get ready. Its log is ${cluster.log}.`)
    if (now - told > 10_000) {
      told = now
      say(`waiting for PostgreSQL to get ready: after a crash it first recovers. Its log is ${cluster.log}`)
    }
    await sleep(5)
  }
  return false
}

/**
 * SIGINT requests a stop that ends all sessions and writes its memory to disk; SIGQUIT requests one that leaves this to
 * recovery.
 */
export async function stopPostmaster({ pid, ended }: Postmaster, say: Say, patienceMs = 20_000): Promise<void> {
  if (await within(ended, 0)) return
  sendSignal(pid, 'SIGINT')
  if (await within(ended, patienceMs)) return
  say('PostgreSQL does not stop and is ended at once. It recovers at the next start.')
  sendSignal(pid, 'SIGQUIT')
  if (await within(ended, 10_000)) return
  sendSignal(pid, 'SIGKILL')
  await ended
}

async function within(ended: Promise<string>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const result = await Promise.race([ended.then(() => true), late])
  timer.abort()
  return result
}
