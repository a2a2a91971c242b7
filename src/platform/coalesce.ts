import { isDataFault } from './db/db.ts'
import { Unavailable } from './errors.ts'
import type { ProjectId } from './ids.ts'
import { type ActiveSpan, activeSpan, inSpansOf } from './telemetry/context.ts'
import { steadyMs } from './time.ts'

interface Waiting<Write, Answer> {
  key: string
  write: Write
  span: ActiveSpan | undefined
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** The writes of one project, which go to the database one statement after the other. */
interface Lane<Write, Answer> {
  waiting: Waiting<Write, Answer>[]
  running: boolean
  /** The number of writes in the previous statement. */
  before: number
  /** When the next statement may be sent, by the clock of `steadyMs`. */
  fromMs: number
  /** The writes that waited or were written when the previous statement ended: with as many, the next one is sent. */
  callers: number
  /** Ends the pause; undefined if there is none. */
  resume: (() => void) | undefined
}

/** The unfinished writes of requests of each project, over all coalescers of the process. */
const backlogs = new Map<string, number>()

/**
 * The number of writes of a project that wait for the database. Past a limit, the HTTP server starts no more requests
 * of the project.
 */
export const backlogOf = (project: string): number => backlogs.get(project) ?? 0

function addBacklog(project: string, count: number): void {
  const left = backlogOf(project) + count
  if (left === 0) backlogs.delete(project)
  else backlogs.set(project, left)
}

/** For writes whose callers can bear to wait. */
export interface Gathering {
  /** How long the next statement waits for more writes after one that had many. */
  gatherMs?: number
  /**
   * Whether requests make the writes, so that the server starts no more requests of a project while too many wait. Writes
   * of jobs do not keep requests waiting.
   */
  isOfRequests?: boolean
  /**
   * Whether a statement after one with several writes waits for four times as long as that one took, at most 20 ms: for an
   * engine on which a statement costs much, however few rows it has. `few`: only after one with at most sixteen writes,
   * where the fixed cost of all that follows from a statement matters more than the pause (docs/decisions/0074). It is sent
   * earlier if as many writes wait as there were callers before, so that a few who write again at once do not wait.
   */
  paced?: boolean | 'few'
}

export interface Coalescer<Write, Answer> {
  write(projectId: ProjectId, key: string, write: Write): Promise<Answer>
}

/** The most writes in one statement. More would gain nothing and make the first wait for the last. */
const maxBatch = 512
/** Batches up to this size are never divided. */
const smallBatch = 20
/**
 * The approximate bytes in one statement. Larger writes are sent alone: together they would exceed the size limits of a
 * text or of a protocol message.
 */
const maxBatchBytes = 4 * 1024 * 1024
/** The pause after a statement, if statements are paced: as a multiple of its time, and the longest. */
const pauseFactor = 4
const longestPauseMs = 20
/** After a batch of at most this size the coalescer does not wait for more writes: its callers are too few. */
const fewWrites = 16
/**
 * The most writes of one project that may wait. Beyond this the database does not keep up, and callers are refused with
 * 503.
 */
const maxWaiting = 20_000
/** The most lanes kept for the next write; beyond this, idle ones are dropped. */
const maxLanes = 1_000

/**
 * Gathers the single-row writes that arrive at about the same time into one statement per project: the largest gain
 * measured (docs/decisions/0005). Writes of one key stay in order and never share a statement. Each caller gets the
 * result of its own write, and a row that the database refuses fails alone. `weigh` returns the bytes of a write, for
 * writes that callers can make large.
 */
export function createCoalescer<Write, Answer>(
  run: (projectId: ProjectId, writes: Write[]) => Promise<Answer[]>,
  weigh: (write: Write) => number = () => 0,
  { gatherMs = 0, isOfRequests = true, paced = false }: Gathering = {}
): Coalescer<Write, Answer> {
  const lanes = new Map<ProjectId, Lane<Write, Answer>>()
  const count = isOfRequests ? addBacklog : () => {}

  function laneOf(projectId: ProjectId): Lane<Write, Answer> {
    const known = lanes.get(projectId)
    if (known) return known
    if (lanes.size >= maxLanes) {
      for (const [id, { running, waiting }] of lanes) if (!running && waiting.length === 0) lanes.delete(id)
    }
    const lane = { waiting: [], running: false, before: 0, fromMs: 0, callers: 0, resume: undefined }
    lanes.set(projectId, lane)
    return lane
  }

  /** One statement runs at a time: the next one gathers meanwhile, and writes stay in order. */
  async function work(projectId: ProjectId, lane: Lane<Write, Answer>): Promise<void> {
    let many = false
    while (lane.waiting.length > 0) {
      if (paced) await pause(lane)
      if (many && lane.waiting.length < maxBatch / 2) await new Promise((resolve) => setTimeout(resolve, gatherMs))
      const batch = takeBatch(lane, weigh)
      many = gatherMs > 0 && batch.length > fewWrites
      const beganMs = paced ? steadyMs() : 0
      try {
        const writes = batch.map(({ write }) => write)
        const spans = batch.map(({ span }) => span)
        const answers = await inSpansOf(spans, () => run(projectId, writes))
        if (paced && batch.length > 1 && (paced !== 'few' || batch.length <= fewWrites)) {
          lane.fromMs = steadyMs() + Math.min(pauseFactor * (steadyMs() - beganMs), longestPauseMs)
          lane.callers = batch.length + lane.waiting.length
        }
        const handOut = () => {
          for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!)
        }
        // The next statement is sent before the callers get their results: resolving many promises takes a while, in
        // which the database would be idle.
        if (lane.waiting.length > 0) setImmediate(handOut)
        else handOut()
      } catch (error) {
        // A RangeError: one write is nested too deeply, or all together are too long to serialize.
        if ((isDataFault(error) || error instanceof RangeError) && batch.length > 1) await oneByOne(projectId, batch)
        else for (const { reject } of batch) reject(error)
      }
      count(projectId, -batch.length)
    }
    lane.running = false
    lane.before = 0
  }

  async function pause(lane: Lane<Write, Answer>): Promise<void> {
    const ms = isEnough(lane) ? 0 : lane.fromMs - steadyMs()
    if (ms < 1) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    lane.resume = resolve
    await promise
    clearTimeout(timer)
    lane.resume = undefined
  }

  async function oneByOne(projectId: ProjectId, batch: Waiting<Write, Answer>[]): Promise<void> {
    for (const { write, resolve, reject } of batch) {
      await run(projectId, [write]).then(([answer]) => resolve(answer!), reject)
    }
  }

  return {
    write(projectId, key, write) {
      const lane = laneOf(projectId)
      if (lane.waiting.length >= maxWaiting) {
        return Promise.reject(new Unavailable('Too many writes wait for the database.'))
      }
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      lane.waiting.push({ key, write, span: activeSpan(), resolve, reject })
      count(projectId, 1)
      if (lane.resume && isEnough(lane)) lane.resume()
      if (!lane.running) {
        lane.running = true
        // Runs after the sockets that are readable now have been read, so that writes that arrived together are sent
        // together.
        setImmediate(() => void work(projectId, lane))
      }
      return promise
    }
  }
}

/** Whether no more writes need to be awaited. */
const isEnough = ({ waiting, callers }: Lane<unknown, unknown>): boolean =>
  waiting.length >= Math.min(callers, maxBatch / 2)

/**
 * Takes the oldest writes; a second write of the same key waits for the next statement. Of all active callers (those
 * who wait and those who just got their results), the batch takes half, so that this process works on the other half
 * meanwhile. When the batch took all waiting writes, process and database idled by turns.
 */
function takeBatch<Write, Answer>(
  lane: Lane<Write, Answer>,
  weigh: (write: Write) => number
): Waiting<Write, Answer>[] {
  const batch: Waiting<Write, Answer>[] = []
  const left: Waiting<Write, Answer>[] = []
  const taken = new Set<string>()
  const half = Math.ceil((lane.before + lane.waiting.length) / 2)
  const most = Math.min(maxBatch, Math.max(smallBatch, half))
  let bytes = 0
  for (const entry of lane.waiting) {
    const full = batch.length >= most || bytes >= maxBatchBytes
    if (full || taken.has(entry.key)) left.push(entry)
    else {
      bytes += weigh(entry.write)
      if (bytes > maxBatchBytes && batch.length > 0) left.push(entry)
      else batch.push(entry)
    }
    taken.add(entry.key)
  }
  lane.waiting = left
  lane.before = batch.length
  return batch
}

/** The approximate size of a value as JSON. It walks with a list, so that depth cannot exhaust the stack. */
export function roughBytes(value: unknown): number {
  let bytes = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string') bytes += one.length + 3
    else if (typeof one !== 'object' || one === null || one instanceof Date) bytes += 8
    else if (Array.isArray(one)) for (const inner of one) open.push(inner)
    else for (const [name, inner] of Object.entries(one)) open.push(name, inner)
  }
  return bytes
}
