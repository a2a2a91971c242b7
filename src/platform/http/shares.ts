/** Requests that are begun in one turn of the event loop. What is left waits for the next, projects by turns. */
const startsOfTurn = 16
/** A project whose requests have not all been begun for so long has more than its share: a burst is over by then. */
const standingMs = 1_000
/** Then those beyond its queue wait at most so long before they are shed. */
const shortWaitMs = 10
/** Any other request: a burst on a slow database is served late rather than refused. */
const longWaitMs = 10_000
/** A project that sent nothing for so long is not in the way of another. */
const quietMs = 10_000
/** Writes of one project that may wait for the database at once: two statements' worth at full speed. */
const mostBacklog = 64
/** Requests of one project that may wait for long where another is active. */
const mostBeside = 192
/** In a burst, and where the project is alone. */
const mostWaiting = 10_000
/** Projects that are remembered; the idle ones are forgotten then. */
const mostProjects = 10_000

interface Waiting {
  sinceMs: number
  begin(): void
  shed(): void
}

interface Share {
  project: string
  waiting: Waiting[]
  /** When last nothing waited. */
  emptyMs: number
  lastMs: number
}

export type Shares = ReturnType<typeof createShares>

/**
 * Begins requests, projects by turns, as many in a turn of the event loop as leave the next turn soon. While the process
 * keeps up nothing waits. When it does not, each project has a queue of its own. A burst waits in it; a queue that has
 * stood for a second beside another active project is cut to 192, and requests beyond that are shed. Requests that have
 * begun do not count, however long they last: a stream, or a slow gateway, takes no share of the processor.
 */
export function createShares(
  backlogOf: (project: string) => number = () => 0,
  clock: () => number = () => performance.now()
) {
  const shares = new Map<string, Share>()
  /** Those with waiting requests, in the order of their turns. */
  const queue: Share[] = []
  let scheduled = false
  let shedCount = 0
  let starts = 0
  /** The two projects that were last seen, to tell whether there is another. */
  let last: Share | undefined
  let other: Share | undefined

  function shareOf(project: string, nowMs: number): Share {
    let share = shares.get(project)
    if (!share) {
      if (shares.size >= mostProjects)
        for (const [id, { waiting }] of shares) if (waiting.length === 0) shares.delete(id)
      share = { project, waiting: [], emptyMs: nowMs, lastMs: nowMs }
      shares.set(project, share)
    }
    share.lastMs = nowMs
    if (share !== last) [last, other] = [share, last]
    return share
  }

  const isAlone = (share: Share, nowMs: number): boolean => {
    const neighbour = share === last ? other : last
    return !neighbour || nowMs - neighbour.lastMs > quietMs
  }

  /** A project whose writes wait for the database: beginning more would only make them wait there. */
  const isFull = ({ project }: Share): boolean => backlogOf(project) >= mostBacklog

  const hasStood = (share: Share, nowMs: number): boolean =>
    nowMs - share.emptyMs > standingMs && !isAlone(share, nowMs)

  const patienceMs = (share: Share, nowMs: number): number =>
    share.waiting.length > mostBeside && hasStood(share, nowMs) ? shortWaitMs : longWaitMs

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(drain)
  }

  function drain(): void {
    scheduled = false
    starts = 0
    let held = 0
    // Until all that is left is held.
    while (held < queue.length && starts < startsOfTurn) {
      const share = queue.shift()!
      const nowMs = clock()
      const [next] = share.waiting as [Waiting]
      const late = nowMs - next.sinceMs > patienceMs(share, nowMs)
      if (!late && isFull(share)) {
        queue.push(share)
        held += 1
        continue
      }
      held = 0
      share.waiting.shift()
      if (share.waiting.length > 0) queue.push(share)
      else share.emptyMs = nowMs
      if (late) {
        shedCount += 1
        next.shed()
      } else {
        starts += 1
        next.begin()
      }
    }
    if (queue.length === 0) return
    if (held < queue.length) schedule()
    else {
      scheduled = true
      setTimeout(drain, 1)
    }
  }

  return {
    /** Calls `begin` now or when the turn of the project comes; or `shed`. */
    enter(project: string, begin: () => void, shed: () => void): void {
      const nowMs = clock()
      const share = shareOf(project, nowMs)
      if (share.waiting.length === 0) {
        share.emptyMs = nowMs
        if (starts < startsOfTurn && !isFull(share)) {
          starts += 1
          schedule()
          begin()
          return
        }
        queue.push(share)
      }
      if (share.waiting.length >= (hasStood(share, nowMs) ? mostBeside : mostWaiting)) {
        shedCount += 1
        shed()
        return
      }
      share.waiting.push({ sinceMs: nowMs, begin, shed })
      schedule()
    },
    shed: () => shedCount,
    waiting: () => queue.reduce((sum, { waiting }) => sum + waiting.length, 0)
  }
}
