import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.ts'
import type { Cluster } from './embedded-cluster.ts'
import { spawnAs } from './embedded-identity.ts'
import { boundLog, explain, readLog, sizeOf } from './embedded-log.ts'

/** A PostgreSQL that takes connections. */
export interface Postmaster {
  pid: number
  /** Resolves when it is gone, for whatever reason, with how it ended. */
  ended: Promise<string>
}

export type Say = (line: string) => void

/** How long the processes of a PostgreSQL before this one may take to end. */
const previousMs = 60_000
/** How long a start may take without a word in the log. A recovery writes of its progress every ten seconds. */
const silenceMs = 600_000

export async function startPostmaster(cluster: Cluster, say: Say, signal?: AbortSignal): Promise<Postmaster> {
  const deadline = Date.now() + previousMs
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted()
    await letPreviousEnd(cluster, say, deadline, signal)
    const result = await launch(cluster, say, signal)
    if (typeof result !== 'string') return result
    // When a postmaster is killed, its children notice within seconds and keep its memory until then.
    const busy = /pre-existing shared memory block|lock file "[^"]*" already exists/.test(result)
    if (!busy || Date.now() > deadline) throw explain(cluster, result)
    if (attempt === 0) say('waiting for the processes of the previous PostgreSQL to end…')
    await sleep(200, undefined, { signal })
  }
}

/** Starts PostgreSQL and waits until it is ready; gives what it wrote when it ends before that. */
async function launch(cluster: Cluster, say: Say, signal?: AbortSignal): Promise<Postmaster | string> {
  await boundLog(cluster.log)
  const from = await sizeOf(cluster.log)
  const args = [
    `listen_addresses=`,
    'port=5432',
    `unix_socket_directories=${cluster.socketDir}`,
    'unix_socket_permissions=0700',
    'logging_collector=off',
    'log_destination=stderr'
  ].flatMap((setting) => ['-c', setting])
  const log = openSync(cluster.log, 'a', 0o600)
  let child: ChildProcess
  try {
    child = spawnAs(cluster.identity, cluster.binaries.postgres, cluster.folder, args, [log, log])
  } finally {
    closeSync(log)
  }
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, by) => resolve(by ? `ended by ${by}` : `ended with code ${code}`))
  })
  if (child.pid === undefined) return `error: ${await ended}`
  endWithUs(child.pid, ended)
  try {
    if (await becomesReady(cluster, child.pid, ended, from, say, signal)) return { pid: child.pid, ended }
  } catch (error) {
    await stopPostmaster({ pid: child.pid, ended }, say)
    throw error
  }
  return readLog(cluster.log, from)
}

/**
 * Stops PostgreSQL when this process ends in whatever way, a `kill -9` included: the kernel then closes our end of the
 * pipe. This needs nothing but a shell, and so works alike on every system and under every user.
 */
function endWithUs(pid: number, ended: Promise<string>): void {
  const watch = spawn('/bin/sh', ['-c', 'read -r line || kill -INT "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: {}
  })
  watch.on('error', () => {})
  watch.stdin.on('error', () => {})
  watch.unref()
  void ended.then(() => watch.stdin.end('done\n'))
}

async function becomesReady(
  cluster: Cluster,
  pid: number,
  ended: Promise<string>,
  from: number,
  say: Say,
  signal?: AbortSignal
): Promise<boolean> {
  let alive = true
  void ended.then(() => {
    alive = false
  })
  let size = from
  let heard = Date.now()
  let told = Date.now() - 8_000
  while (alive) {
    signal?.throwIfAborted()
    const file = await readPidFile(cluster)
    if (file?.pid === pid && file.status === 'ready') return true
    const now = Date.now()
    const grown = await sizeOf(cluster.log)
    if (grown !== size) [size, heard] = [grown, now]
    if (now - heard > silenceMs) throw new OperatorError(`PostgreSQL has not become ready. Its log is ${cluster.log}.`)
    if (now - told > 10_000) {
      told = now
      say('waiting for PostgreSQL to get ready (after a crash it first recovers)…')
    }
    await sleep(5)
  }
  return false
}

/** SIGINT asks for a stop that ends all sessions and writes all that is in memory; SIGQUIT for one that recovers later. */
export async function stopPostmaster({ pid, ended }: Postmaster, say: Say, patienceMs = 20_000): Promise<void> {
  send(pid, 'SIGINT')
  if (await within(ended, patienceMs)) return
  say('PostgreSQL does not stop; ending it at once. It will recover at the next start.')
  send(pid, 'SIGQUIT')
  if (await within(ended, 10_000)) return
  send(pid, 'SIGKILL')
  await ended
}

async function within(ended: Promise<string>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const result = await Promise.race([ended.then(() => true), late])
  timer.abort()
  return result
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function readPidFile({ folder }: Cluster): Promise<{ pid: number; status: string; lines: string[] } | undefined> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  return { pid: Number(lines[0]), status: lines[7]?.trim() ?? '', lines }
}

/**
 * The Tidings before this one is gone, for we hold its folder, but its PostgreSQL may still be stopping.
 * Or its process id belongs to somebody else by now, and PostgreSQL would refuse to start because of it.
 */
async function letPreviousEnd(cluster: Cluster, say: Say, deadline: number, signal?: AbortSignal): Promise<void> {
  const file = await readPidFile(cluster)
  if (!file || !(file.pid > 0) || !send(file.pid, 0)) return
  if (!(await runs(file.pid, cluster))) {
    // PostgreSQL takes the id of its own parent for a leftover. The rest of the file stays, for by it PostgreSQL finds
    // out whether children of the former are still at work.
    const path = join(cluster.folder, 'postmaster.pid')
    await writeFile(`${path}.new`, [String(process.pid), ...file.lines.slice(1)].join('\n'), { mode: 0o600 })
    await rename(`${path}.new`, path)
    return
  }
  say(`waiting for the previous PostgreSQL (pid ${file.pid}) to stop…`)
  send(file.pid, 'SIGINT')
  while (await runs(file.pid, cluster)) {
    if (Date.now() > deadline) {
      throw new OperatorError(
        `The previous PostgreSQL (pid ${file.pid}) on ${cluster.folder} does not stop. End it, then start again.`
      )
    }
    await sleep(20, undefined, { signal })
  }
}

/** Whether the process is the PostgreSQL of this folder: its command line names the folder of the socket. */
async function runs(pid: number, { socketDir }: Cluster): Promise<boolean> {
  return (await commandLine(pid)).includes(basename(socketDir))
}

async function commandLine(pid: number): Promise<string> {
  // A process that has ended but was not collected by its parent has no command line any more.
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const ps = spawn('/bin/ps', ['-ww', '-o', 'args=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  for await (const chunk of ps.stdout.setEncoding('utf8')) text += chunk
  return text
}
