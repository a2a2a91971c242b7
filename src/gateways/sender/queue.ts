import type { Entry } from './judge.ts'

/** One in this many dispatched pushes may come from a set that others precede. */
const turn = 5

export type Queue = ReturnType<typeof createQueue>

/** Waiting pushes in order: urgent ones first, repeats after fresh ones. */
export function createQueue() {
  const urgent = new Set<Entry>()
  const fresh = new Set<Entry>()
  const repeats = new Set<Entry>()
  let inRow = 0
  let rounds = 0

  const setOf = ({ push }: Entry) => (push.repeat ? repeats : push.urgent ? urgent : fresh)

  /** No set waits until the others are empty: during a long campaign, its pushes would expire. */
  function order(): Set<Entry>[] {
    if (inRow < turn) return [urgent, fresh, repeats]
    rounds += 1
    // If urgent pushes never end, the last push of a round is by turns a repeat and a fresh one.
    return urgent.size > 0 && rounds % 2 === 0 ? [fresh, repeats, urgent] : [repeats, fresh, urgent]
  }

  return {
    get size() {
      return urgent.size + fresh.size + repeats.size
    },
    get urgentSize() {
      return urgent.size
    },
    add: (entry: Entry) => void setOf(entry).add(entry),
    delete: (entry: Entry) => urgent.delete(entry) || fresh.delete(entry) || repeats.delete(entry),
    take(): Entry | undefined {
      inRow = inRow >= turn ? 1 : inRow + 1
      const from = order().find(({ size }) => size > 0)
      if (!from) return undefined
      const [first] = from
      from.delete(first!)
      return first
    },
    /** A copy: callbacks may add pushes meanwhile. */
    all: () => [...urgent, ...fresh, ...repeats],
    clear() {
      for (const set of [urgent, fresh, repeats]) set.clear()
    }
  }
}
