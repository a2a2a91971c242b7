import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { UserImport } from '../../wire.ts'
import { Ended, exit, Failure } from '../exit.ts'
import { amount, counted, printable, reason } from '../output.ts'
import { showProgress } from '../progress.ts'
import { type Session, tell } from '../session.ts'
import { remark } from '../shell.ts'
import { batchesOf } from './lines.ts'

/**
 * One request for each 2 MiB: each can be repeated after a 429 or a 503, none exceeds the time-out of a proxy, and the
 * progress counts stored users. Small enough for memory, large enough for few audit entries.
 */
const batchBytes = 2 * 1024 * 1024
/** Time for one request: the service writes thousands of users a second, and one may hold a hundred thousand. */
const batchMs = 280_000
const errorsKept = 100
const errorsShown = 10

export async function importFile(session: Session, users: string, file: string): Promise<void> {
  const { shell, client, interrupt } = session
  const { input, size } = await open(session, file)
  const outcome: UserImport = { imported: 0, failed: 0, errors: [] }
  const progress = showProgress(shell.stderr, 'Importing', size)
  let done = 0
  let lines = 0
  interrupt.addEventListener('abort', () => input.destroy(), { once: true })
  try {
    for await (const { bytes, firstLine, lines: count } of batchesOf(input, batchBytes)) {
      progress.at(done, outcome.imported)
      const sent = { lines: bytes, repeatable: true }
      const { imported, failed, errors } = await client.json<UserImport>('POST', `${users}:import`, sent, batchMs)
      outcome.imported += imported
      outcome.failed += failed
      const room = errorsKept - outcome.errors.length
      outcome.errors.push(...errors.slice(0, room).map((found) => ({ ...found, line: found.line + firstLine - 1 })))
      done += bytes.length
      lines += count
      progress.at(done, outcome.imported)
    }
    if (interrupt.aborted) throw new Error('interrupted')
  } catch (error) {
    progress.end()
    if (lines > 0 && !session.json)
      remark(shell, `Imported ${amount(outcome.imported)} from the first ${counted(lines, 'line')} before it stopped:`)
    throw explained(error, file, interrupt.aborted)
  }
  progress.end()
  tell(session, outcome, `imported ${amount(outcome.imported)}, failed ${amount(outcome.failed)}`)
  if (outcome.failed === 0) return
  if (!session.json) showErrors(session, outcome)
  throw new Ended(exit.failure)
}

async function open({ shell }: Session, file: string): Promise<{ input: Readable; size?: number }> {
  if (file === '-') return { input: shell.stdin }
  const found = await stat(file).catch((error) => {
    throw explained(error, file, false)
  })
  if (found.isDirectory())
    throw new Failure(exit.failure, 'unreadable', `${file} is a folder. Give a file of JSON lines.`)
  return { input: createReadStream(file), ...(found.isFile() && { size: found.size }) }
}

function showErrors({ shell }: Session, { failed, errors }: UserImport): void {
  const groups = [...Map.groupBy(errors, ({ error }) => error)].slice(0, errorsShown)
  for (const [error, found] of groups) remark(shell, `  ${linesOf(found)}: ${printable(error)}`)
  const rest = failed - groups.reduce((sum, [, found]) => sum + found.length, 0)
  if (rest > 0)
    remark(shell, `  and ${amount(rest)} more${errors.length > errorsShown ? '; --json shows the first 100' : ''}`)
}

/** "line 3" or "lines 3, 4, 9 and 12 more": lines with the same fault share one entry. */
function linesOf(found: { line: number }[]): string {
  const shown = found.slice(0, 3).map(({ line }) => line)
  const more = found.length - shown.length
  return `${found.length === 1 ? 'line' : 'lines'} ${shown.join(', ')}${more > 0 ? ` and ${amount(more)} more` : ''}`
}

function explained(error: unknown, file: string, interrupted: boolean): unknown {
  if (interrupted)
    return new Failure(exit.interrupted, 'interrupted', 'Interrupted. The import can be repeated safely.')
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new Failure(exit.failure, 'unreadable', `The file ${file} does not exist.`)
  if (error instanceof Failure || syscall === undefined) return error
  return new Failure(exit.failure, 'unreadable', `${file} cannot be read: ${reason(error)}.`)
}
