import { open, rename, rm, stat } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { interrupted } from '../client.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import { amount, bytes, counted, reason } from '../output.ts'
import { showProgress } from '../progress.ts'
import { unreachable } from '../refusals.ts'
import { type Session, tell } from '../session.ts'
import { remark } from '../shell.ts'
import { countLines } from './lines.ts'

interface Sum {
  users: number
  bytes: number
}

/** Writes to a file that appears once it is complete, or to standard output. */
export async function exportUsers(session: Session, users: string, file: string | undefined): Promise<void> {
  const { shell, json } = session
  if (file === undefined) {
    if (json)
      throw usageFailure('The export itself is JSON lines. --json works with --output, where it prints a summary.')
    const sum = await download(session, users, shell.stdout, false)
    if (shell.stderr.isTTY) remark(shell, `Exported ${counted(sum.users, 'user')} (${bytes(sum.bytes)}).`)
    return
  }
  if ((await stat(file).catch(() => undefined))?.isDirectory())
    throw new Failure(exit.failure, 'unwritable', `${file} is a folder. Give the name of a file.`)
  const aside = `${file}.${process.pid}.part`
  // Personal data, so other users may not read it. 'wx' does not overwrite a file of another process.
  const handle = await open(aside, 'wx', 0o600).catch((error) => {
    throw unwritable(file, error)
  })
  try {
    const sum = await download(session, users, handle.createWriteStream({ flush: true }), true)
    await rename(aside, file)
    tell(session, { file, ...sum }, `Exported ${amount(sum.users)} users to ${file} (${bytes(sum.bytes)}).`)
  } catch (error) {
    await rm(aside, { force: true })
    throw unwritable(file, error)
  } finally {
    await handle.close()
  }
}

function unwritable(file: string, error: unknown): unknown {
  const { syscall } = error as NodeJS.ErrnoException
  return syscall ? new Failure(exit.failure, 'unwritable', `${file} cannot be written: ${reason(error)}.`) : error
}

async function download(
  { client, shell, interrupt }: Session,
  users: string,
  target: Writable,
  end: boolean
): Promise<Sum> {
  const response = await client.send('GET', `${users}:export`)
  const sum: Sum = { users: 0, bytes: 0 }
  const progress = showProgress(shell.stderr, 'Exporting')
  async function* counting(source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      sum.bytes += chunk.length
      sum.users += countLines(chunk)
      progress.at(sum.bytes, sum.users)
      yield chunk
    }
  }
  const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>)
  try {
    await pipeline(body, counting, target, { end })
  } catch (error) {
    if (interrupt.aborted) throw interrupted()
    // File errors name a system call; any other error means that the response broke off.
    throw (error as NodeJS.ErrnoException).syscall ? error : unreachable(client.url, error)
  } finally {
    progress.end()
  }
  return sum
}
