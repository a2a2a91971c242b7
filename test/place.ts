import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const name = 'tidings-tests-'
const gib = 1024 ** 3
/** A whole run had 0.7 GiB at most. */
const spareBytes = 4 * gib

/**
 * Makes the folder for all temporary files of a run, and removes it with this process. It lies in memory, if the machine has
 * plenty: a copy of a database takes a sixth of the processor there, and tests of the embedded server half of the time. A
 * TMPDIR that is set counts, and the long mode may write more than memory holds.
 */
export function makePlace(): string {
  const inMemory = process.env.TMPDIR === undefined && !process.env.TIDINGS_LONG && hasRoom()
  if (inMemory) removeLeftovers()
  const place = mkdtempSync(join(inMemory ? memory : tmpdir(), `${name}${process.pid}-`))
  // Some tests run as another user. As in the usual folder for temporary files, only the owner of a file can remove it.
  chmodSync(place, 0o1777)
  process.on('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))
  return place
}

function hasRoom(): boolean {
  try {
    const { bsize, bavail } = statfsSync(memory)
    // Tests also run programs from their folders.
    const runs = !new RegExp(`^\\S+ ${memory} \\S+ \\S*\\bnoexec\\b`, 'm').test(readFileSync('/proc/mounts', 'utf8'))
    return runs && bsize * bavail > spareBytes && process.availableMemory() > 2 * spareBytes
  } catch {
    return false
  }
}

/** A run that was killed left its folder behind. */
function removeLeftovers(): void {
  for (const found of readdirSync(memory)) {
    const [, pid] = new RegExp(`^${name}(\\d+)-`).exec(found) ?? []
    if (pid && !existsSync(join('/proc', pid))) rmSync(join(memory, found), { recursive: true, force: true })
  }
}
