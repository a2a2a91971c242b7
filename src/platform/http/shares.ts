/** Requests that are begun in one turn of the event loop. The rest waits for the next turn, projects by turns. */
const startsOfTurn = 16
/** A queue that was not empty for a second, while a thousand requests came, is a flood: a burst is over by then. */
const standingMs = 1_000
const mostOfBurst = 1_000
/** A flood stays one until none of its requests was shed for this time: it pauses while its refusals are delayed. */
const recoveryMs = 3_000
/** Requests of a flood beyond its queue wait this long before they are shed. */
const shortWaitMs = 10
/** Any other request: a burst on a slow database is served late rather than refused. */
const longWaitMs = 10_000
/** A project that sent nothing for this time is not in the way of another. */
const quietMs = 10_000
/** Writes of one project that may wait for the database at once: two statements' worth at full speed. */
const mostBacklog = 64
/** Requests of a flood that may wait. */
const mostBeside = 64
/** In a burst, and where the project is alone. */
const mostWaiting = 10_000
/** Projects that are remembered; past it the idle ones are forgotten. */
const mostProjects = 10_000
/** A flood leaves this part of the event loop to other projects, measured over a few turns. */
const mostBusy = 0.75
const busyWindowMs = 20

interface Waiting {
  sinceMs: number
  begin(): void
  shed(): void
}

interface Share {
  project: string
  waiting: Waiting[]
  /** The turn in which its last request was begun. */
  turn: number
  /** When last nothing waited, and how many requests have come since. */
  emptyMs: number
  entered: number
  /** When a request was last shed. */
  cutMs: number
  lastMs: number
}

export type Shares = ReturnType<typeof createShares>

/**
 * Begins requests, projects by turns, as many in a turn of the event loop as leave the next turn soon. While the process
 * keeps up nothing waits. When it does not, each project has a queue of its own. A burst waits in it. The queue of a flood
 * beside another active project is cut to 64, further requests are shed, and the flood leaves a quarter of the event loop
 * to others. Requests that have begun do not count, however long they last: a stream, or a slow gateway, takes no share of
 * the processor.
 */
export function createShares(
  backlogOf: (project: string) => number = () => 0,
  clock: () => number = () => performance.now(),
  isBusy: () => boolean = watchLoop()
) {
  const shares = new Map<string, Share>()
  /** Those with waiting requests, in the order of their turns. */
  const queue: Share[] = []
  let scheduled = false
  let shedCount = 0
  let starts = 0
  let turn = 0
  /** The two projects that were last seen, to tell whether there is another. */
  let last: Share | undefined
  let other: Share | undefined

  function shareOf(project: string, nowMs: number): Share {
    let share = shares.get(project)
    if (!share) {
      if (shares.size >= mostProjects)
        for (const [id, { waiting }] of shares) if (waiting.length === 0) shares.delete(id)
      share = { project, waiting: [], turn: -1, emptyMs: nowMs, entered: 0, cutMs: -recoveryMs, lastMs: nowMs }
      shares.set(project, share)
    }
    share.lastMs = nowMs
    if (share !== last) [last, other] = [share, last]
    return share
  }

  function empty(share: Share, nowMs: number): void {
    share.emptyMs = nowMs
    share.entered = 0
  }

  const isAlone = (share: Share, nowMs: number): boolean => {
    const neighbour = share === last ? other : last
    return !neighbour || nowMs - neighbour.lastMs > quietMs
  }

  /** A project whose writes wait for the database: beginning more would only make them wait there. */
  const isFull = ({ project }: Share): boolean => backlogOf(project) >= mostBacklog

  const isFlood = (share: Share, nowMs: number): boolean => {
    const stands = nowMs - share.emptyMs > standingMs && share.entered > mostOfBurst
    return (stands || nowMs - share.cutMs < recoveryMs) && !isAlone(share, nowMs)
  }

  /** In a busy process a flood begins one request in a turn, so that it goes on whatever else the process does. */
  const mustYield = (share: Share, nowMs: number): boolean => share.turn === turn && isBusy() && isFlood(share, nowMs)

  const patienceMs = (share: Share, nowMs: number): number =>
    share.waiting.length > mostBeside && isFlood(share, nowMs) ? shortWaitMs : longWaitMs

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(drain)
  }

  function drain(): void {
    scheduled = false
    starts = 0
    turn += 1
    let held = 0
    // Until all that is left is held.
    while (held < queue.length && starts < startsOfTurn) {
      const share = queue.shift()!
      const nowMs = clock()
      const [next] = share.waiting as [Waiting]
      const late = nowMs - next.sinceMs > patienceMs(share, nowMs)
      if (!late && (isFull(share) || mustYield(share, nowMs))) {
        queue.push(share)
        held += 1
        continue
      }
      held = 0
      share.waiting.shift()
      if (share.waiting.length > 0) queue.push(share)
      else empty(share, nowMs)
      if (late) {
        share.cutMs = nowMs
        shedCount += 1
        next.shed()
      } else {
        starts += 1
        share.turn = turn
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
        empty(share, nowMs)
        // The first of a project in a turn does not wait for the others, nor for the next turn.
        const most = share.turn === turn ? startsOfTurn : 2 * startsOfTurn
        if (starts < most && !isFull(share)) {
          starts += 1
          share.turn = turn
          schedule()
          begin()
          return
        }
        queue.push(share)
      }
      share.entered += 1
      if (share.waiting.length >= (isFlood(share, nowMs) ? mostBeside : mostWaiting)) {
        share.cutMs = nowMs
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

/** Whether the event loop was busy for most of the last moments. */
function watchLoop(): () => boolean {
  let seen = performance.eventLoopUtilization()
  let busy = false
  return () => {
    const now = performance.eventLoopUtilization()
    if (now.idle + now.active - seen.idle - seen.active >= busyWindowMs) {
      busy = performance.eventLoopUtilization(now, seen).utilization > mostBusy
      seen = now
    }
    return busy
  }
}
