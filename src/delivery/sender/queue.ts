import type { Entry } from './judge.ts'

/** Of so many that leave, one may be a repeat while others wait for their first time. */
const turn = 5

/** What waits to be sent: in order, and those that are tried again behind those that are not. */
export function createQueue() {
  const fresh = new Set<Entry>()
  const repeats = new Set<Entry>()
  let inRow = 0

  return {
    get size() {
      return fresh.size + repeats.size
    },
    add: (entry: Entry) => void (entry.push.repeat ? repeats : fresh).add(entry),
    delete: (entry: Entry) => fresh.delete(entry) || repeats.delete(entry),
    take(): Entry | undefined {
      // Not behind all of them: a campaign would keep it waiting until its time is over.
      inRow = inRow >= turn ? 1 : inRow + 1
      const from = repeats.size > 0 && (fresh.size === 0 || inRow === turn) ? repeats : fresh
      const [first] = from
      if (first) from.delete(first)
      return first
    },
    /** All of it, as a copy: whoever is told may put new ones in meanwhile. */
    all: () => [...fresh, ...repeats],
    clear() {
      fresh.clear()
      repeats.clear()
    }
  }
}
