import { Unavailable } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import type { RenderOutcome } from './render-child.ts'
import { type Asked, type Lane, LaneEnded, openLane } from './render-lane.ts'
import { TemplateFailed, tooLong } from './template.ts'

/**
 * Schedules rendering (record 0027). All projects share one process and take turns. A request that takes more than 40 ms
 * keeps its process, which becomes a slow one, and a spare process serves the others. Further requests of that project go
 * to slow processes for a while; there are few of them, and one project uses one at a time.
 */
const limits = {
  patienceMs: 40,
  /** Time limits for one recipient and for several; several are tried one by one afterwards. */
  oneMs: 1_000,
  severalMs: 250,
  slowForMs: 30_000,
  slowLanes: 2,
  /** Projects that are remembered as quick. */
  quick: 10_000,
  /** Waiting requests of one project. A job has one at a time, so only previews can reach the limit. */
  waiting: 200,
  /** An idle process ends after this time to free its memory. */
  idleMs: 60_000
}

export interface Turn extends Asked {
  projectId: ProjectId
  /** The request has at most one recipient, so it cannot be split. */
  alone: boolean
  /** The deadline of the wait for a turn. */
  untilMs: number
}

interface Waiting extends Turn {
  resolve(outcomes: RenderOutcome[] | 'late' | 'split' | TemplateFailed): void
  reject(error: Error): void
  timer: NodeJS.Timeout | undefined
  endings: number
}

/** Takes requests to render, and runs them in processes by turns. */
export class RenderTurns {
  readonly #start: () => Lane
  readonly #oneMs: number
  readonly #queues = new Map<ProjectId, Waiting[]>()
  /** Slow projects, and the time until which they count as slow. */
  readonly #slow = new Map<ProjectId, number>()
  /** Projects whose last request was not slow. */
  readonly #quick = new Set<ProjectId>()
  readonly #slowRunning = new Map<Lane, ProjectId | undefined>()
  #shared: Lane | undefined
  #sharedBusy = false
  #spare: Lane | undefined
  #closed = false
  #stopped = 0
  #idle: NodeJS.Timeout | undefined

  /** `oneMs`: a shorter time limit for one recipient, for tests of renderings that reach it. */
  constructor(start: () => Lane = openLane, oneMs = limits.oneMs) {
    this.#start = start
    this.#oneMs = oneMs
  }

  /** Node throws if the system refuses a process for lack of memory. Callers see a process that ended. */
  #open(): Lane {
    try {
      return this.#start()
    } catch {
      return noLane()
    }
  }

  #isSlow(projectId: ProjectId): boolean {
    return (this.#slow.get(projectId) ?? 0) > steadyMs()
  }

  /** Takes a request of the longest waiting project that may start. The project moves to the end of the line. */
  #next(may: (projectId: ProjectId) => boolean): Waiting | undefined {
    for (const [projectId, queue] of this.#queues) {
      if (!may(projectId)) continue
      const turn = queue.shift()!
      this.#queues.delete(projectId)
      if (queue.length > 0) this.#queues.set(projectId, queue)
      clearTimeout(turn.timer)
      return turn
    }
    return undefined
  }

  #add(turn: Waiting, first = false): void {
    turn.timer = setTimeout(() => this.#giveUp(turn), Math.max(turn.untilMs - Date.now(), 0))
    const queue = this.#queues.get(turn.projectId) ?? []
    if (first) queue.unshift(turn)
    else queue.push(turn)
    this.#queues.set(turn.projectId, queue)
  }

  #giveUp(turn: Waiting): void {
    // The start of a process does not count: a batch that timed out over it would never start.
    if (!this.#isSlow(turn.projectId) && this.#spare?.started !== true) {
      turn.timer = setTimeout(() => this.#giveUp(turn), limits.patienceMs)
      return
    }
    const others = this.#queues.get(turn.projectId)?.filter((one) => one !== turn) ?? []
    if (others.length > 0) this.#queues.set(turn.projectId, others)
    else this.#queues.delete(turn.projectId)
    turn.resolve('late')
  }

  #pump(): void {
    if (this.#closed) return
    if (!this.#sharedBusy) {
      if ([...this.#queues.keys()].some((projectId) => !this.#isSlow(projectId))) this.#prepare()
      // An unknown project starts only when a spare process could take over.
      const turn = this.#next(
        (projectId) => !this.#isSlow(projectId) && (this.#spare?.started === true || this.#quick.has(projectId))
      )
      if (turn) void this.#runShared(turn)
    }
    const running = new Set(this.#slowRunning.values())
    const mine = (projectId: ProjectId) => this.#isSlow(projectId) && !running.has(projectId)
    const free = [...this.#slowRunning].find(([, projectId]) => projectId === undefined)?.[0]
    if (!free && this.#slowRunning.size >= limits.slowLanes) return
    const turn = this.#next(mine)
    if (turn) void this.#runSlow(free ?? this.#open(), turn)
    this.#restWhenIdle()
  }

  /** Starts missing processes. */
  #prepare(): void {
    if (!this.#shared?.open) {
      this.#shared = this.#spare?.open ? this.#spare : this.#open()
      if (this.#shared === this.#spare) this.#spare = undefined
    }
    if (this.#spare?.open) return
    this.#spare = this.#open()
    this.#spare.ready.then(
      () => this.#pump(),
      (error: Error) => {
        for (const [projectId] of this.#queues)
          for (let turn = this.#next((one) => one === projectId); turn; turn = this.#next((one) => one === projectId))
            turn.reject(error)
      }
    )
  }

  async #runShared(turn: Waiting): Promise<void> {
    this.#sharedBusy = true
    const lane = this.#shared!
    const patience = Promise.withResolvers<'slow'>()
    let timer: NodeJS.Timeout | undefined
    const outcome = lane.ready.then(() => {
      timer = setTimeout(() => patience.resolve('slow'), limits.patienceMs)
      return lane.ask(turn)
    })
    try {
      const first = await Promise.race([outcome, patience.promise])
      if (first !== 'slow') {
        this.#quick.delete(turn.projectId)
        this.#quick.add(turn.projectId)
        if (this.#quick.size > limits.quick) this.#quick.delete(this.#quick.values().next().value!)
        turn.resolve(first.outcomes)
        return
      }
      if (this.#closed) throw new Unavailable('The service is stopping.')
      this.#slow.set(turn.projectId, steadyMs() + limits.slowForMs)
      this.#quick.delete(turn.projectId)
      this.#shared = this.#spare
      this.#spare = undefined
      if (this.#slowRunning.size < limits.slowLanes) void this.#finishSlow(lane, turn, outcome)
      else {
        outcome.catch(() => {})
        void lane.kill()
        this.#add(turn, true)
      }
    } catch (error) {
      this.#failed(lane, turn, error as Error)
    } finally {
      clearTimeout(timer)
      this.#sharedBusy = false
      this.#pump()
    }
  }

  async #runSlow(lane: Lane, turn: Waiting): Promise<void> {
    this.#slowRunning.set(lane, turn.projectId)
    await this.#finishSlow(
      lane,
      turn,
      lane.ready.then(() => lane.ask(turn))
    )
  }

  async #finishSlow(lane: Lane, turn: Waiting, outcome: ReturnType<Lane['ask']>): Promise<void> {
    this.#slowRunning.set(lane, turn.projectId)
    let timer: NodeJS.Timeout | undefined
    const limit = turn.alone ? this.#oneMs : limits.severalMs
    const begun = performance.now()
    let late = false
    void lane.ready.then(
      () => {
        timer = setTimeout(() => {
          late = true
          this.#stopped += 1
          void lane.kill()
        }, limit)
      },
      () => {}
    )
    try {
      const { outcomes } = await outcome
      turn.resolve(outcomes)
      if (performance.now() - begun > limits.patienceMs) this.#slow.set(turn.projectId, steadyMs() + limits.slowForMs)
    } catch (error) {
      this.#slow.set(turn.projectId, steadyMs() + limits.slowForMs)
      if (late) turn.resolve(turn.alone ? new TemplateFailed(tooLong) : 'split')
      else this.#failed(lane, turn, error as Error)
    } finally {
      clearTimeout(timer)
      if (lane.open) this.#slowRunning.set(lane, undefined)
      else this.#slowRunning.delete(lane)
      this.#pump()
    }
  }

  /** The process ended by itself, most likely for lack of memory. A single recipient is tried twice. */
  #failed(lane: Lane, turn: Waiting, error: Error): void {
    if (lane.open) void lane.kill()
    this.#stopped += 1
    turn.endings += 1
    if (!(error instanceof LaneEnded)) turn.reject(error)
    else if (this.#closed) turn.reject(new Unavailable('The service is stopping.'))
    else if (!turn.alone) turn.resolve('split')
    else if (turn.endings < 2) this.#add(turn, true)
    else turn.resolve(new TemplateFailed('it takes more memory than one rendering may'))
  }

  #restWhenIdle(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      const now = steadyMs()
      for (const [projectId, until] of this.#slow) if (until <= now) this.#slow.delete(projectId)
      for (const [lane, projectId] of this.#slowRunning) if (projectId === undefined) this.#endSlow(lane)
      if (this.#sharedBusy || this.#slowRunning.size > 0) return
      for (const lane of [this.#shared, this.#spare]) void lane?.kill()
      this.#shared = this.#spare = undefined
    }, limits.idleMs)
    this.#idle.unref()
  }

  #endSlow(lane: Lane): void {
    this.#slowRunning.delete(lane)
    void lane.kill()
  }

  /**
   * Returns outcomes for the first recipients, at least one. `late`: the turn did not come in time; `split`: request
   * each recipient alone; a failure: the template is at fault.
   */
  ask(turn: Turn): Promise<RenderOutcome[] | 'late' | 'split' | TemplateFailed> {
    const queue = this.#queues.get(turn.projectId)
    if (this.#closed) return Promise.reject(new Unavailable('The service is stopping.'))
    if ((queue?.length ?? 0) >= limits.waiting)
      return Promise.reject(new Unavailable('Too many messages of this project are waiting to be rendered.'))
    return new Promise((resolve, reject) => {
      this.#add({ ...turn, resolve, reject, timer: undefined, endings: 0 })
      this.#pump()
    })
  }

  stats() {
    return {
      shared: Number(this.#shared?.open ?? false),
      spare: Number(this.#spare?.open ?? false),
      slow: this.#slowRunning.size,
      stopped: this.#stopped
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    const lanes = [this.#shared, this.#spare, ...this.#slowRunning.keys()]
    for (const queue of this.#queues.values())
      for (const turn of queue) {
        clearTimeout(turn.timer)
        turn.reject(new Unavailable('The service is stopping.'))
      }
    this.#queues.clear()
    await Promise.all(lanes.map((lane) => lane?.kill()))
  }
}

/** A process that could not be started. */
function noLane(): Lane {
  const ready = Promise.reject(new Unavailable('The process that renders templates does not start.'))
  ready.catch(() => {})
  return { ready, started: false, open: false, ask: () => ready, kill: async () => {} }
}
