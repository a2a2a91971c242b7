import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { ownerOf } from './identity.ts'
import { type Postmaster, settingsOf } from './postmaster.ts'
import { readPidFile, runs } from './previous.ts'
import { endWithUs } from './watch.ts'

const lookEveryMs = 100

/**
 * The PostgreSQL of a Tidings that was killed a moment ago, if it runs with the settings that this one would use.
 * Continuing with it saves a stop, which first writes all changed pages to the disk: several seconds after heavy
 * writing.
 */
export async function findRunning(cluster: Cluster): Promise<Postmaster | undefined> {
  const { folder, identity } = cluster
  const file = await readPidFile(folder)
  if (!file || !(file.pid > 0) || file.status !== 'ready' || !(await runs(file.pid, cluster))) return undefined
  if ((await stat(folder)).uid !== ownerOf(identity).uid || !(await startedAlike(cluster))) return undefined
  return { pid: file.pid, ended: endOf(file.pid, cluster) }
}

/** Makes an adopted PostgreSQL end with this process, like one that this process started. */
export const keep = ({ pid, ended }: Postmaster, { dataDir, folder }: Cluster): void =>
  endWithUs(pid, ended, { dataDir, folder })

/** PostgreSQL records its program and its settings in a file, each in quotes. Another version has another path. */
async function startedAlike(cluster: Cluster): Promise<boolean> {
  const { folder, binaries, archives } = cluster
  const written = await readFile(join(folder, 'postmaster.opts'), 'utf8').catch(() => '')
  const [program, ...rest] = written.trim().split(' "')
  return (
    program === binaries.postgres &&
    settingsOf(cluster).every((setting) => rest.includes(`${setting}"`)) &&
    (archives === true) === rest.includes('archive_mode=on"')
  )
}

/** Polls for the end of an adopted PostgreSQL: it is not a child of this process, so no event reports its end. */
function endOf(pid: number, cluster: Cluster): Promise<string> {
  return new Promise((resolve) => {
    const timer = setInterval(async () => {
      if (await runs(pid, cluster)) return
      clearInterval(timer)
      resolve('ended')
    }, lookEveryMs)
    timer.unref()
  })
}
