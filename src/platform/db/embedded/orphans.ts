import { readdir, readFile, stat } from 'node:fs/promises'
import { sendSignal } from './previous.ts'

/** How long they get to notice that their first process is gone. PostgreSQL gives its children the same time. */
export const orphansMs = 5_000

/**
 * Kills the processes that a killed PostgreSQL left on its folder: most notice within a second, but one that is stopped or
 * computes does not, and the next PostgreSQL cannot start while it holds the memory they shared. They can do nothing
 * useful any more, and the next one recovers from the disk. Returns their process ids; on systems without a list of
 * processes in files, none.
 */
export async function endOrphans(folder: string): Promise<number[]> {
  const place = await placeOf(folder)
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const found: number[] = []
  for (const pid of pids) if (place !== undefined && (await isOrphan(pid, place))) found.push(pid)
  for (const pid of found) sendSignal(pid, 'SIGKILL')
  return found
}

/** PostgreSQL works in its folder. A process whose parent does so too has a first process, which may be an operator's. */
async function isOrphan(pid: number, place: string): Promise<boolean> {
  if ((await placeOf(`/proc/${pid}/cwd`)) !== place) return false
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
  const parent = /^PPid:\s+(\d+)/m.exec(await read('status'))?.[1]
  // Children have a title in place of the command line, so this is neither a shell nor a tool that works in the folder.
  return (await read('cmdline')).startsWith('postgres: ') && (await placeOf(`/proc/${parent}/cwd`)) !== place
}

/** A folder has several paths, such as in a container. */
async function placeOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found && `${found.dev}:${found.ino}`
}
