import { isDataFault } from './db/db.ts'
import { Unavailable } from './errors.ts'
import type { ProjectId } from './ids.ts'

interface Waiting<Write, Answer> {
  key: string
  write: Write
  resolve(answer: Answer): void
  reject(error: unknown): void
}

interface Lane<Write, Answer> {
  waiting: Waiting<Write, Answer>[]
  /** Keys of the writes that are at the database now. */
  busy: Set<string>
  running: number
  scheduled: boolean
}

export interface Coalescer<Write, Answer> {
  write(projectId: ProjectId, key: string, write: Write): Promise<Answer>
}

/** Writes in one statement. More gains nothing and makes the first wait for the last. */
const maxBatch = 512
/** Statements of one project at a time: while one is at the database, the next is gathered and prepared. */
const maxRunning = 2
/** Writes of one project that may wait. Past it the database does not keep up, and callers are told to come back. */
const maxWaiting = 20_000

/**
 * Gathers the single-row writes that arrive at about the same time into one statement per project: the largest gain
 * measured (docs/decisions/0005). Writes of one key stay in order and never share a statement; each caller gets the
 * answer to its own write; a row the database refuses fails alone.
 */
export function createCoalescer<Write, Answer>(
  run: (projectId: ProjectId, writes: Write[]) => Promise<Answer[]>
): Coalescer<Write, Answer> {
  const lanes = new Map<ProjectId, Lane<Write, Answer>>()

  function schedule(projectId: ProjectId, lane: Lane<Write, Answer>): void {
    if (lane.scheduled || lane.running >= maxRunning || lane.waiting.length === 0) return
    lane.scheduled = true
    // After the sockets that are readable now have been read: what came together leaves together.
    setImmediate(() => {
      lane.scheduled = false
      void flush(projectId, lane)
    })
  }

  async function flush(projectId: ProjectId, lane: Lane<Write, Answer>): Promise<void> {
    const batch = takeBatch(lane)
    if (batch.length === 0) return
    lane.running += 1
    schedule(projectId, lane)
    try {
      const answers = await run(
        projectId,
        batch.map(({ write }) => write)
      )
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!)
    } catch (error) {
      if (isDataFault(error) && batch.length > 1) await oneByOne(projectId, batch)
      else for (const { reject } of batch) reject(error)
    }
    for (const { key } of batch) lane.busy.delete(key)
    lane.running -= 1
    if (lane.waiting.length > 0) schedule(projectId, lane)
    else if (lane.running === 0) lanes.delete(projectId)
  }

  async function oneByOne(projectId: ProjectId, batch: Waiting<Write, Answer>[]): Promise<void> {
    for (const { write, resolve, reject } of batch) {
      await run(projectId, [write]).then(([answer]) => resolve(answer!), reject)
    }
  }

  return {
    write(projectId, key, write) {
      let lane = lanes.get(projectId)
      if (!lane) {
        lane = { waiting: [], busy: new Set(), running: 0, scheduled: false }
        lanes.set(projectId, lane)
      }
      if (lane.waiting.length >= maxWaiting)
        return Promise.reject(new Unavailable('Too many writes wait for the database.'))
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      lane.waiting.push({ key, write, resolve, reject })
      schedule(projectId, lane)
      return promise
    }
  }
}

/** The oldest writes whose keys are free; a later write of the same key waits for the next statement. */
function takeBatch<Write, Answer>(lane: Lane<Write, Answer>): Waiting<Write, Answer>[] {
  const batch: Waiting<Write, Answer>[] = []
  const left: Waiting<Write, Answer>[] = []
  const passedOver = new Set<string>()
  for (const entry of lane.waiting) {
    if (batch.length >= maxBatch || lane.busy.has(entry.key) || passedOver.has(entry.key)) {
      passedOver.add(entry.key)
      left.push(entry)
    } else {
      lane.busy.add(entry.key)
      batch.push(entry)
    }
  }
  lane.waiting = left
  return batch
}
