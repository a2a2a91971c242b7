import { isDataFault } from './db/db.ts'
import { Unavailable } from './errors.ts'
import type { ProjectId } from './ids.ts'

interface Waiting<Write, Answer> {
  key: string
  write: Write
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** The writes of one project, which go to the database one statement after the other. */
interface Lane<Write, Answer> {
  waiting: Waiting<Write, Answer>[]
  running: boolean
  /** Writes in the statement before. */
  before: number
}

/** Writes of each project that are not answered yet, of all coalescers of the process. */
const backlogs = new Map<string, number>()

/** How many writes of a project wait for the database: the HTTP server begins no more of its requests past a limit. */
export const backlogOf = (project: string): number => backlogs.get(project) ?? 0

function addBacklog(project: string, count: number): void {
  const left = backlogOf(project) + count
  if (left === 0) backlogs.delete(project)
  else backlogs.set(project, left)
}

export interface Coalescer<Write, Answer> {
  write(projectId: ProjectId, key: string, write: Write): Promise<Answer>
}

/** Writes in one statement. More gains nothing and makes the first wait for the last. */
const maxBatch = 512
/** So few are never divided. */
const smallBatch = 20
/** Bytes in one statement, about. Larger writes go alone: together they would outgrow what a text or a message may hold. */
const maxBatchBytes = 4 * 1024 * 1024
/** A batch of fewer is not worth waiting for: its callers are few, and want to know. */
const fewWrites = 16
/** Writes of one project that may wait. Past it the database does not keep up, and callers are refused with 503. */
const maxWaiting = 20_000
/** Lanes kept for the next write; past it the idle ones are thrown away. */
const maxLanes = 1_000

/**
 * Gathers the single-row writes that arrive at about the same time into one statement per project: the largest gain
 * measured (docs/decisions/0005). Writes of one key stay in order and never share a statement; each caller gets the
 * answer to its own write; a row the database refuses fails alone. `weigh` returns the bytes of a write, where callers can
 * make them large. `gatherMs`: how long the next statement waits for more after one that had many, where callers bear it.
 */
export function createCoalescer<Write, Answer>(
  run: (projectId: ProjectId, writes: Write[]) => Promise<Answer[]>,
  weigh: (write: Write) => number = () => 0,
  gatherMs = 0
): Coalescer<Write, Answer> {
  const lanes = new Map<ProjectId, Lane<Write, Answer>>()

  function laneOf(projectId: ProjectId): Lane<Write, Answer> {
    const known = lanes.get(projectId)
    if (known) return known
    if (lanes.size >= maxLanes) {
      for (const [id, { running, waiting }] of lanes) if (!running && waiting.length === 0) lanes.delete(id)
    }
    const lane = { waiting: [], running: false, before: 0 }
    lanes.set(projectId, lane)
    return lane
  }

  /** One statement at a time: while it is at the database the next one gathers, and order needs no further care. */
  async function work(projectId: ProjectId, lane: Lane<Write, Answer>): Promise<void> {
    let many = false
    while (lane.waiting.length > 0) {
      if (many && lane.waiting.length < maxBatch / 2) await new Promise((resolve) => setTimeout(resolve, gatherMs))
      const batch = takeBatch(lane, weigh)
      many = gatherMs > 0 && batch.length > fewWrites
      try {
        const answers = await run(
          projectId,
          batch.map(({ write }) => write)
        )
        const handOut = () => {
          for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!)
        }
        // The next statement leaves first: answering many takes a while, in which the database would have nothing to do.
        if (lane.waiting.length > 0) setImmediate(handOut)
        else handOut()
      } catch (error) {
        // A RangeError: one of them is too deep or all are too long to be written out.
        if ((isDataFault(error) || error instanceof RangeError) && batch.length > 1) await oneByOne(projectId, batch)
        else for (const { reject } of batch) reject(error)
      }
      addBacklog(projectId, -batch.length)
    }
    lane.running = false
    lane.before = 0
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
      lane.waiting.push({ key, write, resolve, reject })
      addBacklog(projectId, 1)
      if (!lane.running) {
        lane.running = true
        // After the sockets that are readable now have been read: writes that arrived together are sent together.
        setImmediate(() => void work(projectId, lane))
      }
      return promise
    }
  }
}

/**
 * The oldest writes; a second one of the same key waits for the next statement. Of all callers about, those who wait and
 * those just answered, half go: while they are at the database this process has the other half to do. Where all who wait
 * went, the two took turns in idling.
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

/** About what a value takes as JSON. Walks with a list, so that depth cannot exhaust the stack. */
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
