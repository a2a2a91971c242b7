import { copyFile, open, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../../errors.ts'

const logLimit = 8 * 1024 * 1024

/**
 * Keeps the log of PostgreSQL and the previous part, each with a limit. PostgreSQL appends, so it continues in the
 * emptied file.
 */
export async function boundLog(log: string, limit = logLimit): Promise<void> {
  const size = await sizeOf(log)
  if (size <= limit) return
  await copyFile(log, `${log}.1`)
  await truncate(log)
}

export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}

/** Returns the lines of PostgreSQL since the log had the size `from`, at most the last 64 KiB. */
export async function readLog(log: string, from: number): Promise<string> {
  const size = await sizeOf(log)
  const start = Math.max(Math.min(from, size), size - 65_536)
  const file = await open(log, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** The reason why PostgreSQL did not start, as a sentence for the operator, from its log. */
export function explain({ dataDir, log }: { dataDir: string; log: string }, written: string): OperatorError {
  if (/No space left on device|Disk quota exceeded/.test(written)) {
    return new OperatorError(`The disk that holds ${dataDir} is full. Free some space, then start again.`)
  }
  if (/Read-only file system/.test(written)) {
    return new OperatorError(`The data folder ${dataDir} is on a read-only filesystem. Set DATA_DIR to another folder.`)
  }
  if (/Cannot allocate memory|could not (map|create) (anonymous )?shared memory/.test(written)) {
    return new OperatorError(
      'There is too little memory to start PostgreSQL. Free some, lower DATABASE_CACHE_MB where it is set, or set DATABASE_URL.'
    )
  }
  if (/GLIBC|loading shared libraries|cannot execute|Exec format/.test(written)) {
    return new OperatorError(
      `The PostgreSQL that Tidings brings does not run on this system (${lastLine(written)}). Set DATABASE_URL to a PostgreSQL 15 or newer instead.`
    )
  }
  if (/pre-existing shared memory block/.test(written)) {
    return new OperatorError(
      `Processes of the previous PostgreSQL on ${dataDir} do not end. End them or restart the machine, then start again.`
    )
  }
  // PostgreSQL reports a mistake in postgresql.conf in a line before the last one.
  const mistake = written.match(/^.*LOG: .* in file ".*$/gm)?.[0]
  const lastWord = written.match(/^.*(FATAL|PANIC|error): .*$/gim)?.at(-1)
  // The folder may have been passed as an open file, whose name means nothing to an operator.
  const reason = lastLine(mistake ?? lastWord ?? written).replaceAll('/proc/self/fd/3', join(dataDir, 'postgres'))
  return new OperatorError(
    `PostgreSQL does not start on ${dataDir}: ${reason || 'it gave no reason'}. Its log is ${log}.`
  )
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replace(/^.*?(LOG|FATAL|PANIC|error): +/i, '').replace(/\.$/, '')
}
