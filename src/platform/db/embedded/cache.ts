import { readdirSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

/**
 * Memory for pages, in MB: half of the database, but no more than an eighth of the memory (decision 0084). PostgreSQL
 * derives the buffers of the WAL from it; both would cost an idle service with few users 20 MB.
 */
export function usualCacheMb(databaseBytes: number, memoryBytes = memory()): number {
  const mb = (bytes: number) => Math.floor(bytes / 1024 ** 2)
  return Math.max(128, Math.min(mb(databaseBytes / 2), mb(memoryBytes / 8), 1_024))
}

/** That of the machine, or the limit of a container, which is 0 or larger where there is none. */
function memory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** The size of the databases in the folder of a PostgreSQL, apart from those that every PostgreSQL has. */
export function databaseBytes(folder: string): number {
  let bytes = 0
  const base = join(folder, 'base')
  // PostgreSQL gives numbers below 16384 to what initdb makes.
  for (const database of readdirSync(base).filter((name) => Number(name) >= 16_384))
    for (const file of readdirSync(join(base, database)))
      bytes += statSync(join(base, database, file), { throwIfNoEntry: false })?.size ?? 0
  return bytes
}
