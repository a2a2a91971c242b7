import type { Entry } from './entry.ts'

/** One in this many dispatched pushes may come from a list that others precede. */
const turn = 5
/** So many places at the front of a list may be empty before the rest moves up. */
const mostTaken = 512

/** Entries in the order of their arrival. An array with an index takes a tenth of the time of a `Set`. */
class Line {
  #entries: (Entry | undefined)[] = []
  #first = 0

  get size(): number {
    return this.#entries.length - this.#first
  }

  add(entry: Entry): void {
    this.#entries.push(entry)
  }

  take(): Entry {
    const entry = this.#entries[this.#first]!
    this.#entries[this.#first] = undefined
    this.#first += 1
    if (this.#first === this.#entries.length) this.clear()
    else if (this.#first >= mostTaken && 2 * this.#first >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
    return entry
  }

  /** Takes those that match, from anywhere. */
  takeIf(matches: (entry: Entry) => boolean): Entry[] {
    const taken: Entry[] = []
    const kept: Entry[] = []
    for (let at = this.#first; at < this.#entries.length; at += 1) {
      const entry = this.#entries[at]!
      if (matches(entry)) taken.push(entry)
      else kept.push(entry)
    }
    this.#entries = kept
    this.#first = 0
    return taken
  }

  clear(): void {
    this.#entries = []
    this.#first = 0
  }
}

export type Queue = ReturnType<typeof createQueue>

/** Waiting pushes in order: urgent ones first, repeats after fresh ones. */
export function createQueue() {
  const urgent = new Line()
  const fresh = new Line()
  const repeats = new Line()
  let inRow = 0
  let rounds = 0

  const lineOf = ({ push }: Entry) => (push.repeat ? repeats : push.urgent ? urgent : fresh)
  const firstOf = (a: Line, b: Line, c: Line) => (a.size > 0 ? a : b.size > 0 ? b : c)

  /** No line waits until the others are empty: during a long campaign, its pushes would expire. */
  function next(): Line {
    if (inRow < turn) return firstOf(urgent, fresh, repeats)
    rounds += 1
    // If urgent pushes never end, the last push of a round is by turns a repeat and a fresh one.
    return urgent.size > 0 && rounds % 2 === 0 ? firstOf(fresh, repeats, urgent) : firstOf(repeats, fresh, urgent)
  }

  return {
    get size() {
      return urgent.size + fresh.size + repeats.size
    },
    get urgentSize() {
      return urgent.size
    },
    add: (entry: Entry) => lineOf(entry).add(entry),
    take(): Entry | undefined {
      inRow = inRow >= turn ? 1 : inRow + 1
      const from = next()
      return from.size > 0 ? from.take() : undefined
    },
    /** Takes all that match, and returns them. */
    takeIf: (matches: (entry: Entry) => boolean): Entry[] =>
      [urgent, fresh, repeats].flatMap((line) => line.takeIf(matches))
  }
}
