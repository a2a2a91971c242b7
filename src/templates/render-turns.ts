import { Unavailable } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
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

export type RenderTurns = ReturnType<typeof createRenderTurns>

export function createRenderTurns(start: () => Lane = openLane) {
  const queues = new Map<ProjectId, Waiting[]>()
  /** Slow projects, and the time until which they count as slow. */
  const slow = new Map<ProjectId, number>()
  /** Projects whose last request was not slow. */
  const quick = new Set<ProjectId>()
  const slowRunning = new Map<Lane, ProjectId | undefined>()
  let shared: Lane | undefined
  let sharedBusy = false
  let spare: Lane | undefined
  let closed = false
  let stopped = 0
  let idle: NodeJS.Timeout | undefined

  /** Node throws if the system refuses a process for lack of memory. Callers see a process that ended. */
  function open(): Lane {
    try {
      return start()
    } catch {
      return noLane()
    }
  }

  const isSlow = (projectId: ProjectId) => (slow.get(projectId) ?? 0) > Date.now()

  /** Takes a request of the longest waiting project that may start. The project moves to the end of the line. */
  function next(may: (projectId: ProjectId) => boolean): Waiting | undefined {
    for (const [projectId, queue] of queues) {
      if (!may(projectId)) continue
      const turn = queue.shift()!
      queues.delete(projectId)
      if (queue.length > 0) queues.set(projectId, queue)
      clearTimeout(turn.timer)
      return turn
    }
    return undefined
  }

  function add(turn: Waiting, first = false): void {
    turn.timer = setTimeout(() => giveUp(turn), Math.max(turn.untilMs - Date.now(), 0))
    const queue = queues.get(turn.projectId) ?? []
    if (first) queue.unshift(turn)
    else queue.push(turn)
    queues.set(turn.projectId, queue)
  }

  function giveUp(turn: Waiting): void {
    // The start of a process does not count: a batch that timed out over it would never start.
    if (!isSlow(turn.projectId) && spare?.started !== true) {
      turn.timer = setTimeout(() => giveUp(turn), limits.patienceMs)
      return
    }
    const others = queues.get(turn.projectId)?.filter((one) => one !== turn) ?? []
    if (others.length > 0) queues.set(turn.projectId, others)
    else queues.delete(turn.projectId)
    turn.resolve('late')
  }

  function pump(): void {
    if (closed) return
    if (!sharedBusy) {
      if ([...queues.keys()].some((projectId) => !isSlow(projectId))) prepare()
      // An unknown project starts only when a spare process could take over.
      const turn = next((projectId) => !isSlow(projectId) && (spare?.started === true || quick.has(projectId)))
      if (turn) void runShared(turn)
    }
    const running = new Set(slowRunning.values())
    const mine = (projectId: ProjectId) => isSlow(projectId) && !running.has(projectId)
    const free = [...slowRunning].find(([, projectId]) => projectId === undefined)?.[0]
    if (!free && slowRunning.size >= limits.slowLanes) return
    const turn = next(mine)
    if (turn) void runSlow(free ?? open(), turn)
    restWhenIdle()
  }

  /** Starts missing processes. */
  function prepare(): void {
    if (!shared?.open) {
      shared = spare?.open ? spare : open()
      if (shared === spare) spare = undefined
    }
    if (spare?.open) return
    spare = open()
    spare.ready.then(pump, (error: Error) => {
      for (const [projectId] of queues)
        for (let turn = next((one) => one === projectId); turn; turn = next((one) => one === projectId))
          turn.reject(error)
    })
  }

  async function runShared(turn: Waiting): Promise<void> {
    sharedBusy = true
    const lane = shared!
    const patience = Promise.withResolvers<'slow'>()
    let timer: NodeJS.Timeout | undefined
    const outcome = lane.ready.then(() => {
      timer = setTimeout(() => patience.resolve('slow'), limits.patienceMs)
      return lane.ask(turn)
    })
    try {
      const first = await Promise.race([outcome, patience.promise])
      if (first !== 'slow') {
        quick.delete(turn.projectId)
        quick.add(turn.projectId)
        if (quick.size > limits.quick) quick.delete(quick.values().next().value!)
        turn.resolve(first.outcomes)
        return
      }
      if (closed) throw new Unavailable('The service is stopping.')
      slow.set(turn.projectId, Date.now() + limits.slowForMs)
      quick.delete(turn.projectId)
      shared = spare
      spare = undefined
      if (slowRunning.size < limits.slowLanes) void finishSlow(lane, turn, outcome)
      else {
        outcome.catch(() => {})
        void lane.kill()
        add(turn, true)
      }
    } catch (error) {
      failed(lane, turn, error as Error)
    } finally {
      clearTimeout(timer)
      sharedBusy = false
      pump()
    }
  }

  async function runSlow(lane: Lane, turn: Waiting): Promise<void> {
    slowRunning.set(lane, turn.projectId)
    await finishSlow(
      lane,
      turn,
      lane.ready.then(() => lane.ask(turn))
    )
  }

  async function finishSlow(lane: Lane, turn: Waiting, outcome: ReturnType<Lane['ask']>): Promise<void> {
    slowRunning.set(lane, turn.projectId)
    let timer: NodeJS.Timeout | undefined
    const limit = turn.alone ? limits.oneMs : limits.severalMs
    const begun = performance.now()
    let late = false
    void lane.ready.then(
      () => {
        timer = setTimeout(() => {
          late = true
          stopped += 1
          void lane.kill()
        }, limit)
      },
      () => {}
    )
    try {
      const { outcomes } = await outcome
      turn.resolve(outcomes)
      if (performance.now() - begun > limits.patienceMs) slow.set(turn.projectId, Date.now() + limits.slowForMs)
    } catch (error) {
      slow.set(turn.projectId, Date.now() + limits.slowForMs)
      if (late) turn.resolve(turn.alone ? new TemplateFailed(tooLong) : 'split')
      else failed(lane, turn, error as Error)
    } finally {
      clearTimeout(timer)
      if (lane.open) slowRunning.set(lane, undefined)
      else slowRunning.delete(lane)
      pump()
    }
  }

  /** The process ended by itself, most likely for lack of memory. A single recipient is tried twice. */
  function failed(lane: Lane, turn: Waiting, error: Error): void {
    if (lane.open) void lane.kill()
    stopped += 1
    turn.endings += 1
    if (!(error instanceof LaneEnded)) turn.reject(error)
    else if (closed) turn.reject(new Unavailable('The service is stopping.'))
    else if (!turn.alone) turn.resolve('split')
    else if (turn.endings < 2) add(turn, true)
    else turn.resolve(new TemplateFailed('it takes more memory than one rendering may'))
  }

  function restWhenIdle(): void {
    clearTimeout(idle)
    idle = setTimeout(() => {
      const now = Date.now()
      for (const [projectId, until] of slow) if (until <= now) slow.delete(projectId)
      for (const [lane, projectId] of slowRunning) if (projectId === undefined) endSlow(lane)
      if (sharedBusy || slowRunning.size > 0) return
      for (const lane of [shared, spare]) void lane?.kill()
      shared = spare = undefined
    }, limits.idleMs)
    idle.unref()
  }

  function endSlow(lane: Lane): void {
    slowRunning.delete(lane)
    void lane.kill()
  }

  return {
    /**
     * Returns outcomes for the first recipients, at least one. `late`: the turn did not come in time; `split`: request
     * each recipient alone; a failure: the template is at fault.
     */
    ask(turn: Turn): Promise<RenderOutcome[] | 'late' | 'split' | TemplateFailed> {
      const queue = queues.get(turn.projectId)
      if (closed) return Promise.reject(new Unavailable('The service is stopping.'))
      if ((queue?.length ?? 0) >= limits.waiting)
        return Promise.reject(new Unavailable('Too many messages of this project are waiting to be rendered.'))
      return new Promise((resolve, reject) => {
        add({ ...turn, resolve, reject, timer: undefined, endings: 0 })
        pump()
      })
    },

    stats: () => ({
      shared: Number(shared?.open ?? false),
      spare: Number(spare?.open ?? false),
      slow: slowRunning.size,
      stopped
    }),

    async close(): Promise<void> {
      closed = true
      clearTimeout(idle)
      const lanes = [shared, spare, ...slowRunning.keys()]
      for (const queue of queues.values())
        for (const turn of queue) {
          clearTimeout(turn.timer)
          turn.reject(new Unavailable('The service is stopping.'))
        }
      queues.clear()
      await Promise.all(lanes.map((lane) => lane?.kill()))
    }
  }
}

/** A process that could not be started. */
function noLane(): Lane {
  const ready = Promise.reject(new Unavailable('The process that renders templates does not start.'))
  ready.catch(() => {})
  return { ready, started: false, open: false, ask: () => ready, kill: async () => {} }
}
