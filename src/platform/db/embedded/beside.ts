import { access, constants } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { OperatorError } from '../../errors.ts'
import { urlOf } from './embedded.ts'
import { readPidFile, sendSignal } from './previous.ts'

/**
 * The address of the embedded PostgreSQL that a running Tidings has started on a data folder; none if none runs.
 * PostgreSQL records the folder of its socket in its pid file. A service that systemd gave temporary files of its own
 * has it where only that process sees it, so the path through that process is tried too.
 */
export async function findBeside(dataDir: string): Promise<string | undefined> {
  const folder = join(resolve(dataDir), 'postgres')
  const file = await readPidFile(folder)
  if (!file || !(file.pid > 0) || file.status !== 'ready' || !sendSignal(file.pid, 0)) return undefined
  const written = file.lines[4]?.trim()
  if (!written) return undefined
  const denied: string[] = []
  for (const socketDir of [written, join('/proc', String(file.pid), 'root', written)]) {
    const why = await access(join(socketDir, '.s.PGSQL.5432'), constants.W_OK).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code
    )
    if (why === undefined) return urlOf({ socketDir }, 'tidings')
    if (why === 'EACCES' || why === 'EPERM') denied.push(socketDir)
  }
  if (denied.length > 0)
    throw new OperatorError(
      `A Tidings of another user runs on ${dataDir} (PostgreSQL has the pid ${file.pid}). Run this command as that user.`
    )
  return undefined
}
