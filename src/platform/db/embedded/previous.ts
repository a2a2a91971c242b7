import { execFile } from 'node:child_process'
import { lchown, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { OperatorError } from '../../errors.ts'
import type { Cluster } from './cluster.ts'
import { ownerOf } from './identity.ts'

/** How long the processes of a previous PostgreSQL may take to end. */
export const previousMs = 60_000

/** The file that PostgreSQL keeps in its folder while it runs, and that a killed one leaves behind. */
export interface PidFile {
  pid: number
  status: string
  lines: string[]
}

export async function readPidFile(folder: string): Promise<PidFile | undefined> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  return { pid: Number(lines[0]), status: lines[7]?.trim() ?? '', lines }
}

/**
 * The Tidings before this one has ended, because this one holds its folder, but its PostgreSQL may still be stopping. Or its process
 * id was reused by another process, and PostgreSQL would refuse to start because of that process.
 */
export async function letPreviousEnd(
  cluster: Cluster,
  say: (line: string) => void,
  signal?: AbortSignal,
  patienceMs = previousMs
): Promise<void> {
  const file = await readPidFile(cluster.folder)
  if (!file || !(file.pid > 0) || !sendSignal(file.pid, 0)) return
  if (!(await runs(file.pid, cluster))) return disown(cluster, file.lines)

  say(`waiting for the previous PostgreSQL (pid ${file.pid}) to stop…`)
  const deadline = Date.now() + patienceMs
  sendSignal(file.pid, 'SIGINT')
  while (await runs(file.pid, cluster)) {
    if (Date.now() > deadline) {
      throw new OperatorError(
        `The previous PostgreSQL (pid ${file.pid}) on ${cluster.dataDir} does not stop. End it with \`kill -QUIT ${file.pid}\`, then start again.`
      )
    }
    await sleep(20, undefined, { signal })
  }
}

/**
 * Replaces a process id that no longer belongs to PostgreSQL by our own: PostgreSQL treats the id of its parent as a
 * leftover. The rest of the file must stay, because PostgreSQL uses it to find out whether children of the former
 * process are still running.
 */
async function disown({ folder, identity }: Cluster, lines: string[]): Promise<void> {
  const path = join(folder, 'postmaster.pid')
  const { uid, gid } = ownerOf(identity)
  await writeFile(`${path}.new`, [String(process.pid), ...lines.slice(1)].join('\n'), { mode: 0o600 })
  await lchown(`${path}.new`, uid, gid)
  await rename(`${path}.new`, path)
}

/** Whether the process is the PostgreSQL of this data folder: its command line then names the folder of the socket. */
export async function runs(pid: number, { socketDir }: Cluster): Promise<boolean> {
  return (await commandLine(pid)).includes(basename(socketDir))
}

/** Empty for a process that has ended, even if its parent has not yet read its exit status. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const ps = promisify(execFile)('/bin/ps', ['-ww', '-o', 'args=', '-p', String(pid)])
  return ps.then(
    ({ stdout }) => stdout,
    () => ''
  )
}

/** Sends a signal, or nothing for 0. Returns whether the process exists. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
