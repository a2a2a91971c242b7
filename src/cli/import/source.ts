import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { exit, Failure } from '../exit.ts'
import { reason } from '../output.ts'
import type { Shell } from '../shell.ts'
import { through, unzipped } from './zip.ts'

/** A file or standard input, unpacked. */
export interface Source {
  name: string
  chunks: AsyncIterable<Buffer>
  /** The bytes of a file, packed as it is. */
  size: number | undefined
  /** How many of these have been read. */
  read(): number
}

const unreadable = (name: string, why: string) => new Failure(exit.failure, 'unreadable', `${name} ${why}`)

/** Opens a file, or standard input for `-`. gzip is recognized by its first bytes; zip only in a file. */
export async function openSource(shell: Shell, file: string): Promise<Source> {
  let read = 0
  const counted = async function* (input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of input) {
      read += chunk.length
      yield chunk
    }
  }
  const name = file === '-' ? 'standard input' : file
  if (file === '-') return { name, chunks: unpacked(name, counted(shell.stdin)), size: undefined, read: () => read }
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(name, error.code === 'ENOENT' ? 'does not exist.' : `cannot be read: ${reason(error)}.`)
  })
  if (found.isDirectory()) throw unreadable(name, 'is a folder. Give a file.')
  const chunks = /\.zip$/i.test(file)
    ? unzipped(file, (bytes) => {
        read += bytes
      })
    : unpacked(name, counted(createReadStream(file, { highWaterMark: 256 * 1024 })))
  return { name, chunks, size: found.isFile() ? found.size : undefined, read: () => read }
}

async function* unpacked(name: string, input: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await input.next()
  if (first.done) return
  const whole = (async function* () {
    yield first.value
    yield* input
  })()
  const [one, two] = first.value
  try {
    if (one === 0x1f && two === 0x8b) yield* through(Readable.from(whole, { objectMode: false }), createGunzip())
    else if (one === 0x50 && two === 0x4b)
      throw unreadable(name, 'is a zip archive. Give it as a file whose name ends in .zip.')
    else yield* whole
  } catch (error) {
    if (error instanceof Failure) throw error
    const { code = '', syscall } = error as NodeJS.ErrnoException
    if (/^Z_|^ERR_/.test(code)) throw unreadable(name, 'is damaged: it cannot be unpacked.')
    throw syscall ? unreadable(name, `cannot be read: ${reason(error)}.`) : error
  }
}
