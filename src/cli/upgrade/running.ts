import { join, resolve } from 'node:path'
import { readPidFile, sendSignal } from '../../platform/db/embedded/previous.ts'

/** The address of the embedded PostgreSQL of a running service, from the file that PostgreSQL keeps; none if none runs. */
export async function runningEmbedded(dataDir: string): Promise<string | undefined> {
  const file = await readPidFile(join(resolve(dataDir), 'postgres'))
  if (!file || !(file.pid > 0) || file.status !== 'ready' || !sendSignal(file.pid, 0)) return undefined
  const socketDir = encodeURIComponent(file.lines[4]!.trim())
  return `postgresql://tidings@localhost:5432/tidings?host=${socketDir}&sslmode=disable`
}
