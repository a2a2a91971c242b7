import { type FileHandle, link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { sendSignal } from '../../platform/db/embedded/previous.ts'
import { exit, Failure, usageFailure } from '../exit.ts'
import type { Shell } from '../shell.ts'

/** Where a backup goes. It appears under its name when it is whole and on disk. */
export interface Target {
  stream: Writable
  /** Gives the file its name. */
  keep(): Promise<void>
  discard(): Promise<void>
}

const cannot = (verb: string, file: string, error: unknown) =>
  new Failure(exit.failure, 'file_unusable', `${file} cannot be ${verb}: ${(error as Error).message}.`)

const existing = (file: string) =>
  new Failure(exit.failure, 'file_exists', `${file} exists already. Name another file, or give --overwrite.`)

const isFolder = (file: string) =>
  new Failure(
    exit.failure,
    'file_unusable',
    `${file} is a folder. Name a file, such as ${join(file, 'tidings.backup')}.`
  )

/** Opens a new file beside its final name, readable by its owner only; `-` is standard output. */
export async function openTarget(shell: Shell, file: string, overwrite: boolean): Promise<Target> {
  if (file === '-') {
    if (shell.stdout.isTTY)
      throw usageFailure('A backup is not text for a terminal. Redirect it, or name a file instead of -.')
    return { stream: shell.stdout, keep: async () => {}, discard: async () => {} }
  }
  const there = await stat(file).catch(() => undefined)
  if (there?.isDirectory()) throw isFolder(file)
  if (!overwrite && there) throw existing(file)
  await removeLeftovers(file)
  const part = `${file}.${process.pid}.part`
  const handle = await open(part, 'wx', 0o600).catch((error) => {
    throw cannot('written', file, error)
  })
  await handle.chmod(0o600)
  // Flushed to the disk before it is closed.
  const stream = handle.createWriteStream({ flush: true, highWaterMark: 1_048_576 })
  stream.on('error', () => {}) // The pipeline reports it.
  const closed = new Promise<void>((resolve) => void stream.once('close', resolve))
  const discard = async () => {
    stream.destroy()
    await closed
    await rm(part, { force: true })
  }
  return {
    stream,
    discard,
    async keep() {
      try {
        await closed
        // A link never replaces a file that appeared meanwhile.
        if (overwrite) await rename(part, file)
        else await link(part, file).finally(() => rm(part, { force: true }))
        await syncFolder(dirname(file))
      } catch (error) {
        await discard()
        throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? existing(file) : cannot('written', file, error)
      }
    }
  }
}

/** A backup that was killed leaves its part behind; its number is that of the process. */
async function removeLeftovers(file: string): Promise<void> {
  const [folder, name] = [dirname(file), basename(file)]
  for (const found of await readdir(folder).catch(() => [])) {
    if (!found.startsWith(`${name}.`)) continue
    const pid = /^\.(\d+)\.part$/.exec(found.slice(name.length))?.[1]
    if (pid && !sendSignal(Number(pid), 0)) await rm(join(folder, found), { force: true })
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle: FileHandle = await open(folder, 'r')
  await handle.sync().catch(() => {}) // Not every filesystem can.
  await handle.close()
}

/** Opens a backup for reading; `-` is standard input. */
export async function openSource(shell: Shell, file: string): Promise<Readable> {
  if (file === '-') return shell.stdin
  try {
    if ((await stat(file)).isDirectory()) throw new Error('it is a folder')
    const handle = await open(file, 'r')
    return handle.createReadStream({ highWaterMark: 262_144 })
  } catch (error) {
    throw cannot('read', file, error)
  }
}
