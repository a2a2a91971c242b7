import { newId } from '../ids.ts'
import { writtenTrace } from '../telemetry/context.ts'
import { type JobDefinition, workQueue } from './definition.ts'
import { createReach } from './reach.ts'
import { type Claimed, createRun, nowMs, type Run } from './run.ts'
import type { Session } from './session.ts'
import * as store from './store.ts'

/** Projects that share one claim. Each costs an index look-up, so not more than jobs are wanted, … */
const mostLanes = 32
/** … but at least some, because other workers may hold all ready jobs of the first ones. */
const leastLanes = 4
const jobsPerClaim = 200
/**
 * The most jobs of a queue that wait without a slot, for each slot and in all: this limits memory and the leases to
 * renew.
 */
const waitingPerSlot = 64
const mostWaiting = 2_000

export interface QueueOptions {
  name: string
  /** Every job that the worker can run. */
  definitions: ReadonlyMap<string, JobDefinition>
  concurrency: number
  session: Session
  nodeId: string
  begin: (run: Run) => void
  ring: () => void
}

export type Queue = ReturnType<typeof createQueue>

/** A slot for a job that this process adds: the job is written as claimed, and runs here once it is committed. */
export interface Reserved {
  claim: string
  nodeId: string
  leaseMs: number
  /** The job is committed. `payload` may hold more than the table. */
  begin(job: { id: string; projectId: string; payload: unknown }): void
  /** The job was not added. */
  drop(): void
}

/** The slots of one queue in this process. Slots of other queues have no influence on it. */
export function createQueue({ name, definitions, concurrency, session, nodeId, begin, ring }: QueueOptions) {
  const own = [...definitions.values()].filter((job) => name === workQueue || job.queue === name)
  const names = own.map((job) => job.name)
  const leases = own.map(({ leaseMs }) => leaseMs)
  /** Everything this queue has claimed: running, waiting without a slot, or ended and not yet recorded. */
  const runs = new Set<Run>()
  const reach = createReach()
  let waiting = 0
  let reserved = 0
  /** Whether there may be ready jobs. Set to false when a claim returns nothing. */
  let hinted = true
  let claiming = false
  let from = ''

  function freeSlot(run: Run): void {
    if (run.waits || !runs.has(run) || waiting >= Math.min(waitingPerSlot * concurrency, mostWaiting)) return
    run.waits = true
    waiting += 1
    if (hinted) ring()
  }

  const free = () => concurrency - (runs.size - waiting) - reserved
  const start = (job: Claimed, token: string, sentAt: number) => {
    const definition = definitions.get(job.name)!
    const run = createRun(job, definition, token, sentAt + definition.leaseMs, freeSlot)
    runs.add(run)
    begin(run)
  }

  async function claim(): Promise<void> {
    const token = newId()
    const sentAt = nowMs()
    const wanted = Math.min(free(), jobsPerClaim)
    const lanes = Math.max(leastLanes, Math.min(wanted, mostLanes))
    // Reset before the claim: a hint that arrives during the claim must count.
    hinted = false
    const backMs = reach.lookBackMs()
    const values = [token, nodeId, wanted, from, lanes, names, leases, backMs, name]
    claiming = true
    const claimed = await session.query<Claimed>(store.claim, values).finally(() => {
      claiming = false
    })
    hinted ||= claimed.length > 0 || from !== ''
    if (!hinted) reach.clear(sentAt, backMs)
    // If not every project could be served, the next claim starts after the last one that was. U+0001 is the smallest
    // character with which a text can continue.
    const served = [...new Set(claimed.map(({ lane }) => lane))].sort(byBytes)
    from = served.length >= Math.min(lanes, wanted) ? `${served.at(-1)}\u0001` : ''
    for (const job of claimed) start(job, token, sentAt)
    if (hinted) ring()
  }

  /**
   * Keeps a slot for a job that this process is about to add. While jobs may be waiting in the table, where projects
   * take turns, half of the slots are left for them.
   */
  function reserve(name: string): Reserved | undefined {
    if (free() <= (hinted || claiming ? concurrency / 2 : 0)) return undefined
    const [claim, sentAt] = [newId(), nowMs()]
    reserved += 1
    return {
      claim,
      nodeId,
      leaseMs: definitions.get(name)!.leaseMs,
      begin({ id, projectId, payload }) {
        reserved -= 1
        const job = { id, name, lane: projectId, payload, attempts: 1, maxAttempts: null, keyed: false }
        start({ ...job, trace: writtenTrace() }, claim, sentAt)
      },
      drop() {
        reserved -= 1
        // Jobs that were added meanwhile may have waited for this slot.
        if (hinted) ring()
      }
    }
  }

  return {
    name,
    hint(): void {
      hinted = true
    },
    lookBackMs: reach.lookBackMs,
    /** A search of this time and reach found nothing. */
    clear: reach.clear,
    isClaiming: () => claiming,
    /** Whether a claim is worth its round trip. */
    wants: () => hinted && free() > 0,
    claim,
    reserve,
    leave(run: Run): void {
      if (!runs.delete(run)) return
      if (run.waits) waiting -= 1
      // An ended job may have left another: one that recurs, one that was added again, or itself for another attempt.
      if (run.job.keyed || run.definition.everyMs !== undefined || run.outcome?.kind !== 'done') hinted = true
    }
  }
}

/** Compares as the database sorts projects (collation "C"); JavaScript would compare UTF-16 units. */
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
