/** The requests that start in one turn of the event loop. The rest waits for the next turn, and projects take turns. */
const startsOfTurn = { alone: 16, shared: 8 }
/** A queue that was not empty for half a second while a thousand requests arrived is a flood: a burst ends sooner. */
const standingMs = 500
const mostOfBurst = 1_000
/**
 * A flood counts as one until none of its requests was shed for this time, because it pauses while its refusals are
 * delayed.
 */
const recoveryMs = 3_000
/** Requests of a flood wait this long before they are shed: their clients learn at once that they must slow down. */
const shortWaitMs = 10
/** The longest wait of any other request: a burst on a slow database is served late rather than refused. */
const longWaitMs = 10_000
/** A project that sent nothing for this time does not compete with others. */
const quietMs = 10_000
/** Writes of one project that may wait for the database at once: about two statements at full speed. */
const mostBacklog = 64
/** The most waiting requests of a flood. */
const mostBeside = 64
/** The requests that are shed in one turn: each is a response that must be written. */
const shedOfTurn = 64
/** The most waiting requests of a burst, or of a project that is alone. */
const mostWaiting = 10_000
/** The most projects that are remembered; beyond this, idle ones are dropped. */
const mostProjects = 10_000
/** The busy share of the event loop above which a flood must yield to other projects, measured over a few turns. */
const mostBusy = 0.5
const busyWindowMs = 20

interface Waiting {
  sinceMs: number
  begin(): void
  shed(): void
}

interface Share {
  project: string
  waiting: Waiting[]
  /** The turn in which its last request started. */
  turn: number
  /** The last time when nothing waited, and the number of requests since. */
  emptyMs: number
  entered: number
  /** The time when a request was last shed. */
  cutMs: number
  lastMs: number
}

export interface SharesOptions {
  /** Writes of a project that wait for the database. */
  backlogOf?: (project: string) => number
  clock?: () => number
  isBusy?: () => boolean
}

/**
 * Starts requests in turns by project, as many in a turn of the event loop as let the next turn come soon. While the
 * process keeps up, nothing waits. When it does not, each project has its own queue, in which a burst waits. If another
 * project is active, the queue of a flood is cut to 64, and the flood leaves half of the event loop to others. Its
 * latest request comes first, because the oldest would be served when its client has long waited, and is shed. Requests
 * that have started do not count, however long they last: a stream, or a slow gateway, takes no share of the processor.
 */
export class Shares {
  readonly #backlogOf: (project: string) => number
  readonly #clock: () => number
  readonly #isBusy: () => boolean
  readonly #shares = new Map<string, Share>()
  /** Shares with waiting requests, in the order of their turns. */
  readonly #queue: Share[] = []
  #scheduled = false
  #shed = 0
  #starts = 0
  #turn = 0
  /** The two projects that sent the latest requests, which show whether a project is alone. */
  #last: Share | undefined
  #other: Share | undefined

  constructor({ backlogOf = () => 0, clock = () => performance.now(), isBusy = watchLoop() }: SharesOptions = {}) {
    this.#backlogOf = backlogOf
    this.#clock = clock
    this.#isBusy = isBusy
  }

  /** Calls `begin`, now or in the turn of the project, or `shed`. */
  enter(project: string, begin: () => void, shed: () => void): void {
    const nowMs = this.#clock()
    const share = this.#shareOf(project, nowMs)
    if (share.waiting.length === 0) {
      markEmpty(share, nowMs)
      if (this.#hasRoom(share, nowMs)) {
        this.#schedule()
        this.#begin(share, begin)
        return
      }
      this.#queue.push(share)
    }
    share.entered += 1
    if (share.waiting.length >= (this.#isFlood(share, nowMs) ? mostBeside : mostWaiting)) {
      this.#cut(share, nowMs, shed)
      return
    }
    share.waiting.push({ sinceMs: nowMs, begin, shed })
    this.#schedule()
  }

  /** The number of requests shed since the start. */
  shed(): number {
    return this.#shed
  }

  /** Whether two projects sent requests lately. Then turns are shorter, because one project waits for those of the other. */
  isShared(nowMs = this.#clock()): boolean {
    return this.#other !== undefined && nowMs - this.#other.lastMs <= quietMs
  }

  waiting(): number {
    return this.#queue.reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  #shareOf(project: string, nowMs: number): Share {
    let share = this.#shares.get(project)
    if (!share) {
      if (this.#shares.size >= mostProjects)
        for (const [id, { waiting }] of this.#shares) if (waiting.length === 0) this.#shares.delete(id)
      share = { project, waiting: [], turn: -1, emptyMs: nowMs, entered: 0, cutMs: -recoveryMs, lastMs: nowMs }
      this.#shares.set(project, share)
    }
    share.lastMs = nowMs
    if (share !== this.#last) {
      this.#other = this.#last
      this.#last = share
    }
    return share
  }

  /** The first request of a project in a turn waits neither for those of other projects nor for the next turn. */
  #hasRoom(share: Share, nowMs: number): boolean {
    const most = share.turn === this.#turn ? this.#startsOfTurn(nowMs) : 2 * startsOfTurn.alone
    return this.#starts < most && !this.#isFull(share)
  }

  #startsOfTurn(nowMs: number): number {
    return this.isShared(nowMs) ? startsOfTurn.shared : startsOfTurn.alone
  }

  #begin(share: Share, begin: () => void): void {
    this.#starts += 1
    share.turn = this.#turn
    begin()
  }

  #cut(share: Share, nowMs: number, shed: () => void): void {
    share.cutMs = nowMs
    this.#shed += 1
    shed()
  }

  #isAlone(share: Share, nowMs: number): boolean {
    const neighbour = share === this.#last ? this.#other : this.#last
    return !neighbour || nowMs - neighbour.lastMs > quietMs
  }

  /** The writes of the project wait for the database: further requests would only wait there. */
  #isFull({ project }: Share): boolean {
    return this.#backlogOf(project) >= mostBacklog
  }

  #isFlood(share: Share, nowMs: number): boolean {
    const stands = nowMs - share.emptyMs > standingMs && share.entered > mostOfBurst
    return (stands || nowMs - share.cutMs < recoveryMs) && !this.#isAlone(share, nowMs)
  }

  /** In a busy process a flood starts one request in a turn, so that it continues whatever else the process does. */
  #mustYield(share: Share, nowMs: number): boolean {
    return share.turn === this.#turn && this.#isBusy() && this.#isFlood(share, nowMs)
  }

  #patienceMs(share: Share, nowMs: number): number {
    return this.#isFlood(share, nowMs) ? shortWaitMs : longWaitMs
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#drain)
  }

  /** Begins or sheds waiting requests until the turn is full, or every project in the queue has to wait. */
  readonly #drain = (): void => {
    const queue = this.#queue
    this.#scheduled = false
    this.#starts = 0
    this.#turn += 1
    let held = 0
    const most = this.#startsOfTurn(this.#clock())
    const mostShed = this.#shed + shedOfTurn
    while (held < queue.length && this.#starts < most && this.#shed < mostShed) {
      const share = queue.shift()!
      const nowMs = this.#clock()
      const late = nowMs - share.waiting[0]!.sinceMs > this.#patienceMs(share, nowMs)
      if (!late && (this.#isFull(share) || this.#mustYield(share, nowMs))) {
        queue.push(share)
        held += 1
        continue
      }
      held = 0
      const next = (!late && this.#isFlood(share, nowMs) ? share.waiting.pop() : share.waiting.shift())!
      if (share.waiting.length > 0) queue.push(share)
      else markEmpty(share, nowMs)
      if (late) this.#cut(share, nowMs, next.shed)
      else this.#begin(share, next.begin)
    }
    if (queue.length === 0) return
    if (held < queue.length) this.#schedule()
    else {
      this.#scheduled = true
      setTimeout(this.#drain, 1)
    }
  }
}

function markEmpty(share: Share, nowMs: number): void {
  share.emptyMs = nowMs
  share.entered = 0
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
