import { Refusal } from '../../errors.ts'

const mebibyte = 1024 * 1024
/** Of all bodies together, and of those of one caller. A body and the text that is read from it take twice as much memory. */
const usual = { ofNode: 128 * mebibyte, ofOne: 32 * mebibyte, longestMs: 30_000 }

interface Waiting {
  caller: string
  bytes: number
  begin(): void
}

export type Room = ReturnType<typeof createRoom>

/**
 * Room for decompressed bodies, from decompression to the end of their requests. A few kilobytes may expand to megabytes, so
 * small requests of one caller could otherwise fill the memory of the process.
 */
export function createRoom({ ofNode, ofOne, longestMs } = usual) {
  const taken = new Map<string, number>()
  const waiting = new Set<Waiting>()
  let all = 0

  const fits = (caller: string, bytes: number): boolean =>
    all + bytes <= ofNode && (taken.get(caller) ?? 0) + bytes <= ofOne

  function add(caller: string, bytes: number): void {
    all += bytes
    const left = (taken.get(caller) ?? 0) + bytes
    if (left === 0) taken.delete(caller)
    else taken.set(caller, left)
  }

  function free(caller: string, bytes: number): void {
    add(caller, -bytes)
    for (const entry of waiting) if (fits(entry.caller, entry.bytes)) entry.begin()
  }

  const wait = (caller: string, bytes: number) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(entry)
        reject(new Refusal('rate_limited', 'Too many compressed bodies of this caller are large at once.'))
      }, longestMs)
      const entry: Waiting = {
        caller,
        bytes,
        begin() {
          clearTimeout(timer)
          waiting.delete(entry)
          add(caller, bytes)
          resolve()
        }
      }
      waiting.add(entry)
    })

  return {
    /** Waits for room, and returns a function that frees it once. Throws where none becomes free in time. */
    async take(caller: string, wanted: number): Promise<() => void> {
      const bytes = Math.min(wanted, ofOne)
      if (fits(caller, bytes)) add(caller, bytes)
      else await wait(caller, bytes)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        free(caller, bytes)
      }
    },
    stats: () => ({ bytes: all, waiting: waiting.size })
  }
}
