import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { readConfig } from '../../platform/config/config.ts'
import { OperatorError } from '../../platform/errors.ts'
import { amount, bytes, counted } from '../output.ts'
import { showCount } from '../progress.ts'
import { examples, jsonOption } from '../session.ts'
import { printJson, remark, type Shell } from '../shell.ts'
import { openTarget, type Target } from './backup-file.ts'
import { type OnDatabase, onDatabase } from './database.ts'

export function declare(command: Command, shell: Shell): void {
  command
    .argument('<file>', 'The new file, or - for standard output')
    .option('--overwrite', 'Replace a file of this name')
    .addOption(jsonOption())
  examples(
    command,
    ['tidings backup tidings.backup', 'tidings backup - | ssh store "cat > tidings.backup"'],
    `Writes everything that is committed at one moment, while the service goes on:
one compressed and checked file that only its owner can read. It works on the
database of the settings: the embedded one, running or not, or DATABASE_URL.
The master key is not in it: keep DATA_DIR/master.key or MASTER_KEY elsewhere.`
  )
  command.action(async (file: string, options: { overwrite?: true; json?: true }) => {
    const config = readConfig(shell.env)
    const target = await openTarget(shell, file, options.overwrite === true)
    const done = await onDatabase(shell, config, (database) => write(shell, database, target), {
      beside: true,
      mustExist: true
    })
      .then(async (sums) => {
        await target.keep()
        return sums
      })
      .catch(async (error) => {
        await target.discard()
        throw error
      })
    const [size, rows] = [bytes(done.bytes), counted(done.rows, 'row')]
    const text =
      `Wrote ${rows} of ${counted(done.projects, 'project')} (${size}) as they were at ${done.made_at}.\n` +
      'The master key is not in the file: keep DATA_DIR/master.key or MASTER_KEY in another place.'
    // Standard output carries the backup itself.
    if (options.json !== true) remark({ ...shell, stderr: file === '-' ? shell.stderr : shell.stdout }, text)
    else if (file === '-') shell.stderr.write(`${JSON.stringify({ file, ...done })}\n`)
    else printJson(shell, { file, ...done })
  })
}

interface Written {
  made_at: string
  projects: number
  tables: number
  rows: number
  bytes: number
}

async function write(shell: Shell, { pool, interrupt }: OnDatabase, target: Target): Promise<Written> {
  const [{ snapshotFrames }, { compressed, magic }] = await Promise.all([
    import('../../platform/backup/snapshot.ts'),
    import('../../platform/backup/format.ts')
  ])
  const shown = showRows(shell, 'Backing up')
  const client = await pool.connect()
  const done: Written = { made_at: '', projects: 0, tables: 0, rows: 0, bytes: magic.length }
  const frames = snapshotFrames({
    client,
    progress: shown.at,
    onHeader: ({ made_at, projects }) => Object.assign(done, { made_at, projects }),
    onEnd: (sums) => Object.assign(done, sums)
  })
  try {
    target.stream.write(magic)
    const count = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        done.bytes += piece.length
        yield piece
      }
    }
    const source = Readable.from(frames, { objectMode: false, highWaterMark: 1_048_576 })
    const end = target.stream !== shell.stdout
    await pipeline(source, compressed(), count, target.stream, { signal: interrupt, end })
    return done
  } catch (error) {
    throw explained(error)
  } finally {
    shown.end()
    await client.end().catch(() => {})
  }
}

/** A line on a terminal, and one every ten seconds elsewhere. */
export function showRows(shell: Shell, verb: string) {
  const line = showCount(shell.stderr, verb)
  let toldMs = Date.now()
  return {
    at(rows: number, about: number): void {
      // The total is an estimate of the server.
      const total = Math.max(rows, about)
      line.at(rows, total, ' rows')
      if (shell.stderr.isTTY || Date.now() - toldMs < 10_000) return
      toldMs = Date.now()
      remark(shell, `${verb}: ${amount(rows)} of about ${amount(total)} rows`)
    },
    end: line.end
  }
}

/** Errors that an operator can mend, in words. */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = String((error as NodeJS.ErrnoException).code)
  if (code === '42501')
    return new OperatorError(
      `The role of DATABASE_URL lacks a right: ${error.message}. Use the role that owns the tables of Tidings.`,
      1,
      { cause: error }
    )
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === '53100')
    return new OperatorError(
      `A disk is full: ${error.message}. Nothing was left behind. Free some space, then try again.`
    )
  if (code === 'EPIPE')
    return new OperatorError('The reader of standard output ended before the backup did. The backup is not whole.')
  return error
}
