import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createZstdCompress, createZstdDecompress, zstdDecompress } from 'node:zlib'
import { syncFolders } from '../db/embedded/data-folder.ts'
import type { Base } from './base.ts'

export const segmentsIn = (archive: string) => join(archive, 'wal')
const suffix = '.zst'
const isSegment = (name: string) => /^[0-9A-F]{24}$/.test(name)
const isHistory = (name: string) => /^[0-9A-F]{8}\.history$/.test(name)

/** Carries closed segments into the archive, compressed, the oldest first. */
export async function carrySegments(spool: string, archive: string): Promise<void> {
  const names = (await readdir(spool)).filter((name) => !/^\.|\.part$/.test(name)).sort()
  if (names.length === 0) return
  await carry(spool, archive, names)
  // The archive has them on its disk.
  for (const name of names) await rm(join(spool, name), { force: true })
}

async function carry(from: string, archive: string, names: string[]): Promise<void> {
  const to = segmentsIn(archive)
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const name of names) {
    const part = join(to, `.${name}.part`)
    const target = createWriteStream(part, { mode: 0o600, flush: true })
    await pipeline(createReadStream(join(from, name)), createZstdCompress(), target)
    await rename(part, join(to, `${name}${suffix}`))
  }
  await syncFolders(to)
}

/**
 * Carries the description of a timeline, which a recovery begins: the next recovery takes another number then. Returns
 * false if the archive holds this number of another recovery, whose segments have the same names.
 */
export async function carryTimeline(folder: string, archive: string, timeline: string): Promise<boolean> {
  const [name, from] = [`${timeline}.history`, join(folder, 'pg_wal')]
  const own = await readFile(join(from, name)).catch(() => undefined)
  if (!own) return true
  const known = await readFile(join(segmentsIn(archive), `${name}${suffix}`)).catch(() => undefined)
  if (known) return own.equals(await promisify(zstdDecompress)(known))
  await carry(from, archive, [name])
  return true
}

export interface Unpacked {
  segments: number
  /** A segment that cannot be read. Recovery ends before it, so the later ones are left out. */
  damaged?: string
}

/** Unpacks the segments that a recovery from a base needs: up to the beginning of a base after the moment, if there is one. */
export async function unpackSegments(
  archive: string,
  to: string,
  base: Base,
  next: Base | undefined
): Promise<Unpacked> {
  await mkdir(to, { mode: 0o700 })
  const names = (await readdir(segmentsIn(archive)).catch(() => []))
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
  const wanted = names.filter((name) => isSegment(name) && name >= base.wal && (!next || name <= next.wal)).sort()
  for (const name of names.filter(isHistory)) await unpack(archive, to, name)
  for (const [segments, name] of wanted.entries())
    try {
      await unpack(archive, to, name)
    } catch (error) {
      if (!/^(Z_|ZSTD_|ERR_ZSTD|ERR_ZLIB)/.test(String((error as NodeJS.ErrnoException).code))) throw error
      await rm(join(to, name), { force: true })
      return { segments, damaged: join(segmentsIn(archive), `${name}${suffix}`) }
    }
  return { segments: wanted.length }
}

const unpack = (archive: string, to: string, name: string) =>
  pipeline(
    createReadStream(join(segmentsIn(archive), `${name}${suffix}`)),
    createZstdDecompress(),
    createWriteStream(join(to, name), { mode: 0o600 })
  )

/** Removes segments that no base needs any more. */
export async function removeSegments(archive: string, before: string): Promise<void> {
  for (const name of await readdir(segmentsIn(archive)).catch(() => [])) {
    const segment = name.slice(0, 24)
    if (isSegment(segment) && segment < before) await rm(join(segmentsIn(archive), name), { force: true })
  }
}
