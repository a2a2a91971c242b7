import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { exit, Failure } from '../exit.ts'
import { reason } from '../output.ts'
import type { NotTaken } from './batches.ts'

/** How far an import has come. It is written after the service has stored everything before it. */
export interface Progressed {
  /** Records of the file that are finished, taken or not. */
  records: number
  users: number
  devices: number
  notTaken: number
  /** The length of the report: what a killed process wrote after it is cut off. */
  reportBytes: number
}

const nothing: Progressed = { records: 0, users: 0, devices: 0, notTaken: 0, reportBytes: 0 }

/** Writing it more often gains little: batches that are sent twice change nothing. */
const everyMs = 500

/**
 * Names a file with the way in which it is read. A file that was changed, or another mapping, begins anew. The time of the last
 * change tells a correction that keeps the size; a copy with a new time begins anew too, which repeats lines and does no harm.
 */
export async function fingerprintOf(file: string, size: number, options: unknown): Promise<string> {
  const handle = await open(file)
  try {
    const { mtimeMs } = await handle.stat()
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(65_536), 0, 65_536, 0)
    return createHash('sha256')
      .update(JSON.stringify([size, mtimeMs, options]))
      .update(buffer.subarray(0, bytesRead))
      .digest('hex')
  } finally {
    await handle.close()
  }
}

/** The report of lines that were not taken, and beside it the state from which an interrupted import goes on. */
export async function openReport(report: string, fingerprint: string | undefined, restart: boolean) {
  const stateFile = `${report}.state`
  const found = fingerprint === undefined || restart ? undefined : await stateIn(stateFile, fingerprint)
  const state = { ...(found ?? nothing) }
  const handle = await openAt(report, state.reportBytes)
  let writtenMs = 0

  async function save(): Promise<void> {
    if (fingerprint === undefined) return
    writtenMs = Date.now()
    // The report is on the disk before the state that counts on it.
    await handle.datasync()
    await writeFile(`${stateFile}.tmp`, `${JSON.stringify({ version: 1, fingerprint, ...state })}\n`)
    await rename(`${stateFile}.tmp`, stateFile)
  }

  return {
    state: state as Readonly<Progressed>,
    resumed: found !== undefined,
    /** Notes a batch that the service has stored. Batches are noted in the order of the file. */
    async note(done: Omit<Progressed, 'reportBytes' | 'notTaken'>, notTaken: readonly NotTaken[]): Promise<void> {
      const lines = Buffer.from(notTaken.map((one) => `${JSON.stringify(one)}\n`).join(''))
      if (lines.length > 0) await handle.write(lines, 0, lines.length, state.reportBytes)
      Object.assign(state, done, {
        reportBytes: state.reportBytes + lines.length,
        notTaken: state.notTaken + notTaken.length
      })
      if (Date.now() - writtenMs >= everyMs) await save()
    },
    /** Keeps the state for the next run. */
    async interrupt(): Promise<void> {
      await save()
      await handle.close()
    },
    async finish(): Promise<void> {
      await handle.close()
      await rm(stateFile, { force: true })
      if (state.reportBytes === 0) await rm(report, { force: true })
    }
  }
}

async function stateIn(file: string, fingerprint: string): Promise<Progressed | undefined> {
  try {
    const { version, fingerprint: of, ...state } = JSON.parse(await readFile(file, 'utf8'))
    return version === 1 && of === fingerprint ? (state as Progressed) : undefined
  } catch {
    return undefined
  }
}

async function openAt(report: string, length: number): Promise<FileHandle> {
  try {
    // Opened for writing without losing what it holds; created if it is absent.
    const handle = await open(report, 'a').then(async (made) => {
      await made.close()
      return open(report, 'r+')
    })
    await handle.truncate(length)
    return handle
  } catch (error) {
    throw new Failure(
      exit.failure,
      'unwritable',
      `The report ${report} cannot be written: ${reason(error)}. Choose another file with --report.`
    )
  }
}
